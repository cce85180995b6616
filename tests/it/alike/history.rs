//! Random histories: sessions, rewrites, deletions, forgeries, missing refs and objects, policies, signatures, words,
//! seals. The same seed gives the same history.

use std::collections::BTreeMap;

use git_proof::git::Remote;
use git_proof::proof::anchor::Anchor;
use git_proof::proof::change::{GitAttestation, Sighting};
use git_proof::proof::digest::{ChangeId, CommitId, ObjectId, RootHash, SealHash, sha256};
use git_proof::proof::note::NoteLine;
use git_proof::proof::scheme::Scheme;
use git_proof::proof::seal::{Rounds, SealedSession, seal_hash};
use git_proof::proof::word::NamedSession;

use super::place::{Files, Made, Place, now};
use super::proofs::{Person, Recorded, Session, line, word};
use crate::store::scratch::Dice;

const ALL: &str = "[proof_grade]\nrequire = \"all\"\n";

/// What may follow [`ALL`] in a policy, or stand alone.
const POLICIES: [&str; 16] = [
    "",
    ALL,
    ALL,
    "[proof_grade]\nrequire = \"all\"\n[proof]\nvouchers = [\"ada@x\", \"eve@x\"]\n",
    "[proof_grade]\npaths = [\"src/**\"]\n",
    "[proof_grade]\nrequire = \"none\"\n",
    "[proof_grade]\nrequire = \"all\"\nmerges = true\n",
    "[proof_grade]\nrequire = \"all\"\n[proof]\nbinding = \"exact\"\n",
    "[proof_grade]\nrequire = \"all\"\n[proof]\nbinding = \"moved\"\n",
    "[proof_grade]\nrequire = \"all\"\n[proof]\nsignatures = 1\n",
    "[proof_grade]\nrequire = \"all\"\n[proof]\nsealed = true\nsealers = [\"bob@x\"]\n",
    "[proof_grade]\nrequire = \"all\"\n[proof]\nvouchers = [\"ada@x\"]\n",
    "[proof]\nvouchers = [\"ada@x\"]\n",
    "[proof_grade]\nrequire = \"all\"\n[proof]\nrooted = false\nevidence = \"optional\"\n",
    "[proof_grade]\nrequire = \"all\"\n[proof]\nrooted = false\nschemes = [\"v1\", \"v1-sorted\", \"ams-v0\"]\n",
    "[proof_grade]\nrequire = \"all\"\n[gate]\nmode = \"advisory\"\n",
];

/// A history that is ready to be judged.
pub(super) struct History {
    pub(super) place: Place,
    pub(super) base: CommitId,
    pub(super) head: CommitId,
    /// Whether a remote's default branch is at the base, so that nobody need name the rules.
    pub(super) trusted: bool,
}

/// A history in the making.
struct Making {
    dice: Dice,
    place: Place,
    /// The newest commit of the branch that is judged.
    tip: Made,
    /// A commit that the base is made on.
    first: Made,
    sessions: Vec<Session>,
    anchors: Vec<Anchor>,
    /// The commits that are judged, and those that they were made of.
    branch: Vec<Made>,
    originals: Vec<Made>,
    edits: u64,
}

/// Makes the history of a seed.
pub(super) fn history(seed: u64) -> History {
    let mut dice = Dice(seed);
    let policy = POLICIES[usize::try_from(dice.below(POLICIES.len() as u64)).unwrap()];
    let mut place = Place::new();
    let lines: String = (0..40).map(|number| format!("line {number}\n")).collect();
    let mut files = Files::new();
    for name in ["a.txt", "b.txt", "src/lib.rs"] {
        files.insert(name.to_owned(), lines.clone());
    }
    let (ada, bob, eve) = (Person::named("ada"), Person::named("bob"), Person::named("eve"));
    let signers = ada.listed("") + &bob.listed("") + &eve.listed("valid-before=\"20200101Z\" ");
    files.insert(".proof/allowed_signers".to_owned(), signers);
    let pin = dice.below(12) == 0;
    if !policy.is_empty() || pin {
        let pinned = if policy.contains("[proof]\n") { "" } else { "[proof]\n" };
        let seal = SealHash::new(sha256(b"no such seal"));
        let pinned =
            if pin && !policy.contains("[gate]") { format!("{pinned}pin = \"1:{seal}\"\n") } else { String::new() };
        files.insert(".proof/policy.toml".to_owned(), format!("{policy}{pinned}"));
    }
    let first = place.commit(&[], &files, "Begin");
    files.insert("c.txt".to_owned(), "c\n".to_owned());
    let base = place.commit(&[&first], &files, "Go on");
    place.set("refs/heads/main", &base.id);
    let (sessions, anchors, branch, originals) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let tip = base.clone();
    let mut making = Making { dice, place, tip, first, sessions, anchors, branch, originals, edits: 0 };
    for _ in 0..2 + making.dice.below(3) {
        making.step();
    }
    making.sign();
    let rounds = making.seal();
    for _ in 0..making.dice.below(3) {
        making.spoil();
    }
    making.finish(&base, rounds)
}

impl Making {
    fn one_in(&mut self, chances: u64) -> bool {
        self.dice.below(chances) == 0
    }

    fn pick(&mut self, limit: usize) -> usize {
        usize::try_from(self.dice.below(limit as u64)).unwrap()
    }

    /// Another line of a file, which no other edit touches.
    fn edited(&mut self, files: &Files) -> Files {
        self.edits += 1;
        let name = ["a.txt", "a.txt", "b.txt", "src/lib.rs"][self.pick(4)];
        let mut files = files.clone();
        let (old, new) = (format!("line {}\n", self.edits * 4 % 40), format!("edit {}\n", self.edits));
        let text = files[name].replacen(&old, &new, 1);
        files.insert(name.to_owned(), text);
        files
    }

    fn how(&mut self) -> Recorded {
        let scheme = match self.dice.below(12) {
            0 => Scheme::V1Sorted,
            1 => Scheme::AmsV0,
            2 => Scheme::V1Rfc9162,
            _ => Scheme::V1,
        };
        Recorded { scheme, closed: !self.one_in(12), withheld: self.one_in(8) }
    }

    fn message(&mut self, trailer: Option<String>) -> String {
        let number = self.branch.len() + self.originals.len();
        let trailer = trailer.unwrap_or_else(|| match self.dice.below(12) {
            0..4 => "Proof-Grade: true".to_owned(),
            4..6 => "Assisted-by: an agent".to_owned(),
            6 => "Proof-Session: nobody".to_owned(),
            7 => format!("Proof-Root: nobody:v1:{}:3", RootHash::new(sha256(b"nothing"))),
            8 => "Proof-Root: this is none".to_owned(),
            _ => String::new(),
        });
        if self.one_in(60) {
            return format!("Change {number}\n\n{}", "Proof-Grade: true\n".repeat(1100));
        }
        format!("Change {number}\n\n{trailer}\n")
    }

    fn attested(made: &Made, commit: Option<CommitId>) -> GitAttestation {
        GitAttestation { change_id: made.change.map(|ids| ids.wide), commit, tree: made.tree }
    }

    /// A session that attests commits, with its evidence published.
    fn session(&mut self, attested: &[GitAttestation]) -> Session {
        let how = self.how();
        let id = format!("s{}", self.sessions.len());
        let session = Session::new(&id, attested, how);
        self.place.evidence.insert(session.sum.root, session.text.clone());
        self.sessions.push(session.clone());
        session
    }

    /// Puts a session's anchor for a commit into a note.
    fn anchor(&mut self, session: &Session, made_for: &Made, on: &Made) {
        let anchor = session.anchor(made_for);
        self.place.notes.entry(on.id).or_default().insert(line(&anchor, None));
        self.place.sight(made_for.change, Sighting::Commit(made_for.id));
        self.anchors.push(anchor);
    }

    /// A commit that its own session explains; the session was closed before it, or after.
    fn proven(&mut self, parents: &[&Made], files: &Files) -> Made {
        if self.one_in(3) {
            let draft = self.place.commit(parents, files, "draft");
            let session = self.session(&[Self::attested(&draft, None)]);
            let message = self.message(Some(session.trailer()));
            let made = self.place.commit(parents, files, &message);
            self.anchor(&session, &made, &made);
            return made;
        }
        let trailer = self.one_in(3).then(|| format!("Proof-Session: s{}", self.sessions.len()));
        let message = self.message(trailer);
        let made = self.place.commit(parents, files, &message);
        let session = self.session(&[Self::attested(&made, Some(made.id))]);
        self.anchor(&session, &made, &made);
        made
    }

    /// Adds to the branch: a change, proven or not, or one that replaces another.
    fn step(&mut self) {
        let tip = self.tip.clone();
        let files = self.edited(&tip.files);
        let made = match self.dice.below(14) {
            0..4 => self.proven(&[&tip], &files),
            4 | 5 => {
                let message = self.message(None);
                self.place.commit(&[&tip], &files, &message)
            }
            6 => self.reworded(&tip, &files),
            7 | 8 => self.moved(&tip),
            9 | 10 => self.squashed(&tip, &files),
            11 => self.undone_and_back(&tip, &files),
            12 => self.original_gone(&tip, &files),
            _ => self.odd(&tip, &files),
        };
        self.branch.push(made.clone());
        self.tip = made;
    }

    /// The message of a proven commit was changed, with or without post-rewrite.
    fn reworded(&mut self, tip: &Made, files: &Files) -> Made {
        let original = self.proven(&[tip], files);
        let message = self.message(None);
        let made = self.place.commit(&[tip], files, &message);
        self.carry(&original, &made);
        made
    }

    /// A proven commit was rebased, or picked from another branch.
    fn moved(&mut self, tip: &Made) -> Made {
        let first = self.first.clone();
        let files = self.edited(&first.files);
        let original = self.proven(&[&first], &files);
        let mut merged = tip.files.clone();
        for (name, text) in &files {
            if first.files[name] != *text {
                let (old, new) = (first.files[name].lines(), text.lines());
                let (old, new) = old.zip(new).find(|(old, new)| old != new).unwrap();
                let text = merged[name].replacen(&format!("{old}\n"), &format!("{new}\n"), 1);
                merged.insert(name.clone(), text);
            }
        }
        let message = self.message(None);
        let made = self.place.commit(&[tip], &merged, &message);
        self.carry(&original, &made);
        made
    }

    /// A range became one commit.
    fn squashed(&mut self, tip: &Made, files: &Files) -> Made {
        let one = self.proven(&[tip], files);
        let both = self.edited(files);
        let two = if self.one_in(4) {
            let message = self.message(None);
            self.place.commit(&[&one], &both, &message)
        } else {
            self.proven(&[&one], &both)
        };
        let message = self.message(None);
        let made = self.place.commit(&[tip], &both, &message);
        if !self.one_in(5) {
            self.place.sight(made.change, Sighting::Range { base: tip.id, head: two.id });
        }
        self.originals.extend([one, two]);
        made
    }

    /// A proven change was reverted, and is applied again.
    fn undone_and_back(&mut self, tip: &Made, files: &Files) -> Made {
        let there = self.proven(&[tip], files);
        let undone = self.place.commit(&[&there], &tip.files, "Revert");
        let message = self.message(None);
        let made = self.place.commit(&[&undone], files, &message);
        self.branch.extend([there.clone(), undone]);
        self.carry(&there, &made);
        made
    }

    /// The commit that a session attests was rewritten before anyone else had it.
    fn original_gone(&mut self, tip: &Made, files: &Files) -> Made {
        let mut files = files.clone();
        if self.one_in(2) {
            files.insert(format!("new{}.txt", self.edits), "new\n".to_owned());
        }
        let message = self.message(None);
        let made = self.place.commit(&[tip], &files, &message);
        let gone = ObjectId::from_bytes(&sha256(message.as_bytes())[..20]).unwrap();
        // It stood on something else, so that its tree does not say where the change belongs.
        let tree = if self.one_in(2) { tip.tree } else { made.tree };
        let original = Made { id: CommitId(gone), tree, ..made.clone() };
        let session = self.session(&[Self::attested(&original, Some(original.id))]);
        self.anchor(&session, &original, &made);
        made
    }

    /// An empty commit, a merge, a commit that changes the rules.
    fn odd(&mut self, tip: &Made, files: &Files) -> Made {
        let mut files = files.clone();
        let message = self.message(None);
        match self.dice.below(4) {
            0 => self.place.commit(&[tip], &tip.files, &message),
            1 => {
                files.insert(".proof/policy.toml".to_owned(), "[proof_grade]\nrequire = \"none\"\n".to_owned());
                self.place.commit(&[tip], &files, &message)
            }
            kind => {
                let side = self.proven(&[tip], &files);
                let other = self.edited(&tip.files);
                let mut merged = other.clone();
                let name = files.keys().find(|name| files[*name] != tip.files[*name]).unwrap().clone();
                if other[&name] == tip.files[&name] {
                    merged.insert(name.clone(), files[&name].clone());
                }
                if kind == 3 {
                    merged.insert("evil.txt".to_owned(), "by hand\n".to_owned());
                }
                let other = self.proven(&[tip], &other);
                self.branch.extend([side.clone(), other.clone()]);
                self.place.commit(&[&other, &side], &merged, &message)
            }
        }
    }

    /// Copies the note of a commit to what became of it, or lets the index lead there, or neither.
    fn carry(&mut self, from: &Made, to: &Made) {
        self.originals.push(from.clone());
        if !self.one_in(3)
            && let Some(note) = self.place.notes.get(&from.id).cloned()
        {
            self.place.notes.entry(to.id).or_default().extend(note);
        }
        if !self.one_in(3) {
            self.place.sight(to.change, Sighting::Commit(from.id));
        }
    }

    /// People sign some of the anchors, well or badly, and vouch for some commits.
    fn sign(&mut self) {
        for at in 0..self.anchors.len() {
            if !self.one_in(3) {
                continue;
            }
            let anchor = self.anchors[at].clone();
            let name = ["ada", "bob", "eve", "mallory"][self.pick(4)];
            let text = if self.one_in(3) { "another text".to_owned() } else { anchor.to_text() };
            let signed = line(&anchor, Some(Person::named(name).sign(text.as_bytes())));
            if let Some(note) = self.place.notes.get_mut(&anchor.commit) {
                if self.dice.below(2) == 0 {
                    note.remove(&line(&anchor, None));
                }
                note.insert(signed);
            }
        }
        for _ in 0..self.dice.below(5) {
            let (about, on) = (self.pick(self.branch.len()), self.pick(self.branch.len()));
            let about = self.branch[about].clone();
            let on = if self.one_in(4) { self.branch[on].id } else { about.id };
            let mut sessions = Vec::new();
            if self.one_in(4)
                && let Some(session) = self.sessions.first()
            {
                sessions.push(NamedSession { root: session.sum.root, count: session.sum.count });
            }
            let name = ["ada", "ada", "ada", "ada", "ada", "bob", "eve", "mallory"][self.pick(8)];
            let said = word(&Person::named(name), &about, sessions);
            if !self.one_in(4) {
                self.place.notes.remove(&on);
            }
            self.place.notes.entry(on).or_default().insert(said);
        }
    }

    /// Seals what is anchored, in one round or two; the answer is the newest seal.
    fn seal(&mut self) -> Option<CommitId> {
        if self.anchors.is_empty() || !self.one_in(2) {
            return None;
        }
        let mut by_session: BTreeMap<String, SealedSession> = BTreeMap::new();
        for anchor in &self.anchors {
            let entry = by_session.entry(anchor.session_id.to_string()).or_insert_with(|| SealedSession {
                anchors: Vec::new(),
                count: anchor.count,
                root: anchor.root,
                scheme: anchor.scheme,
                session_id: anchor.session_id.clone(),
            });
            entry.anchors.push(anchor.id());
            entry.anchors.sort_unstable();
            entry.anchors.dedup();
        }
        let sessions: Vec<SealedSession> = by_session.into_values().collect();
        let split = if self.one_in(2) { sessions.len() } else { 1 };
        let (mut rounds, mut tip) = (Rounds::new(), None);
        for part in [&sessions[..split], &sessions[split..]] {
            let Some(seal) = rounds.seal(part.to_vec(), now(), now()) else { continue };
            let mut text = seal.to_text();
            rounds.push(text.as_bytes()).unwrap();
            if self.one_in(10) {
                text = text.replace("\"round\":", "\"round\":1");
            }
            let commit = self.place.seal(tip, &text);
            if self.one_in(2) {
                let signature = Person::named("bob").sign(text.as_bytes());
                let line = NoteLine::Seal { seal: seal_hash(text.as_bytes()), signature }.to_line().unwrap();
                self.place.notes.entry(commit).or_default().insert(line);
            }
            tip = Some(commit);
        }
        tip
    }

    /// Somebody deletes, forges or adds something.
    fn spoil(&mut self) {
        let (one, two) = (self.pick(self.branch.len()), self.pick(self.branch.len()));
        let (one, two) = (self.branch[one].clone(), self.branch[two].clone());
        match self.dice.below(11) {
            0 | 1 => drop(self.place.notes.remove(&one.id)),
            2 => {
                let note = self.place.notes.get(&one.id).cloned().unwrap_or_default();
                self.place.notes.entry(two.id).or_default().extend(note);
            }
            3 => {
                let junk = ["{\"anchor\":{}}", "not JSON", "{\"type\":\"git-proof/other@9\"}"][self.pick(3)];
                self.place.notes.entry(one.id).or_default().insert(junk.to_owned());
            }
            4 | 5 if !self.anchors.is_empty() => {
                let at = self.pick(self.anchors.len());
                let forged = self.forged(at);
                if let Some(note) = self.place.notes.get_mut(&forged.commit) {
                    note.remove(&line(&self.anchors[at], None));
                }
                self.place.notes.entry(one.id).or_default().insert(line(&forged, None));
            }
            6 | 7 if !self.sessions.is_empty() => {
                let at = self.pick(self.sessions.len());
                let root = self.sessions[at].sum.root;
                drop(self.place.evidence.remove(&root));
            }
            8..11 if !self.sessions.is_empty() => {
                let at = self.pick(self.sessions.len());
                let (root, text) = (self.sessions[at].sum.root, self.sessions[at].text.clone());
                let lines: Vec<&str> = text.lines().collect();
                let other = match self.dice.below(3) {
                    0 => lines[..lines.len() - 1].iter().map(|line| format!("{line}\n")).collect(),
                    1 => text.replacen("\"prev_hash\":\"", "\"prev_hash\":\"0", 1),
                    _ => text.replace("otherwise", "like this"),
                };
                drop(self.place.evidence.insert(root, other));
            }
            _ => {}
        }
    }

    fn forged(&mut self, at: usize) -> Anchor {
        let mut forged = self.anchors[at].clone();
        match self.dice.below(6) {
            0 => forged.count += 1,
            1 => forged.root = RootHash::new(sha256(b"forged")),
            2 => forged.change_id = Some(ChangeId::new(sha256(b"forged"))),
            3 => forged.tree = self.first.tree,
            4 => forged.scheme = Scheme::V1Rfc9162,
            _ => std::mem::swap(&mut forged.genesis, &mut forged.head),
        }
        forged
    }

    /// Publishes what there is, and loses some of it.
    fn finish(mut self, base: &Made, rounds: Option<CommitId>) -> History {
        let trusted = self.one_in(2);
        let mut without = Vec::new();
        for name in ["refs/notes/proof", "refs/proof/evidence", "refs/proof/changes", "refs/proof/rounds"] {
            if self.one_in(12) {
                without.push(name);
            }
        }
        self.place.publish(&without);
        if let Some(tip) = rounds.filter(|_| !without.contains(&"refs/proof/rounds")) {
            self.place.set("refs/proof/rounds", &tip);
        }
        if trusted {
            self.place.add_remote(&base.id);
            if self.one_in(2) {
                let names: &[&'static str] = if self.one_in(2) { &[] } else { &["refs/notes/proof"] };
                let had = names.iter().map(|name| (*name, base.id)).collect();
                self.place.git().remember_answer(&Remote { name: "origin".to_owned() }, &had).unwrap();
            }
        }
        if self.one_in(10) && !self.sessions.is_empty() {
            let text = self.sessions[0].text.clone();
            self.place.lose(&self.place.blob(&text));
        }
        if self.one_in(10)
            && let Some(original) = self.originals.first()
        {
            let known = self.branch.iter().any(|made| made.id == original.id);
            self.place.lose(if known { &original.tree.0 } else { &original.id.0 });
        }
        let Self { place, tip, .. } = self;
        place.set("refs/heads/topic", &tip.id);
        History { place, base: base.id, head: tip.id, trusted }
    }
}
