//! What cannot be done is refused before anything is written.

use std::os::unix::fs::{PermissionsExt as _, symlink};

use super::{everything, get, init, put};
use crate::store::scratch::Scratch;

#[track_caller]
fn refused(scratch: &Scratch, arguments: &[&str]) -> String {
    let before = everything(scratch);
    let error = scratch.refused(&[&["init"], arguments].concat(), "ERR_CONFIG_INVALID", 2);
    assert_eq!(everything(scratch), before);
    error["message"].as_str().unwrap().to_owned()
}

#[test]
fn invalid_file_changes_nothing_at_all() {
    for (path, text) in [
        (".claude/settings.json", "{\"a\": }"),
        (".claude/settings.json", "{\"a\": 1"),
        (".claude/settings.json", "[]"),
        (".claude/settings.json", "{} {}"),
        (".claude/settings.json", "{a: 1}"),
        (".claude/settings.json", "{\"hooks\": []}"),
        (".claude/settings.json", "{\"hooks\": {\"Stop\": {}}}"),
        (".mcp.json", "{\"mcpServers\": \"none\"}"),
        (".codex/config.toml", "a = "),
        (".codex/config.toml", "mcp_servers = 1"),
    ] {
        let scratch = Scratch::new();
        put(&scratch, path, text);
        let message = refused(&scratch, &["--agent", "claude-code", "--agent", "codex", "--agents-md"]);
        assert!(message.contains(path), "{message}");
    }
}

#[test]
fn invalid_file_is_refused_by_a_dry_run_and_by_uninstalling_too() {
    let scratch = Scratch::new();
    put(&scratch, ".mcp.json", "{");
    refused(&scratch, &["--agent", "claude-code", "--dry-run"]);
    refused(&scratch, &["--agent", "claude-code", "--uninstall"]);
}

#[test]
fn file_that_is_not_text_or_no_file_is_refused() {
    let scratch = Scratch::new();
    std::fs::write(scratch.place.join(".mcp.json"), b"{\"a\": \"\xff\"}").unwrap();
    refused(&scratch, &["--agent", "claude-code"]);
    std::fs::remove_file(scratch.place.join(".mcp.json")).unwrap();
    std::fs::create_dir(scratch.place.join(".mcp.json")).unwrap();
    refused(&scratch, &["--agent", "claude-code"]);
    let other = Scratch::new();
    put(&other, ".claude", "a file where the directory should be");
    refused(&other, &["--agent", "claude-code"]);
}

#[test]
fn link_out_of_the_worktree_is_refused() {
    let scratch = Scratch::new();
    let outside = scratch.around().join("outside");
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("settings.json"), "{}").unwrap();
    symlink(&outside, scratch.place.join(".claude")).unwrap();
    refused(&scratch, &["--agent", "claude-code"]);
    assert_eq!(std::fs::read_to_string(outside.join("settings.json")).unwrap(), "{}");
    std::fs::remove_file(scratch.place.join(".claude")).unwrap();
    symlink(outside.join("settings.json"), scratch.place.join(".mcp.json")).unwrap();
    refused(&scratch, &["--agent", "claude-code"]);
}

#[test]
fn link_to_nowhere_and_into_the_repository_itself_is_refused() {
    for target in ["nowhere", ".git/config.json"] {
        let scratch = Scratch::new();
        std::fs::write(scratch.place.join(".git/config.json"), "{}").unwrap();
        symlink(target, scratch.place.join(".mcp.json")).unwrap();
        let error = scratch.refused(&["init", "--agent", "claude-code"], "ERR_CONFIG_INVALID", 2);
        assert!(error["message"].as_str().unwrap().contains(".mcp.json"));
        assert!(!scratch.place.join(".claude").exists());
    }
}

#[test]
fn link_inside_of_the_worktree_stays_a_link() {
    let scratch = Scratch::new();
    put(&scratch, "shared/mcp.json", "{\n  \"a\": 1\n}\n");
    symlink("shared/mcp.json", scratch.place.join(".mcp.json")).unwrap();
    init(&scratch, "claude-code", &[]);
    assert!(std::fs::symlink_metadata(scratch.place.join(".mcp.json")).unwrap().is_symlink());
    assert!(get(&scratch, "shared/mcp.json").contains("git-proof"));
}

#[test]
fn permissions_of_a_file_are_kept() {
    let scratch = Scratch::new();
    put(&scratch, ".mcp.json", "{}");
    let path = scratch.place.join(".mcp.json");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    init(&scratch, "claude-code", &[]);
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
}

#[test]
fn no_temporary_file_is_left() {
    let scratch = Scratch::new();
    init(&scratch, "claude-code", &[]);
    let files: Vec<String> = everything(&scratch).into_keys().collect();
    assert_eq!(files, [".claude/", ".claude/settings.json", ".mcp.json"]);
}

#[test]
fn place_without_a_worktree_is_refused() {
    let outside = Scratch::without_repository();
    outside.refused(&["init", "--agent", "zed"], "ERR_NO_REPOSITORY", 3);
    outside.git(["init", "--quiet", "--bare", "bare"]);
    outside.refused(&["-C", "bare", "init", "--agent", "zed"], "ERR_NO_REPOSITORY", 3);
}

#[test]
fn agent_that_is_unknown_or_not_named_is_a_wrong_usage() {
    let scratch = Scratch::new();
    for arguments in [&["init", "--agent", "emacs"][..], &["init", "--dry-run", "--agent"]] {
        let ran = scratch.run(arguments);
        assert_eq!((ran.exit, ran.out.as_str()), (Some(2), ""));
        assert!(ran.err.contains("--agent"), "{}", ran.err);
    }
}
