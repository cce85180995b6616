//! A repository whose commits are made from lists of files, and the judge of what each of them does.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use git_proof::context::Context;
use git_proof::git::{Git, Repository};
use git_proof::proof::digest::CommitId;
use sha2::{Digest as _, Sha256};

use crate::common::command;

/// The options of the definition.
pub(crate) const OPTIONS: [&str; 16] = [
    "diff-tree",
    "-p",
    "-r",
    "--root",
    "--no-commit-id",
    "--full-index",
    "--no-renames",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--diff-algorithm=myers",
    "--indent-heuristic",
    "-U3",
    "--ignore-submodules=none",
    "--src-prefix=a/",
    "--dst-prefix=b/",
];

const CUT: &str =
    r#"awk '/^index /{h=$0;next} h!=""{if(/^Binary files /)print h;h=""} {sub(/^@@ .*/,"@@")} 1' | sha256sum"#;

pub(crate) const FILE: &str = "100644";
pub(crate) const PROGRAM: &str = "100755";
pub(crate) const SYMLINK: &str = "120000";
/// Its content is the id of a commit.
pub(crate) const SUBMODULE: &str = "160000";

/// A path, the mode of what is there, and its content.
pub(crate) type Entry<'a> = (&'a [u8], &'a str, &'a [u8]);

/// A repository that is gone after the test.
pub(crate) struct Scratch {
    folder: tempfile::TempDir,
}

impl Scratch {
    pub(crate) fn new() -> Self {
        Self::of_format("sha1")
    }

    pub(crate) fn of_format(format: &str) -> Self {
        let scratch = Self { folder: tempfile::tempdir().unwrap() };
        scratch.git(["init", "-q", "-b", "main", &format!("--object-format={format}")]);
        scratch
    }

    /// Leaves it where it is, to be looked at.
    pub(crate) fn keep(self) -> PathBuf {
        self.folder.keep()
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn git_dir(&self) -> PathBuf {
        self.path().join(".git")
    }

    /// What git says, in the repository and as nobody in particular.
    #[track_caller]
    pub(crate) fn git<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Vec<u8> {
        output(command("git", self.path()).args(["-c", "user.name=n", "-c", "user.email=e"]).args(arguments), b"")
    }

    #[track_caller]
    pub(crate) fn git_line<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> String {
        String::from_utf8(self.git(arguments)).unwrap().trim_end().to_owned()
    }

    /// Commits that hold these files and nothing else, each the parent of the next.
    pub(crate) fn commits(&self, snapshots: &[Vec<Entry<'_>>]) -> Vec<CommitId> {
        let mut stream = Vec::new();
        for (number, entries) in (1..).zip(snapshots) {
            write!(stream, "commit refs/heads/main\nmark :{number}\ncommitter n <e> {number} +0000\ndata 0\n").unwrap();
            writeln!(stream, "deleteall").unwrap();
            for (path, mode, content) in entries {
                let path: String = path.iter().fold(String::new(), |mut text, byte| {
                    write!(text, "\\{byte:03o}").unwrap();
                    text
                });
                if *mode == SUBMODULE {
                    writeln!(stream, "M {mode} {} \"{path}\"", String::from_utf8_lossy(content)).unwrap();
                } else {
                    write!(stream, "M {mode} inline \"{path}\"\ndata {}\n", content.len()).unwrap();
                    stream.extend_from_slice(content);
                    stream.push(b'\n');
                }
            }
        }
        let marks = self.git_dir().join("marks");
        let option = format!("--export-marks={}", marks.display());
        output(command("git", self.path()).args(["fast-import", "--quiet", "--force", &option]), &stream);
        let mut marks: Vec<(usize, CommitId)> = std::fs::read_to_string(marks)
            .unwrap()
            .lines()
            .map(|line| line.trim_start_matches(':').split_once(' ').unwrap())
            .map(|(mark, id)| (mark.parse().unwrap(), CommitId::parse(id).unwrap()))
            .collect();
        marks.sort_unstable();
        marks.into_iter().map(|(_, id)| id).collect()
    }

    pub(crate) fn open(&self) -> Git {
        open(self.path())
    }

    /// Both a new file's and a change's id, from nothing to `old` and from there to `new`, must be what git says.
    #[track_caller]
    pub(crate) fn check(&self, old: &[Entry<'_>], new: &[Entry<'_>]) {
        for commit in self.commits(&[old.to_vec(), new.to_vec()]) {
            self.check_commit(&commit);
        }
    }

    #[track_caller]
    pub(crate) fn check_commit(&self, id: &CommitId) {
        let ours = self.check_printed(id);
        let parent = self.open().commit(id).unwrap().parents.first().map(ToString::to_string);
        assert_eq!(ours, in_a_shell(self.path(), parent.as_deref(), &id.to_string()));
    }

    /// The change id, which must be that of what git prints, and the paths those that git names.
    #[track_caller]
    pub(crate) fn check_printed(&self, id: &CommitId) -> Option<String> {
        let git = self.open();
        let commit = git.commit(id).unwrap();
        let parent = commit.parents.first();
        let diff = diff(self.path(), parent.map(ToString::to_string).as_deref(), &id.to_string());
        let ours = git.change_id(&commit).unwrap().map(|id| id.to_string());
        assert_eq!(ours, judge(&diff), "{}", String::from_utf8_lossy(&diff));
        let old = parent.map(|parent| git.commit(parent).unwrap().tree);
        assert_eq!(git.paths_between(old.as_ref(), &commit.tree).unwrap(), names(self.path(), parent, id));
        ours
    }
}

pub(crate) fn open(directory: &Path) -> Git {
    let context = Context::new(directory.to_owned());
    Git::open(&Repository::discover(&context).unwrap(), &context).unwrap()
}

/// What git prints for a change, whatever the repository says about how to print it.
pub(crate) fn diff(directory: &Path, parent: Option<&str>, commit: &str) -> Vec<u8> {
    output(judging(directory).args(OPTIONS).args(parent).arg(commit), b"")
}

/// A git that sees neither settings nor attributes.
pub(crate) fn judging(directory: &Path) -> Command {
    let mut git = command("git", directory);
    git.args(NEUTRAL);
    git
}

const NEUTRAL: [&str; 8] = [
    "-c",
    "core.quotePath=true",
    "-c",
    "diff.suppressBlankEmpty=false",
    "-c",
    "core.bigFileThreshold=512m",
    "-c",
    "core.attributesFile=/dev/null",
];

/// The change id of a diff, as it is defined: line by line.
pub(crate) fn judge(diff: &[u8]) -> Option<String> {
    let lines: Vec<&[u8]> = diff.split_inclusive(|byte| *byte == b'\n').collect();
    let mut hasher = Sha256::new();
    for (at, line) in lines.iter().enumerate() {
        let binary = lines.get(at + 1).is_some_and(|next| next.starts_with(b"Binary files "));
        if !line.starts_with(b"index ") || binary {
            hasher.update(if line.starts_with(b"@@ ") { b"@@\n" } else { *line });
        }
    }
    let hash: [u8; 32] = hasher.finalize().into();
    (!diff.is_empty()).then(|| crate::naive::hex(&hash))
}

/// The change id as the documentation computes it in a shell. `None` for the hash of nothing.
fn in_a_shell(directory: &Path, parent: Option<&str>, commit: &str) -> Option<String> {
    let line = format!(
        "git {} {} {} {commit} | LC_ALL=C {CUT}",
        NEUTRAL.join(" "),
        OPTIONS.join(" "),
        parent.unwrap_or_default()
    );
    let sum = String::from_utf8(output(command("sh", directory).args(["-c", &line]), b"")).unwrap();
    let sum = sum.split(' ').next().unwrap().to_owned();
    (sum != "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855").then_some(sum)
}

fn names(directory: &Path, parent: Option<&CommitId>, commit: &CommitId) -> Vec<Vec<u8>> {
    let mut git = judging(directory);
    git.args(["diff-tree", "-r", "-z", "--root", "--no-commit-id", "--name-only", "--no-renames"]);
    git.arg("--ignore-submodules=none").args(parent.map(ToString::to_string)).arg(commit.to_string());
    let list = output(&mut git, b"");
    list.split(|byte| *byte == 0).filter(|name| !name.is_empty()).map(<[u8]>::to_owned).collect()
}

/// What a command that must succeed prints.
#[track_caller]
pub(crate) fn output(command: &mut Command, input: &[u8]) -> Vec<u8> {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(move || stdin.write_all(input));
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    })
}
