//! How the author of a text marks its points: by words such as `rejected:` at the start of a line or a clause. There is one
//! reader of these marks: the terminal, the page and the comment all show what it finds.

use std::ops::Range;

use super::points::Label;

/// The words that mark a point, in text before a colon and in metadata as a key; the longer of two comes first.
pub(super) const WORDS: [(&str, Label); 33] = [
    ("chosen", Label::Chosen),
    ("chose", Label::Chosen),
    ("decision", Label::Chosen),
    ("rejected alternatives", Label::Rejected),
    ("rejected options", Label::Rejected),
    ("rejected", Label::Rejected),
    ("ruled out", Label::Rejected),
    ("discarded", Label::Rejected),
    ("dismissed", Label::Rejected),
    ("not chosen", Label::Rejected),
    ("alternatives rejected", Label::Rejected),
    ("alternative rejected", Label::Rejected),
    ("options rejected", Label::Rejected),
    ("considered and rejected", Label::Rejected),
    ("alternatives considered", Label::Considered),
    ("alternatives", Label::Considered),
    ("alternative", Label::Considered),
    ("options considered", Label::Considered),
    ("options", Label::Considered),
    ("considered", Label::Considered),
    ("because", Label::Because),
    ("why", Label::Because),
    ("reasons", Label::Because),
    ("reason", Label::Because),
    ("rationale", Label::Because),
    ("uncertainty", Label::Uncertain),
    ("uncertain", Label::Uncertain),
    ("open questions", Label::Uncertain),
    ("open question", Label::Uncertain),
    ("unsure", Label::Uncertain),
    ("not tried", Label::Uncertain),
    ("not tested", Label::Uncertain),
    ("confidence", Label::Confidence),
];

/// The words that need no colon where a sentence begins with them: "Rejected a list because it is slow."
const VERBS: [&str; 5] = ["Rejected ", "Ruled out ", "Discarded ", "Dismissed ", "Not chosen "];

/// What begins an item of a list.
const BULLETS: [char; 4] = ['-', '*', '+', '•'];

/// A stretch of a text that is one point, or that is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stretch {
    /// What marks it.
    pub(super) label: Option<Label>,
    /// What it says, without the mark.
    pub(super) text: String,
    /// Its range, mark included.
    pub(super) place: Range<usize>,
}

/// The ranges of a text that have this label, in order and without overlap. A mark without a text after it does not
/// count.
pub(super) fn places(content: &str, label: Label) -> Vec<Range<usize>> {
    let said = |stretch: &Stretch| stretch.label == Some(label) && !stretch.text.trim().is_empty();
    let stretches = stretches(content).into_iter().filter(said);
    stretches.map(|stretch| stretch.place).collect()
}

/// Reads a text. A point ends with its line; but it goes on where nothing has been said in it yet, over the items of a list
/// and lines that are set in, and over a sentence that is broken into lines. A blank line ends it, too.
pub(super) fn stretches(content: &str) -> Vec<Stretch> {
    let mut read: Vec<Stretch> = Vec::new();
    let mut open: Option<Label> = None;
    let mut listing = false;
    let mut begin = 0;
    for whole in content.split_inclusive('\n') {
        let line = whole.strip_suffix('\n').unwrap_or(whole);
        let line = line.strip_suffix('\r').unwrap_or(line);
        let item = line.trim_start().starts_with(BULLETS);
        if open.is_some()
            && let Some(last) = read.last()
            && !last.text.is_empty()
        {
            let below = item || line.starts_with([' ', '\t']);
            let begins = line.starts_with(char::is_uppercase);
            if line.trim().is_empty() || !below && (listing || begins || ends_sentence(&last.text)) {
                open = None;
            }
        }
        for (at, clause) in clauses(line).into_iter().enumerate() {
            let end = begin + if clause.end == line.len() { whole.len() } else { clause.end };
            match (clause.label, read.last_mut()) {
                (None, Some(last)) if last.label == open => {
                    if !last.text.is_empty() || open.is_none() {
                        last.text.push(if at == 0 { '\n' } else { ' ' });
                    }
                    last.text.push_str(clause.text);
                    last.place.end = end;
                }
                _ => {
                    open = clause.label;
                    // How far a text is set in is part of it; what follows a label begins where it begins.
                    let text = if open.is_some() { clause.text.trim() } else { clause.text };
                    read.push(Stretch { label: open, text: text.to_owned(), place: begin + clause.start..end });
                }
            }
        }
        listing = item;
        begin += whole.len();
    }
    read
}

fn ends_sentence(text: &str) -> bool {
    text.trim_end_matches([' ', '"', '\'', ')', '*', '`', '”', '’']).ends_with(['.', '!', '?'])
}

/// A part of a line: what a word marks, up to the next such word.
struct Clause<'a> {
    label: Option<Label>,
    text: &'a str,
    /// Where its mark begins.
    start: usize,
    end: usize,
}

fn clauses(line: &str) -> Vec<Clause<'_>> {
    let mut found = Vec::new();
    let (mut label, mut start, mut said) = (None, 0, 0);
    let bullet = line.len() - line.trim_start_matches(['-', '*', '+', '•', '#', '>', ' ', '\t']).len();
    let ends = line.match_indices([';', '.', '!', '?']).map(|(at, _)| at + 1);
    for at in std::iter::once(bullet).chain(ends.filter(|at| line[*at..].starts_with(' '))) {
        let rest = line[at..].trim_start();
        let first = at == bullet && said == 0;
        let Some((next, skipped)) = marked(rest, first || line[..at].ends_with(';')) else { continue };
        let mark = line.len() - rest.len();
        let before = if first { "" } else { line[said..at].trim_end().trim_end_matches(';').trim_end() };
        if !before.is_empty() || label.is_some() {
            found.push(Clause { label, text: before, start, end: mark });
        }
        (label, start, said) = (Some(next), mark, mark + skipped);
    }
    let rest = &line[said..];
    found.push(Clause { label, text: if label.is_some() { rest.trim() } else { rest }, start, end: line.len() });
    found
}

/// The label that a text begins with, and how long it is. `because` needs no colon where it opens a line or a clause, a
/// verb that says what was not chosen none where it opens a sentence.
fn marked(text: &str, opens: bool) -> Option<(Label, usize)> {
    for (word, label) in WORDS {
        let Some(start) = text.get(..word.len()).filter(|start| start.eq_ignore_ascii_case(word)) else { continue };
        let rest = &text[start.len()..];
        // As in `**Rejected:** …` and `**Rejected**: …`.
        let after = rest.trim_start_matches(['*', ' ']);
        if let Some(said) = after.strip_prefix(':').filter(|said| !said.starts_with(':')) {
            let said = said.trim_start_matches('*');
            return Some((label, text.len() - said.len()));
        }
        if word == "because" && opens && rest.starts_with(' ') {
            return Some((label, word.len()));
        }
    }
    let verb = VERBS.into_iter().find(|verb| text.starts_with(verb))?;
    Some((Label::Rejected, verb.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rejected(text: &str) -> Vec<&str> {
        places(text, Label::Rejected).into_iter().map(|place| &text[place]).collect()
    }

    #[test]
    fn what_was_rejected_is_found_where_it_stands() {
        assert_eq!(rejected("Quote it.\nRejected: $*, which splits.\nDone."), ["Rejected: $*, which splits.\n"]);
        assert_eq!(rejected("Use a map. Rejected a list because it is slow."), ["Rejected a list because it is slow."]);
        assert_eq!(rejected("A.\nRejected:\n- b: slow\n* c\nThen d."), ["Rejected:\n- b: slow\n* c\n"]);
        assert_eq!(rejected("A.\nRejected: b\nSo c"), ["Rejected: b\n"]);
        assert_eq!(rejected("- chosen: a\n- rejected: b\n- ruled out: ö"), ["rejected: b\n", "ruled out: ö"]);
        assert_eq!(
            rejected("A! Rejected: b\nthat is broken\ninto lines. So."),
            ["Rejected: b\nthat is broken\ninto lines. So."]
        );
        assert_eq!(rejected("A; rejected: b; why: c\r\nRuled out: d\r\n\r\nE"), ["rejected: b; ", "Ruled out: d\r\n"]);
    }

    #[test]
    fn the_word_alone_is_not_enough() {
        for text in
            ["The server rejected it; we considered the cost. Alternatives are few.", "rejected by the server", ""]
        {
            assert_eq!(rejected(text), [""; 0], "{text:?}");
        }
    }
}
