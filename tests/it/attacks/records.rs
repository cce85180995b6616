//! The records behind a root: edited, dropped, reordered, inserted, repeated, or made of the tree's own nodes.

use git_proof::proof::scheme::Scheme;
use serde_json::{Value, json};

use super::Proven;
use crate::naive;

/// The content hash of each entry.
fn leaves(lines: &[String]) -> Vec<naive::Hash> {
    lines[1..].iter().map(|line| naive::sha256(&[line.as_bytes()])).collect()
}

#[test]
fn edited_record_breaks_the_chain() {
    let proven = Proven::new();
    let mut lines = proven.evidence();
    lines[3] = lines[3].replace("nothing else", "everything else");
    proven.set_evidence(&lines);
    proven.gate().fails("CHAIN_BROKEN");
}

#[test]
fn edited_record_with_the_chain_made_again_is_another_root() {
    let proven = Proven::new();
    let lines = rechained(&proven.evidence(), |lines| lines[3]["content"] = "shout everything".into());
    proven.set_evidence(&lines);
    proven.gate().fails("ROOT_MISMATCH").fails("CHAIN_BROKEN");
}

#[test]
fn edited_last_record_is_another_root() {
    let proven = Proven::new();
    let mut lines = proven.evidence();
    lines[5] = lines[5].replace("loud", "calm");
    proven.set_evidence(&lines);
    proven.gate().fails("ROOT_MISMATCH");
}

#[test]
fn edited_opening_breaks_the_chain() {
    let proven = Proven::new();
    let mut lines = proven.evidence();
    lines[0] = lines[0].replace("try it", "steal it");
    proven.set_evidence(&lines);
    proven.gate().fails("CHAIN_BROKEN");
}

#[test]
fn dropped_record_breaks_the_chain() {
    let proven = Proven::new();
    let mut lines = proven.evidence();
    lines.remove(3);
    proven.set_evidence(&lines);
    proven.gate().fails("CHAIN_BROKEN");
}

#[test]
fn dropped_last_record_is_another_root() {
    let proven = Proven::new();
    let mut lines = proven.evidence();
    lines.pop();
    proven.set_evidence(&lines);
    proven.gate().fails("ROOT_MISMATCH").fails("REFLECTION_MISSING");
}

#[test]
fn reordered_records_break_the_chain() {
    let proven = Proven::new();
    let mut lines = proven.evidence();
    lines.swap(2, 3);
    proven.set_evidence(&lines);
    proven.gate().fails("CHAIN_BROKEN");
}

#[test]
fn inserted_record_is_another_root() {
    let proven = Proven::new();
    let mut lines = proven.evidence();
    let inserted = lines[3].replace("nothing else", "whatever");
    lines.insert(4, inserted);
    proven.set_evidence(&lines);
    proven.gate().fails("ROOT_MISMATCH");
}

#[test]
fn last_leaf_repeated_has_the_root_and_not_the_count() {
    let proven = Proven::new();
    let mut lines = proven.evidence();
    lines.push(lines[5].clone());
    let levels = naive::levels(Scheme::V1, &leaves(&lines));
    assert_eq!(naive::hex(&levels.last().unwrap()[0]), proven.root, "the attack would not even start");
    proven.set_evidence(&lines);
    proven.gate().fails("ROOT_MISMATCH");
}

#[test]
fn anchor_that_counts_the_repeated_leaf_needs_evidence_that_does() {
    let proven = Proven::new();
    proven.set_note(&proven.head, proven.anchor_with(&[("count", json!(6))]));
    proven.gate().fails("ROOT_MISMATCH");
}

#[test]
fn nodes_of_the_tree_for_leaves_have_the_root_and_not_the_count() {
    let proven = Proven::new();
    let lines = proven.evidence();
    let levels = naive::levels(Scheme::V1, &leaves(&lines));
    let genesis = naive::hex(&naive::sha256(&[lines[0].as_bytes()]));
    let nodes = levels[1].iter().map(|node| json!({"prev_hash": genesis, "withheld": naive::hex(node)}).to_string());
    let forged: Vec<String> = [lines[0].clone()].into_iter().chain(nodes).collect();
    assert_eq!(forged.len(), 4);
    proven.set_evidence(&forged);
    proven.gate().fails("ROOT_MISMATCH").fails("REFLECTION_MISSING");
}

#[test]
fn evidence_cut_off_within_a_line_is_refused() {
    let proven = Proven::new();
    let whole = proven.evidence().join("\n");
    let cut = proven.blob(&whole[..whole.len() - 10]);
    proven.put("refs/proof/evidence", &Proven::evidence_path(&proven.root), "100644", &cut);
    proven.gate().fails("CHAIN_BROKEN");
}

#[test]
fn empty_evidence_is_refused() {
    let proven = Proven::new();
    proven.set_evidence::<&str>(&[]);
    proven.gate().fails("CHAIN_BROKEN");
}

#[test]
fn evidence_of_another_session_under_this_root_is_refused() {
    let proven = Proven::new();
    proven.write("b.txt", "b\n");
    let (_, other) = proven.prove("t", "Add b");
    let path = Proven::evidence_path(&other);
    let blob = proven.git(&["rev-parse", &format!("refs/proof/evidence:{path}")]);
    proven.put("refs/proof/evidence", &Proven::evidence_path(&proven.root), "100644", &blob);
    proven.gate().fails("ROOT_MISMATCH").fails("CHAIN_BROKEN");
}

#[test]
fn evidence_that_was_taken_away_is_missed() {
    let proven = Proven::new();
    proven.set_tree("refs/proof/evidence", &proven.git_with(&["mktree"], ""));
    proven.gate().fails("EVIDENCE_MISSING");
}

#[test]
fn evidence_that_was_never_fetched_could_not_be_checked() {
    let proven = Proven::new();
    proven.git(&["update-ref", "-d", "refs/proof/evidence"]);
    proven.gate().unchecked("REF_NOT_FETCHED");
}

#[test]
fn another_spelling_of_an_evidence_line_is_refused() {
    let proven = Proven::new();
    let lines = proven.evidence();
    let spellings: [fn(&str) -> String; 5] = [
        |line| line.replacen(',', ", ", 1),
        |line| line.replacen("\"type\"", "\"\\u0074ype\"", 1),
        |line| format!("{line} "),
        |line| format!("{line}\r"),
        |line| {
            let rest = line.split_once(',').unwrap().1;
            format!("{{{},{}}}", rest.trim_end_matches('}'), &line[1..].split_once(',').unwrap().0)
        },
    ];
    for (number, spell) in spellings.into_iter().enumerate() {
        let mut forged = lines.clone();
        forged[2] = spell(&forged[2]);
        assert_ne!(forged, lines, "spelling {number}");
        proven.set_evidence(&forged);
        proven.gate().fails("CHAIN_BROKEN");
    }
}

/// The lines with a change made and every hash that follows from it computed again.
pub(super) fn rechained(lines: &[String], change: impl FnOnce(&mut [Value])) -> Vec<String> {
    let mut values: Vec<Value> = lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    change(&mut values);
    let mut made = vec![values[0].to_string()];
    let mut previous = naive::sha256(&[made[0].as_bytes()]);
    for value in &mut values[1..] {
        value["prev_hash"] = naive::hex(&previous).into();
        let line = value.to_string();
        let content = naive::sha256(&[line.as_bytes()]);
        previous = naive::chain_hash(Scheme::V1, &content, &previous);
        made.push(line);
    }
    made
}

#[test]
fn scheme_that_is_not_known_is_no_yes() {
    let proven = Proven::new();
    let note = proven.note(&proven.head);
    proven.set_note(&proven.head, note.replace("\"scheme\":\"v1\"", "\"scheme\":\"v2\""));
    proven.gate().fails("ANCHOR_MALFORMED");
    proven.set_note(&proven.head, &note);
    let mut lines = proven.evidence();
    lines[0] = lines[0].replace("\"scheme\":\"v1\"", "\"scheme\":\"v2\"");
    let good = proven.evidence();
    proven.set_evidence(&lines);
    proven.gate().fails("CHAIN_BROKEN");
    proven.set_evidence(&good);
    proven.gate().passes();
    let message = format!("Shout\n\nProof-Root: s:v2:{}:5", proven.root);
    proven.git(&["commit", "--quiet", "--amend", "-m", &message]);
    proven.gate().fails("TRAILER_MISMATCH");
}
