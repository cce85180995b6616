//! The overview of all commands, by what one comes for: clap lists them in one heap.

/// The commands of each role, in the order in which they are used.
const ROLES: [(&str, &[&str]); 5] = [
    (
        "Work: record why while you change something",
        &[
            "start", "status", "decide", "record", "attest", "done", "cover", "check", "finalize", "root", "end",
            "anchor", "carry", "sync",
        ],
    ),
    (
        "Review: read and check what others recorded",
        &[
            "show",
            "log",
            "verify",
            "report",
            "why",
            "blame",
            "search",
            "tree",
            "trail",
            "sign",
            "vouch",
            "accept",
            "disclose",
            "prove",
            "check-proof",
            "check-evidence",
            "check-transcript",
        ],
    ),
    ("CI: judge a range, seal rounds", &["gate", "seal", "rounds"]),
    ("Keep: backups, retention, working memory", &["backup", "import", "retain", "memory"]),
    ("Set up", &["init", "doctor", "demo", "policy", "mcp", "hook", "completions", "man", "help"]),
];

/// The help of `git proof` itself with its commands by role; any other help as it is.
pub(super) fn grouped(help: &str) -> String {
    let is_own = |before: &str| before.contains("Usage: git proof [OPTIONS] <COMMAND>");
    let Some((before, rest)) = help.split_once("\nCommands:\n").filter(|(before, _)| is_own(before)) else {
        return help.to_owned();
    };
    let Some((list, after)) = rest.split_once("\n\n") else { return help.to_owned() };
    let mut commands: Vec<(&str, String)> = Vec::new();
    for line in list.lines() {
        match (line.strip_prefix("  ").filter(|rest| !rest.starts_with(' ')), commands.last_mut()) {
            (Some(rest), _) => commands.push((rest.split(' ').next().unwrap_or(rest), format!("{line}\n"))),
            (None, Some((_, text))) => text.push_str(&format!("{line}\n")),
            (None, None) => return help.to_owned(),
        }
    }
    let mut text = format!("{before}\n");
    for (role, names) in ROLES {
        text.push_str(&format!("{role}\n"));
        for name in names {
            if let Some(at) = commands.iter().position(|(command, _)| command == name) {
                text.push_str(&commands.remove(at).1);
            }
        }
        text.push('\n');
    }
    if !commands.is_empty() {
        text.push_str("Others\n");
        text.extend(commands.into_iter().map(|(_, text)| text));
        text.push('\n');
    }
    text + &after.replacen("Options:\n", "Options of every command:\n", 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_stand_below_their_role_and_none_is_lost() {
        let help = "What it is.\n\nUsage: git proof [OPTIONS] <COMMAND>\n\nCommands:\n  init   Set up\n  new    Not\n         known\n  start  Begin\n\nOptions:\n  -h  Help\n";
        let text = grouped(help);
        let at = |part: &str| text.find(part).unwrap_or_else(|| panic!("{part} in {text}"));
        assert!(at("Work: ") < at("  start  Begin\n") && at("  start  Begin\n") < at("Review: "));
        assert!(at("Set up\n  init   Set up\n") < at("Others\n  new    Not\n         known\n"));
        assert!(text.ends_with("\n\nOptions of every command:\n  -h  Help\n"));
        assert_eq!(grouped("Usage: git proof show\n\nOptions:\n"), "Usage: git proof show\n\nOptions:\n");
    }
}
