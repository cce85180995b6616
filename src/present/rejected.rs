//! What a decision turned down, for reports to bring out. How it is found is not theirs: [`flow::rejections`] reads it for all.

use crate::flow::{self, Label, Point};

/// A text in pieces that add up to it, each with whether it tells of what was rejected.
pub(super) fn pieces(text: &str) -> Vec<(&str, bool)> {
    let mut pieces = Vec::new();
    let mut at = 0;
    for found in flow::rejections(text) {
        if at < found.start {
            pieces.push((&text[at..found.start], false));
        }
        pieces.push((&text[found.clone()], true));
        at = found.end;
    }
    if at < text.len() {
        pieces.push((&text[at..], false));
    }
    pieces
}

/// What metadata says was rejected, or was considered.
pub(super) fn listed(metadata: Option<&str>) -> Vec<Point> {
    let metadata = metadata.and_then(|text| serde_json::from_str(text).ok());
    let mut points = flow::listed(metadata.as_ref());
    points.retain(|point| matches!(point.label, Label::Rejected | Label::Considered));
    points
}

/// Where a text tells of what was rejected, as a script counts: in units of UTF-16, from and to.
pub(super) fn places(text: &str) -> Vec<[usize; 2]> {
    let mut at = 0;
    let mut count = 0;
    let mut units = |to: usize| {
        count += text[at..to].encode_utf16().count();
        at = to;
        count
    };
    flow::rejections(text).into_iter().map(|found| [units(found.start), units(found.end)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_add_up_to_the_text() {
        for text in ["", "Rejected: a", "A.\nRejected: ö\n\nB. Rejected c", "\n\n- rejected:\n- \u{1f600}\n"] {
            assert_eq!(pieces(text).iter().map(|(piece, _)| *piece).collect::<String>(), text);
        }
    }

    #[test]
    fn places_are_counted_as_scripts_count() {
        assert_eq!(places("\u{1f600}ö. Rejected: \u{1f600}\nB."), [[5, 18]]);
    }
}
