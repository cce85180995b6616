//! Content made to exhaust whoever reads it: huge, deep, endless, cyclic, not text.

use std::fmt::Write as _;

use serde_json::json;

use super::{Proven, STRICT};

/// A notes tree in which every directory has all 256 names, and each of them is the same directory once more: 256^18 notes.
fn endless(proven: &Proven, note: &str) -> String {
    let mut below = proven.git_with(&["mktree"], format!("100644 blob {}\t{}\n", proven.blob(note), "00"));
    for _ in 0..18 {
        let mut listing = String::new();
        for digits in 0..256 {
            writeln!(listing, "040000 tree {below}\t{digits:02x}").unwrap();
        }
        below = proven.git_with(&["mktree"], listing);
    }
    below
}

#[test]
fn two_notes_trees_that_seem_endless_are_neither_merged_nor_in_the_way_of_the_rest() {
    let proven = Proven::new();
    let server = proven.scratch.around().join("server.git");
    proven.git(&["init", "--quiet", "--bare", server.to_str().unwrap()]);
    proven.git(&["remote", "add", "origin", server.to_str().unwrap()]);
    proven.set_tree("refs/notes/proof", &endless(&proven, "x"));
    proven.git(&["push", "--quiet", "origin", "refs/notes/proof"]);
    proven.set_tree("refs/notes/proof", &endless(&proven, "y"));
    let ran = proven.scratch.run(["--json", "sync"]);
    assert_eq!(ran.exit, Some(3), "{ran:?}");
    let synced: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(synced["findings"][0]["code"], "LIMIT_REACHED", "{synced}");
    assert_eq!(synced["pushed"], json!(["refs/proof/evidence", "refs/proof/changes"]), "{synced}");
}

#[test]
fn notes_tree_that_seems_endless_is_not_listed() {
    let proven = Proven::new();
    let below = endless(&proven, "x");
    let note = proven.git(&["notes", "--ref=proof", "list", &proven.head]);
    let listing = proven.git(&["ls-tree", &below]) + &format!("\n100644 blob {note}\t{}\n", proven.head);
    let tree = proven.git_with(&["mktree"], listing);
    proven.set_tree("refs/notes/proof", &tree);
    let mut tip = proven.head.clone();
    let same = proven.tip("HEAD^{tree}");
    for number in 0..70 {
        tip = proven.git(&["commit-tree", &same, "-p", &tip, "-m", &number.to_string()]);
    }
    proven.git(&["update-ref", "HEAD", &tip]);
    let judged = proven.gate();
    judged.passes();
    assert_eq!(judged.said["summary"]["exempt"], 70, "{judged:?}");
}

#[test]
fn tree_that_is_too_deep_could_not_be_checked() {
    let proven = Proven::with_policy(STRICT);
    let path = "d/".repeat(3000);
    let stream = format!(
        "commit refs/heads/deep\ncommitter A <a@x> 1 +0000\ndata 4\nDeep\nfrom {}\nM 100644 inline {path}f\ndata 1\nx\n",
        proven.head
    );
    proven.git_with(&["fast-import", "--quiet"], stream);
    let judged = proven.judge(&["gate", "--base", &proven.base, "--head", "refs/heads/deep"]);
    assert!(matches!(judged.exit, Some(1 | 3)), "{judged:?}");
}

#[test]
fn evidence_of_very_many_lines_is_read_in_bounded_time() {
    let proven = Proven::new();
    let opening = proven.evidence()[0].clone();
    let genesis = crate::naive::hex(&crate::naive::sha256(&[opening.as_bytes()]));
    let line = json!({"prev_hash": genesis, "withheld": "0".repeat(64)}).to_string() + "\n";
    let blob = proven.blob(opening + "\n" + &line.repeat(MANY));
    proven.put("refs/proof/evidence", &Proven::evidence_path(&proven.root), "100644", &blob);
    proven.gate().fails("ROOT_MISMATCH");
}

/// A program without optimization takes its time.
const MANY: usize = 100_000;

#[test]
fn line_of_evidence_that_is_too_long_is_refused() {
    let proven = Proven::new();
    let mut lines = proven.evidence();
    lines[1] = lines[1].replace("shout", &"x".repeat(9 << 20));
    proven.set_evidence(&lines);
    proven.gate().fails("CHAIN_BROKEN");
}

#[test]
fn lines_that_are_nested_deep_or_not_text_are_malformed() {
    let proven = Proven::new();
    let line = proven.note(&proven.head);
    let deep = "[".repeat(1 << 19);
    let objects = "{\"a\":".repeat(1 << 17);
    for bad in [
        deep.as_bytes(),
        objects.as_bytes(),
        b"\xff\xfe\x00\x80",
        b"{\"anchor\":\"\xff\"}",
        b"{\"anchor\":\"\\ud800\"}",
        &line.replace("\"session_id\":\"s\"", "\"session_id\":\"s\\u0000\"").into_bytes(),
        &line.replace("\"count\":5", "\"count\":99999999999999999999").into_bytes(),
        &line.replace("\"count\":5", "\"count\":0").into_bytes(),
        &line.replace("\"count\":5", "\"count\":-5").into_bytes(),
    ] {
        proven.set_note(&proven.head, bad);
        proven.gate().fails("ANCHOR_MALFORMED");
    }
}

#[test]
fn evidence_that_is_not_text_is_refused() {
    let proven = Proven::new();
    for bad in [&b"\xff\xfe\n"[..], b"\0\0\0\n", b"{}\n", b"\n\n\n", "[".repeat(1 << 20).as_bytes()] {
        let blob = proven.blob(bad);
        proven.put("refs/proof/evidence", &Proven::evidence_path(&proven.root), "100644", &blob);
        proven.gate().fails("CHAIN_BROKEN");
    }
}

#[test]
fn message_of_megabytes_is_judged_up_to_a_limit() {
    let proven = Proven::new();
    let tree = proven.tip("HEAD^{tree}");
    let with_words = |count: usize| {
        let message = format!("Long\n\n{}\nProof-Grade: true\n", "word ".repeat(count));
        let commit = proven.git_with(&["commit-tree", &tree, "-p", &proven.head, "-F", "-"], message);
        proven.judge(&["gate", "--base", &proven.base, "--head", &commit])
    };
    with_words(700_000).fails("ANCHOR_MISSING");
    with_words(1_000_000).unchecked("LIMIT_REACHED");
}

#[test]
fn refs_and_alternates_that_lead_to_themselves_are_no_proof() {
    let proven = Proven::new();
    proven.write(".git/objects/info/alternates", proven.scratch.place.join(".git/objects").to_str().unwrap());
    proven.gate().passes();
    proven.git(&["pack-refs", "--all", "--no-prune"]);
    proven.write(".git/refs/notes/proof", "ref: refs/notes/proof\n");
    let judged = proven.gate();
    assert!(matches!(judged.exit, Some(3 | 4)), "{judged:?}");
}

#[test]
fn path_that_is_not_text_is_judged() {
    let proven = Proven::with_policy("[proof_grade]\npaths = [\"src/**\"]\n");
    let stream = format!(
        "commit refs/heads/odd\ncommitter A <a@x> 1 +0000\ndata 3\nOdd\nfrom {}\nM 100644 inline \"src/\\377\\n\\t\\033[2J\"\ndata 1\nx\n",
        proven.head
    );
    proven.git_with(&["fast-import", "--quiet"], stream);
    proven.judge(&["gate", "--base", &proven.base, "--head", "refs/heads/odd"]).fails("ANCHOR_MISSING");
}
