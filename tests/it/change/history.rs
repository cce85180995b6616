//! A real history: this project's own, where the tests run in a clone of it.

use std::path::Path;

use git_proof::proof::digest::CommitId;

use super::scratch::{diff, judge, open, output};
use crate::common::command;

#[test]
fn own_history_has_the_change_ids_that_git_gives_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    if !root.join(".git").exists() {
        return;
    }
    let git = open(root);
    let list = output(command("git", root).args(["rev-list", "--max-count=200", "HEAD"]), b"");
    for line in String::from_utf8(list).unwrap().lines() {
        let commit = git.commit(&CommitId::parse(line).unwrap()).unwrap();
        let expected = match commit.parents.as_slice() {
            [] => judge(&diff(root, None, line)),
            // A shallow clone ends somewhere.
            [parent] if !git.has(&parent.0) => continue,
            [parent] => judge(&diff(root, Some(&parent.to_string()), line)),
            _ => None,
        };
        assert_eq!(git.change_id(&commit).unwrap().map(|id| id.to_string()), expected, "{line}");
    }
}
