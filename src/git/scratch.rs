//! A directory for temporary files that nobody else may read.

use std::fs;
use std::io;
use std::path::PathBuf;

use crate::access::private_directories;
use crate::context::Context;

/// The directory; it is removed when this is dropped.
pub(super) struct Scratch {
    pub(super) path: PathBuf,
}

impl Scratch {
    pub(super) fn new(context: &Context) -> io::Result<Self> {
        let path = context.temporary_directory().join(format!("git-proof-{}", context.new_id()));
        private_directories().create(&path).map(|()| Self { path })
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path); // nothing in it is secret, and others clear such directories, too
    }
}
