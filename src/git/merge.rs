//! Merges two commits as git does by itself, in a temporary repository: no setting, attribute, merge driver, replaced
//! object or graft of this clone influences the result, and nothing is left behind.

use std::fs;
use std::process::{Command, Output};

use super::open::Git;
use super::scratch::Scratch;
use crate::context::Context;
use crate::error::{Code, Error, Result};
use crate::proof::digest::{CommitId, TreeId};

/// How a commit's tree stands to the automatic merge of its parents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merged {
    /// Whether there were no conflicts.
    pub clean: bool,
    /// The paths where the tree differs from what git would have made.
    pub differing: Vec<Vec<u8>>,
}

impl Merged {
    /// Whether nobody had a hand in it.
    pub fn is_automatic(&self) -> bool {
        self.clean && self.differing.is_empty()
    }
}

impl Git {
    /// Compares a tree with the automatic merge of two commits; `None` where git would not merge them: there are more
    /// than two, they have no common ancestor, or something is not in this clone.
    pub fn compare_with_merge(&self, parents: &[CommitId], tree: &TreeId) -> Result<Option<Merged>> {
        let [one, two] = parents else { return Ok(None) };
        let Some(apart) = Apart::new(self)? else { return Ok(None) };
        let git = |arguments: &[&str]| apart.run(arguments);
        let merged = git(&["merge-tree", "--write-tree", &one.to_string(), &two.to_string()])?;
        // Git ends with 1 where there are conflicts, and with more where it could not merge at all.
        let clean = match merged.status.code() {
            Some(0) => true,
            Some(1) => false,
            _ => return Ok(None),
        };
        let text = String::from_utf8_lossy(&merged.stdout);
        let Some(automatic) = text.lines().next().and_then(TreeId::parse) else { return Ok(None) };
        let (was, is) = (automatic.to_string(), tree.to_string());
        let listed = git(&["diff-tree", "-r", "-z", "--name-only", "--no-renames", "--no-ext-diff", &was, &is])?;
        if !listed.status.success() {
            return Ok(None);
        }
        let names = listed.stdout.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        Ok(Some(Merged { clean, differing: names.map(<[u8]>::to_vec).collect() }))
    }

    /// The files that one tree has under another name than the tree before, as git's merge finds them: the old name and
    /// the new one.
    pub fn renames(&self, before: &TreeId, after: &TreeId) -> Result<Vec<[Vec<u8>; 2]>> {
        let failed = || Error::new(Code::RepositoryFailed, format!("git cannot compare {before} with {after}"));
        let apart = Apart::new(self)?.ok_or_else(failed)?;
        let (old, new) = (before.to_string(), after.to_string());
        // As many candidates as `git merge-tree` compares.
        let listed = ["diff-tree", "-r", "-z", "-M", "-l7000", "--diff-filter=R", "--name-status", "--no-ext-diff"];
        let listed = apart.run(&[&listed[..], &[&old, &new]].concat())?;
        if !listed.status.success() {
            return Err(failed());
        }
        let mut fields = listed.stdout.split(|byte| *byte == 0);
        let mut renames = Vec::new();
        while let (Some(_score), Some(old), Some(new)) = (fields.next(), fields.next(), fields.next()) {
            renames.push([old.to_vec(), new.to_vec()]);
        }
        Ok(renames)
    }

    /// Where this repository's objects are.
    fn object_directories(&self) -> Option<std::ffi::OsString> {
        std::env::join_paths(&self.loose).ok()
    }
}

/// Git in a scratch repository that borrows the objects of this one.
struct Apart<'a> {
    git: &'a Git,
    scratch: Scratch,
    alternates: std::ffi::OsString,
}

impl<'a> Apart<'a> {
    /// `None` if git could not be told where the objects are.
    fn new(git: &'a Git) -> Result<Option<Self>> {
        let Some(alternates) = git.object_directories() else { return Ok(None) };
        let scratch = empty_repository(&git.context, git.hex_length())?;
        Ok(Some(Self { git, scratch, alternates }))
    }

    fn run(&self, arguments: &[&str]) -> Result<Output> {
        let mut command = self.git.plumbing(["-c", "core.attributesFile=/dev/null", "-c", "core.commitGraph=false"]);
        command.args(arguments);
        isolate(&mut command, &self.scratch);
        command.env("GIT_ALTERNATE_OBJECT_DIRECTORIES", &self.alternates);
        self.git.run(&mut command)
    }
}

/// Lets a command see the scratch repository, and no settings but those of its own command line.
fn isolate(command: &mut Command, scratch: &Scratch) {
    for variable in [
        "GIT_COMMON_DIR",
        "GIT_CONFIG",
        "GIT_CONFIG_COUNT",
        "GIT_CONFIG_PARAMETERS",
        "GIT_CONFIG_SYSTEM",
        "GIT_INDEX_FILE",
        "GIT_NAMESPACE",
        "GIT_OBJECT_DIRECTORY",
        "GIT_PREFIX",
        "GIT_QUARANTINE_PATH",
        "GIT_SHALLOW_FILE",
        "GIT_WORK_TREE",
    ] {
        command.env_remove(variable);
    }
    command
        .current_dir(&scratch.path)
        .env("GIT_DIR", &scratch.path)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_ATTR_NOSYSTEM", "1");
}

fn empty_repository(context: &Context, hex_length: usize) -> Result<Scratch> {
    let format = if hex_length == 40 { "" } else { "[extensions]\nobjectformat = sha256\n" };
    let config = format!("[core]\nrepositoryformatversion = 1\nbare = true\n{format}");
    let make = || {
        let scratch = Scratch::new(context)?;
        fs::create_dir(scratch.path.join("objects"))?;
        fs::create_dir(scratch.path.join("refs"))?;
        fs::write(scratch.path.join("HEAD"), "ref: refs/heads/none\n")?;
        fs::write(scratch.path.join("config"), config)?;
        std::io::Result::Ok(scratch)
    };
    make().map_err(|error| {
        let place = context.temporary_directory();
        Error::new(Code::RepositoryFailed, format!("cannot make a directory in {}", place.display()))
            .because(error)
            .hint("a directory for temporary files is needed; TMPDIR names another one")
    })
}
