//! People, not keys: how many have signed.
//!
//! A person is all keys and names that the file ties together: lines with one key, or with one name, are of one person,
//! and so are lines that other lines tie, whether those have signed or not, and whether or not their time is over. So
//! `ada@x KEY1`, `ada@y KEY2` and `ada@x,ada@y KEY3` are one person. Names that differ in case only are one name.
//!
//! A pattern is a person who may be anyone that it matches: never counted beside one of those.

use std::collections::HashMap;

use super::line::Entry;
use super::pattern::{is_open, overlap};
use super::{Signer, Signers};

/// For each entry, the first one of the same person.
pub(super) fn of_entries(entries: &[Entry]) -> Vec<usize> {
    let mut person: Vec<usize> = (0..entries.len()).collect();
    let (mut by_key, mut by_name) = (HashMap::new(), HashMap::new());
    for (index, entry) in entries.iter().enumerate() {
        let first = *by_key.entry(&entry.key).or_insert(index);
        join(&mut person, first, index);
        for name in entry.principals.wanted() {
            let first = *by_name.entry(name.to_ascii_lowercase()).or_insert(index);
            join(&mut person, first, index);
        }
    }
    (0..entries.len()).map(|index| first_of(&mut person, index)).collect()
}

/// The first entry of the person of this one.
fn first_of(person: &mut [usize], mut index: usize) -> usize {
    while person[index] != index {
        person[index] = person[person[index]];
        index = person[index];
    }
    index
}

fn join(person: &mut [usize], one: usize, other: usize) {
    let (one, other) = (first_of(person, one), first_of(person, other));
    person[one.max(other)] = one.min(other);
}

impl Signers {
    /// The people among these signers, each by one name.
    pub fn people(&self, signers: &[Signer<'_>]) -> Vec<&str> {
        let mut people: Vec<usize> = signers.iter().map(|signer| signer.person).collect();
        people.sort_unstable();
        people.dedup();
        // Those with names first, so that a pattern is held against them and not they against it.
        people.sort_by_cached_key(|person| self.names(*person).any(is_open));
        let mut counted: Vec<usize> = Vec::new();
        for person in people {
            let open = self.names(person).any(is_open);
            let may_be = |other: usize| self.names(person).any(|name| self.names(other).any(|its| overlap(name, its)));
            if !(open && counted.iter().any(|other| may_be(*other))) {
                counted.push(person);
            }
        }
        counted.into_iter().filter_map(|person| self.name(person)).collect()
    }

    /// How many people have signed, at least.
    pub fn count_people(&self, signers: &[Signer<'_>]) -> usize {
        self.people(signers).len()
    }

    /// All names and patterns of a person.
    fn names(&self, person: usize) -> impl Iterator<Item = &str> {
        let entries = self.entries.iter().zip(&self.person).filter(move |(_, whose)| **whose == person);
        entries.flat_map(|(entry, _)| entry.principals.wanted()).map(String::as_str)
    }

    fn name(&self, person: usize) -> Option<&str> {
        self.names(person).find(|name| !is_open(name)).or_else(|| self.names(person).next())
    }
}
