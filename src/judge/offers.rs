//! Proofs that other repositories offer, judged together with those of this one. Nothing of them is merged or trusted: they
//! are looked up as the repository's own are, and verified in full. What could not be read of them makes a missing proof one
//! that could not be checked.

use std::collections::BTreeMap;

use super::verdict::CommitVerdict;
use crate::error::{Code, Error, Result};
use crate::git::limits::WORK_FOR_OFFERS;
use crate::git::{Git, OFFERED, Quarantine, Remote};
use crate::proof::digest::{CommitId, TreeId};
use crate::proof::finding::{Finding, FindingCode, Verdict};
use crate::publish::unite_offered;

/// Most repositories that may offer proofs for one verdict.
const MOST: usize = 16;

/// The repository with the proofs that others offer.
pub(crate) struct Offers {
    /// Sees the repository's own proofs and those that were offered, and writes to neither.
    pub(crate) git: Git,
    /// Why something that was named could not be read.
    pub(crate) unread: Vec<Error>,
    /// The objects are there as long as this is.
    pub(super) quarantine: Option<Quarantine>,
}

impl Offers {
    /// Fetches what each of `sources` offers, a name of a remote, an address or a path.
    pub(crate) fn gather(git: Git, sources: &[String]) -> Result<Self> {
        if sources.len() > MOST {
            return Err(Error::new(
                Code::InvalidParams,
                format!("proofs of at most {MOST} repositories are judged at once"),
            )
            .hint("name fewer of them"));
        }
        let remotes = sources.iter().map(|source| git.remote(Some(source))).collect::<Result<Vec<Remote>>>()?;
        if remotes.is_empty() {
            return Ok(Self { git, unread: Vec::new(), quarantine: None });
        }
        let quarantine = match Quarantine::new(&git) {
            Ok(quarantine) => quarantine,
            Err(error) => return Ok(Self { git, unread: vec![error], quarantine: None }),
        };
        let mut unread = Vec::new();
        let mut offered: Vec<(&Remote, BTreeMap<&'static str, CommitId>)> = Vec::new();
        for remote in &remotes {
            match quarantine.fetch(&git, remote) {
                Ok(tips) => offered.push((remote, tips)),
                Err(error) => unread.push(error),
            }
        }
        let with = quarantine.open(&git)?;
        let mut trees: BTreeMap<&'static str, TreeId> = BTreeMap::new();
        for shared in OFFERED {
            if let Some(tree) = with.proof_tree(shared)? {
                trees.insert(shared, tree);
            }
        }
        for (remote, tips) in offered {
            let unite = || unite_offered(&with, &trees, &tips);
            match with.meter.apart(WORK_FOR_OFFERS, unite).0 {
                Ok(united) => trees = united,
                Err(error) => {
                    let said = format!("the proofs of {} cannot be joined with those that are here", remote.shown());
                    unread.push(Error::new(Code::LimitReached, said).because(error));
                }
            }
        }
        // What was written meanwhile is in no pack that is known yet.
        let with = with.with_proof_trees(trees);
        with.open_packs(false);
        Ok(Self { git: with, unread, quarantine: Some(quarantine) })
    }
}

/// Lets missing proofs count as not checked where a repository that was named could not be read: they may be there.
pub(super) fn unread(unread: &[Error], commits: &mut [CommitVerdict]) {
    for commit in commits.iter_mut().filter(|commit| commit.verdict == Verdict::Missing) {
        commit.verdict = Verdict::Unchecked;
        commit.findings = std::mem::take(&mut commit.findings).into_iter().map(Finding::softened).collect();
        commit.findings.extend(unread.iter().map(|error| {
            let finding = Finding::unchecked(FindingCode::RefNotFetched, error.to_string());
            match &error.hint {
                Some(hint) => finding.hint(hint.clone()),
                None => finding,
            }
        }));
    }
}
