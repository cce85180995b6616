//! The files of agents in a worktree, which `init` edits in place.

use git_proof::setup::InitAgent;

/// The keys under which our entries are.
const KEYS: [&str; 17] = [
    "mcpServers",
    "mcp_servers",
    "servers",
    "context_servers",
    "hooks",
    "version",
    "SessionStart",
    "PostToolUse",
    "Stop",
    "AfterTool",
    "AfterAgent",
    "afterFileEdit",
    "afterShellExecution",
    "afterMCPExecution",
    "stop",
    "sessionStart",
    "1",
];

/// The first byte chooses the file, the rest is what is in it.
pub fn config(data: &[u8]) {
    let Some((file, text)) = data.split_first() else { return };
    let Ok(text) = std::str::from_utf8(text) else { return };
    let files: Vec<_> =
        InitAgent::ALL.into_iter().flat_map(|agent| agent.files().into_iter().map(move |path| (agent, path))).collect();
    let (agent, path) = files[usize::from(*file) % files.len()];
    let put_in = |text: &str| agent.edit(path, Some(text), false);
    let take_out = |text: &str| agent.edit(path, Some(text), true);
    let there_and_back = |text: &str| {
        let with = put_in(text).ok()?.expect("what is put in is there");
        assert_eq!(put_in(&with).ok().flatten().as_ref(), Some(&with), "a second time changes nothing: {text:?}");
        match take_out(&with) {
            Ok(back) => back.map(|back| (with, back)),
            Err(error) => panic!("what was put in can be taken out: {error} {with:?}"),
        }
    };

    // Whoever has put us there: once we are taken out, the file can still be read.
    let without = take_out(text);
    if let Ok(Some(without)) = &without {
        assert!(take_out(without).is_ok(), "{without:?} of {text:?}");
    }
    // What is blank may be gone, and so may what has something of ours already.
    let blank = text.trim_start_matches('\u{feff}').trim().is_empty();
    let Some((with, back)) = there_and_back(text) else { return };
    if blank || !without.is_ok_and(|without| without.as_deref() == Some(text)) {
        return;
    }
    // What others wrote is there again. An empty object or list of theirs with space in it looks like one that came with our
    // entry, and goes with it; whatever is given back once is given back from then on, but for a space between brackets.
    assert_eq!(words(&back), words(text), "by way of {with:?}");
    if has_blank(&back) {
        return; // of two of one name, the other one goes the second time
    }
    if let Some((with, again)) = there_and_back(&back) {
        let close = |text: &str| text.replace("{ }", "{}").replace("[ ]", "[]");
        assert_eq!(close(&again), close(&back), "by way of {with:?}");
    }
}

/// Whether there is an empty object or list with more in it than one space.
fn has_blank(text: &str) -> bool {
    text.match_indices(['{', '[']).any(|(at, _)| {
        let inside = &text[at + 1..];
        let rest = inside.trim_start();
        rest.starts_with(['}', ']']) && !["", " "].contains(&&inside[..inside.len() - rest.len()])
    })
}

/// All that is in a text but for space, punctuation and our keys.
fn words(text: &str) -> String {
    let mut text: String =
        text.chars().filter(|letter| !letter.is_whitespace() && !"{}[],:\u{feff}".contains(*letter)).collect();
    for key in KEYS {
        text = text.replace(&format!("\"{key}\""), "").replace(key, "");
    }
    text
}
