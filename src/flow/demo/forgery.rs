//! Three forgeries, each of which leaves everything well-formed, on a branch of its own.

use super::failed;
use super::stage::Stage;
use crate::error::Result;
use crate::git::limits::MAX_EVIDENCE;
use crate::git::{EVIDENCE, Fanned};
use crate::proof::finding::FindingCode;
use crate::proof::note::NoteLine;
use crate::publish::evidence_name;

/// The forgeries that the demo tries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Forgery {
    /// A record is edited where it was published.
    Record,
    /// A good note is copied to another commit.
    Note,
    /// A good root is lent to another change, by an anchor that is made for it.
    Root,
}

/// A text of the published record, and the text that the forger puts in its place.
const WORDS: (&str, &str) = ("Rejected: to refund without a limit.", "Rejected: to refund with any limit.");

impl Forgery {
    pub(super) const ALL: [Self; 3] = [Self::Record, Self::Note, Self::Root];

    pub(super) fn branch(self) -> &'static str {
        match self {
            Self::Record => "forged/record",
            Self::Note => "forged/note",
            Self::Root => "forged/root",
        }
    }

    /// The finding that catches it.
    pub(super) fn code(self) -> FindingCode {
        match self {
            Self::Record => FindingCode::ChainBroken,
            Self::Note => FindingCode::BindingMismatch,
            Self::Root => FindingCode::NotRooted,
        }
    }

    /// Makes the branch and forges. The answer tells what was done.
    pub(super) fn commit(self, stage: &Stage) -> Result<String> {
        stage.quietly(&["switch", "--quiet", "--create", self.branch(), "main"])?;
        let told = match self {
            Self::Record => edit_record(stage)?,
            Self::Note => {
                stage.write("fees.py", "FEE = 10\n")?;
                stage.commit("Add a fee")?;
                stage.quietly(&["notes", "--ref=proof", "copy", "main", "HEAD"])?;
                "2. A change that nobody explained gets the note of main, byte for byte \
                 (git notes --ref=proof copy main forged/note)."
                    .to_owned()
            }
            Self::Root => lend_root(stage)?,
        };
        stage.quietly(&["switch", "--quiet", "main"])?;
        Ok(told)
    }
}

/// A session of its own explains the branch, and is proven. Then one of its records says something else.
fn edit_record(stage: &Stage) -> Result<String> {
    let (was, is) = WORDS;
    let decision = format!("Refund at most what was charged. {was}");
    stage.proof_quietly(&[
        "start",
        "--session-id",
        "refunds",
        "--caller",
        "demo-agent",
        "--intent",
        "Refund safely",
    ])?;
    stage.proof_quietly(&["record", "--type", "decision", "--content", &decision])?;
    stage.write("refund.py", "def refund(charge, amount):\n    return bank.send(min(amount, charge))\n")?;
    stage.quietly(&["add", "--all"])?;
    stage.proof_quietly(&["record", "--type", "reflection", "--content", "Refunds are bounded."])?;
    stage.proof_quietly(&["finalize"])?;
    stage.quietly(&["commit", "--quiet", "-m", "Refund at most what was charged"])?;
    stage.proof_quietly(&["anchor", "--no-sign"])?;
    if !stage.is_proven("HEAD")? {
        return Err(failed("the session that is to be forged does not hold"));
    }
    let root = anchor_on(stage, "HEAD")?.root;
    let git = stage.repository()?;
    git.update(EVIDENCE, "forged", |tip| {
        let tip = tip.ok_or_else(|| failed("there is no evidence"))?;
        let tree = git.commit(&tip)?.tree;
        let name = evidence_name(&root);
        let Fanned::File(blob) = git.find_fanned(&tree, &name)? else { return Err(failed("there is no evidence")) };
        let text = String::from_utf8_lossy(&git.blob(&blob, MAX_EVIDENCE)?).replace(was, is);
        let forged = git.write_blob(text.as_bytes())?;
        let tree = git.put_fanned(Some(&tree), &[(name, forged)])?;
        Ok((Some(git.write_commit(&tree, &[tip], "Forged evidence")?), ()))
    })?;
    Ok(format!("1. In the published record behind another branch, \"{was}\" becomes \"{is}\""))
}

/// An anchor with all that an anchor needs, made for a change of which the session says nothing.
fn lend_root(stage: &Stage) -> Result<String> {
    stage.write("audit.py", "LOG = False\n")?;
    stage.commit("Log nothing")?;
    let git = stage.repository()?;
    let commit = git.commit(&git.resolve("HEAD")?)?;
    let mut anchor = anchor_on(stage, "main")?;
    (anchor.commit, anchor.tree, anchor.change_id) = (commit.id, commit.tree, git.change_id(&commit)?);
    let line = NoteLine::Anchor { anchor: Box::new(anchor), signature: None }.to_line();
    let line = line.ok_or_else(|| failed("the anchor cannot be written"))?;
    stage.quietly(&["notes", "--ref=proof", "add", "-m", &line, "HEAD"])?;
    Ok("3. Another unexplained change gets a new, well-formed anchor that lends it the good root of main.".to_owned())
}

/// The anchor in the note of a commit.
fn anchor_on(stage: &Stage, revision: &str) -> Result<crate::proof::anchor::Anchor> {
    let note = stage.quietly(&["notes", "--ref=proof", "show", revision])?;
    let lines = note.lines().map(|line| NoteLine::parse(line.as_bytes()));
    let mut anchors = lines.filter_map(|line| match line {
        Ok(Some(NoteLine::Anchor { anchor, .. })) => Some(*anchor),
        _ => None,
    });
    anchors.next().ok_or_else(|| failed(format!("{revision} has no anchor")))
}
