//! What a stranger writes into a commit is shown by every form, and does nothing in any.

use super::Project;

/// Terminal escapes, workflow commands, ends of XML and HTML, mentions, links, tables, NUL, four bytes of UTF-8 and bytes
/// that are none.
const SUBJECTS: [&[u8]; 9] = [
    b"\x1b[2J\x1b]8;;http://evil.example\x07link\x1b]8;;\x07",
    b"::error file=x::forged%0A::stop-commands::token",
    b"##[error]forged ##vso[task.setvariable variable=x]y",
    b"]]></failure></testcase><script>alert(1)</script> & &amp; \"quoted'",
    b"<script>alert(1)</script><img src=x onerror=alert(1)> <!-- open",
    b"@octocat #1 owner/repo#2 https://evil.example www.evil.example a@evil.example [x](http://evil.example) ![i](//e)",
    b"a | b | c \\| d ` `` ``` **bold** $x$ $`y`$",
    "𝕏 \u{202e}gpj.exe \u{200b} \u{2028} \u{feff} 👩‍💻".as_bytes(),
    b"NUL \0 and \xff\xfe\xc3\x28 \xed\xa0\x80 bytes\r carriage",
];

fn project() -> Project {
    let project = Project::new();
    project.git(&["branch", "topic"]);
    for subject in SUBJECTS {
        // A line that claims to be a trailer of ours is quoted in a finding.
        project.raw(&[subject, b"\n\nAssisted-by: x\nProof-Root: ", subject, b"\n"].concat());
    }
    project
}

fn gate(format: &str) -> String {
    let ran = project().gate("topic", &["--format", format]);
    assert_eq!(ran.exit, Some(1), "{}", ran.err);
    assert!(!ran.err.contains('\u{1b}'));
    ran.out
}

/// Whether a character is only ever shown.
fn is_shown(character: char) -> bool {
    !character.is_control() && !matches!(character, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{feff}')
}

#[test]
fn no_format_lets_a_control_character_through() {
    for format in ["human", "github", "markdown", "sarif", "junit"] {
        let text = gate(format);
        let active: Vec<char> = text.chars().filter(|character| *character != '\n' && !is_shown(*character)).collect();
        assert!(active.is_empty(), "{format}: {active:?}");
        assert!(text.contains('𝕏'), "{format}");
    }
}

#[test]
fn no_command_but_ours_is_in_the_log_of_a_workflow() {
    for format in ["github", "human", "markdown", "sarif", "junit"] {
        for line in gate(format).lines() {
            let line = line.trim_start();
            if format == "github" && (line.starts_with("::error title=") || line.starts_with("::warning title=")) {
                let (properties, message) = line[2..].split_once("::").unwrap();
                assert!(properties.ends_with(|end: char| end.is_ascii_hexdigit()), "{properties}");
                // One property, and none that a name or a message has added.
                assert_eq!(properties.matches([',', '=']).count(), 1, "{properties}");
                assert!(!message.contains(['\r', '\n']));
            } else {
                assert!(!line.starts_with("::"), "{format}: {line}");
                for opening in ["##[", "##vso["] {
                    assert!(!line.contains(opening), "{format}: {line}");
                }
            }
        }
    }
}

#[test]
fn hostile_paths_are_escaped_in_uris() {
    let project = Project::new();
    let name = "a,b:c%\n::error::[x].rs";
    project.unproven(name);
    let ran = project.gate("HEAD~1", &["--format", "sarif"]);
    assert!(ran.out.contains("\"uri\": \"a%2Cb%3Ac%25%0A%3A%3Aerror%3A%3A%5Bx%5D.rs\""), "{}", ran.out);
}

#[test]
fn markdown_has_no_words_of_strangers_outside_of_code_spans() {
    let text = gate("markdown");
    // One that git shows only up to its NUL has no trailer of ours; nothing is there to fail.
    let bad = |line: &&str| line.starts_with("- **failed**") || line.starts_with("- **missing**");
    let rows: Vec<&str> = text.lines().filter(bad).collect();
    assert_eq!(rows.len(), SUBJECTS.len());
    for row in rows {
        let outside = without_code(row);
        let plain = outside.replace("<br>", "").replace("**failed**", "").replace("**missing**", "");
        let allowed = |character: char| character.is_ascii_alphanumeric() || " -:,".contains(character);
        assert!(plain.chars().all(allowed), "{plain:?} in {row}");
        for word in ["evil", "octocat", "script", "bold"] {
            assert!(!plain.contains(word), "{plain:?} in {row}");
        }
    }
}

/// A line of Markdown without its code spans: a run of backticks, up to the next run of the same length.
pub(super) fn without_code(line: &str) -> String {
    let mut outside = String::new();
    let mut rest = line;
    while let Some(open) = rest.find('`') {
        outside.push_str(&rest[..open]);
        let length = rest[open..].bytes().take_while(|byte| *byte == b'`').count();
        let inside = &rest[open + length..];
        let mut at = 0;
        rest = loop {
            let Some(found) = inside[at..].find('`') else { panic!("a code span without its end: {line}") };
            let run = inside[at + found..].bytes().take_while(|byte| *byte == b'`').count();
            at += found + run;
            if run == length {
                break &inside[at..];
            }
        };
    }
    outside + rest
}

#[test]
fn junit_is_well_formed_whatever_a_subject_is() {
    let text = gate("junit");
    // Every `<` opens an element of ours, every `&` an entity.
    for (at, _) in text.match_indices('<') {
        let known = [
            "?xml ",
            "testsuite",
            "/testsuite",
            "propert",
            "/propert",
            "testcase ",
            "/testcase>",
            "failure ",
            "/failure>",
            "system-out>",
            "/system-out>",
        ];
        assert!(known.iter().any(|known| text[at + 1..].starts_with(known)), "{}", &text[at..text.len().min(at + 60)]);
    }
    for (at, _) in text.match_indices('&') {
        assert!(["amp;", "lt;", "gt;", "quot;", "apos;"].iter().any(|entity| text[at + 1..].starts_with(entity)));
    }
    assert!(!text.contains("]]>"));
    assert_eq!(text.matches("<failure ").count(), SUBJECTS.len());
}

#[test]
fn sarif_has_no_links_in_its_messages() {
    let log: serde_json::Value = serde_json::from_str(&gate("sarif")).unwrap();
    for result in log["runs"][0]["results"].as_array().unwrap() {
        let message = result["message"]["text"].as_str().unwrap().replace("\\\\", "");
        assert!(!message.replace("\\[", "").contains('['), "{message}");
    }
}
