//! Sessions and entries as a person reads them: what kind, what it says, when, and what follows what.

use super::ui::{Paint, Role, inert};
use crate::ops::{BodyView, EntryView, LogOutcome, SessionView, TreeOutcome};
use crate::proof::record::RecordType;
use crate::proof::timestamp::Timestamp;

/// A session's head and its entries in order of recording.
pub(super) fn log(log: &LogOutcome, full: bool, now: &Timestamp, paint: Paint) -> String {
    let mut text = session_head(&log.session, now, paint);
    if let Some(root) = &log.root {
        text += &format!("root {} over {} entries\n", root.root, root.record_count);
    }
    if log.entries.is_empty() {
        return text + "\nNothing is recorded yet: git proof record --type plan --content \"…\"\n";
    }
    let left_out = log.session.records - log.entries.len() as u64;
    if left_out > 0 {
        text += &format!("\n({left_out} earlier entries are not shown)\n");
    }
    text + "\n" + &entries(&log.entries, full, now, paint)
}

fn session_head(session: &SessionView, now: &Timestamp, paint: Paint) -> String {
    let state = match (session.finalized, session.ended_at) {
        (true, _) => "finalized",
        (false, Some(_)) => "ended, not finalized",
        (false, None) => "open",
    };
    let grade = if session.proof_grade { "proof-grade" } else { "not proof-grade" };
    let task = session.task_id.as_ref().map(|task| format!(" · task {}", one_line(task))).unwrap_or_default();
    let (id, intent) = (paint.paint(Role::Strong, session.session_id.as_str()), one_line(&session.intent));
    let when = ago(&session.started_at, now);
    format!(
        "session {id}: {intent}\n{state} · {grade} · {} · begun {when}{task} · by {}\n",
        session.scheme,
        one_line(&session.caller)
    )
}

/// A list of sessions.
pub(super) fn sessions(sessions: &[SessionView], now: &Timestamp, paint: Paint) -> String {
    if sessions.is_empty() {
        return "There are no sessions yet: git proof start --intent \"…\"\n".to_owned();
    }
    let lines: Vec<String> = sessions.iter().map(|session| session_head(session, now, paint)).collect();
    lines.join("\n")
}

/// Entries in the order given. One that does not follow the one above it says whom it follows.
pub(super) fn entries(entries: &[EntryView], full: bool, now: &Timestamp, paint: Paint) -> String {
    let mut text = String::new();
    let mut before: Option<&EntryView> = None;
    for entry in entries {
        let follows = entry.parent_id.as_ref();
        if let Some(before) = before
            && follows != Some(&before.id)
        {
            let from = follows.map_or("the beginning".to_owned(), ToString::to_string);
            text += &paint.paint(Role::Faint, &format!("  ╭ branches off from {from}\n"));
        }
        text += &if full { entry_in_full(entry, now, paint) + "\n" } else { self::entry(entry, now, paint) };
        before = Some(entry);
    }
    text
}

/// An entry: its kind and text, then when it was recorded and its id.
pub(super) fn entry(entry: &EntryView, now: &Timestamp, paint: Paint) -> String {
    let label = paint.paint(role(entry), &format!("{:10}", entry.label()));
    let private = if entry.private { " (private)" } else { "" };
    let tail = paint.paint(Role::Faint, &format!("{}{private} · {}", ago(&entry.timestamp, now), entry.id));
    let body = body_lines(entry).join("\n             ");
    format!("{} {label} {body}\n             {tail}\n", mark(entry))
}

/// Everything there is to know of an entry.
pub(super) fn entry_in_full(entry: &EntryView, now: &Timestamp, paint: Paint) -> String {
    let label = paint.paint(role(entry), entry.label());
    let parent = entry.parent_id.as_ref().map_or("the genesis".to_owned(), ToString::to_string);
    let mut text = format!(
        "{label} {}\n  session       {}, entry {}\n  follows       {parent}\n  recorded      {} ({})\n",
        paint.paint(Role::Strong, entry.id.as_str()),
        entry.session_id,
        entry.index,
        entry.timestamp,
        ago(&entry.timestamp, now)
    );
    if let BodyView::Thought { task_id: Some(task), .. } = &entry.body {
        text += &format!("  task          {}\n", one_line(task));
    }
    text += &format!(
        "  prev_hash     {}\n  content_hash  {}\n  chain_hash    {}\n",
        entry.prev_hash, entry.content_hash, entry.chain_hash
    );
    if entry.private {
        text += "  private       its text stays out of published evidence\n";
    }
    if let Some(metadata) = &entry.metadata {
        text += &format!("  metadata      {}\n", inert(&metadata.to_string()));
    }
    text.push('\n');
    for line in body_lines(entry) {
        text += &format!("    {line}\n");
    }
    text
}

/// The tree of a session. Only a branch indents: what follows alone stays below what it follows.
pub(super) fn tree(tree: &TreeOutcome, now: &Timestamp, paint: Paint) -> String {
    let mut text = session_head(&tree.session, now, paint);
    let parents = tree.parents();
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); parents.len()];
    let mut roots = Vec::new();
    for (at, parent) in parents.iter().enumerate() {
        parent.map_or(&mut roots, |parent| &mut children[parent]).push(at);
    }
    // What is still to be drawn, the next one last: an entry, the lines left of it, and how it hangs on them.
    let mut pending: Vec<(usize, String, &str)> = Vec::new();
    let hang = |pending: &mut Vec<(usize, String, &'static str)>, among: &[usize], rails: &str| {
        let alone = among.len() == 1;
        for (place, child) in among.iter().enumerate().rev() {
            let joint = match (alone, place + 1 == among.len()) {
                (true, _) => "",
                (false, true) => "└─",
                (false, false) => "├─",
            };
            pending.push((*child, rails.to_owned(), joint));
        }
    };
    hang(&mut pending, &roots, "");
    while let Some((at, rails, joint)) = pending.pop() {
        let entry = &tree.entries[at];
        let mut lines = body_lines(entry);
        let label = paint.paint(role(entry), entry.label());
        let tail = paint.paint(Role::Faint, &format!("({}, {})", ago(&entry.timestamp, now), entry.id));
        text += &format!("{rails}{joint}{} {label} {} {tail}\n", mark(entry), lines.remove(0));
        let below = match joint {
            "├─" => rails + "│ ",
            "└─" => rails + "  ",
            _ => rails,
        };
        hang(&mut pending, &children[at], &below);
    }
    text
}

fn mark(entry: &EntryView) -> &'static str {
    match &entry.body {
        BodyView::Thought { kind: RecordType::Decision, .. } => "◆",
        BodyView::Thought { kind: RecordType::Reflection, .. } => "■",
        BodyView::Thought { .. } => "●",
        BodyView::Attest { .. } => "·",
    }
}

fn role(entry: &EntryView) -> Role {
    match &entry.body {
        BodyView::Thought { kind: RecordType::Plan, .. } => Role::Plan,
        BodyView::Thought { kind: RecordType::Analysis, .. } => Role::Analysis,
        BodyView::Thought { kind: RecordType::Decision, .. } => Role::Decision,
        BodyView::Thought { kind: RecordType::Reflection, .. } => Role::Reflection,
        BodyView::Attest { .. } => Role::Attest,
    }
}

/// The lines of an entry's text, inert; there is always one.
fn body_lines(entry: &EntryView) -> Vec<String> {
    match entry.text() {
        None => vec!["(blanked: only its hashes are kept here)".to_owned()],
        Some(text) => lines(text),
    }
}

/// The lines of a text.
pub(super) fn lines(text: &str) -> Vec<String> {
    text.split('\n').map(|line| inert(&line.replace('\t', "    "))).collect()
}

/// A text on one line.
pub(super) fn one_line(text: &str) -> String {
    inert(&text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// How long ago something was, in the largest unit that fits.
pub(super) fn ago(time: &Timestamp, now: &Timestamp) -> String {
    let passed = now.seconds() - time.seconds();
    let (number, unit) = match passed.unsigned_abs() {
        0..60 => return if passed < -5 { "in the future".to_owned() } else { "just now".to_owned() },
        seconds @ 60..3600 => (seconds / 60, "minute"),
        seconds @ 3600..86_400 => (seconds / 3600, "hour"),
        seconds @ 86_400..2_592_000 => (seconds / 86_400, "day"),
        seconds @ 2_592_000..31_536_000 => (seconds / 2_592_000, "month"),
        seconds => (seconds / 31_536_000, "year"),
    };
    let plural = if number == 1 { "" } else { "s" };
    if passed < 0 { format!("in {number} {unit}{plural}") } else { format!("{number} {unit}{plural} ago") }
}
