//! The change index is a file that anyone may add to: what leads nowhere must not keep what is honest from being found.

use std::fmt::Write as _;

use serde_json::Value;

use git_proof::git::limits::MAX_NOTE;

use super::Proven;
use crate::store::scratch::text;

/// The file of a change in the index.
fn index(proven: &Proven, change: &str, lines: &str) {
    proven.put("refs/proof/changes", &format!("{}/{change}", &change[..2]), "100644", &proven.blob(lines));
}

/// What the proven commit does.
fn change(proven: &Proven) -> String {
    let note: Value = serde_json::from_str(&proven.note(&proven.head)).unwrap();
    note["anchor"]["change_id"].as_str().unwrap().to_owned()
}

/// Ranges and commits that are not here, each before and after whatever is.
fn junk() -> (String, String) {
    let lines = |first: char| {
        let mut lines = String::new();
        for number in 0..3000 {
            let id = format!("{first}{number:039x}");
            writeln!(lines, "{{\"base\":\"{id}\",\"head\":\"{id}\"}}\n{{\"commit\":\"{id}\"}}").unwrap();
        }
        lines
    };
    (lines('0'), lines('f'))
}

/// The same change on another branch, found by the index alone.
fn moved() -> Proven {
    let proven = Proven::new();
    proven.git(&["checkout", "--quiet", "-b", "side", &proven.base]);
    proven.write("b.txt", "b\n");
    proven.commit("Something else");
    proven.git(&["cherry-pick", &proven.head]);
    std::fs::remove_dir_all(proven.scratch.place.join(".git/proof")).unwrap();
    proven.gate().fails("ANCHOR_MISSING");
    proven
}

#[test]
fn commit_in_the_index_is_found_among_thousands_that_lead_nowhere() {
    let proven = moved();
    let (before, after) = junk();
    index(&proven, &change(&proven), &format!("{before}{{\"commit\":\"{}\"}}\n{after}", proven.head));
    let judged = proven.gate();
    judged.passes();
    assert_eq!(judged.said["commits"][0]["binding"], "moved", "{judged:?}");
}

#[test]
fn range_in_the_index_is_found_among_thousands_that_lead_nowhere() {
    let proven = moved();
    let (before, after) = junk();
    let honest = format!("{{\"base\":\"{}\",\"head\":\"{}\"}}\n", proven.base, proven.head);
    index(&proven, &change(&proven), &format!("{before}{honest}{after}"));
    let judged = proven.gate();
    judged.passes();
    assert_eq!(judged.said["commits"][0]["binding"], "squashed", "{judged:?}");
}

#[test]
fn index_that_says_too_much_of_what_is_here_is_reported() {
    let proven = moved();
    let tree = proven.tip("HEAD^{tree}");
    let (mut tip, mut all) = (proven.base.clone(), vec![]);
    for number in 0..24 {
        tip = proven.git(&["commit-tree", &tree, "-p", &tip, "-m", &number.to_string()]);
        all.push(tip.clone());
    }
    let mut lines = String::new();
    for base in &all {
        for head in all.iter().filter(|head| *head != base) {
            writeln!(lines, "{{\"base\":\"{base}\",\"head\":\"{head}\"}}").unwrap();
        }
    }
    let honest = format!("{{\"base\":\"{}\",\"head\":\"{}\"}}\n", proven.base, proven.head);
    index(&proven, &change(&proven), &(lines.clone() + &honest));
    let judged = proven.gate();
    judged.unchecked("LIMIT_REACHED");
    assert!(judged.said.to_string().contains("more places for this change than the 256"), "{judged:?}");
    // Ranges do not crowd out commits, and nothing is reported of what passes.
    index(&proven, &change(&proven), &format!("{lines}{{\"commit\":\"{}\"}}\n", proven.head));
    let judged = proven.gate();
    judged.passes();
    assert_eq!(judged.codes("warning"), Vec::<&str>::new(), "{judged:?}");
}

/// So many bytes of anchors, each with another time, and so with another id.
fn many_anchors(proven: &Proven, bytes: usize) -> (String, usize) {
    let note = proven.note(&proven.head);
    let time = text(&serde_json::from_str::<Value>(&note).unwrap()["anchor"], "anchored_at").to_owned();
    let count = bytes / (note.len() + 1);
    let mut lines = String::new();
    for number in 0..count {
        let (second, milli) = (number / 1000, number % 1000);
        let other = format!("2026-01-01T00:{:02}:{:02}.{milli:03}Z", second / 60, second % 60);
        writeln!(lines, "{}", note.replacen(&time, &other, 1)).unwrap();
    }
    (lines, count)
}

#[test]
fn note_full_of_anchors_is_judged_line_by_line_up_to_a_limit() {
    let proven = Proven::new();
    let (lines, count) = many_anchors(&proven, MAX_NOTE);
    assert!(count > 1000, "{count}");
    proven.set_note(&proven.head, &lines);
    let judged = proven.judge(&["verify", "HEAD"]);
    judged.passes();
    assert_eq!(judged.said["commits"][0]["sessions"].as_array().unwrap().len(), count);
    proven.set_note(&proven.head, lines.clone() + &lines);
    proven.judge(&["verify", "HEAD"]).unchecked("LIMIT_REACHED");
    proven.gate().unchecked("LIMIT_REACHED");
}

#[test]
fn anchor_that_stands_in_a_long_note_twice_is_one() {
    let proven = Proven::new();
    let note = proven.note(&proven.head);
    let mut lines = String::new();
    for second in 0..30 {
        let anchor: Value = serde_json::from_str(&note).unwrap();
        let time = text(&anchor["anchor"], "anchored_at");
        writeln!(lines, "{}", note.replacen(time, &format!("2026-01-01T00:00:{second:02}.000Z"), 1)).unwrap();
    }
    proven.set_note(&proven.head, format!("{lines}{lines}"));
    let judged = proven.judge(&["verify", "HEAD"]);
    judged.passes();
    assert_eq!(judged.said["commits"][0]["sessions"].as_array().unwrap().len(), 30, "{judged:?}");
}

#[test]
fn deleted_anchors_that_are_not_followed_are_said_to_be_there() {
    let proven = Proven::new();
    let note = proven.note(&proven.head);
    let seal = |count: usize| {
        let mut lines = String::new();
        for number in 0..count {
            let anchor: Value = serde_json::from_str(&note).unwrap();
            let time = text(&anchor["anchor"], "anchored_at");
            let other = format!("2026-01-01T00:00:{:02}.{:03}Z", number / 1000, number % 1000);
            writeln!(lines, "{}", note.replacen(time, &other, 1)).unwrap();
        }
        proven.set_note(&proven.head, lines);
        proven.scratch.json(&["seal"]);
        proven.set_note(&proven.head, "{\"other\":{\"type\":\"some/thing@9\"}}\n");
        std::fs::remove_file(proven.scratch.place.join(".git/proof/store.db")).unwrap();
    };
    seal(1100); // and the one that was there before
    proven.write("b.txt", "b");
    proven.commit("Nobody explains this");
    let judged = proven.judge(&["verify", "HEAD"]);
    judged.warns("ANCHOR_DELETED");
    assert!(
        judged.said.to_string().contains("seals list 1101 anchors that the notes do not have; 101 of them"),
        "{judged:?}"
    );
    proven.judge(&["verify", "HEAD~1"]).fails("ANCHOR_DELETED");
}
