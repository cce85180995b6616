//! `anchor`, `carry`.

use clap::Args;

use super::ui::{Role, Ui};
use crate::context::Context;
use crate::error::Result;
use crate::flow::{self, AnchorRequest, SignRequest};
use crate::publish;
use crate::record::Workspace;
use crate::seal;

/// Bind a finalized session to the commits it explains
///
/// Writes the session's evidence under refs/proof/evidence and then one line into the note of each commit, in
/// refs/notes/proof. Without --commit, the commits that the session attested are anchored, else HEAD. What is anchored
/// already stays as it is. `git proof sync` shares it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  git proof anchor
  git proof anchor --session t-89-login --commit HEAD~2 --commit HEAD")]
pub(super) struct Anchor {
    /// The session [default: GIT_PROOF_SESSION, else the current one]
    #[arg(long, value_name = "ID")]
    session: Option<String>,

    /// A commit; may be given several times
    #[arg(long = "commit", value_name = "REV")]
    commits: Vec<String>,

    /// Sign with the key that git signs with (gpg.format ssh, user.signingkey) [default: as proof.sign is set]
    #[arg(long, overrides_with = "no_sign")]
    sign: bool,

    /// Do not sign, whatever proof.sign says
    #[arg(long)]
    no_sign: bool,
}

impl Anchor {
    pub(super) fn run(&self, context: Context, ui: &mut Ui) -> Result<()> {
        let sign = if self.sign { Some(true) } else { self.no_sign.then_some(false) };
        let request = AnchorRequest { session: self.session.clone(), commits: self.commits.clone(), sign };
        let outcome = flow::anchor(&mut Workspace::open(context)?, &request)?;
        if outcome.anchors.iter().any(|anchor| !anchor.rooted) {
            ui.say("note: the session does not attest a commit that it is anchored on; it is not rooted there");
        }
        restored(ui, outcome.restored);
        guarded(ui, outcome.guarded);
        ui.show(&outcome, |outcome, paint| {
            let mut text = String::new();
            for anchor in &outcome.anchors {
                let (session, commit) = (&outcome.session_id, &anchor.commit.to_string()[..12]);
                // Not created also where the hook had not got to it and this command was the first to hear of the commit.
                let said = if anchor.created {
                    format!("{} session {session} on {commit}.", paint.paint(Role::Good, "Anchored"))
                } else {
                    format!("Session {session} is {} on {commit} already.", paint.paint(Role::Good, "anchored"))
                };
                text.push_str(&format!("{said}\n  anchor {}\n", anchor.anchor_id));
            }
            text
        });
        Ok(())
    }
}

/// Add your signature to the anchors of a commit
///
/// Signs the anchors that hold of the sessions that this clone recorded, or that of the session you name, with the key that
/// git signs with, and adds each as a line of its own. With --round it is the seal of a round that is signed, and with it all that was sealed up to there.
/// What does not hold is not signed.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  git proof sign
  git proof sign HEAD~2 --session t-89-login && git proof sync
  git proof sign --round 1")]
pub(super) struct Sign {
    /// The commit
    #[arg(value_name = "REV", default_value = "HEAD")]
    commit: String,

    /// Only the anchor of this session, also of one that somebody else recorded
    #[arg(long, value_name = "ID")]
    session: Option<String>,

    /// The seal of this round instead
    #[arg(long, value_name = "N", conflicts_with_all = ["commit", "session"])]
    round: Option<u64>,
}

impl Sign {
    pub(super) fn run(&self, context: Context, ui: &mut Ui) -> Result<()> {
        if let Some(round) = self.round {
            let outcome = seal::sign_round(&mut Workspace::open_or_create(context)?, round)?;
            restored(ui, outcome.restored);
            ui.show(&outcome, |outcome, paint| {
                let word = if outcome.created { "Signed" } else { "Was signed with this key before:" };
                format!("{} round {}.\n  seal {}\n", paint.paint(Role::Good, word), outcome.round, outcome.seal)
            });
            return Ok(());
        }
        let request = SignRequest { commit: self.commit.clone(), session: self.session.clone() };
        let outcome = flow::sign(&mut Workspace::open_or_create(context)?, &request)?;
        restored(ui, outcome.restored);
        ui.show(&outcome, |outcome, paint| {
            let id = outcome.commit.to_string();
            let signed = outcome.signed.iter().map(|anchor| format!("  anchor {anchor}\n")).collect::<String>();
            let others = match &outcome.others[..] {
                [] => String::new(),
                others => {
                    let names: Vec<String> = others.iter().map(ToString::to_string).collect();
                    format!(
                        "  not signed, because this clone did not record it: {} (--session ID signs it)\n",
                        names.join(", ")
                    )
                }
            };
            format!("{} on {}.\n{signed}{others}", paint.paint(Role::Good, "Signed"), &id[..12])
        });
        Ok(())
    }
}

/// Copy the anchors of a commit to one that makes the same change
///
/// What the post-rewrite hook does after a rebase or an amend, by hand. Lines are copied byte for byte, and only where the
/// change is the same.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  git proof carry --from ORIG_HEAD --to HEAD")]
pub(super) struct Carry {
    /// The commit as it was
    #[arg(long, value_name = "REV")]
    from: String,

    /// The commit as it is
    #[arg(long, value_name = "REV")]
    to: String,
}

impl Carry {
    pub(super) fn run(&self, context: Context, ui: &mut Ui) -> Result<()> {
        let outcome = publish::carry(&mut Workspace::open_or_create(context)?, &self.from, &self.to)?;
        restored(ui, outcome.restored);
        ui.show(&outcome, |outcome, paint| {
            let Some(carried) = outcome.carried.first() else {
                return "There is no anchor to carry.\n".to_owned();
            };
            match (carried.lines, carried.left) {
                (0, left) => format!("Nothing carried: {left} lines are for another change.\n"),
                (lines, 0) => format!("{} {lines} lines.\n", paint.paint(Role::Good, "Carried")),
                (lines, left) => format!("Carried {lines} lines; {left} are for another change and stay.\n"),
            }
        });
        Ok(())
    }
}

/// Says that the guard withheld entries.
pub(super) fn guarded(ui: &mut Ui, entries: u64) {
    if entries > 0 {
        let (entry, holds) = if entries == 1 { ("entry", "holds") } else { ("entries", "hold") };
        let what = format!("{entries} {entry} of the session {holds} what looks like a credential");
        ui.say(&format!("note: {what}; only the hash is published, and the text stays in this clone"));
    }
}

/// Says that lines were put back.
pub(super) fn restored(ui: &mut Ui, lines: u64) {
    match lines {
        0 => {}
        1 => ui.say("git proof: another writer had overwritten a note of ours; its line is back"),
        lines => ui.say(&format!("git proof: another writer had overwritten notes of ours; {lines} lines are back")),
    }
}
