//! Painted text as a picture, for a README or a slide: what a terminal would show, in SVG. It has no script, no link and no
//! font of its own, and follows the reader's choice of light or dark.

use std::fmt::Write as _;

use super::paint::{Paint, Role};
use super::wrap::width;
use crate::present::xml;

/// Pixels of a column, of a line, and around the text.
const COLUMN: f64 = 8.4;
const LINE: usize = 20;
const MARGIN: usize = 20;
/// Most lines of a picture; what follows them is counted.
const MOST_LINES: usize = 400;

/// How each role looks in light and in dark. The codes are those of [`Paint::paint`].
const LOOKS: [(Role, &str, &str); 9] = [
    (Role::Plan, "fill:#0550ae", "fill:#79c0ff"),
    (Role::Analysis, "fill:#1b7c83", "fill:#76e3ea"),
    (Role::Decision, "fill:#8a4600;font-weight:bold", "fill:#f0b72f;font-weight:bold"),
    (Role::Reflection, "fill:#8250df", "fill:#d2a8ff"),
    (Role::Attest, "fill:#57606a", "fill:#9198a1"),
    (Role::Faint, "fill:#57606a", "fill:#9198a1"),
    (Role::Good, "fill:#116329", "fill:#56d364"),
    (Role::Bad, "fill:#a40e26", "fill:#ff8e86"),
    (Role::Strong, "font-weight:bold", "font-weight:bold"),
];

/// A picture of a text that was painted with `paint`. The title is for those who do not see it.
pub(super) fn picture(title: &str, painted: &str, paint: Paint) -> String {
    let all: Vec<&str> = painted.trim_end().lines().collect();
    let more = all.len().saturating_sub(MOST_LINES);
    let mut lines: Vec<String> = all.iter().take(MOST_LINES).map(|line| (*line).to_owned()).collect();
    if more > 0 {
        lines.push(paint.paint(Role::Faint, &format!("{more} more lines")));
    }
    let columns = lines.iter().map(|line| parts(line).map(|(_, text)| width(text)).sum()).max().unwrap_or(0);
    let (wide, high) = (pixels(columns).ceil() + 2.0 * pixels_of(MARGIN), lines.len() * LINE + 2 * MARGIN);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{wide}\" height=\"{high}\" viewBox=\"0 0 {wide} {high}\" \
         role=\"img\">\n<title>{}</title>\n<style>\n{}</style>\n\
         <rect class=\"ground\" width=\"100%\" height=\"100%\" rx=\"8\"/>\n",
        xml(title),
        style(paint)
    );
    for (number, line) in lines.iter().enumerate() {
        let mut column = 0;
        for (code, text) in parts(line) {
            let words = text.trim();
            let before = width(&text[..text.len() - text.trim_start().len()]);
            if !words.is_empty() {
                // `textLength` makes a column equally wide in every font.
                let _ = writeln!(
                    svg,
                    "<text{} x=\"{:.1}\" y=\"{}\" textLength=\"{:.1}\">{}</text>",
                    class(code, paint),
                    pixels_of(MARGIN) + pixels(column + before),
                    MARGIN + number * LINE + 15,
                    pixels(width(words)),
                    xml(words)
                );
            }
            column += width(text);
        }
    }
    svg + "</svg>\n"
}

#[expect(clippy::cast_precision_loss, reason = "a picture has some hundred columns")]
fn pixels_of(count: usize) -> f64 {
    count as f64
}

fn pixels(columns: usize) -> f64 {
    pixels_of(columns) * COLUMN
}

/// The parts of a line that are painted alike, each with the code of its paint; empty where it has none.
fn parts(line: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut pieces = line.split("\u{1b}[");
    let first = pieces.next().map(|text| ("", text));
    let painted = pieces.map(|piece| piece.split_once('m').map_or(("", piece), |(code, text)| (code, text)));
    first.into_iter().chain(painted).filter(|(_, text)| !text.is_empty())
}

/// The code by which a role is painted.
fn code_of(role: Role, paint: Paint) -> String {
    let painted = paint.paint(role, "x");
    parts(&painted).next().map(|(code, _)| code.to_owned()).unwrap_or_default()
}

fn class(code: &str, paint: Paint) -> String {
    let role = LOOKS.iter().position(|(role, ..)| !code.is_empty() && code_of(*role, paint) == code);
    role.map(|number| format!(" class=\"r{number}\"")).unwrap_or_default()
}

fn style(paint: Paint) -> String {
    let rules = |dark: bool| {
        let mut seen = Vec::new();
        let mut text = String::new();
        for (number, (role, light, night)) in LOOKS.iter().enumerate() {
            let code = code_of(*role, paint);
            if !seen.contains(&code) {
                let _ = writeln!(text, ".r{number} {{ {} }}", if dark { night } else { light });
                seen.push(code);
            }
        }
        text
    };
    format!(
        "text {{ font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, \"DejaVu Sans Mono\", monospace; \
         white-space: pre; fill: #1f2328 }}\n.ground {{ fill: #f6f8fa }}\n{}\
         @media (prefers-color-scheme: dark) {{\ntext {{ fill: #e6edf3 }}\n.ground {{ fill: #0d1117 }}\n{}}}\n",
        rules(false),
        rules(true)
    )
}
