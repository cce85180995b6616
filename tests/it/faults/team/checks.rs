//! What must hold of a member's clone when the game is over.

use std::collections::{BTreeMap, BTreeSet};

use super::TEAM;
use super::member::Member;
use crate::store::scratch::text;

impl Member<'_> {
    /// That everything verifies here, and that all is there that was said to be.
    pub(super) fn lost_nothing(&self) {
        let clone = &self.clone;
        let check = clone.run(&["check"]);
        assert_eq!(check.exit, Some(0), "{}: {check:?}", self.branch);
        let (exit, rounds) = clone.rounds();
        assert_eq!(exit, Some(0), "{}: {rounds}", self.branch);
        clone.is_whole();
        self.has_its_records();
        for (session, root) in &self.told.roots {
            assert_eq!(text(&clone.json(&["root", "--session", session]), "root"), root, "{session}");
        }
        self.verifies();
    }

    fn has_its_records(&self) {
        let mut entries: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
        for (session, id) in &self.told.records {
            let there = entries.entry(session).or_insert_with(|| {
                let log = self.clone.json(&["log", "--session", session]);
                log["entries"].as_array().unwrap().iter().map(|entry| text(entry, "id").to_owned()).collect()
            });
            assert!(there.contains(id), "{session} has lost {id}");
        }
        for (session, note) in &self.told.notes {
            let proven = self.clone.run(&["--json", "memory", "prove", "--session", session, "--text", note]);
            let waits = || self.clone.json(&["memory", "list", "--session", session]).to_string().contains(note);
            assert!(proven.exit == Some(0) || waits(), "{session} has lost {note}: {proven:?}");
        }
    }

    /// That every branch passes here, with every commit and every anchor of this member.
    fn verifies(&self) {
        let mut passed: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for at in 0..TEAM {
            let (exit, answer) = self.clone.verdict(&format!("origin/main..origin/w{at}"));
            assert_eq!(exit, Some(0), "{}: w{at}: {answer}", self.branch);
            for commit in answer["commits"].as_array().unwrap() {
                assert_eq!(text(commit, "verdict"), "pass", "{}: w{at}: {commit}", self.branch);
                let sessions = commit["sessions"].as_array().unwrap();
                let sessions = sessions.iter().map(|session| text(session, "session_id").to_owned());
                passed.insert(text(commit, "commit").to_owned(), sessions.collect());
            }
        }
        for commit in &self.told.commits {
            assert!(passed.contains_key(commit), "{}: {commit} is on no branch", self.branch);
        }
        for (session, commit) in &self.told.anchors {
            assert!(passed[commit].contains(session), "{session} is no longer anchored on {commit}");
        }
    }
}
