//! Which checkers a command line runs, and whether its exit code is theirs. Only the words that name a checker are ever
//! kept. When in doubt, the exit code is not known: an unknown one never counts as passed.

use crate::proof::checkers::NAMES;

/// Most checkers that one command line is said to run.
const MOST: usize = 8;

/// A checker that a command line runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Check {
    /// The words that name it.
    pub(super) name: &'static str,
    /// Its exit code, where it is known to be its own.
    pub(super) exit: Option<u8>,
}

/// The checkers that a command line runs, given the exit code of the whole line where that is known.
pub(super) fn checks(line: &str, exit: Option<u8>) -> Vec<Check> {
    let Some(parsed) = Parsed::read(line) else { return Vec::new() };
    let last = parsed.commands.len().saturating_sub(1);
    let mut found = Vec::new();
    for (at, words) in parsed.commands.iter().enumerate() {
        let Some((name, runs)) = checker(words) else { continue };
        let own = match (parsed.is_chain, at == last, parsed.commands.len()) {
            (true, true, 1) => exit,
            // A chain that succeeded has run to its end; one that failed may have failed anywhere.
            (true, true, _) => exit.filter(|code| *code == 0),
            _ => None,
        };
        // The code by which `timeout` says that time was up is its own.
        let own = own.filter(|code| *code != 124 || !words.iter().any(|word| word == "timeout"));
        found.push(Check { name, exit: own.filter(|_| runs) });
    }
    found.truncate(MOST);
    found
}

/// A command line, as far as it is understood.
struct Parsed {
    /// The words of each command.
    commands: Vec<Vec<String>>,
    /// Whether they are joined by nothing but `&&`, in the foreground.
    is_chain: bool,
}

impl Parsed {
    /// Splits a line into commands and words, by the rules of a shell as far as they matter here. What a substitution or a
    /// here-document would run is not looked at.
    fn read(line: &str) -> Option<Self> {
        let mut parsed = Self { commands: vec![Vec::new()], is_chain: true };
        let (mut word, mut begun) = (String::new(), false);
        let mut characters = line.trim().chars().peekable();
        while let Some(character) = characters.next() {
            match character {
                '\'' => {
                    begun = true;
                    for quoted in characters.by_ref() {
                        if quoted == '\'' {
                            break;
                        }
                        word.push(quoted);
                    }
                }
                '"' => {
                    begun = true;
                    while let Some(quoted) = characters.next() {
                        match quoted {
                            '"' => break,
                            '\\' => word.extend(characters.next()),
                            '`' | '$' if quoted == '`' || characters.peek() == Some(&'(') => parsed.is_chain = false,
                            other => word.push(other),
                        }
                    }
                }
                '\\' => {
                    begun = true;
                    match characters.next() {
                        Some('\n') | None => {}
                        Some(other) => word.push(other),
                    }
                }
                ' ' | '\t' => parsed.end_word(&mut word, &mut begun),
                '&' if characters.peek() == Some(&'&') => {
                    characters.next();
                    parsed.end_word(&mut word, &mut begun);
                    parsed.commands.push(Vec::new());
                }
                '>' => {
                    // To a file, or `2>&1`: the exit code stays the command's own.
                    parsed.end_word(&mut word, &mut begun);
                    while characters.peek().is_some_and(|next| matches!(next, '>' | '&' | ' ')) {
                        characters.next();
                    }
                    while characters.peek().is_some_and(|next| !next.is_whitespace() && !";|&<>".contains(*next)) {
                        characters.next();
                    }
                }
                '#' if !begun => break,
                ';' | '|' | '&' | '\n' | '(' | ')' | '`' | '<' => {
                    parsed.is_chain = false;
                    parsed.end_word(&mut word, &mut begun);
                    parsed.commands.push(Vec::new());
                    if character == '<' && characters.peek() == Some(&'<') {
                        break; // what follows is the text of a here-document
                    }
                }
                '$' if characters.peek() == Some(&'(') => parsed.is_chain = false,
                '{' | '}' | '!' if !begun => parsed.is_chain = false,
                other => {
                    begun = true;
                    word.push(other);
                }
            }
        }
        parsed.end_word(&mut word, &mut begun);
        parsed.commands.retain(|words| !words.is_empty());
        (!parsed.commands.is_empty()).then_some(parsed)
    }

    fn end_word(&mut self, word: &mut String, begun: &mut bool) {
        if *begun && let Some(words) = self.commands.last_mut() {
            words.push(std::mem::take(word));
        }
        word.clear();
        *begun = false;
    }
}

/// The checker that a command is, and whether its exit code says how the check went: to list the tests, or to show help,
/// is no check.
fn checker(words: &[String]) -> Option<(&'static str, bool)> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let words = program(&words)?;
    let (first, rest) = words.split_first()?;
    let name = first.rsplit('/').next()?;
    let name = match name {
        "gradlew" => "gradle",
        "mvnw" => "mvn",
        "py.test" => "pytest",
        "gmake" => "make",
        other => other,
    };
    let mut asked = rest.iter().copied().filter(|word| !word.starts_with(['-', '+']) && !word.contains('='));
    let second = match name {
        // `npm run test`, `yarn run lint`, `npm t`
        "npm" | "pnpm" | "yarn" | "bun" => match asked.next() {
            Some("run" | "run-script") => asked.next(),
            Some("t" | "tst") => Some("test"),
            other => other,
        },
        _ => asked.next(),
    };
    let second = second.map(|word| if name == "cargo" && word == "t" { "test" } else { word });
    let both = second.map(|second| format!("{name} {second}"));
    let known = |wanted: &str| NAMES.iter().copied().find(|known| *known == wanted);
    let found = both.as_deref().and_then(known).or_else(|| {
        // A name of one word stands for the program whatever it is asked; `make install` is no check, though.
        known(name).filter(|_| !matches!(name, "make" | "ninja") || second.is_none())
    })?;
    let shows = ["--help", "-h", "--version", "-V", "--list", "--collect-only", "--co", "--no-run", "--dry-run", "-n"];
    let only_shows = rest.iter().any(|word| shows.contains(word) && !(*word == "-n" && name != "make"));
    Some((found, !only_shows))
}

/// The words from the program on, past variables and programs that only run another one.
fn program<'a>(mut words: &'a [&'a str]) -> Option<&'a [&'a str]> {
    loop {
        let first = *words.first()?;
        let is_variable = first.split_once('=').is_some_and(|(name, _)| {
            !name.is_empty() && name.chars().all(|character| character.is_ascii_alphanumeric() || character == '_')
        });
        let rest = &words[1..];
        words = match first {
            _ if is_variable => rest,
            "env" | "time" | "nice" | "npx" | "bunx" | "command" | "exec" => past_options(rest),
            "timeout" => past_options(rest).get(1..)?,
            "python" | "python3" if rest.first() == Some(&"-m") => &rest[1..],
            "uv" | "poetry" | "pipenv" | "hatch" | "pdm" if rest.first() == Some(&"run") => past_options(&rest[1..]),
            "bundle" | "pnpm" | "yarn" if matches!(rest.first(), Some(&("exec" | "dlx"))) => past_options(&rest[1..]),
            _ => return Some(words),
        };
    }
}

fn past_options<'a>(words: &'a [&'a str]) -> &'a [&'a str] {
    let options = words.iter().take_while(|word| word.starts_with('-')).count();
    &words[options..]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(line: &str, exit: Option<u8>) -> Vec<(&'static str, Option<u8>)> {
        checks(line, exit).into_iter().map(|check| (check.name, check.exit)).collect()
    }

    #[test]
    fn exit_code_is_the_checkers_own_only_where_that_is_sure() {
        for (line, exit, expected) in [
            ("cargo test", Some(0), Some(0)),
            ("cargo test --all -- --nocapture", Some(101), Some(101)),
            ("RUST_LOG=x cargo test 2>&1", Some(0), Some(0)),
            ("cd crates/a && cargo test", Some(0), Some(0)),
            ("cd crates/a && cargo test", Some(101), None),
            ("cargo test | tail -3", Some(0), None),
            ("cargo test; echo done", Some(0), None),
            ("cargo test || true", Some(0), None),
            ("cargo test &", Some(0), None),
            ("(cargo test)", Some(0), None),
            ("! cargo test", Some(0), None),
            ("cargo test && echo ok", Some(0), None),
            ("cargo test\necho", Some(0), None),
            ("cargo test --no-run", Some(0), None),
            ("cargo test", None, None),
        ] {
            assert_eq!(found(line, exit), [("cargo test", expected)], "{line}");
        }
    }

    #[test]
    fn checkers_are_found_by_name() {
        for (line, name) in [
            ("go test ./...", "go test"),
            ("python -m pytest -q tests", "pytest"),
            ("python3 -m unittest", "unittest"),
            ("uv run pytest", "pytest"),
            ("npm run test -- --watch=false", "npm test"),
            ("yarn lint", "yarn lint"),
            ("npx --yes vitest run", "vitest"),
            ("./gradlew test", "gradle test"),
            ("make check", "make check"),
            ("make", "make"),
            ("make -j4", "make"),
            ("node_modules/.bin/eslint src", "eslint"),
            ("bundle exec rspec", "rspec"),
            ("ruff check .", "ruff check"),
            ("cargo +nightly test", "cargo test"),
        ] {
            assert_eq!(found(line, None).first().map(|found| found.0), Some(name), "{line}");
        }
    }

    #[test]
    fn other_commands_are_no_checks() {
        for line in [
            "ls",
            "echo cargo test",
            "git commit -m 'cargo test'",
            "cargo run",
            "make install",
            "cat <<EOF\ncargo test\nEOF",
            "grep -r pytest .",
            "",
            "'",
            "npm install jest",
        ] {
            assert_eq!(found(line, Some(0)), [], "{line}");
        }
    }
}
