//! Entries drawn as what follows what. Only a branch indents: what follows alone stays below what it follows.

use super::ui::{Paint, Role};
use super::wrap;

/// How entries stand to one another.
pub(super) struct Forest<'a> {
    /// For each entry, in order of recording, the one before that it follows; `None` for the beginning.
    pub(super) parents: &'a [Option<usize>],
    /// Columns that there are.
    pub(super) columns: usize,
    /// Whether an empty line parts the entries.
    pub(super) spaced: bool,
    pub(super) paint: Paint,
}

/// Columns that a text has in any case, however deep its branch.
const LEAST: usize = 30;

impl Forest<'_> {
    /// Draws the entries. `render` is given one and the columns it may take, two of which the sign at its beginning is for.
    pub(super) fn draw(&self, mut render: impl FnMut(usize, usize) -> Vec<String>) -> Vec<String> {
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); self.parents.len()];
        let mut roots = Vec::new();
        for (at, parent) in self.parents.iter().enumerate() {
            parent.map_or(&mut roots, |parent| &mut children[parent]).push(at);
        }
        let (fork, last, rail) = (self.paint.or("├─", "|-"), self.paint.or("└─", "`-"), self.paint.or("│ ", "| "));
        let mut drawn = Vec::new();
        // The entries still to be drawn, the next one last: each with the rails to its left and the connector to them.
        let mut pending: Vec<(usize, String, &str)> = Vec::new();
        // The first of several beginnings has nothing above it.
        let top = self.paint.or("┌─", ",-");
        hang(&mut pending, &roots, "", fork, last);
        if let Some((_, _, joint)) = pending.last_mut().filter(|(_, _, joint)| !joint.is_empty()) {
            *joint = top;
        }
        while let Some((at, rails, joint)) = pending.pop() {
            if self.spaced && !drawn.is_empty() {
                let blank = format!("{rails}{}", if joint.is_empty() { "" } else { rail });
                drawn.push(self.rails(blank.trim_end()));
            }
            let below = match joint {
                "" => rails.clone(),
                joint if joint == fork || joint == top => format!("{rails}{rail}"),
                _ => format!("{rails}  "),
            };
            // Clipped now, so that a session with a branch at every entry does not grow a rail for each of them.
            let below = self.clip(&below);
            let room = self.columns.saturating_sub(wrap::width(&below)).max(LEAST);
            let beside = if children[at].len() > 1 { rail } else { "  " };
            for (place, line) in render(at, room).into_iter().enumerate() {
                let left = if place == 0 { format!("{rails}{joint}") } else { format!("{below}{beside}") };
                let line = format!("{}{line}", self.rails(&left));
                drawn.push(line.trim_end().to_owned());
            }
            hang(&mut pending, &children[at], &below, fork, last);
        }
        drawn
    }

    fn rails(&self, rails: &str) -> String {
        let rails = self.clip(rails);
        if rails.trim().is_empty() { rails } else { self.paint.paint(Role::Faint, &rails) }
    }

    /// Rails of a deep branch without those furthest to the left, where they would leave no room.
    fn clip(&self, rails: &str) -> String {
        let most = self.columns.saturating_sub(LEAST).max(8);
        let count = rails.chars().count();
        if count <= most {
            return rails.to_owned();
        }
        let kept: String = rails.chars().skip(count - most + 3).collect();
        format!("{}{kept}", self.paint.or("…  ", "..."))
    }
}

fn hang<'a>(pending: &mut Vec<(usize, String, &'a str)>, among: &[usize], rails: &str, fork: &'a str, last: &'a str) {
    let alone = among.len() == 1;
    for (place, child) in among.iter().enumerate().rev() {
        let joint = match (alone, place + 1 == among.len()) {
            (true, _) => "",
            (false, true) => last,
            (false, false) => fork,
        };
        pending.push((*child, rails.to_owned(), joint));
    }
}
