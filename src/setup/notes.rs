//! The settings of git for notes: which are shown beside a commit, and which must not be copied behind our back.

use super::settings::{Setting, SettingEdit, Settings};
use crate::context::Context;
use crate::error::Result;
use crate::proof::glob::matches_bytes;

/// The notes that hold our anchors. They are JSON: nobody wants to read them in a log.
const ANCHORS: &str = "refs/notes/proof";
/// The notes that say why in one line.
const READABLE: &str = "refs/notes/proof-why";
/// The value of `notes.displayRef`. It is a pattern, because git warns on every `log` about a plain name that does not
/// exist.
pub(crate) const SHOWN: &str = "refs/notes/proof-why*";

const DISPLAY: &str = "notes.displayRef";

/// Whether git shows the notes that are meant to be read.
pub(crate) fn are_shown(settings: &Settings) -> bool {
    settings.all("notes.displayref").any(|setting| covers(&setting.text(), READABLE))
}

/// Whether our value is there.
pub(super) fn is_ours(settings: &Settings) -> bool {
    settings.local("notes.displayref").any(|setting| setting.value == SHOWN.as_bytes())
}

/// Adds our value to whatever is there.
pub(super) fn show() -> SettingEdit {
    SettingEdit::new([b"--add", DISPLAY.as_bytes(), SHOWN.as_bytes()])
}

/// Lets `git log` show why a commit was made, where no setting does yet.
pub fn show_why(context: &Context) -> Result<()> {
    if are_shown(&Settings::read(context)?) { Ok(()) } else { show().apply(context) }
}

/// Takes our value out.
pub(super) fn hide() -> SettingEdit {
    SettingEdit::new([b"--fixed-value", b"--unset-all", DISPLAY.as_bytes(), SHOWN.as_bytes()])
}

/// The settings by which git copies anchors to rewritten commits without looking at what changed.
pub(crate) fn copied(settings: &Settings) -> impl Iterator<Item = &Setting> {
    settings.all("notes.rewriteref").filter(|setting| covers(&setting.text(), ANCHORS))
}

/// The settings by which a fetch replaces local proofs that were never pushed.
pub(crate) fn overwritten(settings: &Settings) -> impl Iterator<Item = &Setting> {
    settings.like("remote.", ".fetch").filter(|setting| {
        let text = setting.text();
        let target = text.strip_prefix('+').and_then(|text| text.split_once(':')).map_or("", |(_, target)| target);
        [ANCHORS, "refs/proof/evidence", "refs/proof/changes", "refs/proof/rounds"]
            .iter()
            .any(|name| covers(target, name))
    })
}

/// Whether a pattern of git's for refs covers one. A set, `[…]`, is taken to cover any character.
fn covers(pattern: &str, name: &str) -> bool {
    let mut plain = pattern.to_owned();
    while let Some((start, length)) = plain.find('[').and_then(|at| Some((at, plain[at..].find(']')?))) {
        plain.replace_range(start..=start + length, "?");
    }
    matches_bytes(plain.as_bytes(), name.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_cover_what_git_would_match() {
        for pattern in ["refs/notes/proof", "refs/notes/*", "refs/*", "refs/notes/proo?", "refs/notes/proo[f]"] {
            assert!(covers(pattern, ANCHORS), "{pattern}");
        }
        for pattern in ["", "refs/notes/commits", "refs/notes/proof-why*", "refs/notes/proof/*", "refs/notes"] {
            assert!(!covers(pattern, ANCHORS), "{pattern}");
        }
        assert!(covers(SHOWN, READABLE));
    }
}
