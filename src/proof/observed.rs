//! What the recording tool saw by itself, as opposed to what an agent states: the exact forms of observed attestations, and
//! the metadata that the tool alone writes.
//!
//! Parsers here are strict, and what they refuse is ignored by a verifier, never held against the evidence: "observed" means
//! that the recording tool says so, and without a signer it is as forgeable as any entry.

use serde_json::Value;

use super::canonical::{forms, has_key};
use super::checkers;
use super::digest::{ChainHash, ContentHash, ObjectId, TranscriptHash};
use super::record::{Body, Entry};
use super::schema::names;
use super::timestamp::Timestamp;

/// Most blobs that one entry names.
pub const MAX_BLOBS: usize = 256;

const OBSERVED: &str = "observed";

/// The metadata keys that only the tool writes, each through a command or an option of its own.
pub const RESERVED_KEYS: [&str; 5] = [OBSERVED, "afterwards", "continues", "supersedes", "until"];

forms! {
    /// Something that the tool saw: the body of an attestation.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub enum Observed, "observed attestation", in "observed" {
        /// Which agent works. What is not known yet is `None`, and may come with a later entry.
        Agent["agent"] {
            /// The model that it uses.
            model: Option<String>,
            /// Its name, such as `claude-code`.
            name: String,
            /// The version of the program.
            version: Option<String>,
        },
        /// A test runner, linter, type checker or build ran.
        Check["check"] {
            /// The words that name it, out of [`checkers::NAMES`].
            command: String,
            /// Its exit code, where it is known to be the checker's own.
            exit: Option<u8>,
        },
        /// How many tools were called, and how many of the calls failed.
        Tools["tools"] {
            /// All calls.
            calls: u64,
            /// Those that failed.
            failed: u64,
        },
        /// A commitment to the beginning of the agent's transcript.
        Transcript["transcript"] {
            /// How many bytes it covers.
            bytes: u64,
            /// SHA-256 of these bytes.
            sha256: TranscriptHash,
        },
        /// The contents of files after an edit tool wrote them.
        Wrote["wrote"](Vec<ObjectId>),
    }
    "check.command", "the name of a known checker": |seen| match seen {
        Observed::Check { command, .. } => checkers::NAMES.contains(&command.as_str()),
        _ => true,
    };
    // Ids of 40 and of 64 digits never meet in one repository, so that their order need not be defined.
    "wrote", "1 to 256 blob ids, ascending and none twice": |seen| match seen {
        Observed::Wrote(blobs) => {
            (1..=MAX_BLOBS).contains(&blobs.len())
                && blobs.windows(2).all(|pair| pair[0] < pair[1] && pair[0].is_as_long_as(&pair[1]))
        }
        _ => true,
    };
}

impl Observed {
    /// Whether a text claims to be such an attestation, well-formed or not: nobody but the tool may write one.
    pub fn is_claimed_by(text: &str) -> bool {
        // An escape may hide the key; without one and without the word there is nothing to parse.
        (text.contains(OBSERVED) || text.contains('\\')) && has_key(text, &[OBSERVED])
    }
}

names! {
    /// Where the text of a record comes from, if the agent did not state it.
    pub enum Event {
        /// What a person asked the agent for.
        Prompt = "prompt",
        /// The agent's last message of a turn.
        FinalMessage = "final_message",
        /// The messages of the session's commits.
        CommitMessage = "commit_message",
        /// A reflection that the agent stated, recorded again because entries came after it.
        Restated = "restated",
    }
}

impl Event {
    /// The metadata that says so.
    pub fn to_metadata(self) -> String {
        format!("{{\"observed\":{{\"event\":\"{}\"}}}}", self.as_str())
    }
}

/// Who wrote the reflection that closes a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Reflection {
    /// The agent, or a person.
    Stated,
    /// The tool, from the agent's last message or from commit messages.
    Observed,
}

/// What the metadata of an entry says in the forms of this page. Values of another shape count as absent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Marks {
    /// Where the text comes from.
    pub event: Option<Event>,
    /// Whether the commit existed before the session attested it.
    pub afterwards: bool,
    /// The last chain hash of the session that this one goes on from.
    pub continues: Option<ChainHash>,
    /// The content hash of the entry that this one corrects.
    pub supersedes: Option<ContentHash>,
    /// Until when it holds.
    pub until: Option<Timestamp>,
    /// The keys whose values have another shape.
    pub ignored: Vec<&'static str>,
}

impl Marks {
    /// Reads the metadata of an entry, which is a canonical object.
    pub fn of(metadata: Option<&str>) -> Self {
        let mut marks = Self::default();
        // Most metadata has none of these keys, and need not be parsed.
        let Some(metadata) = metadata.filter(|text| RESERVED_KEYS.iter().any(|key| text.contains(key))) else {
            return marks;
        };
        let Ok(Value::Object(members)) = serde_json::from_str(metadata) else { return marks };
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let mut ignored = Vec::new();
        let mut read = |key: &'static str, take: &mut dyn FnMut(&Value) -> bool| {
            if members.get(key).is_some_and(|value| !take(value)) {
                ignored.push(key);
            }
        };
        read(OBSERVED, &mut |value| {
            let members = value.as_object().filter(|members| members.len() == 1);
            marks.event = members.and_then(|members| Event::parse(members.get("event")?.as_str()?));
            marks.event.is_some()
        });
        read("afterwards", &mut |value| {
            marks.afterwards = *value == Value::Bool(true);
            marks.afterwards
        });
        read("continues", &mut |value| {
            marks.continues = text(value).and_then(|text| ChainHash::parse(&text));
            marks.continues.is_some()
        });
        read("supersedes", &mut |value| {
            marks.supersedes = text(value).and_then(|text| ContentHash::parse(&text));
            marks.supersedes.is_some()
        });
        read("until", &mut |value| {
            marks.until = text(value).and_then(|text| Timestamp::parse(&text));
            marks.until.is_some()
        });
        marks.ignored = ignored;
        marks
    }

    /// The reserved key in metadata that a user gives, if there is one.
    pub fn claimed_by(metadata: &Value) -> Option<&'static str> {
        RESERVED_KEYS.into_iter().find(|key| metadata.get(key).is_some())
    }
}

/// How many parts of an entry claim to be in a form of this page and are not.
pub fn ignored_in(entry: &Entry<'_>) -> usize {
    let mut ignored = Marks::of(entry.metadata.as_deref()).ignored.len();
    if let Body::Attest { attest } = &entry.body {
        ignored += usize::from(Observed::is_claimed_by(attest) && Observed::parse(attest.as_bytes()).is_err());
    }
    ignored
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // tests
mod tests {
    use super::*;

    fn id(digit: &str, length: usize) -> ObjectId {
        ObjectId::parse(&digit.repeat(length)).unwrap()
    }

    fn samples() -> Vec<(Observed, &'static str)> {
        vec![
            (
                Observed::Agent { name: "claude-code".into(), model: None, version: Some("2.1.326".into()) },
                r#"{"observed":{"agent":{"model":null,"name":"claude-code","version":"2.1.326"}}}"#,
            ),
            (
                Observed::Check { command: "cargo test".into(), exit: Some(0) },
                r#"{"observed":{"check":{"command":"cargo test","exit":0}}}"#,
            ),
            (
                Observed::Check { command: "pytest".into(), exit: None },
                r#"{"observed":{"check":{"command":"pytest","exit":null}}}"#,
            ),
            (Observed::Tools { calls: 12, failed: 1 }, r#"{"observed":{"tools":{"calls":12,"failed":1}}}"#),
        ]
    }

    #[test]
    fn what_is_printed_is_what_is_parsed() {
        for (seen, text) in samples() {
            assert_eq!(seen.to_text(), text);
            assert_eq!(Observed::parse(text.as_bytes()), Ok(seen));
            assert!(Observed::is_claimed_by(text));
        }
        let transcript = Observed::Transcript { bytes: 48_211, sha256: TranscriptHash::new([7; 32]) };
        assert_eq!(Observed::parse(transcript.to_text().as_bytes()), Ok(transcript));
        let wrote = Observed::Wrote(vec![id("1", 40), id("2", 40)]);
        assert_eq!(Observed::parse(wrote.to_text().as_bytes()), Ok(wrote));
    }

    #[test]
    fn blobs_are_ascending_and_none_comes_twice() {
        for wrong in [
            vec![],
            vec![id("2", 40), id("1", 40)],
            vec![id("1", 40), id("1", 40)],
            vec![id("1", 40), id("2", 64)],
            (0..=MAX_BLOBS).map(|n| ObjectId::parse(&format!("{n:040x}")).unwrap()).collect(),
        ] {
            assert!(Observed::parse(Observed::Wrote(wrong.clone()).to_text().as_bytes()).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn another_shape_is_refused() {
        for (_, text) in samples() {
            for wrong in [
                format!(" {text}"),
                format!("{text}\n"),
                text.replace("}}}", ",\"x\":1}}}"),
                text.replace("}}}", "},\"x\":1}}"),
                text.replace("{\"observed\"", "{\"git\""),
                text.replace("\"exit\":0", "\"exit\":256").replace("null", "\"\"").replace("12", "-1"),
            ] {
                assert!(wrong == text || Observed::parse(wrong.as_bytes()).is_err(), "{wrong}");
            }
        }
        let unknown = r#"{"observed":{"check":{"command":"rm -rf","exit":0}}}"#;
        assert!(Observed::parse(unknown.as_bytes()).is_err());
        assert!(Observed::is_claimed_by("{\"a\":1, \"observed\":{}}") && Observed::is_claimed_by(" {\"observed\" x"));
        assert!(!Observed::is_claimed_by("observed"));
    }

    #[test]
    fn marks_of_another_shape_are_absent_and_counted() {
        let hash = "ab".repeat(32);
        let good = format!(
            "{{\"afterwards\":true,\"continues\":\"{hash}\",\"observed\":{{\"event\":\"restated\"}},\
             \"supersedes\":\"{hash}\",\"until\":\"2026-03-01T09:00:00.000Z\",\"x\":1}}"
        );
        let marks = Marks::of(Some(&good));
        assert_eq!(marks.event, Some(Event::Restated));
        assert!(marks.afterwards && marks.ignored.is_empty());
        assert_eq!(marks.continues, ChainHash::parse(&hash));
        assert_eq!(marks.supersedes, ContentHash::parse(&hash));
        assert_eq!(marks.until, Timestamp::parse("2026-03-01T09:00:00.000Z"));
        let bad = Marks::of(Some(
            "{\"afterwards\":false,\"continues\":1,\"observed\":{\"event\":\"x\"},\"supersedes\":\"\",\"until\":null}",
        ));
        assert_eq!(bad.ignored, ["observed", "afterwards", "continues", "supersedes", "until"]);
        assert_eq!(Marks { ignored: Vec::new(), ..bad }, Marks::default());
        assert_eq!(Marks::of(Some("{\"observed\":{\"event\":\"prompt\",\"more\":1}}")).ignored, ["observed"]);
        for event in Event::ALL {
            assert_eq!(Marks::of(Some(&event.to_metadata())).event, Some(event));
        }
    }
}
