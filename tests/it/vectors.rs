//! Every hash, proof, evidence file, seal and canonical form of an independent implementation.

use std::borrow::Cow;

use git_proof::proof::canonical::{self, Reader};
use git_proof::proof::chain::Chain;
use git_proof::proof::digest::{ChainHash, RootHash, sha256};
use git_proof::proof::evidence;
use git_proof::proof::inclusion::InclusionProof;
use git_proof::proof::logged::{ConsistencyProof, LoggedProof};
use git_proof::proof::marks;
use git_proof::proof::note::NoteLine;
use git_proof::proof::observed::{Event, Marks, Observed};
use git_proof::proof::record::{Body, Entry, Id, Opening, RecordType, metadata_text};
use git_proof::proof::scheme::Scheme;
use git_proof::proof::seal::{LogHead, Rounds, Seal, seal_hash};
use git_proof::proof::timestamp::Timestamp;
use git_proof::proof::trailer::{ProofTrailers, Stray};
use git_proof::proof::tree::{self, Tree};
use serde_json::Value;

fn load(name: &str) -> Value {
    let path = format!("{}/tests/vectors/{name}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

fn list(value: &Value) -> &Vec<Value> {
    value.as_array().unwrap()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

fn trusted(vector: &Value) -> (RootHash, u64) {
    (RootHash::parse(text(&vector["trusted"]["root"])).unwrap(), vector["trusted"]["count"].as_u64().unwrap())
}

fn opening(session: &Value, scheme: Scheme) -> Opening {
    Opening {
        caller: text(&session["caller"]).into(),
        intent: text(&session["intent"]).into(),
        proof_grade: session["proof_grade"].as_bool().unwrap(),
        scheme,
        session_id: Id::parse(text(&session["session_id"])).unwrap(),
        started_at: Timestamp::parse(text(&session["started_at"])).unwrap(),
        task_id: session["task_id"].as_str().map(Into::into),
    }
}

fn entry(vector: &Value, prev_hash: ChainHash) -> Entry<'_> {
    let body = match vector.get("attest") {
        Some(attest) => Body::Attest { attest: text(attest).into() },
        None => Body::Thought {
            kind: RecordType::parse(text(&vector["type"])).unwrap(),
            content: text(&vector["content"]).into(),
            task_id: vector["task_id"].as_str().map(Into::into),
        },
    };
    Entry {
        id: Id::parse(text(&vector["id"])).unwrap(),
        prev_hash,
        timestamp: Timestamp::parse(text(&vector["timestamp"])).unwrap(),
        metadata: metadata_text(&vector["metadata"]).unwrap().map(Cow::Owned),
        body,
    }
}

#[test]
fn every_session_has_the_hashes_of_the_vectors_in_every_scheme() {
    let vectors = load("sessions");
    let mut checked = 0;
    for vector in list(&vectors) {
        for scheme in Scheme::ALL {
            let expected = &vector["schemes"][scheme.as_str()];
            let opening = opening(&vector["session"], scheme);
            let line = opening.to_line();
            assert_eq!(Opening::parse(line.as_bytes()).unwrap(), opening);
            let genesis = scheme.genesis(line.as_bytes());
            assert_eq!(genesis.to_string(), text(&expected["genesis"]));
            let mut file = line + "\n";

            let mut chain = Chain::new(scheme, genesis);
            let mut ids: Vec<(&str, ChainHash)> = Vec::new();
            let mut leaves = Vec::new();
            let entries = list(&vector["entries"]);
            for (index, source) in entries.iter().enumerate() {
                let prev_hash = match source.get("parent_id").and_then(Value::as_str) {
                    Some(parent) => ids.iter().find(|(id, _)| *id == parent).unwrap().1,
                    None => chain.head(),
                };
                assert_eq!(prev_hash.to_string(), text(&expected["prev_hashes"][index]));
                let entry = entry(source, prev_hash);
                let line = entry.to_line();
                assert_eq!(Entry::parse(line.as_bytes()).unwrap(), entry);
                let content_hash = scheme.content_hash(line.as_bytes(), entry.body.text());
                assert_eq!(content_hash.to_string(), text(&expected["content_hashes"][index]));
                let chain_hash = chain.append(&content_hash, &prev_hash).unwrap();
                assert_eq!(chain_hash.to_string(), text(&expected["chain_hashes"][index]));
                ids.push((text(&source["id"]), chain_hash));
                leaves.push(scheme.leaf(&content_hash));
                let private = list(&expected["withheld"]).contains(&source["id"]);
                file += &(evidence::publish(scheme, &entry, private) + "\n");
            }

            assert_eq!(file, text(&expected["evidence"]));
            if scheme == Scheme::V1Sorted {
                leaves.sort_unstable();
            }
            let root = tree::root_of(scheme, &leaves, 1).unwrap();
            assert_eq!(root.to_string(), text(&expected["root"]));
            let summary = evidence::verify(file.as_bytes()).unwrap();
            assert_eq!((summary.root, summary.genesis, summary.head), (root, genesis, chain.head()));
            assert_eq!(summary.count, expected["count"].as_u64().unwrap());
            assert_eq!(summary.withheld, list(&expected["withheld"]).len() as u64);
            checked += entries.len();
        }
    }
    assert_eq!(checked, 78 * 4);
}

#[test]
fn every_inclusion_proof_holds_or_not_as_the_vectors_say() {
    let vectors = load("proofs");
    let mut held = 0;
    for vector in list(&vectors) {
        let (root, count) = trusted(vector);
        // The vectors are indented; a proof file has no white space.
        let line = serde_json::to_string(&InReadingOrder(&vector["proof"])).unwrap();
        let verdict = InclusionProof::parse(line.as_bytes()).map(|proof| {
            assert_eq!(proof.to_line(), line);
            proof.verify(&root, count)
        });
        assert_eq!(
            matches!(verdict, Ok(Ok(()))),
            vector["valid"].as_bool().unwrap(),
            "{}: {verdict:?}",
            vector["desc"]
        );
        held += usize::from(matches!(verdict, Ok(Ok(()))));
    }
    assert_eq!((list(&vectors).len(), held), (1044, 108));
}

/// A proof as its file has it: serde_json would sort the keys.
struct InReadingOrder<'a>(&'a Value);

impl serde::Serialize for InReadingOrder<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer
            .collect_map(["scheme", "leaf_hash", "index", "count", "proof", "root"].map(|key| (key, &self.0[key])))
    }
}

#[test]
fn every_valid_proof_of_the_vectors_is_the_one_we_make() {
    let sessions = load("sessions");
    let proofs = load("proofs");
    for vector in list(&proofs).iter().filter(|vector| vector["valid"] == true) {
        let (root, count) = trusted(vector);
        let proof = &vector["proof"];
        let scheme = Scheme::parse(text(&proof["scheme"])).unwrap();
        let expected = list(&sessions).iter().map(|session| &session["schemes"][scheme.as_str()]);
        let session = expected.into_iter().find(|session| session["root"] == text(&vector["trusted"]["root"])).unwrap();
        let mut leaves: Vec<_> = list(&session["content_hashes"]).iter().map(text).collect();
        if scheme == Scheme::V1Sorted {
            leaves.sort_unstable();
        }
        let mut tree = Tree::new(scheme);
        for leaf in &leaves {
            tree.push(scheme.leaf(&git_proof::proof::digest::ContentHash::parse(leaf).unwrap()));
        }
        assert_eq!((tree.root().unwrap(), tree.count()), (root, count));
        let index = proof["index"].as_u64().unwrap();
        let ours: Vec<_> = tree.path(index).unwrap();
        let line = serde_json::to_string(&InReadingOrder(proof)).unwrap();
        assert_eq!(InclusionProof::parse(line.as_bytes()).unwrap().steps, ours, "{}", vector["desc"]);
    }
}

#[test]
fn every_evidence_file_holds_or_not_as_the_vectors_say() {
    let vectors = load("evidence");
    for vector in list(&vectors) {
        let (root, count) = trusted(vector);
        let file = text(&vector["evidence"]).as_bytes();
        let verdict = evidence::verify(file).and_then(|summary| summary.require(&root, count));
        assert_eq!(verdict.is_ok(), vector["valid"].as_bool().unwrap(), "{}: {verdict:?}", vector["desc"]);
    }
    assert_eq!(list(&vectors).len(), 130);
}

#[test]
fn every_seal_of_the_vectors_continues_the_chain_and_is_the_one_we_make() {
    let vectors = load("rounds");
    let mut rounds = Rounds::new();
    for vector in list(&vectors) {
        let bytes = text(&vector["canonical"]).as_bytes();
        let seal = Seal::parse(bytes).unwrap();
        assert_eq!(seal.to_text().as_bytes(), bytes);
        assert_eq!(canonical::to_text(&vector["seal"]).unwrap().as_bytes(), bytes);
        assert_eq!(seal_hash(bytes).to_string(), text(&vector["seal_hash"]));
        let made = rounds.seal(seal.sessions.clone(), seal.opened_at, seal.sealed_at).unwrap();
        assert_eq!(made, seal);
        rounds.push(bytes).unwrap();
    }
    assert_eq!(rounds.last().unwrap().0.round, 4);
}

#[test]
fn every_canonical_form_and_refusal_is_that_of_the_vectors() {
    let vectors = load("canonical");
    for vector in list(&vectors["accept"]) {
        let canonical = text(&vector["canonical"]);
        let value = canonical::parse(vector["value"].to_string().as_bytes()).unwrap();
        assert_eq!(canonical::to_text(&value).unwrap(), canonical);
        let mut reader = Reader::new(canonical.as_bytes()).unwrap();
        assert_eq!(reader.value("").unwrap(), canonical);
        assert_eq!(ChainHash::new(sha256(canonical.as_bytes())).to_string(), text(&vector["sha256"]));
    }
    for vector in list(&vectors["reject"]) {
        let raw = text(&vector["raw"]).as_bytes();
        assert!(canonical::parse(raw).is_err(), "{vector}");
        assert!(Reader::new(raw).is_err() || Reader::new(raw).unwrap().value("").is_err(), "{vector}");
    }
}

#[test]
fn every_double_has_the_text_of_the_vectors_or_none() {
    let vectors = load("numbers");
    for vector in list(&vectors) {
        let value = f64::from_bits(u64::from_str_radix(text(&vector["bits"]), 16).unwrap());
        let printed = canonical::to_text(&Value::from(value));
        assert_eq!(printed.as_deref().ok(), vector["text"].as_str(), "{vector}");
        if let Some(text) = vector["text"].as_str() {
            assert_eq!(Reader::new(text.as_bytes()).unwrap().value("").unwrap(), text);
            assert_eq!(canonical::parse(text.as_bytes()).unwrap().as_f64(), Some(value));
        }
    }
    for wanted in ["5.684341886080802e-14", "5e-324", "1e+21"] {
        assert!(list(&vectors).iter().any(|vector| vector["text"] == wanted), "{wanted}");
    }
    assert_eq!(list(&vectors).len(), 400);
}

#[test]
fn every_note_line_is_what_the_vectors_say() {
    let vectors = load("notes");
    for vector in list(&vectors) {
        let line = NoteLine::parse(text(&vector["line"]).as_bytes());
        let (kind, id) = match &line {
            Err(_) => ("malformed", None),
            Ok(None) => ("blank", None),
            Ok(Some(NoteLine::Anchor { anchor, .. })) => ("anchor", Some(anchor.id().to_string())),
            Ok(Some(NoteLine::Seal { .. })) => ("seal", None),
            Ok(Some(NoteLine::Word { .. })) => ("word", None),
            Ok(Some(NoteLine::Unknown { .. })) => ("unknown", None),
        };
        assert_eq!(
            (kind, id.as_deref()),
            (text(&vector["kind"]), vector["id"].as_str()),
            "{}: {line:?}",
            vector["what"]
        );
    }
    assert_eq!(list(&vectors).len(), 76);
}

#[test]
fn every_message_has_the_trailers_and_strays_of_the_vectors() {
    let vectors = load("trailers");
    for vector in list(&vectors) {
        let found = ProofTrailers::parse(text(&vector["message"]).as_bytes());
        let trailers: Vec<String> = found.trailers.iter().map(ToString::to_string).collect();
        let strays = found.strays.iter().map(|stray| match stray {
            Stray::Outside { line } => ["outside", line],
            Stray::Malformed { line } => ["malformed", line],
            Stray::UnknownKey { key } => ["unknown key", key],
            Stray::More { .. } => panic!("{vector}"),
        });
        let strays: Vec<[&str; 2]> = strays.collect();
        assert_eq!(
            serde_json::json!([trailers, strays]),
            serde_json::json!([vector["trailers"], vector["strays"]]),
            "{vector}"
        );
    }
    assert_eq!(list(&vectors).len(), 69);
}

#[test]
fn every_proof_about_the_log_holds_or_not_as_the_vectors_say() {
    let vectors = load("logs");
    let mut held = 0;
    for vector in list(&vectors) {
        let trusted = &vector["trusted"];
        let log =
            LogHead { root: RootHash::parse(text(&trusted["root"])).unwrap(), size: trusted["size"].as_u64().unwrap() };
        let file = text(&vector["line"]);
        let line = file.strip_suffix('\n').unwrap_or(file).as_bytes();
        let holds = ConsistencyProof::parse(line).is_ok_and(|proof| proof.verify(&log).is_ok())
            || LoggedProof::parse(line).is_ok_and(|proof| proof.verify(&log).is_ok());
        assert_eq!(holds, vector["valid"].as_bool().unwrap(), "{}", vector["desc"]);
        held += usize::from(holds);
    }
    assert_eq!((list(&vectors).len(), held), (322, 183));
}

#[test]
fn every_tampered_chain_of_seals_breaks_at_the_round_of_the_vectors() {
    let vectors = load("seals");
    for vector in list(&vectors) {
        let mut rounds = Rounds::new();
        let broken = list(&vector["seals"]).iter().position(|seal| rounds.push(text(seal).as_bytes()).is_err());
        let expected = vector["broken_at"].as_u64();
        assert_eq!(broken.map(|index| index as u64 + 1), expected, "{}", vector["desc"]);
    }
    assert_eq!(list(&vectors).len(), 30);
}

#[test]
fn default_marks_are_those_of_the_vectors() {
    assert_eq!(serde_json::json!(marks::trailers()), load("marks"));
}

#[test]
fn every_observation_is_read_or_refused_as_the_vectors_say() {
    let vectors = load("observed");
    for vector in list(&vectors["accept"]) {
        let attest = text(&vector["attest"]);
        let seen = Observed::parse(attest.as_bytes()).unwrap_or_else(|error| panic!("{}: {error}", vector["desc"]));
        assert_eq!(seen.to_text(), attest, "{}", vector["desc"]);
    }
    for vector in list(&vectors["refuse"]) {
        let attest = text(&vector["attest"]);
        assert!(Observed::parse(attest.as_bytes()).is_err(), "{}", vector["desc"]);
        assert!(Observed::is_claimed_by(attest), "{}: nobody may write it either", vector["desc"]);
    }
    for vector in list(&vectors["marks"]) {
        let metadata = canonical::to_text(&vector["metadata"]).unwrap();
        let marks = Marks::of(Some(&metadata));
        assert_eq!(marks.event.map(Event::as_str), vector["event"].as_str(), "{metadata}");
        let ignored: Vec<&str> = list(&vector["ignored"]).iter().map(text).collect();
        assert_eq!(marks.ignored, ignored, "{metadata}");
    }
}
