//! Decision before edit in random sequences of decisions, edits by tool and by hand, formatters, checks and commits, against a
//! plain model that goes forward in time.

use std::collections::{BTreeMap, HashMap};

use git_proof::proof::change::GitAttestation;
use git_proof::proof::digest::{ChainHash, CommitId, ContentHash, ObjectId, TreeId, sha256};
use git_proof::proof::edits::{Checked, Edits};
use git_proof::proof::observed::Observed;
use git_proof::proof::record::{Body, Entry, Id, Line, RecordType};
use git_proof::proof::timestamp::Timestamp;

use crate::store::scratch::Dice;

/// What the model knows of a content that an edit tool wrote.
#[derive(Debug, Clone, Default)]
struct Known {
    batch: u64,
    after: Option<ContentHash>,
    checks: BTreeMap<String, u8>,
}

/// A commit, and its files: what each of them holds, and what the model knows of that.
struct Made {
    commit: CommitId,
    tree: TreeId,
    files: Vec<(u64, Option<Known>)>,
}

/// A session that goes on, its worktree, and what the model knows.
struct Play {
    dice: Dice,
    text: String,
    entries: Vec<String>,
    batch: u64,
    files: [u64; 4],
    known: HashMap<u64, Known>,
    decisions: Vec<(u64, ContentHash)>,
    commits: Vec<Made>,
}

fn object(number: u64) -> ObjectId {
    ObjectId::parse(&format!("{number:040x}")).unwrap()
}

impl Play {
    fn new(seed: u64) -> Self {
        Self {
            dice: Dice(seed),
            text: "{\"the opening\":\"is not read here\"}\n".to_owned(),
            entries: Vec::new(),
            batch: 0,
            files: [100, 101, 102, 103],
            known: HashMap::new(),
            decisions: Vec::new(),
            commits: Vec::new(),
        }
    }

    fn append(&mut self, body: Body<'_>) -> ContentHash {
        let number = self.entries.len();
        let time = format!("2026-03-01T{:02}:{:02}:00.000Z", self.batch / 60, self.batch % 60);
        let entry = Entry {
            id: Id::parse(&format!("e{number}")).unwrap(),
            prev_hash: ChainHash::new([7; 32]),
            timestamp: Timestamp::parse(&time).unwrap(),
            metadata: None,
            body,
        };
        let line = entry.to_line();
        self.text += &format!("{line}\n");
        let hash = ContentHash::new(sha256(line.as_bytes()));
        self.entries.push(line);
        hash
    }

    fn attest(&mut self, text: &str) {
        self.append(Body::Attest { attest: text.into() });
    }

    fn step(&mut self) {
        // Now and then several entries arrive in one batch, whose order says nothing.
        if self.dice.below(4) > 0 {
            self.batch += 1;
        }
        let batch = self.batch;
        let file = usize::try_from(self.dice.below(4)).unwrap();
        match self.dice.below(9) {
            0 | 1 => {
                let content = format!("decision {}", self.entries.len());
                let body = Body::Thought { kind: RecordType::Decision, content: content.into(), task_id: None };
                let hash = self.append(body);
                self.decisions.push((batch, hash));
            }
            2 | 3 => {
                // Few contents, so that old ones come back.
                let content = self.dice.below(12) + 1;
                self.files[file] = content;
                self.attest(&Observed::Wrote(vec![object(content)]).to_text());
                let after = self.decisions.iter().rfind(|(of, _)| *of < batch).map(|(_, hash)| *hash);
                self.known.insert(content, Known { batch, after, checks: BTreeMap::new() });
            }
            // By hand, or by a formatter: new content, or one that was there before.
            4 => self.files[file] = self.dice.below(20) + 1,
            5 | 6 => {
                let command = ["cargo test", "cargo clippy", "make"][usize::try_from(self.dice.below(3)).unwrap()];
                let exit = [Some(0), Some(0), Some(1), None][usize::try_from(self.dice.below(4)).unwrap()];
                self.attest(&Observed::Check { command: command.to_owned(), exit }.to_text());
                for known in self.known.values_mut().filter(|known| known.batch < batch) {
                    if let Some(exit) = exit {
                        known.checks.insert(command.to_owned(), exit);
                    }
                }
            }
            7 => {
                let body = Body::Thought { kind: RecordType::Analysis, content: "x".into(), task_id: None };
                self.append(body);
            }
            _ => {
                let number = self.commits.len() as u64 + 1000;
                let (commit, tree) = (CommitId(object(number)), TreeId(object(number + 1000)));
                let staged = self.dice.below(2) == 0;
                let said = GitAttestation { change_id: None, commit: (!staged).then_some(commit), tree };
                self.attest(&said.to_text());
                let files = self.files.iter().map(|content| (*content, self.known.get(content).cloned()));
                let files = files.collect();
                self.commits.push(Made { commit, tree, files });
            }
        }
    }

    fn check(&self) {
        let mut edits = Edits::default();
        for (index, line) in self.entries.iter().enumerate() {
            edits.add(index as u64, &Line::parse(line.as_bytes()).unwrap());
        }
        edits.finish(self.text.as_bytes());
        for Made { commit, tree, files } in &self.commits {
            for (content, known) in files {
                let found = edits.of(&object(*content), commit, tree);
                let Some(known) = known else {
                    assert_eq!(found, None);
                    continue;
                };
                let found = found.unwrap_or_else(|| panic!("{content} was written: {}", self.text));
                assert_eq!(found.after.map(|(_, hash)| hash), known.after, "{content}: {}", self.text);
                let expected = if known.checks.values().any(|exit| *exit != 0) {
                    Some(Checked::Failed)
                } else if known.checks.is_empty() {
                    None
                } else {
                    Some(Checked::Passed)
                };
                assert_eq!(found.checked.map(|(checked, _)| checked), expected, "{content}: {}", self.text);
            }
        }
    }
}

#[test]
fn order_of_decisions_edits_and_checks_is_as_a_plain_model_has_it() {
    let mut commits = 0;
    for seed in 0..400 {
        let mut play = Play::new(seed);
        for _ in 0..60 {
            play.step();
        }
        play.check();
        commits += play.commits.len();
    }
    assert!(commits > 1000, "{commits}");
}

#[test]
fn a_session_in_which_no_edit_was_seen_says_nothing() {
    let mut edits = Edits::default();
    let mut play = Play::new(1);
    play.attest(&Observed::Check { command: "make".to_owned(), exit: Some(0) }.to_text());
    edits.add(0, &Line::parse(play.entries[0].as_bytes()).unwrap());
    edits.finish(play.text.as_bytes());
    assert!(edits.is_empty());
}
