//! How an anchor belongs to a commit: which commit its evidence attests, and whether the judged one is that commit or
//! may replace it. A note's word for itself counts only where the evidence leaves the commit open.

use std::rc::Rc;

use super::commit::Judge;
use super::facts::Facts;
use crate::git::{Allowance, ObjectError, Read};
use crate::hint::{Hint, hint};
use crate::proof::anchor::Anchor;
use crate::proof::digest::{ChangeId, CommitId, TreeId};
use crate::proof::finding::{Finding, FindingCode, cover, fetch_objects};
use crate::proof::policy::Binding;
use crate::proof::verify::{Attested, Bond, Evidence};

/// A commit that an anchor was made for, as far as the evidence or the anchor itself says.
#[derive(Debug, Clone, Copy)]
struct Original {
    commit: CommitId,
    tree: TreeId,
    change: Option<ChangeId>,
    rooted: bool,
    afterwards: bool,
}

/// What an original comes to.
enum Tried {
    /// The judged commit replaces it.
    Bound(Binding),
    /// It makes another change.
    Other,
    /// It would fit, and a rule forbids it; or nobody can tell.
    Refused(Finding),
}

impl Judge<'_> {
    /// How an anchor belongs to a commit.
    pub(super) fn bond(&self, anchor: &Anchor, evidence: &Evidence, judged: &Facts) -> Bond {
        let attested: &[Attested] = match evidence {
            Evidence::Holds(facts) if anchor.scheme.covers_everything() => &facts.attested,
            _ => &[],
        };
        let mut bond = Bond::default();
        if anchor.commit == judged.id() && anchor.tree != judged.tree() {
            bond.misstated = true;
            bond.findings.push(misstated(anchor, "tree"));
        }
        let named = |said: &&Attested| said.change.commit == Some(judged.id()) && said.change.tree == judged.tree();
        if let Some(said) = attested.iter().find(named) {
            return Bond { binding: Some(Binding::Exact), rooted: true, afterwards: said.afterwards, ..bond };
        }
        match self.bond_by_originals(anchor, attested, judged, &mut bond) {
            Ok(()) => {}
            Err(error) => bond.findings.push(unchecked(&error)),
        }
        if bond.binding.is_none() && bond.findings.is_empty() {
            bond.findings.push(
                Finding::error(
                    FindingCode::BindingMismatch,
                    format!(
                        "the anchor of session {} was made for commit {}, which makes another change",
                        anchor.session_id, anchor.commit
                    ),
                )
                .hint(cover()),
            );
        }
        bond
    }

    fn bond_by_originals(&self, anchor: &Anchor, attested: &[Attested], judged: &Facts, bond: &mut Bond) -> Read<()> {
        let change = || judged.change(self.gatherer).map(|ids| ids.map(|ids| ids.wide));
        // Staged: the evidence names the tree and the change, and leaves open which commit became of them.
        let mut originals = Vec::new();
        let mut refused = Vec::new();
        for said in attested {
            let original = |commit| Original {
                commit,
                tree: said.change.tree,
                change: said.change.change_id,
                rooted: true,
                afterwards: said.afterwards,
            };
            match said.change.commit {
                Some(commit) if commit != judged.id() => originals.push(original(commit)),
                None if said.change.tree == judged.tree()
                    && said.change.change_id.is_some()
                    && said.change.change_id == change()? =>
                {
                    match self.replays_itself(judged, said.onto.as_ref()) {
                        Ok(None) => {
                            (bond.binding, bond.rooted) = (Some(Binding::Exact), true);
                            bond.afterwards = said.afterwards;
                            return Ok(());
                        }
                        Ok(Some(replayed)) => refused.push(replayed),
                        Err(error) => refused.push(unchecked(&error)),
                    }
                }
                None if anchor.commit != judged.id()
                    && anchor.tree == said.change.tree
                    && anchor.change_id == said.change.change_id =>
                {
                    originals.push(original(anchor.commit));
                }
                Some(_) | None => {}
            }
        }
        if originals.len() > 1 {
            // The most likely first: the same change.
            let wide = change().ok().flatten();
            originals.sort_by_key(|original| original.change.is_none() || original.change != wide);
        }
        self.try_originals(&originals, judged, bond, &mut refused)?;
        if bond.binding.is_some() {
            return Ok(());
        }
        if refused.is_empty() {
            self.by_own_word(anchor, judged, bond, &mut refused)?;
        }
        if bond.binding.is_none() {
            bond.findings.extend(refused);
        }
        Ok(())
    }

    /// Tries originals; the strongest binding counts.
    fn try_originals(
        &self,
        originals: &[Original],
        judged: &Facts,
        bond: &mut Bond,
        refused: &mut Vec<Finding>,
    ) -> Read<()> {
        for original in originals {
            // Nobody is proven by itself, not even by way of others.
            if self.is_being_judged(&original.commit) {
                continue;
            }
            self.spend(1)?;
            match self.try_original(original, judged)? {
                Tried::Bound(binding) if bond.binding.is_none_or(|known| known < binding) => {
                    (bond.binding, bond.rooted) = (Some(binding), original.rooted);
                    bond.afterwards = original.afterwards;
                    if binding >= Binding::Reworded {
                        return Ok(());
                    }
                }
                Tried::Bound(_) | Tried::Other => {}
                Tried::Refused(finding) => refused.push(finding),
            }
        }
        Ok(())
    }

    /// What the anchor says of itself, where its evidence names no commit that fits. It is bound by it, and not rooted.
    fn by_own_word(&self, anchor: &Anchor, judged: &Facts, bond: &mut Bond, refused: &mut Vec<Finding>) -> Read<()> {
        if anchor.commit == judged.id() {
            if anchor.change_id == judged.change(self.gatherer)?.map(|ids| ids.wide) {
                bond.binding = Some(Binding::Exact);
            } else if !bond.misstated {
                bond.misstated = true;
                bond.findings.push(misstated(anchor, "change"));
            }
            return Ok(());
        }
        let original = Original {
            commit: anchor.commit,
            tree: anchor.tree,
            change: anchor.change_id,
            rooted: false,
            afterwards: false,
        };
        if let Ok(own) = self.gatherer.commit(&anchor.commit)
            && own.tree != anchor.tree
        {
            bond.misstated = true;
            bond.findings.push(misstated(anchor, "tree"));
            return Ok(());
        }
        self.try_originals(&[original], judged, bond, refused)
    }

    fn try_original(&self, original: &Original, judged: &Facts) -> Read<Tried> {
        let own = match self.gatherer.facts(&original.commit) {
            Ok(own) => own,
            Err(ObjectError::Missing(_)) => return self.place(original, judged),
            Err(error) => return Err(error),
        };
        if own.tree() != original.tree {
            return Ok(Tried::Other);
        }
        // Where the evidence leaves the commit open, anyone can name one that has the attested tree, on a parent made for
        // the purpose. The attested change tells them apart.
        if original.rooted && original.change != own.change(self.gatherer)?.map(|ids| ids.wide) {
            return Ok(Tried::Other);
        }
        if own.tree() == judged.tree() && own.parent_trees(self.gatherer)? == judged.parent_trees(self.gatherer)? {
            return Ok(self.allowed(Binding::Reworded, &own, judged));
        }
        if own.is_merge() || judged.is_merge() {
            return Ok(Tried::Other);
        }
        let (change, made) = (own.diff(self.gatherer)?, judged.diff(self.gatherer)?);
        if change.is_empty() || made.is_empty() {
            return Ok(Tried::Other);
        }
        let ours = judged.first_tree(self.gatherer)?;
        let git = &self.gatherer.git;
        match git.is_merge(&change, ours.as_ref(), (&judged.tree(), &made), true, &mut Allowance::default()) {
            Ok(true) => Ok(self.allowed(Binding::Moved, &own, judged)),
            Ok(false) => Ok(Tried::Other),
            Err(error) => Ok(Tried::Refused(unchecked(&error))),
        }
    }

    /// A commit that replaces another, unless it brings back what was undone.
    fn allowed(&self, binding: Binding, own: &Rc<Facts>, judged: &Facts) -> Tried {
        match self.replays(own, judged) {
            Ok(None) => Tried::Bound(binding),
            Ok(Some(replayed)) => Tried::Refused(replayed),
            Err(error) => Tried::Refused(unchecked(&error)),
        }
    }

    /// The original was rewritten before it was ever pushed. The change id tells what it did, and not where: so there
    /// must be one place only, or the attested tree must be this one, which says where everything stands.
    fn place(&self, original: &Original, judged: &Facts) -> Read<Tried> {
        let Some(ids) = judged.change(self.gatherer)?.filter(|ids| original.change == Some(ids.wide)) else {
            return Ok(Tried::Other);
        };
        let why = if original.tree == judged.tree() {
            None
        } else {
            self.gatherer.git.ambiguity(&judged.diff(self.gatherer)?)?
        };
        if let Some(why) = why {
            let message = format!(
                "commit {} was proven and is not in this clone, and this commit makes the same change at a place that \
                 nobody can tell: {why}",
                original.commit
            );
            let finding = Finding::error(FindingCode::PlaceAmbiguous, message);
            return Ok(Tried::Refused(finding.hint(cover_as_it_is())));
        }
        Ok(match self.seen_before(judged, &ids) {
            Ok(None) => Tried::Bound(Binding::Moved),
            Ok(Some(replayed)) => Tried::Refused(replayed),
            Err(error) => Tried::Refused(unchecked(&error)),
        })
    }
}

/// What to do about a commit whose proof does not carry over.
pub(super) fn cover_as_it_is() -> Hint {
    hint!(cover(); "it names the commit as it is")
}

fn misstated(anchor: &Anchor, what: &str) -> Finding {
    Finding::error(
        FindingCode::BindingMismatch,
        format!(
            "the anchor of session {} names another {what} than its own commit {}",
            anchor.session_id, anchor.commit
        ),
    )
}

/// Something could not be read, or not within the limits.
pub(super) fn unchecked(error: &ObjectError) -> Finding {
    match error {
        ObjectError::Limit(..) => Finding::unchecked(FindingCode::LimitReached, error.to_string())
            .hint(hint!(cover(); "it names the commit by its id, which needs no search")),
        _ => Finding::unchecked(FindingCode::ObjectMissing, error.to_string()).hint(fetch_objects()),
    }
}
