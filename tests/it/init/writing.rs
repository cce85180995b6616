//! What is written where nothing is.

use serde_json::{Value, json};

use super::{AGENTS, FILES, everything, get, init};
use crate::store::scratch::{Scratch, text};

fn parsed(scratch: &Scratch, path: &str) -> Value {
    serde_json::from_str(&get(scratch, path)).unwrap()
}

#[test]
fn each_agent_gets_its_files() {
    for agent in AGENTS {
        let scratch = Scratch::new();
        let files = init(&scratch, agent, &[]);
        let expected: Vec<&str> = FILES.iter().filter(|(name, _)| *name == agent).map(|(_, path)| *path).collect();
        assert_eq!(files.len(), expected.len());
        for path in expected {
            assert_eq!(files[path], "created", "{path}");
            assert!(get(&scratch, path).ends_with('\n'));
        }
    }
}

#[test]
fn server_is_started_by_git_in_every_agent() {
    let scratch = Scratch::new();
    for agent in AGENTS {
        init(&scratch, agent, &[]);
    }
    let args = json!(["proof", "mcp", "--profile", "core"]);
    let server = json!({ "command": "git", "args": args });
    for (path, among) in [
        (".github/mcp.json", "mcpServers"),
        (".cursor/mcp.json", "mcpServers"),
        (".gemini/settings.json", "mcpServers"),
        (".zed/settings.json", "context_servers"),
    ] {
        assert_eq!(parsed(&scratch, path)[among]["git-proof"], server, "{path}");
    }
    let loaded = |path: &str, key: &str| {
        let entry = &parsed(&scratch, path)["mcpServers"]["git-proof"];
        assert_eq!((&entry["args"], &entry[key]), (&args, &json!(true)), "{path}");
    };
    loaded(".mcp.json", "alwaysLoad");
    loaded(".qwen/settings.json", "alwaysLoadTools");
    let entry = &parsed(&scratch, ".vscode/mcp.json")["servers"]["git-proof"];
    assert_eq!(entry, &json!({ "type": "stdio", "command": "git", "args": args }));
    assert_eq!(
        get(&scratch, ".codex/config.toml"),
        "[mcp_servers.git-proof]\ncommand = \"git\"\nargs = [\"proof\", \"mcp\", \"--profile\", \"core\"]\n"
    );
    assert_eq!(parsed(&scratch, "opencode.json")["mcp"]["git-proof"]["command"][3], "--profile");
}

#[test]
fn hooks_call_the_program_with_the_agents_name() {
    let scratch = Scratch::new();
    for agent in AGENTS {
        init(&scratch, agent, &[]);
    }
    for (agent, path, events) in [
        ("claude-code", ".claude/settings.json", 8),
        ("codex", ".codex/hooks.json", 7),
        ("copilot", ".github/hooks/git-proof.json", 7),
        ("cursor", ".cursor/hooks.json", 7),
        ("gemini", ".gemini/settings.json", 6),
        ("qwen", ".qwen/settings.json", 7),
        ("vscode", ".github/hooks/git-proof-vscode.json", 7),
    ] {
        let hooks = parsed(&scratch, path)["hooks"].clone();
        let hooks = hooks.as_object().unwrap();
        assert_eq!(hooks.len(), events, "{path}");
        for (event, entries) in hooks {
            let text = entries.to_string();
            assert!(text.contains(&format!("git-proof hook {agent}")), "{path} {event}: {text}");
        }
    }
    assert_eq!(parsed(&scratch, ".cursor/hooks.json")["version"], 1);
    let claude = parsed(&scratch, ".claude/settings.json");
    assert_eq!(claude["permissions"], json!({ "allow": ["mcp__git-proof"] }));
    assert_eq!(claude["hooks"]["PreToolUse"][0]["matcher"], "Bash");
    assert_eq!(claude["hooks"]["SessionEnd"][0]["hooks"][0]["timeout"], 30);
}

#[test]
fn hook_whose_program_is_missing_does_nothing_and_says_nothing() {
    let scratch = Scratch::new();
    init(&scratch, "codex", &[]);
    let hooks = parsed(&scratch, ".codex/hooks.json");
    let command = text(&hooks["hooks"]["Stop"][0]["hooks"][0], "command").to_owned();
    let run = || {
        let mut shell = scratch.command("/bin/sh");
        shell.args(["-c", &command]).env("PATH", "/usr/bin:/bin").stdin(std::process::Stdio::null());
        shell.output().unwrap()
    };
    let noted = run();
    assert!(String::from_utf8_lossy(&noted.stderr).contains("the input"), "the program that init noted is found");
    std::fs::remove_file(scratch.store().with_file_name("program")).unwrap();
    let missing = run();
    assert_eq!((missing.status.code(), missing.stdout, missing.stderr), (Some(0), Vec::new(), Vec::new()));
}

#[test]
fn hooks_of_an_older_version_give_way() {
    let scratch = Scratch::new();
    let old = r#"{"hooks": {"Stop": [{ "hooks": [{ "type": "command", "command": "git proof hook codex" }] }]}}"#;
    super::put(&scratch, ".codex/hooks.json", old);
    init(&scratch, "codex", &[]);
    let written = get(&scratch, ".codex/hooks.json");
    assert!(!written.contains("git proof hook codex") && written.contains("git-proof hook codex"), "{written}");
}

#[test]
fn file_that_is_made_looks_as_a_person_would_write_it() {
    let scratch = Scratch::new();
    init(&scratch, "claude-code", &[]);
    let expected = r#"{
  "mcpServers": {
    "git-proof": {
      "command": "git",
      "args": ["proof", "mcp", "--profile", "core"],
      "alwaysLoad": true
    }
  }
}
"#;
    assert_eq!(get(&scratch, ".mcp.json"), expected);
}

#[test]
fn second_run_changes_nothing_and_says_so() {
    for agent in AGENTS {
        let scratch = Scratch::new();
        init(&scratch, agent, &["--agents-md"]);
        let before = everything(&scratch);
        let again = init(&scratch, agent, &["--agents-md"]);
        assert!(again.values().all(|action| action == "unchanged"), "{again:?}");
        assert_eq!(everything(&scratch), before);
        let said = scratch.run(["init", "--agent", agent, "--agents-md"]);
        assert!(said.text().starts_with("Nothing to change"), "{}", said.out);
    }
}

#[test]
fn uninstalling_removes_every_file_that_was_made() {
    for agent in AGENTS {
        let scratch = Scratch::new();
        init(&scratch, agent, &["--agents-md"]);
        let removed = init(&scratch, agent, &["--agents-md", "--uninstall"]);
        assert!(removed.values().all(|action| action == "removed"), "{removed:?}");
        assert!(everything(&scratch).is_empty(), "{:?}", everything(&scratch).keys());
        let again = init(&scratch, agent, &["--agents-md", "--uninstall"]);
        assert!(again.values().all(|action| action == "unchanged"), "{again:?}");
    }
}

#[test]
fn dry_run_shows_a_diff_and_writes_nothing() {
    let scratch = Scratch::new();
    std::fs::write(scratch.place.join(".mcp.json"), "{\n  \"a\": 1\n}\n").unwrap();
    let before = everything(&scratch);
    let ran = scratch.run(["init", "--agent", "claude-code", "--dry-run"]);
    let diff = ran.text();
    for line in
        ["--- a/.mcp.json", "+++ b/.mcp.json", "--- /dev/null", "+++ b/.claude/settings.json", "+  \"mcpServers\": {"]
    {
        assert!(diff.lines().any(|found| found == line), "no {line:?} in {diff}");
    }
    assert_eq!(everything(&scratch), before);
}

#[test]
fn diff_is_one_that_git_applies() {
    let scratch = Scratch::new();
    std::fs::write(scratch.place.join(".mcp.json"), "{\n\t\"a\": 1\n}").unwrap();
    std::fs::create_dir(scratch.place.join(".codex")).unwrap();
    std::fs::write(scratch.place.join(".codex/hooks.json"), "{\r\n  \"a\": 1\r\n}\r\n").unwrap();
    let diff = scratch.run(["init", "--no-hooks", "--agent", "claude-code", "--agent", "codex", "--dry-run"]);
    let diff = diff.text().to_owned();
    std::fs::write(scratch.around().join("diff"), diff).unwrap();
    scratch.git(["apply", "../diff"]);
    let applied = everything(&scratch);
    init(&scratch, "claude-code", &["--agent", "codex"]);
    assert_eq!(everything(&scratch), applied);
}

#[test]
fn several_agents_are_set_up_at_once_wherever_it_is_run() {
    let scratch = Scratch::new();
    std::fs::create_dir_all(scratch.place.join("deep/er")).unwrap();
    let outcome = scratch.json(&["-C", "deep/er", "init", "--agent", "zed", "--agent", "vscode", "--agent", "zed"]);
    let paths: Vec<&str> = outcome["files"].as_array().unwrap().iter().map(|file| text(file, "path")).collect();
    assert_eq!(paths, [".vscode/mcp.json", ".github/hooks/git-proof-vscode.json", ".zed/settings.json"]);
    get(&scratch, ".zed/settings.json");
}

#[test]
fn hooks_that_were_set_up_are_understood_by_the_program() {
    let scratch = Scratch::new();
    init(&scratch, "claude-code", &[]);
    let settings = parsed(&scratch, ".claude/settings.json");
    let command = text(&settings["hooks"]["SessionStart"][0]["hooks"][0], "command").to_owned();
    let called = command.split("exec git-proof ").nth(1).and_then(|rest| rest.split(';').next()).unwrap();
    let arguments: Vec<&str> = called.split(' ').collect();
    let ran = scratch.run_with(&arguments, br#"{"hook_event_name":"SessionStart","session_id":"x"}"#);
    assert_eq!((ran.exit, ran.err.as_str()), (Some(0), ""));
}

#[test]
fn help_names_every_agent_with_its_files() {
    let help = Scratch::without_repository().run(["init", "--help"]).text().to_owned();
    for (agent, file) in FILES {
        let line = help.lines().find(|line| line.trim_start().starts_with(&format!("{agent} ")));
        assert!(line.is_some_and(|line| line.contains(file)), "{agent}: {file}\n{help}");
    }
}

#[test]
fn taking_out_an_agent_says_that_the_hooks_of_git_stay() {
    let scratch = Scratch::new();
    scratch.json(&["init", "--agent", "codex"]);
    let ran = scratch.run(["init", "--agent", "codex", "--uninstall"]);
    assert!(ran.text().ends_with("Git's hooks stay: git proof init --uninstall takes them out.\n"), "{ran:?}");
    scratch.json(&["init", "--uninstall"]);
    assert!(!scratch.place.join(".git/hooks/post-commit").exists());
}
