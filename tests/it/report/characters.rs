//! One list of characters that nobody can see, or that move others about, and every output that shows words of others.

use std::fmt::Write as _;
use std::path::Path;

use super::Project;
use crate::common::run_with_input;
use crate::store::scratch::Ran;

/// Both ends of every range. Written out here and not taken from the program: the two lists check each other.
const ENDS: &[(u32, u32)] = &[
    (0x01, 0x08),       // C0
    (0x0b, 0x1f),       // C0, with vertical tab, carriage return and escape
    (0x7f, 0x9f),       // delete, and C1
    (0xad, 0xad),       // soft hyphen
    (0x34f, 0x34f),     // combining grapheme joiner
    (0x61c, 0x61c),     // Arabic letter mark
    (0x115f, 0x1160),   // Hangul fillers
    (0x17b4, 0x17b5),   // Khmer vowels that have no shape
    (0x180b, 0x180f),   // Mongolian variation selectors and vowel separator
    (0x200b, 0x200f),   // zero width space, joiners, marks of direction
    (0x2028, 0x202e),   // line and paragraph separator, embeddings and overrides
    (0x2060, 0x206f),   // word joiner, invisible operators, isolates
    (0x2800, 0x2800),   // blank Braille pattern
    (0x3164, 0x3164),   // Hangul filler
    (0xfdd0, 0xfdef),   // noncharacters
    (0xfe00, 0xfe0f),   // variation selectors
    (0xfeff, 0xfeff),   // byte order mark
    (0xffa0, 0xffa0),   // half-width Hangul filler
    (0xfff0, 0xfffb),   // annotations, and what is reserved beside them
    (0xfffe, 0xffff),   // noncharacters
    (0x13430, 0x1343f), // joiners of hieroglyphs
    (0x16fe4, 0x16fe4), // Khitan filler
    (0x1bca0, 0x1bca3), // shorthand controls
    (0x1d159, 0x1d159), // null notehead
    (0x1d173, 0x1d17a), // beams and slurs
    (0x1fffe, 0x1ffff), // noncharacters
    (0xe0000, 0xe0fff), // tags, and variation selectors
    (0xefffe, 0xeffff), // noncharacters
    (0x0010_fffe, 0x0010_ffff),
];

/// All of them, each with a letter on either side.
pub(crate) fn hostile() -> String {
    let mut text = String::from("sh");
    for character in ENDS.iter().flat_map(|(first, last)| [*first, *last]).filter_map(char::from_u32) {
        text.push(character);
        text.push('x');
    }
    text + "own needle"
}

/// Fails if an output has one of them, or does not have the words around them.
#[track_caller]
pub(crate) fn assert_inert(what: &str, text: &str) {
    let mut found = String::new();
    for character in text.chars().filter(|character| !matches!(character, '\n')) {
        let number = u32::from(character);
        if number == 0 || ENDS.iter().any(|(first, last)| (*first..=*last).contains(&number)) {
            let _ = write!(found, "U+{number:04X} ");
        }
    }
    assert_eq!(found, "", "{what}");
    assert!(text.contains("sh"), "{what} shows nothing: {text}");
}

/// A commit with such a subject, explained by a session with such texts, and one that must be proven and is not.
fn project() -> Project {
    let project = Project::new();
    let hostile = hostile();
    project.git(&["config", "--add", "notes.displayRef", "refs/notes/proof-why"]);
    project.git(&["checkout", "--quiet", "-b", "topic"]);
    project.write(&format!("a{}", hostile.replace(|letter: char| u32::from(letter) < 0x20, "")), "x\n");
    let session =
        project.scratch.run_with(&["start", "--intent", &hostile, "--session-id", "s1", "--task", &hostile], b"");
    assert_eq!(session.exit, Some(0), "{session:?}");
    let metadata = serde_json::json!({ "rejected": [hostile] }).to_string();
    for kind in ["decision", "reflection"] {
        project.scratch.json(&["record", "--type", kind, "--content", &hostile, "--metadata", &metadata]);
    }
    project.scratch.json(&["finalize"]);
    let message = format!("{hostile}\n\nAssisted-by: an agent");
    project.git(&["commit", "--quiet", "--cleanup=verbatim", "-m", &message]);
    project.scratch.json(&["anchor", "--session", "s1"]);
    project.raw(format!("{hostile}\n\nAssisted-by: {hostile}\nProof-Root: {hostile}\n").as_bytes());
    project
}

#[test]
fn no_command_shows_them_as_they_are() {
    let project = project();
    for arguments in [
        &["verify", "main..topic"][..],
        &["show", "HEAD~1"],
        &["show", "HEAD"],
        &["show", "--full", "HEAD~1"],
        &["log", "main..topic"],
        &["log", "--session", "s1"],
        &["tree", "--session", "s1"],
        &["search", "needle"],
        &["gate", "--base", "main", "--format", "human"],
        &["gate", "--base", "main", "--format", "github"],
        &["gate", "--base", "main", "--format", "markdown"],
        &["gate", "--base", "main", "--format", "sarif"],
        &["gate", "--base", "main", "--format", "junit"],
        &["report", "main..topic", "--markdown"],
        &["report", "main..topic", "--html", "-"],
    ] {
        let ran = project.scratch.run(arguments);
        assert!(matches!(ran.exit, Some(0 | 1)), "{arguments:?}: {}", ran.err);
        assert_inert(&arguments.join(" "), &ran.out);
        // An escape of JSON is only the way in which a text is written: the text itself must be inert.
        if let Ok(value) = serde_json::from_str::<serde_json::Value>(&ran.out) {
            strings(&value, &mut |text| assert_no_active(&arguments.join(" "), text));
        }
    }
}

/// Every text in a value.
fn strings(value: &serde_json::Value, each: &mut dyn FnMut(&str)) {
    match value {
        serde_json::Value::String(text) => each(text),
        serde_json::Value::Array(values) => values.iter().for_each(|value| strings(value, each)),
        serde_json::Value::Object(fields) => fields.values().for_each(|value| strings(value, each)),
        _ => {}
    }
}

#[track_caller]
fn assert_no_active(what: &str, text: &str) {
    assert_inert(what, &format!("sh{text}"));
}

#[test]
fn the_line_for_git_log_has_none_of_them() {
    let project = project();
    let note = project.git(&["notes", "--ref=proof-why", "show", "HEAD~1"]);
    assert_inert("the note", &note);
    assert!(note.contains("sh\\u{1}x\\u{8}x"), "{note}");
}

#[test]
fn errors_and_the_talk_of_hooks_have_none_of_them() {
    let project = project();
    let hostile = hostile();
    let ran = project.scratch.run(["verify", &hostile]);
    assert_eq!(ran.exit, Some(2), "{ran:?}");
    assert_inert("an error", &ran.err);

    let server = project.scratch.around().join("server.git");
    let server = server.to_str().unwrap();
    project.git(&["init", "--quiet", "--bare", server]);
    project.git(&["remote", "add", "origin", server]);
    project.git(&["push", "--quiet", "--no-verify", "origin", "main"]);
    let line = format!("refs/heads/topic {} refs/heads/topic {}\n", project.head(), "0".repeat(40));
    let ran: Ran = with_input(&project, &["hook", "pre-push", "origin", server], line.as_bytes());
    assert_eq!(ran.exit, Some(0), "the remote has no policy: {ran:?}");
    assert!(ran.err.contains("TRAILER_MISMATCH"), "{ran:?}");
    assert_inert("pre-push", &ran.err);

    project.git(&["push", "--quiet", "--no-verify", "origin", "topic:refs/keep/copy", "refs/notes/proof"]);
    let line = format!("{} {} refs/heads/{hostile}\n", "0".repeat(40), project.head());
    let mut command = project.scratch.proof(["hook", "pre-receive"]);
    command.current_dir(Path::new(server));
    let ran = run_with_input(&mut command, line.as_bytes());
    assert_inert("pre-receive", &ran.stderr);
}

fn with_input(project: &Project, arguments: &[&str], input: &[u8]) -> Ran {
    let ran = run_with_input(&mut project.scratch.proof(arguments), input);
    Ran { exit: ran.code, out: ran.stdout, err: ran.stderr }
}
