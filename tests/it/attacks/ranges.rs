//! A range is judged whole, whatever makes git leave a part of it out.

use super::{Proven, STRICT, copy_over};

/// A bad commit on top of a proven one, and a proven one on top of that: base, proven, bad, proven.
struct Hidden {
    proven: Proven,
    bad: String,
    good: String,
}

impl Hidden {
    fn new() -> Self {
        let proven = Proven::with_policy(STRICT);
        proven.write("b.txt", "bad\n");
        let bad = proven.commit("Bad");
        proven.write("c.txt", "good\n");
        let (good, _) = proven.prove("t", "Good");
        proven.judge(&["verify", &good]).passes();
        Self { proven, bad, good }
    }

    /// A commit like the good one, but on top of the base.
    fn without_the_bad(&self, on: &str) -> String {
        let raw = self.proven.git(&["cat-file", "commit", &self.good]).replace(&self.bad, on);
        self.proven.git_with(&["hash-object", "-t", "commit", "-w", "--stdin"], raw + "\n")
    }
}

#[test]
fn bad_commit_in_the_middle_fails_the_range() {
    let hidden = Hidden::new();
    let judged = hidden.proven.gate();
    judged.fails("ANCHOR_MISSING");
    assert_eq!(judged.said["summary"]["pass"], 2, "{judged:?}");
}

#[test]
fn replaced_commit_does_not_hide_one() {
    let hidden = Hidden::new();
    let other = hidden.without_the_bad(&hidden.proven.head);
    hidden.proven.git(&["replace", &hidden.good, &other]);
    assert_eq!(hidden.proven.git(&["rev-list", "--count", &format!("{}..HEAD", hidden.proven.base)]), "2");
    hidden.proven.gate().fails("ANCHOR_MISSING");
}

#[test]
fn graft_does_not_hide_one() {
    let hidden = Hidden::new();
    hidden.proven.write(".git/info/grafts", format!("{} {}\n", hidden.good, hidden.proven.head));
    hidden.proven.gate().fails("ANCHOR_MISSING");
}

#[test]
fn faked_shallow_boundary_does_not_hide_one() {
    let hidden = Hidden::new();
    hidden.proven.write(".git/shallow", format!("{}\n", hidden.good));
    hidden.proven.gate().unchecked("OBJECT_MISSING");
    let range = format!("{}..HEAD", hidden.proven.base);
    hidden.proven.judge(&["verify", &range]).unchecked("OBJECT_MISSING");
}

#[test]
fn shallow_clone_could_not_be_checked() {
    let hidden = Hidden::new();
    let clone = hidden.proven.scratch.around().join("clone");
    let from = format!("file://{}", hidden.proven.scratch.place.display());
    hidden.proven.git(&["clone", "--quiet", "--depth=1", &from, clone.to_str().unwrap()]);
    let git = |arguments: &[&str]| {
        hidden.proven.git(&[&["-C", clone.to_str().unwrap()], arguments].concat());
    };
    git(&["fetch", "--quiet", "--depth=1", "origin", &hidden.proven.base]);
    for name in ["refs/notes/proof", "refs/proof/evidence", "refs/proof/changes"] {
        if !hidden.proven.git(&["for-each-ref", name]).is_empty() {
            git(&["fetch", "--quiet", "origin", &format!("{name}:{name}")]);
        }
    }
    let place = clone.to_str().unwrap();
    let judged = hidden.proven.judge(&["-C", place, "gate", "--base", &hidden.proven.base, "--head", "HEAD"]);
    judged.unchecked("OBJECT_MISSING");
}

#[test]
fn forged_commit_graph_does_not_hide_one() {
    let hidden = Hidden::new();
    let proven = &hidden.proven;
    // Git reads the tip itself from its object.
    proven.write("d.txt", "good\n");
    proven.prove("u", "Good again");
    proven.git(&["commit-graph", "write", "--reachable"]);
    let file = proven.scratch.place.join(".git/objects/info/commit-graph");
    let mut graph = std::fs::read(&file).unwrap();
    let number = |bytes: &[u8]| usize::try_from(u64::from_be_bytes(bytes.try_into().unwrap())).unwrap();
    let chunk = |graph: &[u8], name: &[u8]| {
        let table = graph[8..].chunks(12).find(|row| row.starts_with(name)).unwrap();
        number(&table[4..12])
    };
    let (ids, data) = (chunk(&graph, b"OIDL"), chunk(&graph, b"CDAT"));
    let place = |graph: &[u8], id: &str| {
        let hex = |at: usize| graph[ids + 20 * at..][..20].iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        (0..64).find(|at| hex(*at) == id).unwrap()
    };
    let (good, before) = (place(&graph, &hidden.good), place(&graph, &proven.head));
    let parent = u32::try_from(before).unwrap().to_be_bytes();
    graph[data + 36 * good + 20..][..4].copy_from_slice(&parent);
    std::fs::remove_file(&file).unwrap();
    std::fs::write(&file, graph).unwrap();
    let listed = proven.git(&["rev-list", &format!("{}..HEAD", proven.base)]);
    assert!(!listed.contains(&hidden.bad), "git does not fall for it");
    let judged = proven.gate();
    assert!(matches!(judged.exit, Some(1 | 3)), "{judged:?}");
}

#[test]
fn forged_commit_below_the_base_does_not_hide_one() {
    let mut hidden = Hidden::new();
    let below = hidden.proven.base.clone();
    hidden.proven.base = hidden.proven.head.clone();
    hidden.proven.gate().fails("ANCHOR_MISSING");
    // It claims to come after the bad one, which would then be in the base already.
    let raw = hidden.proven.git(&["cat-file", "commit", &below]);
    let (tree, rest) = raw.split_once('\n').unwrap();
    let raw = format!("{tree}\nparent {}\n{rest}\n", hidden.bad);
    let forged = hidden.proven.git_with(&["hash-object", "-t", "commit", "-w", "--stdin"], raw);
    copy_over(&hidden.proven.object_file(&forged), &hidden.proven.object_file(&below));
    let range = format!("{}..HEAD", hidden.proven.base);
    assert!(!hidden.proven.git(&["rev-list", &range]).contains(&hidden.bad), "git does not fall for it");
    // A gate walks a short, straight range by itself, and does not come to what is below the base.
    hidden.proven.gate().fails("ANCHOR_MISSING");
    hidden.proven.judge(&["verify", &range]).unchecked("OBJECT_MISSING");
}

#[test]
fn forged_tip_is_not_judged_by_what_it_pretends_to_be() {
    let hidden = Hidden::new();
    let other = hidden.without_the_bad(&hidden.proven.head);
    copy_over(&hidden.proven.object_file(&other), &hidden.proven.object_file(&hidden.good));
    hidden.proven.gate().unchecked("OBJECT_MISSING");
}

#[test]
fn endless_ranges_of_ranges_are_not_followed() {
    let proven = Proven::new();
    let other = "one\ntwo\nthree\nfour\nFIVE\nsix\nseven\neight\nnine\n";
    let first = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n";
    // Back and forth, so that each commit forth makes the change of every range that begins back and ends forth.
    proven.git(&["checkout", "--quiet", "-b", "side", &proven.base]);
    let (forth, back) =
        (proven.tip(&format!("{}^{{tree}}", proven.head)), proven.tip(&format!("{}^{{tree}}", proven.base)));
    assert_ne!(other, first);
    let (mut tip, mut ends) = (proven.base.clone(), vec![]);
    for _ in 0..15 {
        let up = proven.git(&["commit-tree", &forth, "-p", &tip, "-m", "Forth\n\nProof-Grade: true"]);
        ends.push((tip, up.clone()));
        tip = proven.git(&["commit-tree", &back, "-p", &up, "-m", "Back\n\nProof-Grade: true"]);
    }
    let last = proven.git(&["commit-tree", &forth, "-p", &tip, "-m", "Forth again\n\nProof-Grade: true"]);
    proven.git(&["update-ref", "HEAD", &last]);
    let note: serde_json::Value = serde_json::from_str(&proven.note(&proven.head)).unwrap();
    let change = note["anchor"]["change_id"].as_str().unwrap().to_owned();
    let mut lines = String::new();
    for (at, (base, _)) in ends.iter().enumerate() {
        for (_, head) in &ends[at..] {
            lines.push_str(&format!("{{\"base\":\"{base}\",\"head\":\"{head}\"}}\n"));
        }
    }
    std::fs::remove_dir_all(proven.scratch.place.join(".git/proof")).unwrap();
    proven.git(&["update-ref", "-d", "refs/notes/proof"]);
    let nothing = proven.git_with(&["mktree"], "");
    proven.set_tree("refs/notes/proof", &nothing);
    proven.put("refs/proof/changes", &format!("{}/{change}", &change[..2]), "100644", &proven.blob(lines));
    // Each of the ranges is in the history already.
    proven.judge(&["gate", "--base", "HEAD^", "--head", "HEAD"]).fails("REPLAYED");
}
