//! Trailers: what the commit itself says about its proof.
//!
//! The trailer block is found as `git interpret-trailers --no-divider` finds it with its default settings, except that
//! our own keys count as known ones (as they do in git once `trailer.<name>.key` is set). No user's settings are read:
//! one commit must read the same everywhere.

use std::fmt;

use super::canonical::MAX_INTEGER;
use super::digest::RootHash;
use super::record::Id;
use super::scheme::Scheme;

/// Most lines of ours that are read in one message. A squash of that many commits names as many sessions.
pub const MAX_OURS: usize = 1000;

/// Longest part of a line that is shown where it cannot be read, in bytes.
const SHOWN: usize = 300;

/// The prefix of all our keys; case does not matter, as in git.
const PREFIX: &str = "proof-";

/// A `key: value` line of the trailer block, continuation lines joined by one space.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trailer {
    /// The key as it is written.
    pub key: String,
    /// The value, without white space around it. Not UTF-8: replaced.
    pub value: String,
}

/// A trailer of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProofTrailer {
    /// `Proof-Root: <session>:<scheme>:<root>:<count>`: the session is finalized.
    Root(RootTrailer),
    /// `Proof-Session: <session>`: the session was still open.
    Session(Id),
    /// `Proof-Grade: true`: a person asks for a proof.
    Grade,
}

/// The finalized session that a commit names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RootTrailer {
    /// The session.
    pub session_id: Id,
    /// How it is hashed.
    pub scheme: Scheme,
    /// Its root.
    pub root: RootHash,
    /// Its number of entries.
    pub count: u64,
}

/// A line that looks like ours and is not read as ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stray {
    /// It stands outside the trailer block, or in it but not as a trailer.
    Outside {
        /// The line.
        line: String,
    },
    /// The value is not what the key calls for.
    Malformed {
        /// The line.
        line: String,
    },
    /// A key that this version does not know.
    UnknownKey {
        /// The key.
        key: String,
    },
    /// More lines that begin like ours than are read.
    More {
        /// How many were not read.
        left_out: usize,
    },
}

/// All that a commit's message says about its proof.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProofTrailers {
    /// The trailers that count.
    pub trailers: Vec<ProofTrailer>,
    /// Lines that look like trailers but do not count; they are only reported.
    pub strays: Vec<Stray>,
}

impl ProofTrailers {
    /// Reads a commit's message.
    pub fn parse(message: &[u8]) -> Self {
        let Parts { before, block, after } = Parts::of(message);
        let mut found = Self::default();
        let mut left_out = 0;
        let unread = lines(block).filter(|line| is_space(line[0]) || separator(line).is_none());
        for line in lines(before).chain(unread).chain(after.split(|byte| matches!(byte, 0 | b'\n'))) {
            if !has_our_prefix(line) {
            } else if found.len() < MAX_OURS {
                found.strays.push(Stray::Outside { line: shown(line) });
            } else {
                left_out += 1;
            }
        }
        for (key, value) in folded(block) {
            let Some(key) = key.filter(|key| has_our_prefix(key)) else { continue };
            if found.len() >= MAX_OURS {
                left_out += 1;
                continue;
            }
            let trailer = Trailer::new(key, value);
            let Some(name) = trailer.our_name() else { continue };
            let parsed = match name.as_str() {
                "root" => RootTrailer::parse(&trailer.value).map(ProofTrailer::Root),
                "session" => Id::parse(&trailer.value).map(ProofTrailer::Session),
                "grade" => (trailer.value == "true").then_some(ProofTrailer::Grade),
                _ => {
                    found.strays.push(Stray::UnknownKey { key: trailer.key });
                    continue;
                }
            };
            match parsed {
                Some(parsed) => found.trailers.push(parsed),
                None => {
                    let line = format!("{}: {}", trailer.key, trailer.value);
                    found.strays.push(Stray::Malformed { line: shown(line.as_bytes()) });
                }
            }
        }
        if left_out > 0 {
            found.strays.push(Stray::More { left_out });
        }
        found
    }

    fn len(&self) -> usize {
        self.trailers.len() + self.strays.len()
    }
}

/// A message with one more trailer, where `git interpret-trailers` puts it by its default settings: at the end of the
/// block, or as a block of its own. One that is there already is not added again.
pub fn add(message: &[u8], line: &str) -> Vec<u8> {
    let mut whole = message.to_vec();
    if !whole.is_empty() && !whole.ends_with(b"\n") {
        whole.push(b'\n');
    }
    let Parts { before, block, after } = Parts::of(&whole);
    let same = |trailer: &Trailer| {
        line.split_once(": ")
            .is_some_and(|(key, value)| trailer.key.eq_ignore_ascii_case(key) && trailer.value == value)
    };
    if read_block(block).any(|trailer| same(&trailer)) {
        return message.to_vec();
    }
    let mut added = before.to_vec();
    if block.is_empty() {
        if !lines(before).next_back().is_some_and(is_blank) {
            added.push(b'\n');
        }
    } else {
        added.extend_from_slice(&printed(block));
    }
    added.extend_from_slice(line.as_bytes());
    added.push(b'\n');
    added.extend_from_slice(after);
    added
}

/// The message without comments, blank lines, white space at line ends, and everything below the scissors line.
pub fn without_comments(message: &[u8], comment: &[u8]) -> Vec<u8> {
    let is_scissors = |line: &[u8]| {
        let rest = line.strip_prefix(comment).and_then(|rest| rest.strip_prefix(b" "));
        rest.is_some_and(|rest| trim(rest) == b"------------------------ >8 ------------------------")
    };
    let mut text = Vec::with_capacity(message.len());
    for line in lines(message).take_while(|line| !is_scissors(line)) {
        if !is_blank(line) && !line.starts_with(comment) {
            text.extend_from_slice(trim(line));
            text.push(b'\n');
        }
    }
    text
}

/// All trailers of a commit's message.
pub fn trailers(message: &[u8]) -> impl Iterator<Item = Trailer> {
    read_block(Parts::of(message).block)
}

/// The lines of a message up to its first NUL, where git stops showing it, as far as `wanted` takes their first byte. Whatever
/// has the shape of a trailer is given as `key: value`, wherever it stands and with the lines that continue it: tools that
/// write trailers, and people who add a paragraph below them, do not keep to git's rule of the last paragraph.
pub fn message_lines(message: &[u8], wanted: impl Fn(u8) -> bool) -> Vec<String> {
    let shown = &message[..memchr::memchr(0, message).unwrap_or(message.len())];
    let read = |(key, value): (Option<&[u8]>, &[u8])| {
        let first = key.unwrap_or(value).first()?;
        if !wanted(*first) {
            return None;
        }
        Some(match key {
            Some(key) => format!("{}: {}", lossy(key), lossy(&unfold(value))),
            None => String::from_utf8_lossy(value.trim_ascii_end()).into_owned(),
        })
    };
    folded(shown).filter_map(read).collect()
}

impl Trailer {
    fn new(key: &[u8], value: &[u8]) -> Self {
        Self { key: lossy(key), value: lossy(&unfold(value)) }
    }

    /// The rest of one of our keys after `Proof-`, in lower case.
    fn our_name(&self) -> Option<String> {
        self.key.to_ascii_lowercase().strip_prefix(PREFIX).map(str::to_owned)
    }
}

impl RootTrailer {
    /// Reads `<session>:<scheme>:<root>:<count>`.
    pub fn parse(value: &str) -> Option<Self> {
        let mut parts = value.split(':');
        let trailer = Self {
            session_id: Id::parse(parts.next()?)?,
            scheme: Scheme::parse(parts.next()?)?,
            root: RootHash::parse(parts.next()?)?,
            count: parts.next()?.parse().ok().filter(|count| (1..=MAX_INTEGER).contains(count))?,
        };
        // A count with a sign or a leading zero would be a second spelling.
        (trailer.to_string() == value).then_some(trailer)
    }
}

impl fmt::Display for RootTrailer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}:{}", self.session_id, self.scheme, self.root, self.count)
    }
}

impl fmt::Display for ProofTrailer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root(root) => write!(f, "Proof-Root: {root}"),
            Self::Session(session) => write!(f, "Proof-Session: {session}"),
            Self::Grade => f.write_str("Proof-Grade: true"),
        }
    }
}

/// A message, cut where git cuts it.
struct Parts<'a> {
    before: &'a [u8],
    block: &'a [u8],
    /// The text that git ignores, or does not even show.
    after: &'a [u8],
}

impl<'a> Parts<'a> {
    fn of(message: &'a [u8]) -> Self {
        // Git shows a message only up to its first NUL, so nothing after it is read.
        let shown = &message[..memchr::memchr(0, message).unwrap_or(message.len())];
        let (text, after) = message.split_at(end_of_text(shown));
        let (before, block) = text.split_at(block_start(text));
        Self { before, block, after }
    }
}

fn lines(text: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    text.split_inclusive(|byte| *byte == b'\n')
}

/// A line as it is shown where it cannot be read.
fn shown(line: &[u8]) -> String {
    let line = trim(line);
    if line.len() <= SHOWN { lossy(line) } else { format!("{}…", lossy(&line[..SHOWN])) }
}

fn lossy(line: &[u8]) -> String {
    String::from_utf8_lossy(trim(line)).into_owned()
}

/// White space as git's `isspace` has it: no vertical tab, no form feed.
fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

fn trim(mut text: &[u8]) -> &[u8] {
    while let [first, rest @ ..] = text
        && is_space(*first)
    {
        text = rest;
    }
    while let [rest @ .., last] = text
        && is_space(*last)
    {
        text = rest;
    }
    text
}

fn is_blank(line: &[u8]) -> bool {
    line.iter().all(|byte| is_space(*byte))
}

fn is_comment(line: &[u8]) -> bool {
    line.starts_with(b"#")
}

fn has_our_prefix(line: &[u8]) -> bool {
    line.trim_ascii_start().get(..PREFIX.len()).is_some_and(|start| start.eq_ignore_ascii_case(PREFIX.as_bytes()))
}

/// Where the key of a trailer ends: letters, digits and dashes, white space after them, a colon.
fn separator(line: &[u8]) -> Option<usize> {
    let key = line.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'-').count();
    let gap = line[key..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    (key > 0 && line.get(key + gap) == Some(&b':')).then_some(key + gap)
}

/// Where the text of a message ends for git: before the line under which `git commit --verbose` shows the change, and
/// before comments, blank lines and a list of conflicts at the end.
fn end_of_text(text: &[u8]) -> usize {
    const SCISSORS: &[u8] = b"# ------------------------ >8 ------------------------\n";
    let mut at = 0;
    // The start of the current run of ignored lines. As in git, a run that begins at offset 0 is not noticed.
    let mut run = 0;
    let mut in_conflicts = false;
    for line in lines(text) {
        if line == SCISSORS {
            break;
        }
        let conflicts = matches!(line, b"Conflicts:\n" | b"Conflicts:");
        in_conflicts |= conflicts;
        if conflicts || is_comment(line) || line == b"\n" {
            run = if run == 0 { at } else { run };
        } else if !(in_conflicts && line.starts_with(b"\t")) && run != 0 {
            (run, in_conflicts) = (0, false);
        }
        at += line.len();
    }
    if run == 0 { at } else { run }
}

/// Where the trailer block begins, or the end of the text.
///
/// It is the last paragraph, but never the first: either every line in it is a trailer, or one of them is of a known
/// kind and at least a quarter are trailers.
fn block_start(text: &[u8]) -> usize {
    let end = text.len();
    let title: usize = lines(text).take_while(|line| is_comment(line) || !is_blank(line)).map(<[u8]>::len).sum();
    let (mut trailer_lines, mut other_lines, mut continuations) = (0usize, 0usize, 0usize);
    let (mut known, mut only_blank) = (false, true);
    let mut start = end;
    for line in lines(&text[title..]).rev() {
        start -= line.len();
        if is_comment(line) {
            other_lines += std::mem::take(&mut continuations);
        } else if is_blank(line) {
            if only_blank {
                continue;
            }
            other_lines += continuations;
            let holds = (known && trailer_lines * 3 >= other_lines) || (trailer_lines > 0 && other_lines == 0);
            return if holds { start + line.len() } else { end };
        } else {
            only_blank = false;
            if line.starts_with(b"Signed-off-by: ") || line.starts_with(b"(cherry picked from commit ") {
                (trailer_lines, continuations, known) = (trailer_lines + 1, 0, true);
            } else if is_space(line[0]) {
                continuations += 1;
            } else if separator(line).is_some() {
                (trailer_lines, continuations) = (trailer_lines + 1, 0);
                known |= has_our_prefix(line);
            } else {
                other_lines += 1 + std::mem::take(&mut continuations);
            }
        }
    }
    end
}

fn read_block(block: &[u8]) -> impl Iterator<Item = Trailer> {
    folded(block).filter_map(|(key, value)| Some(Trailer::new(key?, value)))
}

/// The items of a block: a trailer's key and value with the lines that continue it, or a line that is no trailer.
fn folded(block: &[u8]) -> impl Iterator<Item = (Option<&[u8]>, &[u8])> {
    let mut rest = block;
    std::iter::from_fn(move || {
        let line = lines(rest).next()?;
        let at = separator(line);
        let more = lines(&rest[line.len()..]).take_while(|line| at.is_some() && is_space(line[0]));
        let (item, after) = rest.split_at(line.len() + more.map(<[u8]>::len).sum::<usize>());
        rest = after;
        Some((at.map(|at| &item[..at]), &item[at.map_or(0, |at| at + 1)..]))
    })
}

/// A block as git prints it when it adds to it: one space after the colon, none at the end, comments left out.
fn printed(block: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(block.len());
    for (key, value) in folded(block) {
        match key {
            Some(key) => {
                text.extend_from_slice(trim(key));
                text.extend_from_slice(b": ");
                text.extend_from_slice(trim(value));
            }
            None if is_comment(value) => continue,
            None => text.extend_from_slice(value.strip_suffix(b"\n").unwrap_or(value)),
        }
        text.push(b'\n');
    }
    text
}

/// Each line end, with the white space after it, becomes one space.
fn unfold(value: &[u8]) -> Vec<u8> {
    let mut unfolded = Vec::with_capacity(value.len());
    let mut at_start = false;
    for &byte in trim(value) {
        if at_start && is_space(byte) {
            continue;
        }
        at_start = byte == b'\n';
        unfolded.push(if at_start { b' ' } else { byte });
    }
    unfolded
}
