//! The allowed-signers file: which keys belong to whom, for what, and when. Read as `ssh-keygen -Y` reads it or refused:
//! where ssh-keygen skips a line that it cannot read, the whole file is refused here, with the line. A line that says
//! something which is not supported (`cert-authority`, a quoted principal, a local time) is skipped: its key may sign nothing,
//! and its names and its key still tie lines to one person, so that nobody counts twice because of it.

mod line;
mod pattern;
mod people;

use super::policy::FileError;
use super::sshsig::PublicKey;
use super::timestamp::Timestamp;
use line::Entry;
use std::collections::{HashMap, HashSet};

/// Largest allowed-signers file, in bytes.
pub const MAX_SIGNERS: usize = 1 << 20;

/// Who may sign.
#[derive(Debug, Clone, Default)]
pub struct Signers {
    entries: Vec<Entry>,
    /// The entries of each key.
    by_key: HashMap<PublicKey, Vec<usize>>,
    /// Whose each entry is: the first entry of the same person.
    person: Vec<usize>,
    revoked: HashSet<PublicKey>,
    /// Lines that were skipped, and why.
    skipped: Vec<(usize, &'static str)>,
}

/// What the file says of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing<'a> {
    /// It may sign.
    Signer(Signer<'a>),
    /// It is not listed.
    Unknown,
    /// It is listed, but for other namespaces.
    WrongNamespace,
    /// Its time has not come.
    NotYetValid,
    /// Its time is over.
    Expired,
    /// It is in the revocation list, whatever else is said of it.
    Revoked,
}

/// Whose key it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signer<'a> {
    entries: Vec<&'a Entry>,
    person: usize,
}

impl Signers {
    /// Reads an allowed-signers file.
    pub fn parse(bytes: &[u8]) -> Result<Self, FileError> {
        let (lines, entries): (Vec<usize>, Vec<Entry>) = each_line(bytes, Entry::parse)?.into_iter().unzip();
        let skipped = lines.iter().zip(&entries).filter_map(|(line, entry)| Some((*line, entry.skipped?))).collect();
        let mut by_key: HashMap<PublicKey, Vec<usize>> = HashMap::new();
        for (index, entry) in entries.iter().enumerate().filter(|(_, entry)| entry.skipped.is_none()) {
            by_key.entry(entry.key.clone()).or_default().push(index);
        }
        let person = people::of_entries(&entries);
        Ok(Self { entries, by_key, person, revoked: HashSet::new(), skipped })
    }

    /// Takes the keys of a revocation list out: public keys, one a line, as `ssh-keygen -Y verify -r` reads them. The
    /// binary lists that `ssh-keygen -k` makes are refused: most of what they can say is about certificates.
    pub fn revoke(&mut self, bytes: &[u8]) -> Result<(), FileError> {
        if bytes.starts_with(b"SSHKRL\n\0") {
            let message = "a binary revocation list is not supported: list the keys, one a line".to_owned();
            return Err(FileError { line: 0, message });
        }
        self.revoked.extend(each_line(bytes, line::read_key)?.into_iter().map(|(_, key)| key));
        Ok(())
    }

    /// Whether the file has something to say of this key.
    pub fn lists(&self, key: &PublicKey) -> bool {
        self.by_key.contains_key(key)
    }

    /// What the file says of this key, for a signature in this namespace that was made, or is judged, at this time.
    pub fn who(&self, key: &PublicKey, namespace: &str, at: Timestamp) -> Standing<'_> {
        if self.revoked.contains(key) {
            return Standing::Revoked;
        }
        let Some(listed) = self.by_key.get(key) else { return Standing::Unknown };
        let (mut entries, mut person) = (Vec::with_capacity(1), 0);
        let mut refusal = Standing::WrongNamespace;
        for &index in listed {
            let Entry { options, .. } = &self.entries[index];
            if options.namespaces.as_ref().is_some_and(|patterns| !patterns.matches(namespace)) {
                continue;
            }
            if options.valid_after.is_some_and(|after| at < after) {
                refusal = Standing::NotYetValid;
            } else if options.valid_before.is_some_and(|before| at > before) {
                refusal = Standing::Expired;
            } else {
                entries.push(&self.entries[index]);
                person = self.person[index];
            }
        }
        if entries.is_empty() { refusal } else { Standing::Signer(Signer { entries, person }) }
    }

    /// The lines that were skipped because they say what is not supported, each with why.
    pub fn skipped(&self) -> &[(usize, &'static str)] {
        &self.skipped
    }
}

impl Signer<'_> {
    /// The principals that the file gives to the key, in its words: names, and patterns where it has some.
    pub fn principals(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().flat_map(|entry| entry.principals.wanted()).map(String::as_str)
    }

    /// The name to show: the first that is no pattern, or else the first pattern.
    pub fn name(&self) -> &str {
        let name = self.principals().find(|principal| !pattern::is_open(principal));
        name.or_else(|| self.principals().next()).unwrap_or_default()
    }

    /// Whether the key may sign as this principal, as `ssh-keygen -Y verify -I PRINCIPAL` decides it.
    pub fn answers_to(&self, principal: &str) -> bool {
        self.entries.iter().any(|entry| entry.principals.matches(principal))
    }
}

/// Reads each line that says something; the answers come with the numbers of their lines.
fn each_line<T>(bytes: &[u8], read: impl Fn(&str) -> Result<T, String>) -> Result<Vec<(usize, T)>, FileError> {
    let whole = |message: &str| FileError { line: 0, message: message.to_owned() };
    if bytes.len() > MAX_SIGNERS {
        return Err(whole("larger than 1 MiB"));
    }
    let text = std::str::from_utf8(bytes).map_err(|_| whole("not UTF-8"))?;
    let mut all = Vec::new();
    for (number, line) in text.split('\n').enumerate() {
        let read = line::content(line).and_then(|content| content.map(&read).transpose());
        let read = read.map_err(|message| FileError { line: number + 1, message })?;
        all.extend(read.map(|read| (number + 1, read)));
    }
    Ok(all)
}
