//! The pager: the program that git would start, started as git starts it.

use std::io::Write as _;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::context::Context;
use crate::git;

/// The program that shows a long text page by page.
#[derive(Debug)]
pub(super) struct Pager {
    command: String,
    /// Settings for less and lv, unless the user has set them: quit if everything fits on one screen, and let colours
    /// through.
    defaults: Vec<(&'static str, &'static str)>,
}

impl Pager {
    /// The pager of the user, by `GIT_PAGER`, `core.pager`, `PAGER` and what git was built with.
    pub(super) fn of(context: &Context) -> Option<Self> {
        git::pager(context).map(|command| Self::with(context, command))
    }

    /// The same, but never one that the settings of the repository name.
    pub(super) fn of_user(context: &Context) -> Option<Self> {
        git::own_pager(context).map(|command| Self::with(context, command))
    }

    fn with(context: &Context, command: String) -> Self {
        let defaults = [("LESS", "FRX"), ("LV", "-c")].into_iter().filter(|(name, _)| context.variable(name).is_none());
        Self { command, defaults: defaults.collect() }
    }

    /// Shows a text; `false` if the program could not be started. How much of it is read is up to the reader.
    pub(super) fn show(&self, text: &str) -> bool {
        // While a person reads, an interrupt is meant for the pager. To die of it would leave two programs at one terminal.
        let _ = signal_hook::flag::register(signal_hook::consts::SIGINT, Arc::new(AtomicBool::new(false)));
        let _ = signal_hook::flag::register(signal_hook::consts::SIGQUIT, Arc::new(AtomicBool::new(false)));
        let Ok(mut child) = self.start() else { return false };
        if let Some(mut stdin) = child.stdin.take() {
            let _ = stdin.write_all(text.as_bytes()); // who has seen enough stops reading
        }
        // 126 and 127 are the shell's own: there is no such program, and nothing was shown.
        !matches!(child.wait().map(|status| status.code()), Ok(Some(126 | 127)))
    }

    fn start(&self) -> std::io::Result<Child> {
        let mut command = Command::new("sh");
        command.args(["-c", &self.command]).envs(self.defaults.iter().copied()).stdin(Stdio::piped());
        command.spawn()
    }
}
