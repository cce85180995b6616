//! Highlights the rejected alternatives and open questions of a decision in reports. [`flow::rejections`] and
//! [`flow::doubts`] find them, for all printers alike.

use std::ops::Range;

use crate::flow::{self, Label, Point};

/// The highlighted ranges of a text, in order.
fn marked(text: &str) -> Vec<(Range<usize>, Label)> {
    let rejected = flow::rejections(text).into_iter().map(|place| (place, Label::Rejected));
    let doubted = flow::doubts(text).into_iter().map(|place| (place, Label::Uncertain));
    let mut marked: Vec<_> = rejected.chain(doubted).collect();
    marked.sort_by_key(|(place, _)| place.start);
    marked
}

/// A text in pieces that add up to it, each with what it tells of, if that is brought out.
pub(super) fn pieces(text: &str) -> Vec<(&str, Option<Label>)> {
    let mut pieces = Vec::new();
    let mut at = 0;
    for (found, label) in marked(text) {
        if at < found.start {
            pieces.push((&text[at..found.start], None));
        }
        pieces.push((&text[found.clone()], Some(label)));
        at = found.end;
    }
    if at < text.len() {
        pieces.push((&text[at..], None));
    }
    pieces
}

/// What metadata says was rejected, was considered, or is uncertain.
pub(super) fn listed(metadata: Option<&str>) -> Vec<Point> {
    let metadata = metadata.and_then(|text| serde_json::from_str(text).ok());
    let mut points = flow::listed(metadata.as_ref());
    points.retain(|point| matches!(point.label, Label::Rejected | Label::Considered | Label::Uncertain));
    points
}

/// The highlighted ranges in UTF-16 units, from and to, as scripts count.
pub(super) fn places(text: &str) -> Vec<(usize, usize, &'static str)> {
    let mut at = 0;
    let mut count = 0;
    let mut units = |to: usize| {
        count += text[at..to].encode_utf16().count();
        at = to;
        count
    };
    marked(text).into_iter().map(|(found, label)| (units(found.start), units(found.end), label.as_str())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_add_up_to_the_text() {
        for text in
            ["", "Rejected: a", "A.\nRejected: ö\n\nB. Rejected c; uncertain: d", "\n\n- rejected:\n- \u{1f600}\n"]
        {
            assert_eq!(pieces(text).iter().map(|(piece, _)| *piece).collect::<String>(), text);
        }
    }

    #[test]
    fn places_are_counted_as_scripts_count() {
        assert_eq!(
            places("\u{1f600}ö. Rejected: \u{1f600}\nNot tried: B."),
            [(5, 18, "rejected"), (18, 31, "uncertain")]
        );
    }
}
