//! What a change id costs, computed here, against the git process that prints the diff it is defined by.
//!
//! `cargo bench --bench change`

#![allow(clippy::unwrap_used)] // a benchmark whose figures would mean nothing should stop

mod table;

use std::hint::black_box;
use std::io::Write as _;
use std::process::{Command, Stdio};

use git_proof::context::Context;
use git_proof::git::{Commit, Git};
use git_proof::proof::digest::CommitId;
use table::{Row, Target, medians, run};

const COMMITS: usize = 1000;
const FILES: usize = 500;
const LINES: usize = 300;
const DIFF: [&str; 14] = [
    "diff-tree",
    "-p",
    "-r",
    "--root",
    "--full-index",
    "--no-renames",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--diff-algorithm=myers",
    "--indent-heuristic",
    "-U3",
    "--src-prefix=a/",
    "--dst-prefix=b/",
];

fn main() {
    if !table::wanted() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let git = |arguments: &[&str]| {
        let mut git = Command::new("git");
        git.arg("-C").arg(folder.path()).args(arguments);
        git
    };
    run(git(&["init", "-q", "-b", "main"]).env("GIT_CONFIG_GLOBAL", "/dev/null"));
    feed(&mut git(&["fast-import", "--quiet"]), &history());
    let list = git(&["rev-list", "--reverse", "main"]).output().unwrap().stdout;
    let repository = Git::discover(&Context::new(folder.path().to_owned())).unwrap();
    let commits: Vec<Commit> = String::from_utf8(list.clone())
        .unwrap()
        .lines()
        .map(|id| repository.commit(&CommitId::parse(id).unwrap()).unwrap())
        .collect();
    let change = |commit: &Commit| {
        black_box(repository.change_id(commit).unwrap());
    };

    let last = commits.last().unwrap();
    let (parent, id) = (last.parents[0].to_string(), last.id.to_string());
    let [one, one_process] =
        medians(200, [&mut || change(last), &mut || run(git(&DIFF).args([parent.as_str(), id.as_str()]))]);
    let [all, all_process] = medians(
        7,
        [&mut || commits.iter().for_each(change), &mut || {
            feed(git(&DIFF).arg("--stdin"), &list);
        }],
    );
    // Of all that is read here the hash is checked, which git leaves out.
    table::print(&[
        Row::speed("change id of one commit : git diff-tree as a process", one, one_process, Target::AtLeast(2.0)),
        Row::speed("change ids of 1,000 commits : git diff-tree --stdin", all, all_process, Target::AtLeast(0.5)),
    ]);
}

fn feed(command: &mut Command, input: &[u8]) {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    assert!(child.wait().unwrap().success(), "{command:?}");
}

/// Commits that each change one to five of the files, here and there.
fn history() -> Vec<u8> {
    let mut state: u64 = 1;
    let mut random = |end: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % end
    };
    let mut files: Vec<Vec<String>> = (0..FILES)
        .map(|_| (0..LINES).map(|_| format!("{}call({});", "    ".repeat(random(4)), random(5000))).collect())
        .collect();
    let mut stream = Vec::new();
    for number in 0..=COMMITS {
        write!(stream, "commit refs/heads/main\ncommitter n <e> {number} +0000\ndata 0\n").unwrap();
        let changed: Vec<usize> =
            if number == 0 { (0..FILES).collect() } else { (0..=random(5)).map(|_| random(FILES)).collect() };
        for file in changed {
            let lines = &mut files[file];
            for _ in 0..random(4) {
                let at = random(lines.len());
                let line = format!("    changed({number}, {});", random(100));
                if random(2) == 0 { lines[at] = line } else { lines.insert(at, line) }
            }
            let text = lines.join("\n");
            write!(stream, "M 100644 inline part{}/file{file}.c\ndata {}\n{text}\n", file % 20, text.len()).unwrap();
        }
    }
    stream
}
