//! Sessions that are valid and otherwise arbitrary: branches, attestations, nested metadata, withheld lines.

use std::borrow::Cow;

use git_proof::proof::digest::{ChainHash, RootHash};
use git_proof::proof::evidence;
use git_proof::proof::record::{Body, Entry, Id, Opening, RecordType, metadata_text};
use git_proof::proof::scheme::Scheme;
use git_proof::proof::timestamp::Timestamp;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Map, Value};

use crate::naive::{self, Hash};

/// A session's evidence, with the root and count that its definition gives it.
#[derive(Debug, Clone)]
pub(crate) struct Session {
    pub(crate) scheme: Scheme,
    pub(crate) evidence: String,
    pub(crate) contents: Vec<Hash>,
    pub(crate) root: RootHash,
    pub(crate) count: u64,
    pub(crate) genesis: ChainHash,
    pub(crate) head: ChainHash,
}

/// What an entry is made from. Where it stands in the chain is only known once those before it are hashed.
#[derive(Debug, Clone)]
struct Draft {
    attested: bool,
    kind: RecordType,
    text: String,
    task_id: Option<String>,
    metadata: Value,
    timestamp: Timestamp,
    private: bool,
    /// Another parent than the entry before.
    branch: Option<Index>,
}

/// Text with all that needs care: quotes, control characters, characters beyond U+FFFF. Never empty, never NUL.
pub(crate) fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => "[a-z ]{1,12}",
        1 => "[a-z\"\\\\/\u{1}-\u{1f}\u{7f}äß\u{2028}\u{e000}\u{ffff}\u{10000}\u{1f600}]{1,8}",
    ]
}

/// A number that JSON can hold exactly.
pub(crate) fn number() -> impl Strategy<Value = Value> {
    prop_oneof![
        (-20i64..20).prop_map(Value::from),
        select(vec![0.5, -1.25, 1e21, 1e-7, 5e-324, 1.797_693_134_862_315_7e308, 123.456]).prop_map(Value::from),
        (-9_007_199_254_740_991i64..=9_007_199_254_740_991).prop_map(Value::from),
    ]
}

/// Any JSON value.
pub(crate) fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        number(),
        text().prop_map(Value::from),
        Just(Value::from("")),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(text(), inner, 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

fn metadata() -> impl Strategy<Value = Value> {
    let object = prop::collection::btree_map(text(), json(), 1..4)
        .prop_map(|members| Value::Object(members.into_iter().collect::<Map<_, _>>()));
    prop_oneof![2 => Just(Value::Null), 1 => object]
}

pub(crate) fn timestamp() -> impl Strategy<Value = Timestamp> {
    (2000u16..2100, 1u8..=12, 1u8..=28, 0u8..24, 0u8..60, 0u16..1000).prop_map(
        |(year, month, day, hour, minute, milli)| {
            Timestamp::parse(&format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:07.{milli:03}Z")).unwrap()
        },
    )
}

pub(crate) fn id() -> impl Strategy<Value = Id> {
    "[A-Za-z0-9][A-Za-z0-9._-]{0,20}".prop_map(|text| Id::parse(&text).unwrap())
}

fn draft() -> impl Strategy<Value = Draft> {
    let branch = prop::option::weighted(0.3, any::<Index>());
    (
        prop::bool::weighted(0.25),
        select(&RecordType::ALL),
        text(),
        prop::option::of(text()),
        metadata(),
        timestamp(),
        prop::bool::weighted(0.2),
        branch,
    )
        .prop_map(|(attested, kind, text, task_id, metadata, timestamp, private, branch)| Draft {
            attested,
            kind,
            text,
            task_id,
            metadata,
            timestamp,
            private,
            branch,
        })
}

fn opening(scheme: Scheme) -> impl Strategy<Value = Opening> {
    (text(), text(), any::<bool>(), id(), timestamp(), prop::option::of(text())).prop_map(
        move |(caller, intent, proof_grade, session_id, started_at, task_id)| Opening {
            caller,
            intent,
            proof_grade,
            scheme,
            session_id,
            started_at,
            task_id,
        },
    )
}

/// A session of one scheme with one to `most` entries.
pub(crate) fn session(scheme: Scheme, most: usize) -> impl Strategy<Value = Session> {
    (opening(scheme), prop::collection::vec(draft(), 1..=most)).prop_map(|(opening, drafts)| build(&opening, &drafts))
}

/// A session of any scheme.
pub(crate) fn any_session(most: usize) -> impl Strategy<Value = Session> {
    select(&Scheme::ALL).prop_flat_map(move |scheme| session(scheme, most))
}

fn build(opening: &Opening, drafts: &[Draft]) -> Session {
    let scheme = opening.scheme;
    let line = opening.to_line();
    let genesis = if scheme == Scheme::AmsV0 { [0; 32] } else { naive::sha256(&[line.as_bytes()]) };
    let mut evidence = line + "\n";
    let mut hashes = vec![genesis];
    let mut contents = Vec::new();
    for (at, draft) in drafts.iter().enumerate() {
        let prev = draft.branch.map_or(hashes[at], |branch| hashes[branch.index(hashes.len())]);
        let entry = draft.entry(at, ChainHash::new(prev));
        let line = entry.to_line();
        let preimage = if scheme == Scheme::AmsV0 { draft.text.as_bytes() } else { line.as_bytes() };
        let content = naive::sha256(&[preimage]);
        hashes.push(naive::chain_hash(scheme, &content, &prev));
        contents.push(content);
        evidence += &evidence::publish(scheme, &entry, draft.private);
        evidence += "\n";
    }
    Session {
        scheme,
        evidence,
        root: RootHash::new(naive::Definition::new(scheme, &contents).root(contents.len())),
        count: contents.len() as u64,
        contents,
        genesis: ChainHash::new(genesis),
        head: ChainHash::new(*hashes.last().unwrap()),
    }
}

impl Draft {
    fn entry(&self, at: usize, prev_hash: ChainHash) -> Entry<'_> {
        let body = if self.attested {
            Body::Attest { attest: Cow::Borrowed(&self.text) }
        } else {
            Body::Thought {
                kind: self.kind,
                content: Cow::Borrowed(&self.text),
                task_id: self.task_id.as_deref().map(Cow::Borrowed),
            }
        };
        Entry {
            id: Id::parse(&format!("entry-{at}")).unwrap(), // an id is never used twice in a session
            prev_hash,
            timestamp: self.timestamp,
            metadata: metadata_text(&self.metadata).unwrap().map(Cow::Owned),
            body,
        }
    }
}
