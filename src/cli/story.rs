//! Commits with what was decided behind them: first how the proof stands, in a line, then the decisions.

use std::collections::{HashMap, HashSet};

use super::draw::{ago_seconds, look, role_of, until_when};
use super::forest::Forest;
use super::ui::{Paint, Role, inert};
use super::verdict;
use super::wrap::{self, one_line};
use crate::flow::{CommitStory, Omitted, Point, Points, Step, StepKind, StoryOutcome, Trail};
use crate::judge::SessionVerdict;
use crate::present;
use crate::proof::change::GitAttestation;
use crate::proof::digest::RootHash;
use crate::proof::finding::{Finding, Severity, Verdict};
use crate::proof::observed::{Event, Reflection};
use crate::proof::record::RecordType;
use crate::proof::text::counted;
use crate::proof::timestamp::Timestamp;

/// Decisions of a commit in a list of commits, and points of a decision there.
const LISTED: usize = 5;
/// Lines of each of them there, and of each of their points.
const BRIEF: usize = 2;
/// Columns of a label.
const LABEL: usize = 10;
/// Columns of a sign and a label, after which the text begins.
const LABELLED: usize = LABEL + 3;

/// How much is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Detail {
    /// In a list of commits: decisions, in brief.
    Brief,
    /// Decisions and reflections.
    Decisions,
    /// Everything, with all hashes.
    Full,
}

/// What was told before, and is not told again.
#[derive(Default)]
struct Told<'a> {
    sessions: HashSet<RootHash>,
    findings: Vec<&'a Finding>,
}

/// Draws what a command was asked to tell.
pub(super) struct Teller<'a> {
    pub(super) detail: Detail,
    pub(super) now: &'a Timestamp,
    pub(super) paint: Paint,
}

impl Teller<'_> {
    /// Several commits: each session once, its commits below it, and last how they all stand. `judged` says by what.
    pub(super) fn log(&self, outcome: &StoryOutcome, judged: &str) -> String {
        let mut text = String::new();
        let mut told = Told::default();
        for group in groups(&outcome.commits) {
            text.push_str(&self.group(&group, &mut told));
            text.push('\n');
        }
        if outcome.more {
            let shown = outcome.commits.len();
            let older = format!("Older commits are not shown; -n {} shows more.", shown.max(1) * 4);
            text.push_str(&format!("{}\n\n", wrap::wrap(&older, self.paint.measure()).join("\n")));
        }
        for line in judged.lines() {
            text.push_str(&format!("{}\n", self.paint.paint(Role::Faint, line)));
        }
        text + &verdict::headline(outcome.verdict, &outcome.summary, self.paint)
    }

    /// The sessions behind some commits, and then these.
    fn group<'s>(&self, commits: &[&'s CommitStory], told: &mut Told<'s>) -> String {
        let mut lines = Vec::new();
        for trail in commits.first().into_iter().flat_map(|commit| &commit.trails) {
            if told.sessions.insert(trail.root) {
                lines.extend(self.trail(trail, commits));
            } else {
                let text = format!("{}, told above", trail.session_id);
                lines.extend(self.set_in(&[("session", Role::Faint, text)]));
            }
        }
        // Only where much is said of a session: there its commits need room.
        if !lines.is_empty() && self.detail != Detail::Brief {
            lines.push(String::new());
        }
        for commit in commits {
            lines.extend(self.standing(commit, told));
        }
        lines.join("\n") + "\n"
    }

    /// One commit, and then the sessions behind it.
    pub(super) fn show(&self, commit: &CommitStory) -> String {
        let mut lines = self.standing(commit, &mut Told::default());
        for trail in &commit.trails {
            lines.push(String::new());
            lines.extend(self.trail(trail, &[commit]));
        }
        lines.join("\n") + "\n"
    }

    /// How a commit stands, with what there is to say of that.
    fn standing<'s>(&self, commit: &'s CommitStory, told: &mut Told<'s>) -> Vec<String> {
        let mut lines = self.head(commit);
        if self.detail != Detail::Brief {
            let when = commit.authored.map(|at| format!(", {}", ago_seconds(at, self.now))).unwrap_or_default();
            let by = one_line(&commit.author);
            lines.extend(self.set_in(&[("by", Role::Faint, format!("{by}{when}"))]));
        }
        for finding in &commit.standing.findings {
            // A ref that was not fetched is the same for every commit, and the head of the commit has the code.
            let is_about_the_clone = finding.severity == Severity::Unchecked;
            if !is_about_the_clone || !told.findings.contains(&finding) {
                lines.extend(self.finding(finding));
                told.findings.push(finding);
            }
        }
        if self.detail != Detail::Brief && !commit.standing.files.is_empty() {
            let files = commit.standing.files.iter();
            let files = files.map(|file| format!("{}: {}", one_line(&file.path), present::file(file)));
            lines.extend(self.set_in(&[("files", Role::Faint, files.collect::<Vec<_>>().join("\n"))]));
        }
        let Some(vouched) = &commit.standing.vouched else { return lines };
        lines.extend(self.set_in(&[("reason", Role::Faint, vouched.reason.clone())]));
        for session in &vouched.sessions {
            let id = session.session_id.as_ref().map_or_else(|| session.root.to_string(), ToString::to_string);
            let entries = counted(session.count, "entry", "entries");
            let parts = [id, entries, present::evidence(session.evidence).to_owned()];
            let text = format!("{}{}named by the person", parts.join(self.paint.dot()), self.paint.dot());
            let mut said = vec![("session", Role::Faint, text)];
            said.extend(session.intent.iter().map(|intent| ("intent", Role::Strong, intent.clone())));
            for told in &session.told {
                let (role, word) = match told.kind {
                    RecordType::Decision => (Role::Decision, "decision"),
                    _ => (Role::Reflection, present::reflection(told.observed)),
                };
                said.push((word, role, told.content.clone()));
            }
            lines.extend(self.set_in(&said));
        }
        lines
    }

    /// The commit and its verdict, in one line if that fits.
    fn head(&self, commit: &CommitStory) -> Vec<String> {
        let standing = &commit.standing;
        let (verdict, paint) = (standing.verdict, self.paint);
        let (sign, role) = (paint.or(present::sign(verdict), present::plain_sign(verdict)), verdict::role(verdict));
        let id = standing.commit.to_string();
        let id = if self.detail == Detail::Full { &id } else { &id[..12] };
        let subject = one_line(&standing.subject);
        let (word, rest) = (present::word(verdict), details(commit));
        let subject_line = format!("{sign} {id} {subject}");
        let (sign, strong) = (self.paint.paint(role, sign), self.paint.paint(Role::Strong, id));
        let verdict = |text: &str| text.replacen(word, &self.paint.paint(role, word), 1);
        let together = wrap::width(&subject_line) + wrap::width(word) + wrap::width(&rest) + 3;
        if together <= self.paint.width {
            let dot = self.paint.dot();
            return vec![format!("{sign} {strong} {subject}{dot}{}", verdict(&format!("{word}{rest}")))];
        }
        let mut lines = Vec::new();
        // Beside the id, if that leaves room for it.
        let mut left = id.len() + 3;
        if left + 20 > self.paint.width {
            lines.push(format!("{sign} {strong}"));
            left = 2;
        }
        for line in wrap::wrap(&subject, self.paint.width - left) {
            lines.push(if lines.is_empty() { format!("{sign} {strong} {line}") } else { " ".repeat(left) + &line });
        }
        for (place, line) in wrap::wrap(&format!("{word}{rest}"), self.paint.measure() - 2).iter().enumerate() {
            lines.push(if place == 0 { format!("  {}", verdict(line)) } else { format!("    {line}") });
        }
        lines
    }

    fn finding(&self, finding: &Finding) -> Vec<String> {
        let role = match finding.severity {
            Severity::Error => Role::Bad,
            Severity::Unchecked => Role::Decision,
            Severity::Warning => Role::Faint,
        };
        let text = format!("{}: {}", finding.code, finding.message);
        let mut lines = self.set_in(&[(present::severity(finding.severity), role, text)]);
        if let Some(hint) = finding.hint.as_ref().filter(|_| finding.severity > Severity::Warning) {
            // Not wrapped: a command that is broken into lines cannot be copied. And as errors have it.
            lines.push(format!("  {} {}", self.paint.paint(Role::Faint, "hint:"), inert(&hint.to_string())));
        }
        lines
    }

    fn trail(&self, trail: &Trail, commits: &[&CommitStory]) -> Vec<String> {
        let mut lines = self.set_in(&[("intent", Role::Strong, trail.intent.trim().to_owned())]);
        lines.extend(self.set_in(&[("session", Role::Faint, self.session(trail))]));
        let seen = if self.detail == Detail::Brief { present::checks } else { present::seen };
        let seen = seen(&trail.observed);
        if !seen.is_empty() {
            lines.extend(self.set_in(&[("observed", Role::Faint, seen.join("\n"))]));
        }
        let short = commits.first().map(|commit| format!("{:.12}", commit.standing.commit)).unwrap_or_default();
        if self.detail == Detail::Full {
            let mut hashes = vec![("root", trail.root.to_string()), ("genesis", trail.genesis.to_string())];
            let anchors = commits.iter().flat_map(|commit| &commit.standing.sessions);
            hashes.extend(
                anchors
                    .filter(|session| session.root == trail.root)
                    .map(|session| ("anchor", session.anchor_id.to_string())),
            );
            let hashes: Vec<_> = hashes.into_iter().map(|(name, hash)| (name, Role::Faint, hash)).collect();
            lines.extend(self.set_in(&hashes));
        }
        let (shown, parents, more) = self.choose(&trail.steps);
        let spaced = self.detail != Detail::Brief;
        if spaced {
            lines.push(String::new());
        }
        let forest = Forest { parents: &parents, columns: self.paint.measure(), spaced, paint: self.paint };
        lines.extend(forest.draw(|at, columns| self.step(shown[at], columns)));
        if more > 0 {
            let text = format!("{more} more: git proof show {short}");
            lines.extend(self.set_in(&[(self.paint.or("…", "..."), Role::Faint, text)]));
        }
        if self.detail == Detail::Decisions && trail.omitted != Omitted::default() {
            lines.push(String::new());
            lines.extend(self.set_in(&[("also", Role::Faint, omitted(trail.omitted, &short))]));
        }
        lines
    }

    fn session(&self, trail: &Trail) -> String {
        let entries = counted(trail.count, "entry", "entries");
        let task = trail.task_id.as_ref().map(|task| format!("task {}", one_line(task)));
        let caller = format!("by {}", one_line(&trail.caller));
        let scheme = (self.detail == Detail::Full).then(|| trail.scheme.to_string());
        let parts = [Some(trail.session_id.to_string()), Some(entries), Some(caller), task, scheme];
        parts.into_iter().flatten().collect::<Vec<_>>().join(self.paint.dot())
    }

    /// The steps that are shown, for each the nearest before it among them, and how many are left out.
    fn choose<'s>(&self, steps: &'s [Step]) -> (Vec<&'s Step>, Vec<Option<usize>>, usize) {
        let closing = steps.iter().rposition(|step| step.kind == StepKind::Reflection);
        let (mut shown, mut parents): (Vec<&Step>, Vec<Option<usize>>) = (Vec::new(), Vec::new());
        let mut nearest: Vec<Option<usize>> = Vec::with_capacity(steps.len());
        let mut left = 0;
        for (place, step) in steps.iter().enumerate() {
            let parent = step.parent.and_then(|parent| nearest.get(parent).copied().flatten());
            let said_again = self.detail != Detail::Full && step.observed.is_none() && is_restated(step, steps);
            // In a list, so many decisions, and of the reflections the one that closes the session.
            let is_listed = match step.kind {
                StepKind::Decision => shown.len() < LISTED,
                _ => closing == Some(place),
            };
            let is_left = self.detail == Detail::Brief && !is_listed;
            if said_again || is_left {
                left += usize::from(!said_again);
                nearest.push(parent);
                continue;
            }
            nearest.push(Some(shown.len()));
            shown.push(step);
            parents.push(parent);
        }
        (shown, parents, left)
    }

    fn step(&self, step: &Step, columns: usize) -> Vec<String> {
        let (sign, role) = look(step.kind, self.paint);
        let attested = step.content.as_ref().filter(|_| step.kind == StepKind::Attest);
        let change = attested.and_then(|text| GitAttestation::parse(text.as_bytes()).ok());
        let Points { text, points } = &step.said;
        let text = match (step.kind, attested) {
            (StepKind::Withheld, _) => "not published; its hashes are part of the proof".to_owned(),
            (_, Some(attested)) => present::attested(attested),
            _ => text.clone(),
        };
        let word = match step.kind {
            StepKind::Reflection => present::reflection(step.observed),
            StepKind::Plan if step.observed == Some(Event::Prompt.as_str()) => "prompt",
            kind => kind.as_str(),
        };
        let mut said = vec![(word, role, text)];
        let listed = if self.detail == Detail::Brief { LISTED } else { points.len() };
        let point = |point: &Point| (point.label.as_str(), role_of(point.label), point.text.clone());
        said.extend(points.iter().take(listed).map(point));
        if points.len() > listed {
            said.push((self.paint.or("…", "..."), Role::Faint, format!("{} more points", points.len() - listed)));
        }
        for by in &step.superseded_by {
            said.push(("superseded", Role::Bad, format!("by {by:.12}")));
        }
        said.extend(step.until.iter().map(|until| ("until", Role::Faint, until_when(until, self.now))));
        if self.detail == Detail::Full {
            if let Some(change) = &change {
                said.extend(change.change_id.iter().map(|id| ("change", Role::Faint, id.to_string())));
                said.push(("tree", Role::Faint, change.tree.to_string()));
            }
            said.extend(step.metadata.iter().map(|metadata| ("metadata", Role::Faint, metadata.to_string())));
            said.extend(step.timestamp.iter().map(|time| ("recorded", Role::Faint, time.to_string())));
            said.extend(step.id.iter().map(|id| ("id", Role::Faint, id.to_string())));
            said.push(("content", Role::Faint, step.content_hash.to_string()));
            said.push(("chain", Role::Faint, step.chain_hash.to_string()));
        }
        let mut lines = self.labelled(&said, columns);
        if let Some(first) = lines.first_mut() {
            *first = format!("{} {first}", self.paint.paint(role, sign));
        }
        lines
    }

    /// Labels in a column, and what they say beside them, below the head of a commit.
    fn set_in(&self, said: &[(&str, Role, String)]) -> Vec<String> {
        self.labelled(said, self.paint.measure())
            .into_iter()
            .map(|line| format!("  {line}").trim_end().to_owned())
            .collect()
    }

    /// Labels in a column, and what they say beside them. Two of the columns are left to what comes before.
    pub(super) fn labelled(&self, said: &[(&str, Role, String)], columns: usize) -> Vec<String> {
        let mut lines = Vec::new();
        for (label, role, text) in said {
            let room = columns.saturating_sub(LABELLED);
            let text = match self.detail {
                Detail::Brief => wrap::brief(text, room, BRIEF, self.paint.or("…", "...")),
                _ => wrap::wrap(text, room),
            };
            // A label that is wider than its column has a line to itself.
            let apart = label.len() > LABEL;
            if apart {
                lines.push(self.paint.paint(*role, label));
            }
            for (place, line) in text.iter().enumerate() {
                let beside = place == 0 && !apart;
                let label = format!("{:LABEL$}", if beside { *label } else { "" });
                let label = if beside { self.paint.paint(*role, &label) } else { label };
                lines.push(format!("{label} {line}"));
            }
        }
        lines
    }
}

/// Commits that the same sessions explain, in the order of the first of each; others stay with their neighbours.
fn groups(commits: &[CommitStory]) -> Vec<Vec<&CommitStory>> {
    let mut groups: Vec<Vec<&CommitStory>> = Vec::new();
    let mut places: HashMap<Vec<RootHash>, usize> = HashMap::new();
    let mut alone = None;
    for commit in commits {
        let roots: Vec<RootHash> = commit.trails.iter().map(|trail| trail.root).collect();
        let place = if roots.is_empty() { alone } else { places.get(&roots).copied() };
        let place = place.unwrap_or_else(|| {
            groups.push(Vec::new());
            groups.len() - 1
        });
        alone = roots.is_empty().then_some(place);
        if !roots.is_empty() {
            places.insert(roots, place);
        }
        groups[place].push(commit);
    }
    groups
}

/// Whether a reflection is recorded once more at the close, in the same words.
fn is_restated(step: &Step, steps: &[Step]) -> bool {
    let restated = Some(Event::Restated.as_str());
    step.kind == StepKind::Reflection
        && steps.iter().any(|later| later.observed == restated && later.content == step.content)
}

/// The text after the verdict in its line: what is proven and by whom, or why it is not.
fn details(commit: &CommitStory) -> String {
    let standing = &commit.standing;
    let codes = |severity: Severity| {
        let mut codes: Vec<&str> = Vec::new();
        for finding in standing.findings.iter().filter(|finding| finding.severity == severity) {
            if !codes.contains(&finding.code.as_str()) {
                codes.push(finding.code.as_str());
            }
        }
        if codes.is_empty() { String::new() } else { format!(": {}", codes.join(", ")) }
    };
    match standing.verdict {
        Verdict::Pass => format!(": {}", proven(commit).join(", ")),
        Verdict::Vouched => {
            let by = standing.vouched.as_ref().map(|vouched| inert(&vouched.by.join(" and "))).unwrap_or_default();
            format!(" by {by}: {}", present::WORD_OF_A_PERSON)
        }
        Verdict::Fail => codes(Severity::Error),
        Verdict::Unchecked => codes(Severity::Unchecked),
        Verdict::Missing => {
            standing.reason.as_ref().map(|why| format!(", and required: {}", one_line(why))).unwrap_or_default()
        }
        Verdict::Exempt => String::new(),
    }
}

fn proven(commit: &CommitStory) -> Vec<String> {
    let holding: Vec<&SessionVerdict> = commit.standing.sessions.iter().filter(|session| session.holds).collect();
    let mut said: Vec<String> = commit.standing.binding.iter().map(ToString::to_string).collect();
    said.push(if holding.iter().any(|session| session.rooted) { "rooted" } else { "not rooted" }.to_owned());
    if !holding.is_empty() && holding.iter().all(|session| session.reflection == Some(Reflection::Observed)) {
        said.push("observed reflection".to_owned());
    }
    let mut signers: Vec<&str> =
        holding.iter().flat_map(|session| session.signers.iter().map(String::as_str)).collect();
    signers.sort_unstable();
    signers.dedup();
    said.push(match signers.as_slice() {
        [] => "not signed".to_owned(),
        signers => format!("signed by {}", inert(&signers.join(" and "))),
    });
    if !holding.is_empty() && holding.iter().all(|session| session.afterwards) {
        said.push("recorded afterwards".to_owned());
    }
    let mut rounds: Vec<u64> = holding.iter().filter_map(|session| session.round).collect();
    rounds.sort_unstable();
    rounds.dedup();
    said.extend(rounds.iter().map(|round| format!("sealed in round {round}")));
    said
}

fn omitted(counts: Omitted, short: &str) -> String {
    let kinds = [
        (counts.plans, "plan", "plans"),
        (counts.analyses, "analysis", "analyses"),
        (counts.attested, "attested operation", "attested operations"),
        (counts.withheld, "entry that was not published", "entries that were not published"),
    ];
    let kinds = kinds.into_iter().filter(|(count, ..)| *count > 0);
    let kinds: Vec<String> = kinds.map(|(count, one, many)| counted(count, one, many)).collect();
    format!("{}\ngit proof show --full {short}", kinds.join(", "))
}
