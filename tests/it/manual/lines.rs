//! Every command line of the man pages is run, as it stands but for ids and hashes, in a repository that `prepared.sh` makes. A
//! line that fails here is either wrong, or needs one of the tables below.

use std::path::Path;
use std::sync::Mutex;

use super::{commands, examples, help, path};
use crate::store::scratch::{Ran, Scratch, has};

/// What a line says, and what stands in `values`: a record, the root, the count of the session `t-89-login`, and a record
/// of the current session.
const PLACEHOLDERS: [(&str, &str); 6] = [
    ("--session-id t-89-login", "--session-id t-89-again"),
    ("--parent 8bfea854-fd8c-44dc-a9ce-c13027ce08d6", "--parent $PARENT"),
    ("8bfea854-fd8c-44dc-a9ce-c13027ce08d6", "$RECORD"),
    ("3d/3d57….jsonl", "${ROOT:0:2}/$ROOT.jsonl"),
    ("3d57…7e2e", "$ROOT"),
    ("--count 12", "--count $COUNT"),
];

/// What must have been done before a line that contains this: in `prepared.sh` the current session is open.
const BEFORE: [(&str, &str); 7] = [
    ("git proof sync --move-to", "git init --quiet --bare ../private.git; git remote add private ../private.git"),
    ("git proof check-transcript", "echo '{}' >transcript.jsonl"),
    ("git proof import ../store.backup", "git proof backup ../store.backup"),
    ("git proof anchor", "git proof finalize"),
    ("git proof root", "git proof finalize"),
    ("git proof sync && git proof seal", "git proof finalize"),
    ("git proof seal --sign", "git proof finalize"),
];

/// Lines that contain this end with another exit code than 0.
const EXITS: [(&str, i32); 1] = [("git proof check-transcript", 1)];

/// Programs that lines use and that need not be here: what stands in for them.
const STAND_INS: [(&str, &str); 5] = [
    ("cargo", "echo 'test result: ok. 212 passed'"),
    ("claude", "while [ \"$1\" != -- ]; do shift; done; shift; exec \"$@\""), // claude mcp add NAME -- COMMAND
    ("gh", "cat >/dev/null"),
    ("npx", "exec \"$@\""),
    ("uvx", "exec \"$@\""),
];

/// The directory with a prepared repository, made once and copied for each line.
pub(super) struct Prepared(Scratch);

impl Prepared {
    pub(super) fn new() -> Self {
        let scratch = Scratch::without_repository();
        std::fs::remove_dir(&scratch.place).unwrap();
        path(&scratch);
        for (name, body) in STAND_INS {
            use std::os::unix::fs::PermissionsExt as _;
            let file = scratch.around().join("bin").join(name);
            std::fs::write(&file, format!("#!/bin/sh\n{body}\n")).unwrap();
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        let prepared = Self(scratch);
        let ran = prepared.shell(prepared.0.around(), prepared.0.around(), "bash", include_str!("prepared.sh"));
        assert_eq!(ran.exit, Some(0), "prepared.sh: {}{}", ran.out, ran.err);
        prepared
    }

    /// Runs a script in `place`, which is in `around`, where its home is.
    fn shell(&self, around: &Path, place: &Path, shell: &str, script: &str) -> Ran {
        let mut command = self.0.command(shell);
        command.args(["-c", script]).current_dir(place).env("PATH", path(&self.0)).env("TERM", "dumb");
        command.env("HOME", around.join("home")).env("GIT_CEILING_DIRECTORIES", around);
        if let Ok(values) = std::fs::read_to_string(around.join("values")) {
            command.envs(["RECORD", "ROOT", "COUNT", "PARENT"].into_iter().zip(values.lines()));
        }
        command.output().unwrap().into()
    }

    /// A copy of it, for one line or for one story.
    pub(super) fn copy(&self) -> tempfile::TempDir {
        let copy = tempfile::tempdir().unwrap();
        let mut command = self.0.command("cp");
        command.current_dir(self.0.around()).arg("-a");
        command.args(["home", "remote.git", "place", "values"]).arg(copy.path());
        assert!(command.status().unwrap().success());
        copy
    }

    /// Runs a line in one of the repositories of a copy; says what is wrong with it.
    pub(super) fn try_line(&self, copy: &Path, place: &str, line: &str) -> Result<String, String> {
        if let Some(program) = ["jq", "man", "fish"].into_iter().find(|program| uses(line, program) && !has(program)) {
            eprintln!("left out: {program} is not here: {line}");
            return Ok(String::new());
        }
        let place = copy.join(place);
        let filled = PLACEHOLDERS.iter().fold(line.to_owned(), |line, (from, to)| line.replace(from, to));
        if let Some(left) = filled.split_whitespace().take_while(|word| *word != "#").find(|word| is_placeholder(word))
        {
            return Err(format!("{left} stands for something: say in PLACEHOLDERS for what"));
        }
        for (part, before) in BEFORE {
            if line.contains(part) {
                let ran = self.shell(copy, &place, "bash", before);
                assert_eq!(ran.exit, Some(0), "{before}: {}", ran.err);
            }
        }
        let wanted = EXITS.iter().find(|(part, _)| line.contains(part)).map_or(0, |(_, exit)| *exit);
        // In a pipe any command may fail.
        let (shell, script) =
            if uses(line, "source") { ("fish", filled) } else { ("bash", format!("set -euo pipefail\n{filled}")) };
        let ran = self.shell(copy, &place, shell, &script);
        if ran.exit == Some(wanted) {
            return Ok(ran.out);
        }
        Err(format!(
            "it ended with {:?}, not {wanted}: give it what it needs in prepared.sh or BEFORE, or say in EXITS how it ends\n{}{}",
            ran.exit, ran.out, ran.err
        ))
    }
}

fn uses(line: &str, program: &str) -> bool {
    let program = if program == "fish" { "source" } else { program };
    line.contains(&format!("| {program}"))
}

/// `ROOT`, `<file>`, `3d57…`.
fn is_placeholder(word: &str) -> bool {
    let capitals = word.len() > 1 && word.bytes().all(|byte| byte.is_ascii_uppercase());
    capitals && !["HEAD", "OR", "AND", "NOT"].contains(&word)
        || word.contains('…')
        || word.starts_with('<') && word.ends_with('>')
}

pub(super) fn page(name: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap()
}

#[test]
fn every_command_line_of_the_manual_runs() {
    let prepared = Prepared::new();
    let mut lines: Vec<(String, String)> = Vec::new();
    for command in commands(&Scratch::without_repository()) {
        let scratch = Scratch::without_repository();
        lines
            .extend(examples(&help(&scratch, &command)).into_iter().map(|line| (format!("git proof {command}"), line)));
    }
    assert!(lines.len() > 60, "{lines:?}");
    // One line, one copy; a few at a time.
    let (queue, wrong) = (Mutex::new(lines.into_iter()), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                loop {
                    let next = queue.lock().unwrap().next();
                    let Some((of, line)) = next else { return };
                    if let Err(why) = prepared.try_line(prepared.copy().path(), "place", &line) {
                        wrong.lock().unwrap().push(format!("{of}: {line}\n  {why}"));
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} lines:\n\n{}", wrong.len(), wrong.join("\n"));
}

/// A line, with one word for every id and hash, and one blank between words.
pub(super) fn without_hashes(line: &str) -> String {
    let is_hash = |word: &str| word.len() > 6 && word.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    let plain =
        |word: &'_ str| if is_hash(word.trim_matches([':', ']', '(', ')'])) { "#".to_owned() } else { word.to_owned() };
    line.split_whitespace().map(plain).collect::<Vec<_>>().join(" ")
}

/// `git proof X --option` in running text and in tables is no line to run, but it names what must be there.
#[test]
fn commands_and_options_that_the_pages_name_exist() {
    let scratch = Scratch::without_repository();
    let known = commands(&scratch);
    let mut wrong = Vec::new();
    for name in [
        "README.md",
        "docs/gate.md",
        "docs/hooks.md",
        "docs/json.md",
        "docs/forgejo.md",
        "docs/errors.md",
        "docs/releasing.md",
        "docs/agents.md",
        "docs/backup.md",
        "docs/memory.md",
        "docs/retention.md",
        "docs/rounds.md",
        "docs/secrets.md",
        "docs/teams.md",
        "docs/design.md",
        "docs/decisions/fail-open.md",
        "docs/decisions/path-wise-merge.md",
    ] {
        let text = page(name);
        for span in text.split('`').filter_map(|span| span.strip_prefix("git proof ")) {
            let span = span.split(['|', '\\', '\n']).next().unwrap_or_default();
            let words: Vec<&str> = span.split([' ', ',']).filter(|word| !word.is_empty()).collect();
            let [first, rest @ ..] = words.as_slice() else { continue };
            if *first == "…" || first.chars().all(|c| c.is_ascii_uppercase()) || first.starts_with('-') {
                continue;
            }
            let nested = rest.first().map(|second| format!("{first} {second}")).filter(|both| known.contains(both));
            let command = nested.unwrap_or_else(|| (*first).to_owned());
            if !known.contains(&command) {
                wrong.push(format!("{name}: there is no command {command}"));
                continue;
            }
            let help = help(&scratch, &command);
            for option in rest.iter().map(|word| word.trim_matches(['[', ']', '(', ')'])) {
                let option = option.split('=').next().unwrap_or_default();
                if option.starts_with("--") && !help.contains(option) {
                    wrong.push(format!("{name}: {command} has no {option}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}
