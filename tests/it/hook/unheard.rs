//! Commits that are made while git's hooks do not run: those of a person's session are found in the reflog before the
//! session is closed; the others are nobody's, and `status` offers to cover them.

use serde_json::{Value, json};

use super::stage::Stage;

impl Stage {
    /// Opens a person's session in a clone where a hook has run before, and waits until the reflog can tell that what
    /// follows came later: it counts in seconds.
    fn person_begins(&self) -> String {
        self.write("before.txt", "before\n");
        self.commit("before.txt", "Before");
        self.scratch.json(&["start", "mine"])["session_id"].as_str().unwrap().to_owned()
    }

    fn next_second() {
        let clock = || std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
        let now = clock();
        while clock() == now {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }

    /// Commits as a client does that runs no hooks.
    fn commit_without_hooks(&self, path: &str, message: &str) -> String {
        self.scratch.git(["add", path]);
        self.scratch.git(["-c", "core.hooksPath=/dev/null", "commit", "-qm", message]);
        self.head()
    }

    fn next_command(&self) -> String {
        self.scratch.json(&["status"])["next"].as_str().unwrap().to_owned()
    }
}

#[test]
fn commit_that_no_hook_saw_belongs_to_the_persons_open_session() {
    let stage = Stage::new();
    stage.person_begins();
    Stage::next_second();
    stage.write("mine.txt", "mine\n");
    let commit = stage.commit_without_hooks("mine.txt", "Mine");
    stage.scratch.json(&["done", "it is done"]);
    stage.push();
    let judged = stage.judged(&commit);
    assert_eq!((&judged["verdict"], &judged["sessions"][0]["rooted"]), (&json!("pass"), &json!(true)), "{judged:#}");
}

#[test]
fn commit_with_hooks_and_one_without_are_each_attested_once() {
    let stage = Stage::new();
    let session = stage.person_begins();
    Stage::next_second();
    stage.write("one.txt", "1\n");
    let one = stage.commit("one.txt", "One");
    stage.write("two.txt", "2\n");
    let two = stage.commit_without_hooks("two.txt", "Two");
    stage.scratch.json(&["record", "reflection", "both are made"]);
    stage.scratch.json(&["finalize"]);
    let texts = stage.texts(&session);
    for commit in [one, two] {
        assert_eq!(texts.iter().filter(|text| text.contains(&commit)).count(), 1, "{texts:#?}");
    }
    assert_eq!(texts.last().map(String::as_str), Some("both are made"));
}

#[test]
fn what_a_cherry_pick_or_a_rebase_brings_along_is_not_the_persons() {
    let stage = Stage::new();
    stage.scratch.git(["checkout", "-q", "-b", "other"]);
    stage.write("theirs.txt", "theirs\n");
    let theirs = stage.commit("theirs.txt", "Theirs");
    stage.scratch.git(["checkout", "-q", "main"]);
    let session = stage.person_begins();
    Stage::next_second();
    stage.scratch.git(["-c", "core.hooksPath=/dev/null", "cherry-pick", theirs.as_str()]);
    let picked = stage.head();
    stage.scratch.json(&["done", "picked"]);
    let texts = stage.texts(&session);
    assert!(!texts.iter().any(|text| text.contains(&picked)), "{texts:#?}");
    assert!(
        stage.next_command().starts_with(&format!("git proof cover {}", &picked[..12])),
        "{}",
        stage.next_command()
    );
}

#[test]
fn where_an_agent_is_at_work_too_the_commit_is_nobodys_and_status_covers_it() {
    let stage = Stage::new();
    let session = stage.person_begins();
    let agent = stage.agent("gemini", "one");
    agent.start();
    agent.edit("one.txt", "1\n");
    Stage::next_second();
    stage.write("mine.txt", "mine\n");
    let commit = stage.commit_without_hooks("mine.txt", "Whose?");
    stage.scratch.json(&["done", "mine"]);
    assert!(!stage.texts(&session).iter().any(|text| text.contains(&commit)));

    let status = stage.scratch.json(&["status"]);
    assert_eq!(status["uncovered"], json!([commit]), "{status:#}");
    let next = status["next"].as_str().unwrap();
    let Some(reason) = next.strip_prefix(&format!("git proof cover {} --reflection ", &commit[..12])) else {
        panic!("{next}")
    };
    assert!(reason.starts_with('"') && reason.ends_with('"'), "{next}");
    let covered: Value = stage.scratch.json(&["cover", &commit[..12], "--reflection", "it was mine"]);
    assert_eq!(covered["commits"][0]["attested"], true);
    assert_eq!(stage.scratch.json(&["status"])["uncovered"], json!([]));
    stage.push();
    assert_eq!(stage.judged(&commit)["verdict"], "pass");
}

#[test]
fn commit_of_one_of_two_agents_that_cannot_be_told_apart_is_offered_to_cover() {
    let stage = Stage::new();
    let (one, two) = (stage.agent("gemini", "one"), stage.agent("qwen", "two"));
    one.start();
    two.start();
    one.edit("one.txt", "1\n");
    two.edit("two.txt", "2\n");
    Stage::next_second();
    let (first, second) = (one.begin("git commit"), two.begin("git commit"));
    let commit = stage.commit_without_hooks("one.txt", "Whose?");
    one.end(&first);
    two.end(&second);
    assert_eq!(stage.scratch.json(&["status"])["uncovered"], json!([commit]));
}
