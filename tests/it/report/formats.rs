//! Each form of a verdict, of a range with one proven commit, one that is not, and one that need not be.

use serde_json::Value;

use super::{Project, mixed};

const FORMATS: [&str; 6] = ["human", "json", "github", "markdown", "sarif", "junit"];

#[test]
fn every_format_ends_with_the_same_exit_code() {
    let project = mixed();
    for (base, exit) in [("main", 1), ("HEAD~1", 1), ("HEAD", 0), ("nowhere", 2)] {
        for format in FORMATS {
            assert_eq!(project.gate(base, &["--format", format]).exit, Some(exit), "{base} {format}");
        }
    }
    project.git(&["update-ref", "-d", "refs/notes/proof"]);
    project.git(&["remote", "add", "origin", "../nowhere"]);
    for format in FORMATS {
        assert_eq!(project.gate("main", &["--format", format]).exit, Some(3), "{format}");
    }
}

#[test]
fn json_is_one_form_and_cannot_be_two() {
    let project = mixed();
    assert_eq!(project.gate("main", &["--json"]).out, project.gate("main", &["--format=json"]).out);
    assert_eq!(project.gate("main", &["--json", "--format=json"]).exit, Some(1));
    project.scratch.refused(&["gate", "--base", "main", "--format", "sarif"], "INVALID_PARAMS", 2);
    // Errors have the form that was asked for, too.
    let ran = project.gate("nowhere", &["--format=json"]);
    ran.error("ERR_COMMIT_NOT_FOUND", 2);
}

#[test]
fn github_gets_an_annotation_that_names_the_commit_and_no_file() {
    let ran = mixed().gate("main", &["--format", "github"]);
    let lines: Vec<&str> = ran.out.lines().collect();
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(lines[0].starts_with("::error title=ANCHOR_MISSING in "), "{}", lines[0]);
    assert!(lines[0].contains("::a proof is required, and there is none%0Acommit: change src/b.rs%0Ahint: "));
    assert!(
        lines[1].starts_with(
            "git proof gate: a required proof is missing. 3 commits: 1 proven, 1 missing, 1 not required."
        ),
        "{}",
        lines[1]
    );
}

#[test]
fn github_gets_an_annotation_of_a_gate_that_could_not_judge() {
    let ran = mixed().gate("nowhere", &["--format", "github"]);
    assert!(ran.out.starts_with("::error title=ERR_COMMIT_NOT_FOUND::\"nowhere\" is not a commit"), "{}", ran.out);
    assert!(ran.err.starts_with("error: \"nowhere\""), "{}", ran.err);
}

#[test]
fn the_job_summary_is_added_to_what_is_there() {
    let project = mixed();
    let file = project.scratch.around().join("summary");
    std::fs::write(&file, "before").unwrap();
    let gate = |path: &std::path::Path| {
        let mut command = project.scratch.proof(["gate", "--base", "main", "--format", "github"]);
        command.env("GITHUB_STEP_SUMMARY", path).output().unwrap()
    };
    assert_eq!(gate(&file).status.code(), Some(1));
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(
        text.starts_with(
            "before\n<!-- git-proof gate -->\n### git proof gate: 1 of 3 proven · 1 missing · 1 not required\n"
        ),
        "{text}"
    );
    // No room is left: the verdict stands, and someone is told.
    let full = vec![b'x'; (1 << 20) - 100];
    std::fs::write(&file, &full).unwrap();
    let output = gate(&file);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stderr).unwrap().contains("the job summary could not be written"));
    assert_eq!(std::fs::read(&file).unwrap(), full);
    assert_eq!(gate(project.scratch.around()).status.code(), Some(1));
}

#[test]
fn no_other_format_writes_a_job_summary() {
    let project = mixed();
    let file = project.scratch.around().join("summary");
    for format in FORMATS.into_iter().filter(|format| *format != "github") {
        let mut command = project.scratch.proof(["gate", "--base", "main", "--format", format]);
        command.env("GITHUB_STEP_SUMMARY", &file).output().unwrap();
        assert!(!file.exists(), "{format}");
    }
}

#[test]
fn markdown_names_the_missing_ones_then_the_sessions_and_folds_the_table() {
    let text = mixed().gate("main", &["--format", "markdown"]).out;
    let missing = "\n- **missing**: f325eda3d0c0 `change src/b.rs`<br>`ANCHOR_MISSING` ";
    let because = "required: `the line \"Assisted-by: an agent\" of its message matches proof_grade.trailers`\n";
    let session = "\n1. **`try it`** (session `s1`)\n   - decided: `so and not otherwise`\n   - reflection: `done`\n";
    let commit = "   - 7ba6d5a9da04 `change src/a.rs` proven\n";
    let table = "\n<details><summary>1 commit in detail</summary>\n\n| verdict | commit | subject | what |\n|---|---|---|---|\n\
                 | proven | 7ba6d5a9da04 | `change src/a.rs` | session `s1`, 3 entries, exact, rooted |\n\n</details>\n";
    let mut at = 0;
    for part in
        ["### git proof gate: 1 of 3 proven · 1 missing · 1 not required\n", missing, because, session, commit, table]
    {
        let found = text[at..].find(part).unwrap_or_else(|| panic!("{part} after {at} in {text}"));
        at += found + part.len() - 1;
    }
}

#[test]
fn sarif_has_a_rule_and_a_place_for_every_result() {
    let project = mixed();
    let ran = project.gate("main", &["--format", "sarif"]);
    let log: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(log["version"], "2.1.0");
    let run = &log["runs"][0];
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    assert_eq!(rules.len(), git_proof::proof::finding::FindingCode::ALL.len());
    for rule in rules {
        for text in ["shortDescription", "fullDescription", "help"] {
            assert!(rule[text]["text"].as_str().is_some_and(|text| text.ends_with('.')), "{rule}");
        }
    }
    let results = run["results"].as_array().unwrap();
    assert_eq!(results.len(), 1);
    let result = &results[0];
    assert_eq!((&result["ruleId"], &result["level"]), (&"ANCHOR_MISSING".into(), &"error".into()));
    assert_eq!(rules[usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap()]["id"], result["ruleId"]);
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "src/b.rs");
    assert_eq!(place["region"]["startLine"], 1);
    // The same finding is the same alert in the next run.
    let again: Value = serde_json::from_str(&project.gate("HEAD~1", &["--format", "sarif"]).out).unwrap();
    assert_eq!(again["runs"][0]["results"][0]["partialFingerprints"], result["partialFingerprints"]);
}

#[test]
fn sarif_of_a_commit_without_files_points_to_the_policy() {
    let project = Project::new();
    project.git(&["commit", "--quiet", "--allow-empty", "-m", "nothing\n\nAssisted-by: x"]);
    let log: Value = serde_json::from_str(&project.gate("HEAD~1", &["--format", "sarif"]).out).unwrap();
    let place = &log["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], ".proof/policy.toml");
}

#[test]
fn a_file_that_is_gone_at_the_head_is_not_pointed_to_if_another_is_left() {
    let project = Project::new();
    project.write("aaa", "1");
    project.unproven("zzz");
    project.git(&["rm", "--quiet", "aaa"]);
    project.git(&["commit", "--quiet", "-m", "remove"]);
    let ran = project.gate("HEAD~2", &["--format", "sarif"]);
    assert!(ran.out.contains("\"uri\": \"zzz\"") && !ran.out.contains("\"uri\": \"aaa\""), "{}", ran.out);
}

#[test]
fn junit_has_a_case_for_each_commit() {
    let project = mixed();
    let text = project.gate("main", &["--format", "junit"]).out;
    assert!(text.contains("<testsuite name=\"git proof gate\" tests=\"3\" failures=\"1\" errors=\"0\" skipped=\"1\" "));
    assert_eq!(text.matches("<testcase ").count(), 3);
    assert_eq!(text.matches("<failure type=\"ANCHOR_MISSING\" ").count(), 1);
    assert_eq!(text.matches("<skipped ").count(), 1);
    project.git(&["update-ref", "-d", "refs/notes/proof"]);
    project.git(&["remote", "add", "origin", "../nowhere"]);
    let text = project.gate("main", &["--format", "junit"]).out;
    assert!(text.contains("<error type=\"REF_NOT_FETCHED\" "), "{text}");
}

#[test]
fn nothing_but_human_is_ever_coloured() {
    let project = mixed();
    for format in FORMATS {
        let mut command = project.scratch.proof(["gate", "--base", "main", "--format", format]);
        command.env_remove("NO_COLOR").env("CLICOLOR_FORCE", "1").env("FORCE_COLOR", "1");
        let output = command.output().unwrap();
        assert!(!output.stdout.contains(&0x1b) || format == "human", "{format}");
    }
}
