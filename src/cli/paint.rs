//! The abilities of the terminal or file that output goes to: colours, drawing characters, and the width of a line.

use std::io::{self, IsTerminal as _};

use clap::ValueEnum;

use crate::context::Context;
use crate::git;

/// Columns where nobody says how many there are.
const USUAL: usize = 80;
/// Fewer than these are not worth fitting into.
const LEAST: usize = 40;
/// More columns than these make prose hard to read: the eye loses the line.
const MEASURE: usize = 100;

/// How text is shown here. Everything that is shown reads the same without colours.
#[derive(Debug, Clone, Copy)]
pub(super) struct Paint {
    colour: bool,
    /// Whether the locale has more than ASCII. Only our own signs depend on it; recorded text is shown as it is.
    unicode: bool,
    /// Columns of a line.
    pub(super) width: usize,
}

/// The styles of output, named by their meaning.
#[derive(Debug, Clone, Copy)]
pub(super) enum Role {
    Plan,
    Analysis,
    Decision,
    Reflection,
    Attest,
    Faint,
    Good,
    Bad,
    Strong,
}

/// When to use color.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum Colours {
    /// On a terminal, as git's color.ui says
    #[default]
    Auto,
    /// Always, also in a file or a pipe
    Always,
    /// Never
    Never,
}

impl Paint {
    pub(super) fn detect(context: &Context) -> Self {
        let terminal = is_terminal(context);
        Self { colour: terminal && !refuses_colour(context), unicode: is_unicode(context), width: columns(context) }
    }

    /// For a picture, wherever the output goes.
    pub(super) fn of_a_picture() -> Self {
        Self { colour: true, unicode: true, width: USUAL }
    }

    /// The same, painted as someone asked for, or as git would paint.
    pub(super) fn with_colours(self, colours: Colours, context: &Context) -> Self {
        let colour = match colours {
            Colours::Always => true,
            Colours::Never => false,
            Colours::Auto => !refuses_colour(context) && git::paints(context, is_terminal(context)),
        };
        Self { colour, ..self }
    }

    /// Whether anything is painted.
    pub(super) fn has_colour(self) -> bool {
        self.colour
    }

    /// Columns of a line of prose.
    pub(super) fn measure(self) -> usize {
        self.width.min(MEASURE)
    }

    /// A sign of our own, or what stands for it in ASCII.
    pub(super) fn or<'a>(self, sign: &'a str, ascii: &'a str) -> &'a str {
        if self.unicode { sign } else { ascii }
    }

    /// The separator between items in a line.
    pub(super) fn dot(self) -> &'static str {
        self.or(" · ", " - ")
    }

    /// `text`, painted. It must be inert already.
    pub(super) fn paint(self, role: Role, text: &str) -> String {
        let code = match role {
            Role::Plan => "34",
            Role::Analysis => "36",
            Role::Decision => "1;33",
            Role::Reflection => "35",
            Role::Attest | Role::Faint => "2",
            Role::Good => "32",
            Role::Bad => "31",
            Role::Strong => "1",
        };
        if self.colour && !text.is_empty() { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}

/// A pager that git started for us, as by `git -p proof show`, is as good as a terminal.
fn is_terminal(context: &Context) -> bool {
    io::stdout().is_terminal()
        || context.variable("GIT_PAGER_IN_USE").is_some_and(|value| value == "true" || value == "1")
}

fn refuses_colour(context: &Context) -> bool {
    context.variable("NO_COLOR").is_some() || context.variable("TERM").is_some_and(|term| term == "dumb")
}

/// As the C library decides it: the first of these that is set.
fn is_unicode(context: &Context) -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(|name| context.variable(name));
    let locale = locale.unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    locale.contains("utf-8") || locale.contains("utf8")
}

fn columns(context: &Context) -> usize {
    let set = context.variable("COLUMNS").and_then(|value| value.to_str()?.parse().ok()).filter(|columns| *columns > 0);
    let seen = || terminal_size::terminal_size_of(io::stdout()).map(|(columns, _)| usize::from(columns.0));
    set.or_else(seen).filter(|columns| *columns > 0).unwrap_or(USUAL).max(LEAST)
}
