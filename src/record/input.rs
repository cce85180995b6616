//! The input of the checking commands: a file or standard input, and the root and count to compare it with.

use std::fmt;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::context::{Context, open_named};
use crate::error::{Code, Error, Result};
use crate::hint::{Step, hint};
use crate::proof::canonical::MAX_INTEGER;
use crate::proof::digest::RootHash;

/// Where a file's bytes come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// Standard input, written `-`.
    Stdin,
    File(PathBuf),
}

impl Source {
    /// Reads an argument; a file counts from the working directory.
    pub fn parse(context: &Context, argument: &Path) -> Self {
        if argument.as_os_str() == "-" { Self::Stdin } else { Self::File(context.path(argument)) }
    }

    pub(crate) fn open(&self) -> Result<Box<dyn Read>> {
        match self {
            Self::Stdin => Ok(Box::new(io::stdin().lock())),
            Self::File(path) => match open_named(path) {
                Ok(file) => Ok(Box::new(file)),
                Err(error) => Err(self.unreadable(&error)),
            },
        }
    }

    pub(crate) fn unreadable(&self, error: &io::Error) -> Error {
        Error::new(Code::Unreadable, format!("cannot read {self}"))
            .because(error)
            .hint("name a file that exists, or - for standard input")
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stdin => f.write_str("standard input"),
            Self::File(path) => path.display().fmt(f),
        }
    }
}

/// A root and its count, from someone who is trusted. Neither means anything without the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trusted {
    pub root: RootHash,
    /// The number of entries below it.
    pub count: u64,
}

impl Trusted {
    /// Reads the two arguments.
    pub fn parse(root: &str, count: &str) -> Result<Self> {
        let wrong = |what: &str, found: &str| {
            Error::new(Code::InvalidParams, format!("{what}, not {found:?}")).hint(hint!(
                "take both from an anchor or from `",
                Step::Root,
                "`"
            ))
        };
        let root = RootHash::parse(root).ok_or_else(|| wrong("--root takes 64 lower-case hex digits", root))?;
        let count = count
            .parse()
            .ok()
            .filter(|count| (1..=MAX_INTEGER).contains(count))
            .ok_or_else(|| wrong("--count takes a number of entries, at least 1", count))?;
        Ok(Self { root, count })
    }
}
