//! `docs/gate.md` says what the program does: its examples are real, and its tables are complete.

use std::path::Path;

use git_proof::present::rule;
use git_proof::proof::finding::FindingCode;
use git_proof::proof::keys::KEYS;
use serde_json::Value;

use super::mixed;

fn page() -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/gate.md")).unwrap()
}

/// The block of code after a mark.
fn example<'a>(page: &'a str, mark: &str) -> &'a str {
    let (_, after) = page.split_once(&format!("<!-- {mark} -->\n```")).unwrap_or_else(|| panic!("no {mark}"));
    let (_, block) = after.split_once('\n').unwrap();
    block.split_once("```\n").unwrap().0
}

#[test]
fn the_examples_are_what_is_printed() {
    let (project, page) = (mixed(), page());
    for format in ["human", "github", "markdown", "junit"] {
        let ran = project.gate("main", &["--format", format]);
        assert_eq!(example(&page, format), ran.out, "{format}");
    }
    let log: Value = serde_json::from_str(&project.gate("main", &["--format", "sarif"]).out).unwrap();
    let shown: Value = serde_json::from_str(example(&page, "sarif")).unwrap();
    assert_eq!(shown, log["runs"][0]["results"][0]);
}

#[test]
fn every_finding_is_in_the_table() {
    let page = page();
    for code in FindingCode::ALL {
        let rule = rule(code);
        let row = format!("| `{code}` | {} | {} |", rule.what, rule.remedy);
        assert!(page.contains(&row), "{row}");
    }
}

#[test]
fn every_key_of_a_policy_is_in_the_table() {
    let page = page();
    for (section, keys) in KEYS {
        for key in keys {
            assert!(page.contains(&format!("| `{section}.{key}` | ")), "{section}.{key}");
        }
    }
}
