//! Evidence: the lines from which anyone can recompute a root.
//!
//! Line 1 is the session's opening, every further line one entry in order of recording; each line ends in one newline,
//! which is not hashed. The verifier takes the file in pieces of any size and holds 32 bytes an entry, not the entries.

use std::fmt;

use super::canonical::Malformed;
use super::chain::Chain;
use super::change::GitAttestation;
use super::digest::{ChainHash, NodeHash, RootHash};
use super::observed::{Event, Marks, Reflection, ignored_in};
use super::record::{Body, Entry, Line, Opening, RecordType, Withheld};
use super::scheme::Scheme;
use super::tree::{self, Frontier};

/// Longest line, in bytes: a body of 1 MiB of which every character is escaped, with room for the rest.
pub const MAX_LINE: usize = 8 << 20;

/// Most entries in one file; more are refused.
pub const MAX_ENTRIES: u64 = u32::MAX as u64 - 1;

/// Chain, root and count as computed from an evidence file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// The session's opening record.
    pub opening: Opening,
    /// Hash of the opening, or the scheme's own.
    pub genesis: ChainHash,
    /// Chain hash of the last entry.
    pub head: ChainHash,
    /// Root of the tree.
    pub root: RootHash,
    /// Number of entries.
    pub count: u64,
    /// How many of them are withheld.
    pub withheld: u64,
    /// Whose the reflection on the last line is; `None` where that line is no reflection that can be read, in a scheme that
    /// proves it.
    pub reflection: Option<Reflection>,
    /// How many parts of entries claim to be in a form that the tool alone writes, and are not. They count for nothing.
    pub ignored: u64,
}

/// Why an evidence file is refused, and at which line (from 1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvidenceError {
    /// The line, from 1.
    pub line: u64,
    /// What is wrong with it.
    pub flaw: Flaw,
}

/// What is wrong with an evidence file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Flaw {
    /// The line is not a canonical opening or entry.
    Malformed(Malformed),
    /// `prev_hash` is neither the genesis nor the chain hash of an earlier line.
    UnknownParent,
    /// The last line does not end in a newline.
    NoFinalNewline,
    /// The line is longer than [`MAX_LINE`].
    LineTooLong,
    /// More than [`MAX_ENTRIES`] lines.
    TooManyEntries,
    /// There is an opening and nothing else, or not even that.
    NoEntries,
    /// The lines add up to another root than the expected one.
    RootMismatch {
        /// The root computed from the lines.
        actual: RootHash,
    },
    /// There are more or fewer entries than expected.
    CountMismatch {
        /// How many there are.
        actual: u64,
    },
}

impl Flaw {
    /// The field that is wrong; empty for the line or the file as a whole.
    pub fn field(&self) -> &'static str {
        match self {
            Self::Malformed(malformed) => malformed.field,
            Self::UnknownParent => "prev_hash",
            Self::RootMismatch { .. } => "root",
            Self::CountMismatch { .. } => "count",
            Self::NoFinalNewline | Self::LineTooLong | Self::TooManyEntries | Self::NoEntries => "",
        }
    }
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(malformed) => malformed.fmt(f),
            Self::UnknownParent => {
                f.write_str("field \"prev_hash\": neither the genesis nor the chain hash of an earlier line")
            }
            Self::NoFinalNewline => f.write_str("does not end in a newline; the file may be cut off"),
            Self::LineTooLong => write!(f, "longer than {MAX_LINE} bytes"),
            Self::TooManyEntries => write!(f, "more than {MAX_ENTRIES} entries"),
            Self::NoEntries => f.write_str("the file ends where an opening and at least one entry should be"),
            Self::RootMismatch { actual } => write!(f, "field \"root\": the lines up to here add up to {actual}"),
            Self::CountMismatch { actual } => write!(f, "field \"count\": there are {actual} entries"),
        }
    }
}

impl fmt::Display for EvidenceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.flaw)
    }
}

impl std::error::Error for EvidenceError {}

/// Reads an evidence file piece by piece.
#[derive(Debug, Default)]
pub struct Verifier {
    /// The start of a line whose end has not come yet.
    partial: Vec<u8>,
    lines: u64,
    session: Option<Session>,
}

#[derive(Debug)]
struct Session {
    opening: Opening,
    chain: Chain,
    leaves: Leaves,
    withheld: u64,
    closed: Option<Reflection>,
    ignored: u64,
}

/// Sorting needs all leaves; every other scheme builds its tree as they come.
#[derive(Debug)]
enum Leaves {
    Ordered(Frontier),
    Unsorted(Vec<NodeHash>),
}

impl Verifier {
    /// A verifier that has read nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next bytes of the file. `each` sees every entry line that holds, with its position and chain hash.
    pub fn push_with(
        &mut self,
        mut bytes: &[u8],
        mut each: impl FnMut(u64, &Line<'_>, &ChainHash),
    ) -> Result<(), EvidenceError> {
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            let (line, rest) = (&bytes[..end], &bytes[end + 1..]);
            bytes = rest;
            if self.partial.is_empty() {
                self.line(line, &mut each)?;
            } else {
                let mut whole = std::mem::take(&mut self.partial);
                whole.extend_from_slice(line);
                self.line(&whole, &mut each)?;
                whole.clear();
                self.partial = whole;
            }
        }
        if self.partial.len() + bytes.len() > MAX_LINE {
            return Err(EvidenceError { line: self.lines + 1, flaw: Flaw::LineTooLong });
        }
        self.partial.extend_from_slice(bytes);
        Ok(())
    }

    /// Takes the next bytes of the file.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), EvidenceError> {
        self.push_with(bytes, |_, _, _| ())
    }

    fn line(&mut self, line: &[u8], each: &mut impl FnMut(u64, &Line<'_>, &ChainHash)) -> Result<(), EvidenceError> {
        self.lines += 1;
        let number = self.lines;
        let fail = |flaw| EvidenceError { line: number, flaw };
        if line.len() > MAX_LINE {
            return Err(fail(Flaw::LineTooLong));
        }
        match &mut self.session {
            None => {
                let opening = Opening::parse(line).map_err(|error| fail(Flaw::Malformed(error)))?;
                self.session = Some(Session::open(opening, line));
                Ok(())
            }
            Some(session) => session.entry(number - 2, line, each).map_err(fail),
        }
    }

    /// The end of the file.
    pub fn finish(self) -> Result<Summary, EvidenceError> {
        if !self.partial.is_empty() {
            return Err(EvidenceError { line: self.lines + 1, flaw: Flaw::NoFinalNewline });
        }
        let summary = self.session.and_then(Session::close);
        summary.ok_or(EvidenceError { line: self.lines + 1, flaw: Flaw::NoEntries })
    }
}

impl Session {
    fn open(opening: Opening, line: &[u8]) -> Self {
        let scheme = opening.scheme;
        let leaves = match scheme {
            Scheme::V1Sorted => Leaves::Unsorted(Vec::new()),
            _ => Leaves::Ordered(Frontier::new(scheme)),
        };
        let chain = Chain::new(scheme, scheme.genesis(line));
        Self { opening, chain, leaves, withheld: 0, closed: None, ignored: 0 }
    }

    fn entry(
        &mut self,
        index: u64,
        bytes: &[u8],
        each: &mut impl FnMut(u64, &Line<'_>, &ChainHash),
    ) -> Result<(), Flaw> {
        if index >= MAX_ENTRIES {
            return Err(Flaw::TooManyEntries);
        }
        let scheme = self.opening.scheme;
        let line = Line::parse(bytes).map_err(Flaw::Malformed)?;
        let (content_hash, prev_hash) = match &line {
            Line::Entry(entry) => (scheme.content_hash(bytes, entry.body.text()), entry.prev_hash),
            Line::Withheld(withheld) => (withheld.content_hash, withheld.prev_hash),
        };
        let chain_hash = self.chain.append(&content_hash, &prev_hash).map_err(|_| Flaw::UnknownParent)?;
        let leaf = scheme.leaf(&content_hash);
        match &mut self.leaves {
            Leaves::Ordered(frontier) => frontier.push(leaf),
            Leaves::Unsorted(leaves) => leaves.push(leaf),
        }
        self.withheld += u64::from(matches!(line, Line::Withheld(_)));
        self.closed = reflection(&line);
        if let Line::Entry(entry) = &line {
            self.ignored += ignored_in(entry) as u64;
        }
        each(index, &line, &chain_hash);
        Ok(())
    }

    fn close(self) -> Option<Summary> {
        let scheme = self.opening.scheme;
        let (root, count) = match self.leaves {
            Leaves::Ordered(frontier) => (frontier.root()?, frontier.count()),
            Leaves::Unsorted(mut leaves) => {
                leaves.sort_unstable();
                (tree::root_of(scheme, &leaves, 1)?, leaves.len() as u64)
            }
        };
        Some(Summary {
            genesis: self.chain.genesis(),
            head: self.chain.head(),
            root,
            count,
            withheld: self.withheld,
            reflection: self.closed.filter(|_| scheme.covers_everything()),
            ignored: if scheme == Scheme::AmsV0 { 0 } else { self.ignored },
            opening: self.opening,
        })
    }
}

/// Whose reflection a line is. One without a mark is stated, and so is one that is marked as stated before.
fn reflection(line: &Line<'_>) -> Option<Reflection> {
    let Line::Entry(entry) = line else { return None };
    let Body::Thought { kind: RecordType::Reflection, .. } = entry.body else { return None };
    Some(match Marks::of(entry.metadata.as_deref()).event {
        None | Some(Event::Restated) => Reflection::Stated,
        Some(_) => Reflection::Observed,
    })
}

impl Summary {
    /// Requires the root and count that are trusted already.
    pub fn require(&self, root: &RootHash, count: u64) -> Result<(), EvidenceError> {
        let fail = |flaw| Err(EvidenceError { line: self.count + 1, flaw });
        if self.count != count {
            return fail(Flaw::CountMismatch { actual: self.count });
        }
        if self.root != *root {
            return fail(Flaw::RootMismatch { actual: self.root });
        }
        Ok(())
    }
}

/// Checks a whole file that is at hand.
pub fn verify(file: &[u8]) -> Result<Summary, EvidenceError> {
    let mut verifier = Verifier::new();
    verifier.push(file)?;
    verifier.finish()
}

/// The line under which an entry is published: itself, or its trace if it is to be withheld. The changes that the tool
/// attested are never withheld: the anchor rests on them, and they hold nothing but digests. Nor is the first entry of a
/// session that goes on from another: the link would be lost.
pub fn publish(scheme: Scheme, entry: &Entry<'_>, withheld: bool) -> String {
    let line = entry.to_line();
    let attests_change =
        matches!(&entry.body, Body::Attest { attest } if GitAttestation::parse(attest.as_bytes()).is_ok());
    let continues = || Marks::of(entry.metadata.as_deref()).continues.is_some();
    if !withheld || attests_change || continues() {
        return line;
    }
    let content_hash = scheme.content_hash(line.as_bytes(), entry.body.text());
    Withheld { prev_hash: entry.prev_hash, content_hash }.to_line()
}
