//! History: names turned into commits, ranges, and what a merge would have been by itself.

use std::collections::HashSet;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::Stdio;

use super::open::Git;
use crate::context::Context;
use crate::error::{Code, Error, Result};
use crate::proof::digest::{CommitId, TreeId};

impl Git {
    /// The commit that a name means, as git reads it.
    pub fn resolve(&self, revision: &str) -> Result<CommitId> {
        let unknown = || {
            Error::new(Code::CommitNotFound, format!("{revision:?} is not a commit of this repository"))
                .hint("git log --oneline lists commits; git fetch brings those of others")
        };
        if let Some(id) = CommitId::parse(revision) {
            return if self.has(&id.0) { Ok(id) } else { Err(unknown()) };
        }
        if revision == "HEAD" {
            return self.tip("HEAD")?.ok_or_else(unknown);
        }
        let peeled = format!("{revision}^{{commit}}");
        let mut command = self.plumbing(["rev-parse", "--verify", "--quiet", "--end-of-options", &peeled]);
        self.text_of(&mut command)?.and_then(|text| CommitId::parse(text.trim_end())).ok_or_else(unknown)
    }

    /// The commits that arguments as of `git rev-list` select, parents after their children.
    pub fn commits(&self, arguments: &[&str]) -> Result<Vec<CommitId>> {
        let mut command = self.plumbing(["rev-list", "--topo-order", "--end-of-options"]);
        let output = self.run(command.args(arguments))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            let error = Error::new(Code::CommitNotFound, format!("{} is not a range", arguments.join(" ")))
                .because(said.trim().trim_start_matches("fatal: "))
                .hint("a range is BASE..HEAD; git fetch brings what is not here yet");
            return Err(error);
        }
        Ok(String::from_utf8_lossy(&output.stdout).lines().filter_map(CommitId::parse).collect())
    }

    /// The commits at which a shallow clone is cut off: git takes them for the first, whatever they say themselves.
    pub fn cut_off(&self) -> Result<HashSet<CommitId>> {
        let file = self.place.common_dir.join("shallow");
        match std::fs::read_to_string(&file) {
            Ok(text) => Ok(text.lines().filter_map(CommitId::parse).collect()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(HashSet::new()),
            Err(error) => {
                Err(Error::new(Code::RepositoryFailed, format!("cannot read {}", file.display())).because(error))
            }
        }
    }

    /// The best common ancestor of two commits; `None` if they have none, or it is not in this clone.
    pub fn merge_base(&self, one: &CommitId, two: &CommitId) -> Result<Option<CommitId>> {
        let mut command = self.plumbing(["merge-base", &one.to_string(), &two.to_string()]);
        Ok(self.text_of(&mut command)?.and_then(|text| CommitId::parse(text.lines().next()?)))
    }

    /// Whether one commit is the other or an ancestor of it.
    pub fn is_ancestor(&self, ancestor: &CommitId, of: &CommitId) -> Result<bool> {
        if ancestor == of {
            return Ok(true);
        }
        let mut command = self.plumbing(["merge-base", "--is-ancestor", &ancestor.to_string(), &of.to_string()]);
        Ok(self.run(&mut command)?.status.success())
    }

    /// Which of these commits no ref below a prefix, such as `refs/remotes/origin`, can reach.
    pub fn unreachable_from(&self, prefix: &str, commits: &[CommitId]) -> Result<Vec<CommitId>> {
        if commits.is_empty() {
            return Ok(Vec::new());
        }
        let failed = |why: String| Error::new(Code::RepositoryFailed, "git rev-list failed").because(why.trim());
        let mut input: Vec<String> = commits.iter().map(ToString::to_string).collect();
        input.extend(self.refs_below(prefix)?.into_iter().map(|(_, tip)| format!("^{tip}")));
        let input = input.join("\n") + "\n";
        let mut child = self
            .plumbing(["rev-list", "--ignore-missing", "--stdin"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| failed(error.to_string()))?;
        let mut pipe = child.stdin.take();
        let output = std::thread::scope(|scope| {
            scope.spawn(move || pipe.as_mut().map(|pipe| pipe.write_all(input.as_bytes())));
            child.wait_with_output()
        });
        let output = output.map_err(|error| failed(error.to_string()))?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let unreachable: HashSet<CommitId> = text.lines().filter_map(CommitId::parse).collect();
        Ok(commits.iter().copied().filter(|commit| unreachable.contains(commit) || !self.has(&commit.0)).collect())
    }

    /// The refs below a prefix, with the commits that they name.
    pub fn refs_below(&self, prefix: &str) -> Result<Vec<(String, CommitId)>> {
        let format = "--format=%(objectname) %(refname)";
        let text = self.text_of(&mut self.plumbing(["for-each-ref", format, prefix]))?.unwrap_or_default();
        let read = |line: &str| {
            let (id, name) = line.split_once(' ')?;
            Some((name.to_owned(), CommitId::parse(id)?))
        };
        Ok(text.lines().filter_map(read).collect())
    }

    /// The tree of a merge that nobody had a hand in; `None` if it has conflicts. No merge driver and no rename setting of
    /// this clone has a say.
    pub fn automatic_merge(&self, parents: &[CommitId]) -> Result<Option<TreeId>> {
        let [one, two] = parents else { return Ok(None) };
        // What it writes goes to a directory of its own: judging leaves no trace, and works where nothing can be written.
        let scratch = Scratch::new(&self.context)?;
        let mut objects = vec![self.place.common_dir.join("objects")];
        objects.extend(self.context.variable("GIT_OBJECT_DIRECTORY").map(|path| self.context.directory.join(path)));
        if let Some(more) = self.context.variable("GIT_ALTERNATE_OBJECT_DIRECTORIES") {
            objects.extend(std::env::split_paths(&more).map(|path| self.context.directory.join(path)));
        }
        let Ok(alternates) = std::env::join_paths(objects) else { return Ok(None) };
        let mut command = self.plumbing([
            "-c",
            "merge.renames=true",
            "-c",
            "merge.directoryRenames=conflict",
            "-c",
            "merge.renormalize=false",
            "merge-tree",
            "--write-tree",
            &one.to_string(),
            &two.to_string(),
        ]);
        command.env("GIT_OBJECT_DIRECTORY", &scratch.path).env("GIT_ALTERNATE_OBJECT_DIRECTORIES", alternates);
        command.env_remove("GIT_QUARANTINE_PATH");
        Ok(self.text_of(&mut command)?.and_then(|text| TreeId::parse(text.lines().next()?)))
    }
}

/// A directory that is gone again at the end.
struct Scratch {
    path: PathBuf,
}

impl Scratch {
    fn new(context: &Context) -> Result<Self> {
        let path = context.temporary_directory().join(format!("git-proof-{}", context.new_id()));
        std::fs::create_dir(&path).map_err(|error| {
            Error::new(Code::RepositoryFailed, format!("cannot make {}", path.display()))
                .because(error)
                .hint("a directory for temporary files is needed; TMPDIR names another one")
        })?;
        Ok(Self { path })
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.path); // a temporary directory is cleared by others, too
    }
}
