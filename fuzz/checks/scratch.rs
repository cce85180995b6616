//! A repository of its own for each input, in memory where the system has such a place: made once, then copied.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use git_proof::context::Context;
use git_proof::flow;
use git_proof::git::{FILE, Git, TreeEntry};
use git_proof::proof::timestamp::Timestamp;
use git_proof::publish;
use git_proof::record::{self, RecordRequest, StartRequest, Workspace};

/// Settings that stand above those of whoever runs it: no key of theirs is asked for, and no remote is reached.
const CONFIG: &str = "\
[core]
\trepositoryformatversion = 0
\tbare = false
[user]
\tname = A
\temail = a@example.com
\tsigningkey = none
[commit]
\tgpgsign = false
[gpg]
\tformat = ssh
[gpg \"ssh\"]
\tprogram = false
[remote \"origin\"]
\turl = nowhere
";

/// The session of the store that is finalized, and the one that is open.
pub(super) const CLOSED: &str = "s0";
pub(super) const OPEN: &str = "s1";

/// A repository that goes away with this.
pub(super) struct Scratch {
    directory: tempfile::TempDir,
}

impl Scratch {
    /// An empty directory.
    pub(super) fn empty() -> Self {
        let memory = Path::new("/dev/shm");
        let place = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
        Self { directory: tempfile::tempdir_in(place).expect("a directory") }
    }

    /// A repository with one commit, and a store with two sessions.
    pub(super) fn recorded() -> Self {
        static FILES: OnceLock<Vec<(PathBuf, Vec<u8>)>> = OnceLock::new();
        let this = Self::empty();
        for (path, bytes) in FILES.get_or_init(make) {
            this.write(path, bytes);
        }
        fs::create_dir_all(this.path().join(".git/refs/tags")).expect("a directory");
        this
    }

    /// Writes a file, with the directories above it.
    pub(super) fn write(&self, path: impl AsRef<Path>, bytes: &[u8]) {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().expect("it is below the directory")).expect("a directory");
        fs::write(path, bytes).expect("a file");
    }

    pub(super) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// The surroundings of a command here, at a time that never changes.
    pub(super) fn context(&self) -> Context {
        Context::new(self.path().to_owned()).with_clock(now())
    }

    /// The one commit.
    pub(super) fn commit(&self) -> String {
        let id = fs::read_to_string(self.path().join(".git/refs/heads/main")).expect("a branch");
        id.trim_end().to_owned()
    }

    /// Every session of the store still adds up.
    pub(super) fn assert_sound(&self) {
        let workspace = Workspace::open(self.context()).expect("the store opens");
        let list = record::sessions(&workspace, 1000).expect("the store has a list of its sessions");
        assert!(list.sessions.len() >= 2, "sessions are gone");
        for session in list.sessions {
            let found = record::check(&workspace, Some(session.session_id.as_str()));
            assert!(found.is_ok(), "{}: {found:?}", session.session_id);
        }
    }
}

pub(super) fn now() -> Timestamp {
    Timestamp::parse("2026-03-01T00:00:00.000Z").expect("a time")
}

/// The files of the repository that is copied.
fn make() -> Vec<(PathBuf, Vec<u8>)> {
    let scratch = Scratch::empty();
    scratch.write(".git/config", CONFIG.as_bytes());
    scratch.write(".git/HEAD", b"ref: refs/heads/main\n");
    scratch.write(".git/refs/heads/main", b"");
    scratch.write(".git/objects/info/alternates", b"");
    let git = Git::discover(&scratch.context()).expect("a repository");
    let id = git.write_blob(b"one\ntwo\n").expect("a file");
    let mut entries = [TreeEntry { mode: FILE, name: b"file".to_vec(), id }];
    let tree = git.write_tree(&mut entries).expect("a tree");
    let commit = git.write_commit(&tree, &[], "the first").expect("a commit");
    scratch.write(".git/refs/heads/main", format!("{commit}\n").as_bytes());
    let mut workspace = Workspace::open_or_create(scratch.context()).expect("a store");
    for session in [CLOSED, OPEN] {
        let request = StartRequest {
            intent: "to see what happens".to_owned(),
            session_id: Some(session.to_owned()),
            caller: Some("a".to_owned()),
            ..StartRequest::default()
        };
        record::start(&mut workspace, &request).expect("a session");
        for kind in ["plan", "decision", "reflection"] {
            let request = RecordRequest {
                session: Some(session.to_owned()),
                kind: kind.to_owned(),
                content: "to shout, or not to shout".to_owned(),
                ..RecordRequest::default()
            };
            publish::record(&mut workspace, &request).expect("a record");
        }
    }
    flow::finalize(&mut workspace, Some(CLOSED), false).expect("a root");
    drop(workspace);
    let mut files = Vec::new();
    gather(scratch.path(), Path::new(""), &mut files);
    files
}

fn gather(root: &Path, below: &Path, files: &mut Vec<(PathBuf, Vec<u8>)>) {
    for entry in fs::read_dir(root.join(below)).expect("a directory") {
        let path = below.join(entry.expect("an entry").file_name());
        if root.join(&path).is_dir() {
            gather(root, &path, files);
        } else {
            files.push((path.clone(), fs::read(root.join(&path)).expect("a file")));
        }
    }
}
