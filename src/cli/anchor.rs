//! `anchor`, `carry`.

use clap::Args;

use super::ui::{Role, Ui};
use crate::context::Context;
use crate::error::Result;
use crate::flow::{self, Repairs};
use crate::proof::text::counted;
use crate::publish;
use crate::record::Workspace;
use crate::seal;

/// Bind a finalized session to the commits it explains
///
/// Writes the session's evidence under refs/proof/evidence and then one line into the note of each commit, in
/// refs/notes/proof. Without --commit, the session is anchored on the commits that it attested, or on HEAD if it attested
/// none. Anchors that exist already stay as they are. Share them with `git proof sync`.
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
    pub(super) fn run(&self, context: &Context, ui: &mut Ui) -> Result<()> {
        let sign = if self.sign { Some(true) } else { self.no_sign.then_some(false) };
        let mut workspace = Workspace::open(context.clone())?;
        let outcome = flow::anchor(&mut workspace, self.session.as_deref(), &self.commits, sign)?;
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
/// Uses the key that git signs with, and adds a line for each signature. Signs the anchors of all sessions that this clone
/// recorded, or with --session the anchor of one session. With --round it signs the seal of a round instead, which covers
/// everything that was sealed up to that round. An anchor that does not hold is not signed.
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

    /// Sign only the anchor of this session, even if somebody else recorded it
    #[arg(long, value_name = "ID")]
    session: Option<String>,

    /// Sign the seal of this round instead
    #[arg(long, value_name = "N", conflicts_with_all = ["commit", "session"])]
    round: Option<u64>,
}

impl Sign {
    pub(super) fn run(&self, context: &Context, ui: &mut Ui) -> Result<()> {
        if let Some(round) = self.round {
            let outcome = seal::sign_round(&mut Workspace::open_or_create(context.clone())?, round)?;
            restored(ui, outcome.restored);
            ui.show(&outcome, |outcome, paint| {
                let word = if outcome.created { "Signed" } else { "Was signed with this key before:" };
                format!("{} round {}.\n  seal {}\n", paint.paint(Role::Good, word), outcome.round, outcome.seal)
            });
            return Ok(());
        }
        let mut workspace = Workspace::open_or_create(context.clone())?;
        let outcome = flow::sign(&mut workspace, &self.commit, self.session.as_deref())?;
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
/// Does by hand what the post-rewrite hook does after a rebase or an amend. Lines are copied byte for byte, and only if both
/// commits make the same change.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  git proof carry --from ORIG_HEAD --to HEAD")]
pub(super) struct Carry {
    /// The old commit, which has the anchors
    #[arg(long, value_name = "REV")]
    from: String,

    /// The new commit
    #[arg(long, value_name = "REV")]
    to: String,
}

impl Carry {
    pub(super) fn run(&self, context: &Context, ui: &mut Ui) -> Result<()> {
        let outcome = publish::carry(&mut Workspace::open_or_create(context.clone())?, &self.from, &self.to)?;
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
        let what = counted(entries, "entry of the session holds", "entries of the session hold");
        ui.say(&format!(
            "note: {what} what looks like a credential; only the hash is published, and the text stays in this clone"
        ));
    }
}

/// Says that lines were put back.
pub(super) fn restored(ui: &mut Ui, lines: u64) {
    Repairs { lines, ..Repairs::default() }.sentences().iter().for_each(|sentence| ui.say(sentence));
}
