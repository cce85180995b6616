//! The two pages of the format are held to their word: their examples are the files of tests/format, they hold, every hash on them is one
//! that is computed here, and the shell script gives the verdicts of the vectors.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::process::{Command, Stdio};

use git_proof::proof::anchor::Anchor;
use git_proof::proof::canonical::{self, Reader};
use git_proof::proof::change::{GitAttestation, Sighting, change_id};
use git_proof::proof::digest::{ContentHash, NodeHash, RootHash, Salt, sha256};
use git_proof::proof::evidence::{self, Summary, Verifier};
use git_proof::proof::inclusion::{InclusionProof, Step};
use git_proof::proof::log;
use git_proof::proof::logged::{ConsistencyProof, LoggedProof, RoundHead};
use git_proof::proof::memory::{self, MemoryAttestation};
use git_proof::proof::note::NoteLine;
use git_proof::proof::observed::Observed;
use git_proof::proof::record::{Body, Line, Opening, Withheld};
use git_proof::proof::scheme::Scheme;
use git_proof::proof::seal::{LogHead, Parent, Rounds, Seal, SealedSession, seal_hash};
use git_proof::proof::sshsig;
use git_proof::proof::trailer::{ProofTrailer, ProofTrailers};
use git_proof::proof::tree;
use git_proof::proof::word::{NamedSession, Word};

const PAGE: &str =
    concat!(include_str!("../../src/proof/FORMAT.md"), "\n", include_str!("../../src/proof/FORMAT-GIT.md"));
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/format");

fn file(name: &str) -> String {
    std::fs::read_to_string(format!("{FOLDER}/{name}")).unwrap()
}

/// The fenced blocks below the place where the page names this file.
fn fences_after(name: &str) -> Vec<&'static str> {
    let mention = format!("`tests/format/{name}`");
    let start = PAGE.find(&mention).unwrap_or_else(|| panic!("{name} is not named"));
    PAGE[start..].split("\n```").skip(1).step_by(2).map(|fence| fence.split_once('\n').unwrap().1).collect()
}

/// The value in the line of a `text` block that starts with this label.
fn printed(label: &str) -> &'static str {
    let line = PAGE.lines().find(|line| line.strip_prefix(label).is_some_and(|rest| rest.starts_with("  ")));
    line.unwrap_or_else(|| panic!("no line starts with {label}")).split_whitespace().last().unwrap()
}

fn digests(text: &str) -> impl Iterator<Item = &str> {
    text.split(|character: char| !character.is_ascii_hexdigit()).filter(|word| word.len() == 64)
}

fn hex(hash: [u8; 32]) -> String {
    NodeHash::new(hash).to_string()
}

fn session() -> Summary {
    evidence::verify(file("session.jsonl").as_bytes()).unwrap()
}

/// The content hashes of the example session.
fn leaves() -> Vec<NodeHash> {
    file("session.jsonl").lines().skip(1).map(|line| NodeHash::new(sha256(line.as_bytes()))).collect()
}

#[test]
fn examples_on_the_page_are_the_files() {
    for name in [
        "session.jsonl",
        "proof.json",
        "check-evidence.sh",
        "change.diff",
        "change.hashed",
        "commit.txt",
        "seal.line",
        "squash.txt",
        "word.line",
    ] {
        let skipped = usize::from(name == "change.hashed");
        // The hashed text is named in the same sentence as the diff, and shown second.
        assert_eq!(fences_after(name)[skipped], file(name).trim_end_matches('\n'), "{name}");
    }
    let anchors = file("anchor.line") + &file("anchor-signed.line");
    assert_eq!(fences_after("anchor.line")[0], anchors.trim_end());
    assert_eq!(fences_after("consistency.json")[0], (file("consistency.json") + &file("logged.json")).trim_end());
    assert_eq!(fences_after("seal-1.json")[0], file("seal-1.json") + "\n" + &file("seal-2.json"));
}

#[test]
fn tables_of_fields_are_those_from_which_objects_are_written_and_read() {
    for table in [
        Opening::table(),
        InclusionProof::table(),
        Step::table(),
        ConsistencyProof::table(),
        LoggedProof::table(),
        RoundHead::table(),
        Withheld::table(),
        GitAttestation::table(),
        Observed::table(),
        MemoryAttestation::table(),
        Anchor::table(),
        Word::table(),
        NamedSession::table(),
        Seal::table(),
        LogHead::table(),
        Parent::table(),
        SealedSession::table(),
    ] {
        assert!(PAGE.contains(&format!("\n\n{table}\n")), "FORMAT.md should have this table:\n{table}");
    }
}

#[test]
fn session_has_the_hashes_that_are_printed() {
    let mut verifier = Verifier::new();
    let mut chain = Vec::new();
    verifier.push_with(file("session.jsonl").as_bytes(), |_, _, hash| chain.push(hash.to_string())).unwrap();
    let summary = verifier.finish().unwrap();
    assert_eq!(summary.genesis.to_string(), printed("genesis"));
    for (index, (leaf, chain)) in leaves().iter().zip(&chain).enumerate() {
        assert_eq!(leaf.to_string(), printed(&format!("content_hash e{}", index + 1)));
        assert_eq!(chain, printed(&format!("chain_hash e{}", index + 1)));
    }
    assert_eq!((summary.count, summary.withheld, summary.reflection.is_some()), (3, 0, true));
}

#[test]
fn withheld_line_leaves_root_and_head_as_they_are() {
    let withheld = PAGE.lines().find(|line| line.starts_with("{\"prev_hash\":")).unwrap();
    let text = file("session.jsonl");
    let mut lines: Vec<&str> = text.lines().collect();
    lines[1] = withheld;
    let summary = evidence::verify((lines.join("\n") + "\n").as_bytes()).unwrap();
    assert_eq!((summary.root, summary.head, summary.withheld), (session().root, session().head, 1));
}

#[test]
fn trees_of_the_four_schemes_have_the_roots_that_are_printed() {
    for scheme in Scheme::ALL {
        let mut nodes: Vec<NodeHash> =
            leaves().iter().map(|leaf| scheme.leaf(&ContentHash::new(*leaf.as_bytes()))).collect();
        if scheme == Scheme::V1Sorted {
            nodes.sort_unstable();
        }
        assert_eq!(tree::root_of(scheme, &nodes, 1).unwrap().to_string(), printed(scheme.as_str()));
    }
}

#[test]
fn proof_holds_against_the_session() {
    let text = file("proof.json");
    let proof = InclusionProof::parse(text.trim_end().as_bytes()).unwrap();
    assert_eq!(proof.to_line() + "\n", text);
    assert_eq!(proof.verify(&session().root, session().count), Ok(()));
}

#[test]
fn proofs_about_the_log_hold_against_the_second_seal() {
    let log = Seal::parse(file("seal-2.json").as_bytes()).unwrap().log;
    let consistency = ConsistencyProof::parse(file("consistency.json").trim_end().as_bytes()).unwrap();
    assert_eq!(consistency.verify(&log), Ok(()));
    assert_eq!(consistency.to_line() + "\n", file("consistency.json"));
    let logged = LoggedProof::parse(file("logged.json").trim_end().as_bytes()).unwrap();
    assert_eq!(logged.verify(&log), Ok(()));
    assert_eq!(logged.to_line() + "\n", file("logged.json"));
}

#[test]
fn consistency_proof_ties_the_two_logs() {
    let [old, new] = ["log of size 1", "log of size 2"].map(|label| RootHash::parse(printed(label)).unwrap());
    let step = NodeHash::parse(printed("proof")).unwrap();
    assert!(log::is_consistent((1, &old), (2, &new), &[step]));
    assert_eq!((old.to_string(), step.to_string()), (printed("log leaf s-1").into(), printed("log leaf s-2").into()));
}

#[test]
fn diff_has_the_change_id_that_anchor_and_attestation_state() {
    let change = change_id(file("change.diff").as_bytes()).unwrap();
    assert_eq!(hex(sha256(file("change.hashed").as_bytes())), change.to_string());
    let shown = PAGE.lines().find(|line| line.starts_with("{\"git\":")).unwrap();
    let attestation = GitAttestation::parse(shown.as_bytes()).unwrap();
    assert_eq!((attestation.to_text().as_str(), attestation.change_id), (shown, Some(change)));

    let text = file("session.jsonl");
    let entry = text.lines().nth(2).unwrap();
    let Line::Entry(entry) = Line::parse(entry.as_bytes()).unwrap() else { panic!("withheld") };
    assert_eq!(entry.body, Body::Attest { attest: shown.into() });
}

/// The salt of the page's example: 00 01 02 … 1f.
const SALT: Salt = Salt::new({
    let mut bytes = [0; 32];
    let mut at = 0;
    while at < 32 {
        bytes[at as usize] = at;
        at += 1;
    }
    bytes
});

#[test]
fn memory_attestation_holds_the_hash_of_the_note_that_is_named() {
    for (start, salt) in [("{\"note\":", Some(&SALT)), ("{\"memory\":", None)] {
        let shown = PAGE.lines().find(|line| line.starts_with(start)).unwrap();
        let said = MemoryAttestation::parse(shown.as_bytes()).unwrap();
        assert_eq!(said.to_text(), shown);
        assert!(said.names(salt, "the cache is keyed by path"), "{shown}");
    }
}

#[test]
fn anchor_is_that_of_the_session_and_its_commit() {
    let text = file("anchor.line");
    let line = NoteLine::parse(text.trim_end().as_bytes()).unwrap().unwrap();
    assert_eq!(line.to_line().unwrap() + "\n", text);
    let NoteLine::Anchor { anchor, signature: None } = line else { panic!("signed") };
    assert!(PAGE.contains(&format!("with the id `{}`", anchor.id())));
    let summary = session();
    assert_eq!((anchor.root, anchor.count), (summary.root, summary.count));
    assert_eq!((anchor.genesis, anchor.head), (summary.genesis, summary.head));
    assert_eq!((&anchor.session_id, anchor.scheme), (&summary.opening.session_id, summary.opening.scheme));
    assert_eq!(anchor.task_id, summary.opening.task_id);
    assert_eq!(anchor.change_id, change_id(file("change.diff").as_bytes()));
    let commit = file("commit.txt");
    assert!(commit.starts_with(&format!("tree {}\n", anchor.tree)));
    let hashed = output(Command::new("git").args(["hash-object", "-t", "commit", "--stdin"]), commit.as_bytes());
    assert_eq!(hashed.trim_end(), anchor.commit.to_string());

    let signed = NoteLine::parse(file("anchor-signed.line").trim_end().as_bytes()).unwrap().unwrap();
    let NoteLine::Anchor { anchor: same, signature: Some(signature) } = signed else { panic!("not signed") };
    assert_eq!(same, anchor);
    assert!(signature.0.starts_with(b"SSHSIG"));
}

#[test]
fn commit_names_the_root_in_its_trailers() {
    let commit = file("commit.txt");
    let found = ProofTrailers::parse(commit.split_once("\n\n").unwrap().1.as_bytes());
    let [ProofTrailer::Root(root)] = &found.trailers[..] else { panic!("{found:?}") };
    assert_eq!((root.root, root.count, root.scheme), (session().root, 3, Scheme::V1));
    assert_eq!(found.strays, []);
}

#[test]
fn word_is_signed_for_the_squash_of_the_commit_and_its_session() {
    let text = file("word.line");
    let line = NoteLine::parse(text.trim_end().as_bytes()).unwrap().unwrap();
    assert_eq!(line.to_line().unwrap() + "\n", text);
    let NoteLine::Word { word, signature } = line else { panic!("no word") };
    let squash = file("squash.txt");
    assert!(squash.starts_with(&format!("tree {}\n", word.tree)));
    let hashed = output(Command::new("git").args(["hash-object", "-t", "commit", "--stdin"]), squash.as_bytes());
    assert_eq!(hashed.trim_end(), word.commit.to_string());
    assert!(PAGE.contains(&format!("its id is `{}`", word.commit)));
    let Ok(Some(NoteLine::Anchor { anchor, .. })) = NoteLine::parse(file("anchor.line").trim_end().as_bytes()) else {
        panic!("no anchor")
    };
    assert_eq!(word.head, Some(anchor.commit));
    assert!(file("commit.txt").contains(&format!("\nparent {}\n", word.base.unwrap())));
    assert_eq!(word.sessions, [NamedSession { root: session().root, count: 3 }]);
    let key = sshsig::verify(&signature.0, word.to_text().as_bytes(), sshsig::NAMESPACE).unwrap();
    assert!(file("allowed_signers").contains(&format!("grace@example.com namespaces=\"git-proof\" {key}\n")));
}

#[test]
fn word_with_another_byte_is_not_what_was_signed() {
    let text = file("word.line");
    let line = text.trim_end().as_bytes();
    for at in 0..line.len() {
        let mut changed = line.to_vec();
        changed[at] ^= 1;
        let mut shorter = line.to_vec();
        shorter.remove(at);
        for forged in [changed, shorter] {
            let Ok(Some(NoteLine::Word { word, signature })) = NoteLine::parse(&forged) else { continue };
            let signed = sshsig::verify(&signature.0, word.to_text().as_bytes(), sshsig::NAMESPACE);
            assert!(signed.is_err(), "{}", String::from_utf8_lossy(&forged));
        }
    }
}

#[test]
fn index_lines_are_canonical_sightings() {
    for start in ["{\"commit\":", "{\"base\":"] {
        let line = PAGE.lines().find(|line| line.starts_with(start)).unwrap();
        assert_eq!(Sighting::parse(line.as_bytes()).unwrap().to_line(), line);
    }
}

#[test]
fn seals_continue_one_another_and_seal_the_anchors() {
    let mut rounds = Rounds::new();
    let sessions =
        [("seal-1.json", "session.jsonl", "anchor.line"), ("seal-2.json", "session-2.jsonl", "anchor-2.line")];
    for (number, (seal, session, anchor)) in sessions.into_iter().enumerate() {
        let text = file(seal);
        let seal = rounds.push(text.as_bytes()).unwrap();
        assert_eq!(seal.to_text(), text);
        assert_eq!(seal_hash(text.as_bytes()).to_string(), printed(&format!("seal hash {}", number + 1)));
        let summary = evidence::verify(file(session).as_bytes()).unwrap();
        let Ok(Some(NoteLine::Anchor { anchor, .. })) = NoteLine::parse(file(anchor).trim_end().as_bytes()) else {
            panic!("no anchor")
        };
        assert_eq!((anchor.root, anchor.head), (summary.root, summary.head));
        let [sealed] = &seal.sessions[..] else { panic!("one session") };
        assert_eq!((sealed.root, sealed.count, &sealed.anchors), (summary.root, summary.count, &vec![anchor.id()]));
        assert_eq!(log::leaf(sealed.to_text().as_bytes()).to_string(), printed(&format!("log leaf s-{}", number + 1)));
    }
    let first = seal_hash(file("seal-1.json").as_bytes());
    let line = NoteLine::parse(file("seal.line").trim_end().as_bytes()).unwrap().unwrap();
    assert!(matches!(line, NoteLine::Seal { seal, .. } if seal == first));
}

#[test]
fn canonical_examples_are_their_own_canonical_form() {
    let start = PAGE.find("## Canonical JSON").unwrap();
    let fence = PAGE[start..].split("```").nth(1).unwrap().strip_prefix("json\n").unwrap();
    assert_eq!(fence.lines().count(), 3);
    for line in fence.lines() {
        assert_eq!(Reader::new(line.as_bytes()).unwrap().value("").unwrap(), line);
        assert_eq!(canonical::to_text(&canonical::parse(line.as_bytes()).unwrap()).unwrap(), line);
    }
}

#[test]
fn every_digest_on_the_page_comes_from_the_examples() {
    let mut known = BTreeSet::new();
    for name in ["session.jsonl", "proof.json", "anchor.line", "seal-1.json", "seal-2.json"] {
        known.extend(digests(&file(name)).map(str::to_owned));
    }
    let leaves = leaves();
    known.extend(leaves.iter().map(ToString::to_string));
    known.insert(Scheme::V1.node(&leaves[2], &leaves[2]).to_string());
    known.extend(["seal-1.json", "seal-2.json"].map(|name| hex(sha256(file(name).as_bytes()))));
    // Held by tests of their own, above.
    known.insert(memory::text_hash("the cache is keyed by path").to_string());
    known.insert(memory::commitment(&SALT, "the cache is keyed by path").to_string());
    known.insert(SALT.to_string());
    known.extend(["v1-sorted", "v1-rfc9162", "ams-v0", "log leaf s-2"].map(|label| printed(label).to_owned()));
    for digest in digests(PAGE) {
        assert!(known.contains(digest), "{digest}");
    }
}

/// Tests are named `module::test` or `module`, in the last column of the tables.
#[test]
fn every_test_that_the_threat_model_names_exists() {
    let page = include_str!("../../docs/threat-model.md");
    let (promises, _) = page.split_once("\n## Limits\n").unwrap();
    let (_, promises) = promises.split_once("\n## What is promised\n").unwrap();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it");
    let module = |name: &str| {
        let path = format!("{folder}/{}", name.replace("::", "/"));
        std::fs::read_to_string(format!("{path}.rs"))
            .or_else(|_| std::fs::read_to_string(format!("{path}/mod.rs")))
            .ok()
    };
    let mut named = 0;
    for row in promises.lines().filter(|line| line.ends_with("` |")) {
        let (_, last) = row.trim_end_matches(" |").rsplit_once(" | ").unwrap();
        for name in last.split(", ").map(|name| name.trim_matches('`')) {
            let is_test = || {
                let (place, test) = name.rsplit_once("::")?;
                module(place)?
                    .split("#[test]\n")
                    .skip(1)
                    .find(|body| body.trim_start().starts_with(&format!("fn {test}(")))?;
                Some(())
            };
            assert!(module(name).is_some() || is_test().is_some(), "{name}");
            named += 1;
        }
    }
    assert!(named > 40, "{named}");
}

fn output(command: &mut Command, input: &[u8]) -> String {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

/// The verdict of the page's shell script; `None` where its tools are missing.
#[cfg(unix)]
fn shell_says(evidence: &str, root: &str, count: u64) -> Option<bool> {
    let tools = Command::new("sh").args(["-c", "command -v sha256sum && command -v xxd"]).output().unwrap();
    if !tools.status.success() {
        eprintln!("not checked: the script of FORMAT.md needs sha256sum and xxd");
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let (script, file) = (folder.path().join("check.sh"), folder.path().join("evidence.jsonl"));
    std::fs::write(&script, fences_after("check-evidence.sh")[0].to_owned() + "\n").unwrap();
    std::fs::write(&file, evidence).unwrap();
    let output = Command::new("sh").arg(script).arg(file).arg(root).arg(count.to_string()).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    Some(output.status.success())
}

#[cfg(unix)]
#[test]
fn shell_script_accepts_the_example_and_refuses_another_root_or_count() {
    let (text, root) = (file("session.jsonl"), session().root.to_string());
    for (root, count, verdict) in [(root.as_str(), 3, true), (&root, 4, false), (printed("v1-sorted"), 3, false)] {
        assert!(shell_says(&text, root, count).is_none_or(|says| says == verdict), "{root} {count}");
    }
}

#[cfg(unix)]
#[test]
fn shell_script_refuses_text_that_hides_in_a_withheld_line() {
    let (text, root) = (file("session.jsonl"), session().root.to_string());
    let lines: Vec<&str> = text.lines().collect();
    let (genesis, leaf) = (printed("genesis"), printed("content_hash e1"));
    let withheld = format!("{{\"prev_hash\":\"{genesis}\",\"withheld\":\"{leaf}\"}}");
    let forged_opening =
        format!("{{\"prev_hash\":\"x\",\"scheme\":\"v1\",\"session_id\":\"x\",\"withheld\":\"{genesis}\"}}");
    for (line, replacement, verdict) in [
        (1, withheld.clone(), true),
        (1, withheld.replace(",\"withheld\"", ",\"x\":\"y\",\"withheld\""), false),
        (1, withheld.replace('}', ",\"x\":\"y\"}"), false),
        (1, withheld.replace(",\"withheld\"", ",\"withheld\":\"y\",\"withheld\""), false),
        (1, withheld.replace(leaf, &leaf.to_uppercase()), false),
        (0, forged_opening, false),
    ] {
        let mut lines = lines.clone();
        lines[line] = &replacement;
        let says = shell_says(&(lines.join("\n") + "\n"), &root, 3);
        assert!(says.is_none_or(|says| says == verdict), "{replacement}");
    }
}

#[cfg(unix)]
#[test]
fn shell_script_gives_the_verdicts_of_the_vectors() {
    let path = format!("{}/tests/vectors/evidence.json", env!("CARGO_MANIFEST_DIR"));
    let vectors: Vec<serde_json::Value> = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let mut verdicts = [0, 0];
    for vector in &vectors {
        let description = vector["desc"].as_str().unwrap();
        if !["v1 n=1:", "v1 n=3:", "v1 n=6:"].iter().any(|start| description.starts_with(start)) {
            continue;
        }
        let trusted = &vector["trusted"];
        let (root, count) = (trusted["root"].as_str().unwrap(), trusted["count"].as_u64().unwrap());
        let valid = vector["valid"].as_bool().unwrap();
        let says = shell_says(vector["evidence"].as_str().unwrap(), root, count);
        assert!(says.is_none_or(|says| says == valid), "{description}");
        verdicts[usize::from(valid)] += 1;
    }
    assert_eq!(verdicts, [32, 3]);
}
