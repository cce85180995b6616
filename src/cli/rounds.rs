//! `seal`, `rounds`.

use std::collections::BTreeMap;

use clap::{Args, Subcommand};

use super::sync::told;
use super::ui::{Paint, Role, Ui, inert};
use super::verdict::findings;
use crate::context::Context;
use crate::error::{Code, Result};
use crate::flow::{self, RoundOutcome, RoundsOutcome};
use crate::present;
use crate::proof::finding::Verdict;
use crate::proof::text::counted;
use crate::record::Workspace;
use crate::rounds::{self, CheckpointRequest};
use crate::seal::{self, LeftOut, SealOutcome, SealRequest};

/// Seal a round: every anchored session that no round has sealed yet
///
/// Collects finalized and anchored sessions from refs/notes/proof, also those that others pushed, and lists them in the next
/// seal of refs/proof/rounds. Only anchors that verify are sealed. It refuses while a session of this clone is open, unless
/// --defer leaves that session to the next round. Run git proof sync before, to seal what the team pushed, and afterwards, to
/// share the seal.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  git proof sync && git proof seal && git proof sync
  git proof seal --defer
  git proof seal --sign --json")]
pub(super) struct Seal {
    /// Leave sessions that are still open to the next round
    #[arg(long)]
    defer: bool,

    /// Sign the seal with the key that git signs with [default: as git config proof.sign says]
    #[arg(long, overrides_with = "no_sign")]
    sign: bool,

    /// Do not sign it
    #[arg(long, overrides_with = "sign")]
    no_sign: bool,
}

impl Seal {
    pub(super) fn run(&self, context: &Context, ui: &mut Ui) -> Result<()> {
        let sign = if self.sign { Some(true) } else { self.no_sign.then_some(false) };
        let request = SealRequest { defer: self.defer, sign };
        let outcome = match seal::seal(&mut Workspace::open_or_create(context.clone())?, &request) {
            // For a job that seals every night this is no error, unless something was left out.
            Err(error) if error.code == Code::NothingToSeal && error.causes.is_empty() => {
                let nothing = serde_json::json!({ "round": null, "sessions": [], "left_out": [] });
                ui.show(&nothing, |_, _| "Nothing to seal: every anchored session is sealed already.\n".to_owned());
                return Ok(());
            }
            outcome => outcome?,
        };
        if let Some(clock) = &outcome.clock {
            ui.say(&format!("git proof seal: {clock}"));
        }
        if !outcome.deferred.is_empty() {
            let open = outcome.deferred.len();
            let open = counted(open, "open session", "open sessions");
            ui.say(&format!("git proof seal: {open} left to the next round"));
        }
        for finding in &outcome.findings {
            ui.say(&format!("git proof seal: {}", finding.message));
        }
        if let Some(line) = left_out(&outcome) {
            ui.say(&format!("git proof seal: {line}"));
        }
        ui.show(&outcome, |outcome, paint| {
            let mut text = format!(
                "{} round {}: {}{}.\n",
                paint.paint(Role::Good, "Sealed"),
                outcome.round,
                counted(outcome.sessions.len(), "session", "sessions"),
                if outcome.signed { ", signed" } else { "" }
            );
            text.push_str(&format!("  seal  {}\n  root  {}\n", outcome.seal, outcome.root));
            let sealed = counted(outcome.log_size, "session", "sessions");
            text.push_str(&format!("  log   {} of {sealed}\n", outcome.log_root));
            for session in &outcome.sessions {
                text.push_str(&format!(
                    "  session {} ({} entries)\n",
                    inert(session.session_id.as_str()),
                    session.count
                ));
            }
            text
        });
        Ok(())
    }
}

/// One line about the anchors that were not sealed: a single one by its name, several as counts by kind.
fn left_out(outcome: &SealOutcome) -> Option<String> {
    let first = outcome.left_out.first()?;
    let why = |left: &LeftOut| left.codes.first().map_or("its anchor does not hold", |code| code.as_str());
    if outcome.left_out_count == 1 {
        return Some(format!("left out session {} on commit {}: {}", first.session_id, first.commit, why(first)));
    }
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    outcome.left_out.iter().for_each(|left| *kinds.entry(why(left)).or_default() += 1);
    let kinds: Vec<String> = kinds.into_iter().map(|(why, count)| format!("{count} {why}")).collect();
    let (count, listed) = (outcome.left_out_count, outcome.left_out.len() as u64);
    let of = if count > listed { format!(" of the first {listed}") } else { String::new() };
    Some(format!("left out {count} anchors ({}{of}); git proof seal --json lists them", kinds.join(", ")))
}

/// Show and verify the chain of rounds
///
/// Reads every seal of refs/proof/rounds, beginning with the first, and computes its number, hashes, tree and log again. Then
/// it checks that the anchors and the evidence that the seals list still exist, and compares the chain with what this clone
/// saw of it before, here and at each remote. Exit code 0: the chain holds. 1: it does not hold. 3: could not check, something
/// that is needed is not in this clone.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "\
Examples:
  git proof rounds
  git proof rounds show 1
  git proof rounds prove --from 1 --to 2 > consistency.json
  git proof rounds checkpoint --origin example.org/proofs --key checkpoint.key")]
pub(super) struct Rounds {
    #[command(subcommand)]
    command: Option<RoundsCommand>,
}

#[derive(Debug, Subcommand)]
enum RoundsCommand {
    Show(Show),
    Prove(Prove),
    Checkpoint(Checkpoint),
    Accept(Accept),
}

/// Show one round and the sessions that it seals
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  git proof rounds show 1\n  git proof rounds show 1 --json")]
struct Show {
    /// The round
    #[arg(value_name = "N")]
    round: u64,
}

/// Prove that the log of a later round begins with that of an earlier one
///
/// Prints the consistency proof as one line, for git proof check-proof. Anyone who kept the log's root of the earlier round
/// can check with it that nothing that was sealed then was changed or removed since.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  git proof rounds prove --from 1 > consistency.json\n  git proof rounds prove --from 1 --to 2"
)]
struct Prove {
    /// The earlier round
    #[arg(long, value_name = "N")]
    from: u64,

    /// The later round [default: the newest]
    #[arg(long, value_name = "M")]
    to: Option<u64>,
}

/// Print the head of the log as a signed checkpoint
///
/// The form is that of C2SP's tlog-checkpoint, a signed note with an Ed25519 key, which witnesses of transparency logs take.
/// The origin names the log and its key. The key is a file as ssh-keygen makes it, without a passphrase.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  git proof rounds checkpoint --origin example.org/proofs --key checkpoint.key
  git proof rounds checkpoint --origin example.org/proofs --key checkpoint.key --verifier-key")]
struct Checkpoint {
    /// The name of the log [default: git config proof.origin]
    #[arg(long, value_name = "NAME")]
    origin: Option<String>,

    /// The file of an Ed25519 key [default: git config proof.checkpointKey]
    #[arg(long, value_name = "FILE")]
    key: Option<String>,

    /// The round [default: the newest]
    #[arg(long, value_name = "N")]
    round: Option<u64>,

    /// Print the public line by which others verify checkpoints instead
    #[arg(long)]
    verifier_key: bool,
}

/// Replace this clone's chain of rounds by a remote's, after a fork or a rollback
///
/// Use it once you know why there are two chains. Sessions that only this clone's chain had sealed are sealed again on top of
/// the remote's chain, and what this clone saw of the chain before is forgotten.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  git proof rounds accept origin")]
struct Accept {
    /// The remote [default: that of the current branch, else origin]
    #[arg(value_name = "REMOTE")]
    remote: Option<String>,
}

impl Rounds {
    pub(super) fn run(&self, context: &Context, ui: &mut Ui) -> Result<()> {
        match &self.command {
            None => {
                let outcome = flow::rounds(context)?;
                ui.answer(present::exit_code(outcome.verdict));
                ui.show(&outcome, chain);
            }
            Some(RoundsCommand::Show(show)) => {
                let outcome = flow::round(context, show.round)?;
                ui.answer(present::exit_code(outcome.verdict));
                ui.show(&outcome, one);
            }
            Some(RoundsCommand::Prove(prove)) => {
                let proof = rounds::prove_rounds(context, prove.from, prove.to)?;
                ui.text(|_| proof.to_line() + "\n");
            }
            Some(RoundsCommand::Checkpoint(checkpoint)) => {
                let Checkpoint { origin, key, round, verifier_key } = checkpoint;
                let request = CheckpointRequest { origin: origin.clone(), key: key.clone(), round: *round };
                let outcome = rounds::checkpoint(context, &request)?;
                ui.show(&outcome, |outcome, _| {
                    if *verifier_key { outcome.verifier_key.clone() + "\n" } else { outcome.checkpoint.clone() }
                });
            }
            Some(RoundsCommand::Accept(accept)) => {
                let mut workspace = Workspace::open_or_create(context.clone())?;
                let outcome = seal::accept_rounds(&mut workspace, accept.remote.as_deref())?;
                told(ui, &outcome.remade);
                if outcome.blocked {
                    ui.answer(present::exit_code(Verdict::Fail));
                }
                ui.show(&outcome, |outcome, paint| {
                    let done = match (outcome.blocked, outcome.changed) {
                        (true, _) => paint.paint(Role::Bad, "Not accepted"),
                        (false, true) => paint.paint(Role::Good, "Accepted"),
                        (false, false) => "Nothing to accept: there is one chain".to_owned(),
                    };
                    format!("{done}.\n{}", findings(&outcome.findings, paint))
                });
            }
        }
        Ok(())
    }
}

/// The chain as a picture: the newest round on top, each resting on the one before.
fn chain(outcome: &RoundsOutcome, paint: Paint) -> String {
    let mut text = match (outcome.verdict, outcome.rounds.len()) {
        (Verdict::Exempt, _) => "There is no round yet. git proof seal makes one of what is anchored.\n".to_owned(),
        (Verdict::Pass | Verdict::Vouched, rounds) => {
            format!("{}: {}.\n", paint.paint(Role::Good, "The chain holds"), counted(rounds, "round", "rounds"))
        }
        (Verdict::Unchecked, _) => format!("{}.\n", paint.paint(Role::Decision, "The chain could not be checked")),
        (Verdict::Fail | Verdict::Missing, _) => format!("{}.\n", paint.paint(Role::Bad, "The chain does not hold")),
    };
    text.push_str(&findings(&outcome.findings, paint));
    for round in outcome.rounds.iter().rev() {
        let seal = round.seal.to_string();
        text.push_str(&format!(
            "\n  {}  {}  {}{}\n",
            paint.paint(Role::Strong, &format!("round {}", round.round)),
            round.sealed_at,
            counted(round.sessions, "session", "sessions"),
            signed_by(&round.signers)
        ));
        text.push_str(&format!("  │ seal {}  log of {}\n", &seal[..16], round.log_size));
        if let Some(clock) = &round.clock {
            text.push_str(&format!("  │ clock: {clock}\n"));
        }
        match &round.previous {
            Some(previous) => text.push_str(&format!("  ▼ rests on {}\n", &previous.to_string()[..16])),
            None => text.push_str("  ╵ the first\n"),
        }
    }
    for seen in outcome.seen.iter().filter(|seen| seen.remote.is_some()) {
        let remote = seen.remote.as_deref().unwrap_or_default();
        let stands = if seen.in_chain { "which is in this chain" } else { "which is NOT in this chain" };
        text.push_str(&format!("\nLast seen at {}: round {}, {stands}.\n", inert(remote), seen.round));
    }
    text
}

fn one(outcome: &RoundOutcome, paint: Paint) -> String {
    let round = &outcome.round;
    let mut text =
        format!("{}{}\n", paint.paint(Role::Strong, &format!("Round {}", round.round)), signed_by(&round.signers));
    let previous = round.previous.map_or_else(|| "none, it is the first".to_owned(), |previous| previous.to_string());
    for (label, value) in [
        ("seal", round.seal.to_string()),
        ("rests on", previous),
        ("genesis", round.genesis.to_string()),
        ("root", round.root.to_string()),
        ("log", format!("{} of {}", round.log_root, counted(round.log_size, "session", "sessions"))),
        ("commit", round.commit.to_string()),
        ("opened", round.opened_at.to_string()),
        ("sealed", round.sealed_at.to_string()),
    ] {
        text.push_str(&format!("  {label:<9}{value}\n"));
    }
    if let Some(clock) = &round.clock {
        text.push_str(&format!("  {:<9}{clock}\n", "clock"));
    }
    for session in &outcome.sessions {
        text.push_str(&format!("  session {}\n", inert(session.session_id.as_str())));
        text.push_str(&format!("    root   {} ({}, {} entries)\n", session.root, session.scheme, session.count));
        text.extend(session.anchors.iter().map(|anchor| format!("    anchor {anchor}\n")));
    }
    text + &findings(&outcome.findings, paint)
}

fn signed_by(signers: &[String]) -> String {
    if signers.is_empty() { String::new() } else { format!("  signed by {}", inert(&signers.join(", "))) }
}
