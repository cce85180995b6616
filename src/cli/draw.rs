//! Sessions and entries as a person reads them: what kind, what it says, when, and what follows what.

use super::forest::Forest;
use super::ui::{Paint, Role, inert};
use super::wrap::{one_line, width, wrap};
use crate::flow::{Label, Points, StepKind};
use crate::hint::Step;
use crate::present;
use crate::proof::observed::Marks;
use crate::proof::record::RecordType;
use crate::proof::timestamp::Timestamp;
use crate::record::{BodyView, EntryView, LogOutcome, SessionView, TreeOutcome};

/// A session's head and its entries in order of recording.
pub(super) fn log(log: &LogOutcome, full: bool, now: &Timestamp, paint: Paint) -> String {
    let mut text = session_head(&log.session, now, paint);
    if let Some(root) = &log.root {
        let entries = if root.record_count == 1 { "entry" } else { "entries" };
        text += &format!("root {} over {} {entries}\n", root.root, root.record_count);
    }
    if log.entries.is_empty() {
        return text + &format!("\nNothing is recorded yet: {}\n", Step::Decide);
    }
    let left_out = log.session.records - log.entries.len() as u64;
    if left_out > 0 {
        text += &format!("\n({left_out} earlier entries are not shown)\n");
    }
    text + "\n" + &entries(&log.entries, full, now, paint)
}

fn session_head(session: &SessionView, now: &Timestamp, paint: Paint) -> String {
    let state = match (session.finalized, session.ended_at) {
        (true, _) if session.imported => "imported from refs/proof/evidence",
        (true, _) => "finalized",
        (false, Some(_)) => "ended, not finalized",
        (false, None) => "open",
    };
    let grade = if session.proof_grade { "proof-grade" } else { "not proof-grade" };
    let dot = paint.dot();
    let task = session.task_id.as_ref().map(|task| format!("{dot}task {}", one_line(task))).unwrap_or_default();
    let (id, when, scheme) = (session.session_id.as_str(), ago(&session.started_at, now), session.scheme);
    let by = one_line(&session.caller);
    let first = hung(&format!("session {id}: {}", one_line(&session.intent)), paint);
    let second = hung(&format!("{state}{dot}{grade}{dot}{scheme}{dot}begun {when}{task}{dot}by {by}"), paint);
    first.replacen(id, &paint.paint(Role::Strong, id), 1) + &second
}

/// A text in the width that there is; what does not fit in its first line is set in.
fn hung(text: &str, paint: Paint) -> String {
    wrap(text, paint.measure() - 2).join("\n  ") + "\n"
}

/// A list of sessions.
pub(super) fn sessions(sessions: &[SessionView], now: &Timestamp, paint: Paint) -> String {
    if sessions.is_empty() {
        return format!("There are no sessions yet: {}\n", Step::Start);
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
            let corner = paint.or("╭", ",");
            text += &paint.paint(Role::Faint, &format!("  {corner} branches off from {from}\n"));
        }
        text += &if full { entry_in_full(entry, now, paint) + "\n" } else { self::entry(entry, now, paint) };
        before = Some(entry);
    }
    text
}

/// An entry: its kind and text, then when it was recorded and its id.
pub(super) fn entry(entry: &EntryView, now: &Timestamp, paint: Paint) -> String {
    let (mark, role) = look(kind(entry), paint);
    let label = paint.paint(role, &format!("{:10}", entry.label()));
    let private = if entry.private && !entry.withheld { " (private)" } else { "" };
    let tail = format!("{}{private}{}{}", recorded(entry, now), paint.dot(), entry.id);
    let tail = paint.paint(Role::Faint, &tail);
    let body = said_lines(entry, paint).join("\n");
    let force = in_force(entry, now).into_iter().map(|said| paint.paint(Role::Faint, &said) + "\n             ");
    let force: String = force.collect();
    format!("{mark} {label} {body}\n             {force}{tail}\n")
}

/// The lines of an entry's text, below and beside its label, with rejected alternatives and uncertainties set apart.
fn said_lines(entry: &EntryView, paint: Paint) -> Vec<String> {
    let columns = paint.measure() - 13;
    let said = match (&entry.body, entry.text()) {
        (BodyView::Thought { kind: RecordType::Decision | RecordType::Reflection, .. }, Some(text)) => {
            Some(Points::read(text, entry.metadata.as_ref()))
        }
        _ => None,
    };
    let below = |lines: Vec<String>| lines.join("\n             ");
    let Some(said) = said else { return vec![below(body_lines(entry, columns))] };
    let mut lines = vec![below(wrap(&said.text, columns))];
    lines.extend(said.points.iter().map(|point| {
        let label = paint.paint(role_of(point.label), &format!("{:10}", point.label.as_str()));
        format!("  {label} {}", below(wrap(&point.text, columns)))
    }));
    lines
}

/// Lines that say which entry this one corrects, which corrects it, and until when it holds.
fn in_force(entry: &EntryView, now: &Timestamp) -> Vec<String> {
    let marks = entry.metadata.as_ref().map(|metadata| Marks::of(Some(&metadata.to_string()))).unwrap_or_default();
    let mut said: Vec<String> = entry.superseded_by.iter().map(|id| format!("superseded by {id}")).collect();
    said.extend(marks.supersedes.map(|hash| format!("supersedes {hash:.12}")));
    said.extend(marks.until.map(|until| until_when(&until, now)));
    said
}

/// Until when something holds, or held.
pub(super) fn until_when(until: &Timestamp, now: &Timestamp) -> String {
    let day = &until.as_str()[..10];
    if until < now { format!("expired: held until {day}") } else { format!("holds until {day}") }
}

/// Everything there is to know of an entry.
pub(super) fn entry_in_full(entry: &EntryView, now: &Timestamp, paint: Paint) -> String {
    let label = paint.paint(look(kind(entry), paint).1, entry.label());
    let parent = entry.parent_id.as_ref().map_or("the genesis".to_owned(), ToString::to_string);
    let mut text = format!(
        "{label} {}\n  session       {}, entry {}\n  follows       {parent}\n",
        paint.paint(Role::Strong, entry.id.as_str()),
        entry.session_id,
        entry.index
    );
    if let Some(timestamp) = entry.timestamp {
        text += &format!("  recorded      {timestamp} ({})\n", ago(&timestamp, now));
    }
    if let BodyView::Thought { task_id: Some(task), .. } = &entry.body {
        text += &format!("  task          {}\n", one_line(task));
    }
    text += &format!(
        "  prev_hash     {}\n  content_hash  {}\n  chain_hash    {}\n",
        entry.prev_hash, entry.content_hash, entry.chain_hash
    );
    if entry.private && !entry.withheld {
        text += "  private       its text stays out of published evidence\n";
    }
    for said in in_force(entry, now) {
        text += &format!("  in force      {said}\n");
    }
    if let Some(metadata) = &entry.metadata {
        text += &format!("  metadata      {}\n", inert(&metadata.to_string()));
    }
    text.push('\n');
    for line in body_lines(entry, paint.measure() - 4) {
        text += format!("    {line}").trim_end();
        text.push('\n');
    }
    text
}

/// The tree of a session. Only a branch indents: what follows alone stays below what it follows.
pub(super) fn tree(tree: &TreeOutcome, now: &Timestamp, paint: Paint) -> String {
    let text = session_head(&tree.session, now, paint);
    let parents = tree.parents();
    let forest = Forest { parents: &parents, columns: paint.width, spaced: false, paint };
    let drawn = forest.draw(|at, columns| {
        let entry = &tree.entries[at];
        let (mark, role) = look(kind(entry), paint);
        let label = paint.paint(role, entry.label());
        let tail = format!("({}, {})", recorded(entry, now), entry.id);
        // The first line of its text is enough to know an entry by.
        let left = entry.label().len() + 3;
        let first = body_lines(entry, usize::MAX).swap_remove(0);
        let mut lines = wrap(&first, columns.saturating_sub(left));
        let fits = lines.last().is_some_and(|last| left + width(last) + 1 + width(&tail) <= columns);
        let tail = paint.paint(Role::Faint, &tail);
        match lines.last_mut().filter(|_| fits) {
            Some(last) => *last = format!("{last} {tail}"),
            None => lines.push(tail),
        }
        lines[0] = format!("{mark} {label} {}", lines[0]);
        for line in &mut lines[1..] {
            // Below the text; two of the columns are the forest's.
            *line = format!("{}{line}", " ".repeat(left - 2));
        }
        lines
    });
    text + &drawn.join("\n") + "\n"
}

/// The sign of an entry of this kind, and how it is painted.
pub(super) fn look(kind: StepKind, paint: Paint) -> (&'static str, Role) {
    match kind {
        StepKind::Decision => (paint.or("◆", "*"), Role::Decision),
        StepKind::Reflection => (paint.or("■", "="), Role::Reflection),
        StepKind::Plan => (paint.or("●", "o"), Role::Plan),
        StepKind::Analysis => (paint.or("●", "o"), Role::Analysis),
        StepKind::Attest => (paint.or("·", "."), Role::Attest),
        StepKind::Withheld => (paint.or("○", "-"), Role::Faint),
    }
}

fn kind(entry: &EntryView) -> StepKind {
    match &entry.body {
        _ if entry.withheld => StepKind::Withheld,
        BodyView::Thought { kind, .. } => (*kind).into(),
        BodyView::Attest { .. } => StepKind::Attest,
    }
}

/// The lines of an entry's text, inert and at most so wide; there is always one.
fn body_lines(entry: &EntryView, columns: usize) -> Vec<String> {
    match entry.text() {
        None if entry.withheld => vec!["(withheld: its clone published only its hashes)".to_owned()],
        None => vec!["(blanked: only its hashes are kept here)".to_owned()],
        Some(text) if matches!(entry.body, BodyView::Attest { .. }) => wrap(&present::attested(text), columns),
        Some(text) => wrap(text, columns),
    }
}

pub(super) fn role_of(label: Label) -> Role {
    match label {
        Label::Rejected => Role::Bad,
        Label::Chosen => Role::Good,
        _ => Role::Faint,
    }
}

/// How long ago an entry was recorded, as far as that is known.
fn recorded(entry: &EntryView, now: &Timestamp) -> String {
    entry.timestamp.map_or_else(|| "at an unknown time".to_owned(), |time| ago(&time, now))
}

/// How long ago something was, in the largest unit that fits.
pub(super) fn ago(time: &Timestamp, now: &Timestamp) -> String {
    ago_seconds(time.seconds(), now)
}

/// The same of a time in seconds since 1970.
pub(super) fn ago_seconds(time: i64, now: &Timestamp) -> String {
    let passed = now.seconds().saturating_sub(time);
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
