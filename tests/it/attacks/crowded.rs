//! The change index is a file that anyone may add to: what leads nowhere must not keep what is honest from being found.

use std::fmt::Write as _;

use serde_json::Value;

use super::Proven;

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
    judged.fails("ANCHOR_MISSING");
    assert!(judged.said.to_string().contains("more places for this change than are looked at"), "{judged:?}");
    // Ranges do not crowd out commits, and nothing is reported of what passes.
    index(&proven, &change(&proven), &format!("{lines}{{\"commit\":\"{}\"}}\n", proven.head));
    let judged = proven.gate();
    judged.passes();
    assert_eq!(judged.codes("warning"), Vec::<&str>::new(), "{judged:?}");
}
