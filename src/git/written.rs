//! The id that `git add` would give to a file of the worktree, without adding it.

use std::path::{Component, Path, PathBuf};

use git2::AttrCheckFlags;
use sha1::{Digest as _, Sha1};
use sha2::Sha256;

use super::open::Git;
use crate::access::bytes_of;
use crate::context::open_regular;
use crate::proof::digest::ObjectId;

/// Largest file that is hashed. An agent waits for it.
const MAX_WRITTEN: u64 = 64 << 20;

/// Attributes by which git changes what a file holds on the way into the repository.
const CONVERSIONS: [&str; 5] = ["text", "crlf", "eol", "ident", "working-tree-encoding"];

impl Git {
    /// The blob id of a file, seen from `directory`; `None` where git would not take it: it is ignored, outside of the
    /// worktree, not a regular file, or goes through a filter, which may be any program.
    pub fn written_blob(&self, directory: &Path, file: &str) -> Option<ObjectId> {
        let root = self.repository.workdir()?;
        let relative = relative(root, &directory.join(file))?;
        if relative.components().any(|part| part.as_os_str() == ".git") {
            return None;
        }
        let attribute = |name: &str| {
            self.repository.get_attr(&relative, name, AttrCheckFlags::FILE_THEN_INDEX).ok().flatten().map(str::to_owned)
        };
        if attribute("filter").is_some_and(|filter| filter != "[internal]__FALSE__" && !filter.is_empty()) {
            return None;
        }
        if self.repository.is_path_ignored(&relative).unwrap_or(true) && !self.is_staged(&relative) {
            return None;
        }
        let path = root.join(&relative);
        let converts = self.setting("core.autocrlf").is_some_and(|value| !is_false(&value))
            || CONVERSIONS.iter().any(|name| attribute(name).is_some());
        if converts {
            let mut command = self.porcelain(["hash-object", "--path"]);
            command.arg(&relative).arg("--").arg(&path);
            return self.text_of(&mut command).ok()?.and_then(|text| ObjectId::parse(text.trim_end()));
        }
        let (length, bytes) = content(&path)?;
        let head = format!("blob {length}\0");
        ObjectId::from_bytes(&match self.hex_length() {
            40 => Sha1::new_with_prefix(head).chain_update(bytes).finalize().to_vec(),
            _ => Sha256::new_with_prefix(head).chain_update(bytes).finalize().to_vec(),
        })
    }

    /// Whether the index has a path: a file that is tracked is not ignored.
    fn is_staged(&self, path: &Path) -> bool {
        self.repository.index().is_ok_and(|index| index.get_path(path, 0).is_some())
    }
}

fn is_false(value: &str) -> bool {
    ["false", "no", "off", "0", ""].iter().any(|known| value.eq_ignore_ascii_case(known))
}

fn content(path: &Path) -> Option<(usize, Vec<u8>)> {
    use std::io::Read as _;
    // Git takes a link for a link, and a tool that wrote through it changed another file.
    if std::fs::symlink_metadata(path).ok()?.is_symlink() {
        return None;
    }
    let mut bytes = Vec::new();
    open_regular(path).ok()?.take(MAX_WRITTEN + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= MAX_WRITTEN).then_some((bytes.len(), bytes))
}

/// A path from the top of the worktree. Folders may be links; the file itself is left as it is named.
fn relative(root: &Path, path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?;
    let folder = std::fs::canonicalize(path.parent()?).ok()?;
    let below = folder.strip_prefix(std::fs::canonicalize(root).ok()?).ok()?.join(name);
    // libgit2 panics where a path has a NUL, which no file has in its name.
    let is_a_name = |part: Component<'_>| matches!(part, Component::Normal(name) if !bytes_of(name).contains(&0));
    below.components().all(is_a_name).then_some(below)
}
