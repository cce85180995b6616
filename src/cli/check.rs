//! `check-proof` and `check-evidence`: the two commands that need no repository.

use std::path::PathBuf;

use clap::Args;

use super::ui::Ui;
use crate::context::Context;
use crate::error::Result;
use crate::flow::{self, CheckedProof, ConsistencyOutcome, LoggedOutcome, ProofOutcome};
use crate::proof::observed::Reflection;
use crate::record::{self, EvidenceOutcome, Source, Trusted};

/// Check a proof against a root and count that you trust
///
/// The proof is one line of JSON, exactly as `git proof prove` or `git proof rounds prove` prints it. It proves that an entry
/// is in a session, that a session is in the log of sealed sessions, or that a later log begins with an earlier one. With
/// --root and --count (of the session, or of the log) no repository is needed. Without them, the proof is compared with an
/// anchor of this repository that holds, or with its chain of rounds.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  git proof check-proof proof.json
  git proof check-proof proof.json --root 3d57…7e2e --count 12
  git proof check-proof - --root 3d57…7e2e --count 12 < proof.json")]
pub(super) struct CheckProof {
    /// The proof file, or - for standard input
    file: PathBuf,
    #[command(flatten)]
    trusted: TrustedArguments,
}

/// Recompute chain and root of an evidence file
///
/// Every line is hashed and read strictly: it must be canonical JSON with exactly the fields of its kind. Without --root and
/// --count, it prints the root and count of the file, for you to compare. No repository is needed. It also says whether a
/// readable reflection closes the session. That is not required here, but verify and gate refuse a proof-grade session
/// without one (REFLECTION_MISSING).
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  git proof check-evidence session.jsonl
  git proof check-evidence session.jsonl --root 3d57…7e2e --count 12
  git cat-file blob refs/proof/evidence:3d/3d57….jsonl | git proof check-evidence -")]
pub(super) struct CheckEvidence {
    /// The evidence file, or - for standard input
    file: PathBuf,
    #[command(flatten)]
    trusted: TrustedArguments,
}

#[derive(Debug, Args)]
struct TrustedArguments {
    /// The root that you trust: 64 hex digits
    #[arg(long, requires = "count")]
    root: Option<String>,
    /// The number of entries below that root
    #[arg(long, requires = "root")]
    count: Option<String>,
}

impl TrustedArguments {
    fn parse(&self) -> Result<Option<Trusted>> {
        match (&self.root, &self.count) {
            (Some(root), Some(count)) => Trusted::parse(root, count).map(Some),
            _ => Ok(None),
        }
    }
}

impl CheckProof {
    pub(super) fn run(&self, context: &Context, ui: &mut Ui) -> Result<()> {
        let outcome = flow::check_proof(context, &Source::parse(context, &self.file), self.trusted.parse()?.as_ref())?;
        ui.show(&outcome, |outcome, _| match outcome {
            CheckedProof::Entry(ProofOutcome { scheme, leaf_hash, index, count, root, .. }) => format!(
                "The proof holds: entry {leaf_hash}\nis number {index} (from 0) of {count} under root {root} ({scheme}).\n"
            ),
            CheckedProof::Logged(LoggedOutcome { session_id, session_root, index, count, root, .. }) => format!(
                "The proof holds: session {session_id} with root {session_root}\nis number {index} (from 0) of {count} in \
                 the log of sealed sessions with root {root}.\n"
            ),
            CheckedProof::Consistency(ConsistencyOutcome { from_count, from_root, count, root, .. }) => format!(
                "The proof holds: the log of {count} sessions with root {root}\nbegins with the log of {from_count} sessions \
                 with root {from_root}.\nCompare the earlier root with the one that you have kept.\n"
            ),
        });
        Ok(())
    }
}

impl CheckEvidence {
    pub(super) fn run(&self, context: &Context, ui: &mut Ui) -> Result<()> {
        let outcome = record::check_evidence(&Source::parse(context, &self.file), self.trusted.parse()?.as_ref())?;
        ui.show(&outcome, |outcome, _| describe(outcome));
        Ok(())
    }
}

fn describe(outcome: &EvidenceOutcome) -> String {
    let EvidenceOutcome { scheme, genesis, head, root, count, withheld, session_id, .. } = outcome;
    let verdict = if outcome.trusted {
        "The evidence holds, and adds up to the root and count you gave."
    } else {
        "The evidence is whole. Compare root and count with ones that you trust."
    };
    let closing = match (outcome.reflection, outcome.proof_grade) {
        (Some(Reflection::Stated), _) => "closed by a reflection",
        (Some(Reflection::Observed), _) => "closed by an observed reflection",
        (None, true) => "proof-grade, but no readable reflection closes it",
        (None, false) => "not proof-grade, no reflection closes it",
    };
    let ignored = match outcome.ignored {
        0 => String::new(),
        count => format!("  ignored  {count}, which claim to be observed and have another form\n"),
    };
    format!(
        "{verdict}\n  session  {session_id} ({scheme})\n  root     {root}\n  count    {count}\n  withheld {withheld}\n  \
         genesis  {genesis}\n  head     {head}\n  closing  {closing}\n{ignored}"
    )
}
