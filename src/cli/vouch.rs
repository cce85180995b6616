//! `vouch`.

use clap::Args;

use super::anchor::restored;
use super::ui::{Paint, Role, Ui, inert};
use crate::context::Context;
use crate::error::Result;
use crate::flow::{self, VouchOutcome};
use crate::present;
use crate::proof::finding::{FindingCode, Severity, Verdict};
use crate::record::Workspace;

/// Give your word for a commit that no anchor fits
///
/// For example, for a squash that the server made on top of other changes, so that it is no longer the change that was
/// proven. It writes one line into the commit's note, signed with the key that git signs with (gpg.format ssh,
/// user.signingkey). Your word counts for this commit only, and only if the policy at the tip of the base lists you in
/// proof.vouchers. Every verdict calls it a person's word and not a proof. With --for, every commit of that range that needs a
/// proof is checked first, and your word names the sessions that explain the range. Share it with `git proof sync`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  git proof vouch squashed --for main..feature --reason 'Squash of #7; main had changed a line beside it.'
  git proof vouch squashed --reason 'Conflict resolved in the web editor, read line by line.' && git proof sync")]
pub(super) struct Vouch {
    /// The commit
    #[arg(value_name = "COMMIT")]
    commit: String,

    /// The commits that it was made of, as they were before they were squashed
    #[arg(long = "for", value_name = "BASE..HEAD")]
    range: Option<String>,

    /// Why you vouch for it, for those who read the verdict
    #[arg(long, value_name = "TEXT")]
    reason: String,
}

impl Vouch {
    pub(super) fn run(&self, context: &Context, ui: &mut Ui) -> Result<()> {
        let mut workspace = Workspace::open_or_create(context.clone())?;
        let outcome = flow::vouch(&mut workspace, &self.commit, self.range.as_deref(), &self.reason)?;
        restored(ui, outcome.restored);
        ui.show(&outcome, render);
        Ok(())
    }
}

fn render(outcome: &VouchOutcome, paint: Paint) -> String {
    let id = outcome.commit.to_string();
    let what = if outcome.created { "Vouched for" } else { "Vouched for before:" };
    let mut text = format!("{} {} {}\n", paint.paint(Role::Decision, what), &id[..12], inert(&outcome.subject));
    if let Some(range) = &outcome.range {
        text.push_str(&format!(
            "  stands for {:.12}..{:.12}: {} proven, {} not required\n",
            range.base, range.head, range.proven, range.exempt
        ));
    }
    for session in &outcome.sessions {
        text.push_str(&format!("  names root {} of {} entries\n", session.root, session.count));
    }
    if outcome.verdict == Verdict::Vouched {
        text.push_str(&format!("The gate accepts it as {}. git proof sync shares it.\n", present::WORD_OF_A_PERSON));
        return text;
    }
    text.push_str("The gate does not accept it, by the policy of the commit's parent:\n");
    let told = outcome.findings.iter();
    let told = told.filter(|found| found.severity > Severity::Warning || found.code == FindingCode::WordNotTaken);
    for finding in told {
        text.push_str(&format!("  {} {}\n", finding.code, inert(&finding.message)));
    }
    text
}
