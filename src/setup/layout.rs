//! Where things stand in a text of JSON: lines, indentation, commas and comments.

use jsonc_parser::ast::Object;

/// Inserts texts at places, which are in order.
pub(super) fn splice(text: &str, insertions: &[(usize, &str)]) -> String {
    let mut out = text.to_owned();
    for (at, insertion) in insertions.iter().rev() {
        out.insert_str(*at, insertion);
    }
    out
}

/// One step of indentation: that of the file's first property, else two spaces.
pub(super) fn unit<'a>(text: &'a str, root: &Object<'_>) -> &'a str {
    let first = root.properties.first().map(|property| line_indent(text, property.range.start));
    first.filter(|(indent, first)| *first && !indent.is_empty()).map_or("  ", |(indent, _)| indent)
}

/// The indentation of the line of a place, and whether the place comes first on that line.
pub(super) fn line_indent(text: &str, at: usize) -> (&str, bool) {
    let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let indent = text[start..at].len() - text[start..at].trim_start_matches([' ', '\t']).len();
    (&text[start..start + indent], start + indent == at && start > 0)
}

/// The end of the comment that begins here, if one does; a line's end is no part of it.
fn comment_end(text: &str, at: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    if rest.starts_with("//") {
        // A return alone ends it too, for those who read the file.
        return Some(at + rest.find(['\r', '\n']).unwrap_or(rest.len()));
    }
    rest.strip_prefix("/*")?.find("*/").map(|length| at + 2 + length + 2)
}

/// The comma between two places that have nothing but space and comments between them.
pub(super) fn comma(text: &str, from: usize, to: usize) -> Option<usize> {
    let mut at = from;
    while at < to {
        match comment_end(text, at) {
            Some(end) => at = end,
            None if text.as_bytes()[at] == b',' => return Some(at),
            None => at += 1,
        }
    }
    None
}

/// The place behind the comments that follow on the same line.
pub(super) fn rest_of_line(text: &str, from: usize, to: usize) -> usize {
    let mut end = from;
    loop {
        let at = end + (text[end..to].len() - text[end..to].trim_start_matches([' ', '\t']).len());
        match comment_end(text, at).filter(|_| at < to) {
            Some(next) if !text[at..next].contains('\n') => end = next,
            _ => return end,
        }
    }
}

/// The place behind the last comment, or the beginning.
pub(super) fn last_comment_end(text: &str, from: usize, to: usize) -> usize {
    last_comment(text, from, to).map_or(from, |(_, end)| end)
}

/// Whether what comes before a place ends in a comment that only the end of its line ends.
pub(super) fn is_in_line_comment(text: &str, from: usize, to: usize) -> bool {
    last_comment(text, from, to).is_some_and(|(start, end)| text[start..].starts_with("//") && end == to)
}

fn last_comment(text: &str, from: usize, to: usize) -> Option<(usize, usize)> {
    let (mut at, mut last) = (from, None);
    while at < to {
        match comment_end(text, at) {
            Some(end) => {
                last = Some((at, end));
                at = end;
            }
            None => at += 1,
        }
    }
    last
}
