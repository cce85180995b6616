//! Merges two commits as git does by itself, in a temporary repository: no setting, attribute, merge driver, replaced
//! object or graft of this clone influences the result, and nothing is left behind.

use std::fs;
use std::process::Command;

use super::open::Git;
use super::process::in_limited_memory;
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
        let scratch = empty_repository(&self.context, self.hex_length())?;
        let Some(alternates) = self.object_directories() else { return Ok(None) };
        let git = |arguments: &[&str]| {
            let mut command = self.plumbing(["-c", "core.attributesFile=/dev/null", "-c", "core.commitGraph=false"]);
            command.args(arguments);
            isolate(&mut command, &scratch);
            command.env("GIT_ALTERNATE_OBJECT_DIRECTORIES", &alternates);
            self.run(&mut in_limited_memory(&command))
        };
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

    fn object_directories(&self) -> Option<std::ffi::OsString> {
        std::env::join_paths(&self.loose).ok()
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
