//! The hooks by name, and the one line that runs each. The text is that of `hooks/` at the top of the source: a person
//! can copy those files, and what is written here differs from them in the path of the program alone.

use crate::access::bytes_of;
use crate::proof::schema::names;
use std::path::Path;

/// First line of our block.
pub(super) const BEGIN: &str = "# >>> git-proof >>>";
/// Last line of our block.
pub(super) const END: &str = "# <<< git-proof <<<";
/// First line of a script that is ours alone.
pub(super) const SHEBANG: &str = "#!/bin/sh\n";

/// Where the scripts look for the program if it is not on the path.
const FALLBACK: &str = "'/usr/local/bin/git-proof'";

/// The hook for a server, which an administrator installs by hand.
pub(super) const PRE_RECEIVE: &str = include_str!("../../hooks/pre-receive");

names! {
    /// A hook of git's that we use.
    pub(crate) enum GitHook {
        CommitMsg = "commit-msg",
        PostCommit = "post-commit",
        PostRewrite = "post-rewrite",
        PrePush = "pre-push",
    }
}

impl GitHook {
    /// The whole file, as one would copy it.
    const fn script(self) -> &'static str {
        match self {
            Self::CommitMsg => include_str!("../../hooks/commit-msg"),
            Self::PostCommit => include_str!("../../hooks/post-commit"),
            Self::PostRewrite => include_str!("../../hooks/post-rewrite"),
            Self::PrePush => include_str!("../../hooks/pre-push"),
        }
    }

    /// The line as one would paste it into a file that others share: no path of this machine is in it, and whoever has no
    /// git-proof commits and pushes as before.
    pub(super) fn shared_line(self) -> String {
        let line = self.block().lines().nth(1).unwrap_or_default();
        let parts =
            line.split_once("; else echo ").and_then(|(before, rest)| Some((before, rest.split_once("; fi")?.1)));
        parts.map_or_else(|| line.to_owned(), |(before, after)| format!("{before}; fi{after}"))
    }

    /// The same for a script that nobody else writes to, and for settings that hold one command: nothing reads what git
    /// sends after it.
    pub(super) fn short_line(self, arguments: &str) -> String {
        let name = self.as_str();
        format!("if command -v git-proof >/dev/null; then git-proof hook {name}{arguments}; fi")
    }

    /// The marked block with the line.
    fn block(self) -> &'static str {
        self.script().strip_prefix(SHEBANG).unwrap_or_default()
    }

    /// The line that runs it, without its newline. It is bytes, as a path is.
    pub(super) fn line(self, program: Option<&Path>) -> Vec<u8> {
        let line = self.block().lines().nth(1).unwrap_or_default();
        match program.map(bytes_of) {
            // A block of one line has no room for a newline; whoever has one in a path must rely on PATH.
            Some(program) if !program.contains(&b'\n') => {
                let parts: Vec<&[u8]> = line.split(FALLBACK).map(str::as_bytes).collect();
                parts.join(&quoted(program)[..])
            }
            _ => line.as_bytes().to_vec(),
        }
    }

    /// The same as a value of git's configuration. Git runs it in a shell with `"$@"` added at its end.
    pub(super) fn command(self, program: Option<&Path>) -> Vec<u8> {
        [b"git_proof() { ", &self.line(program)[..], b"; }; git_proof"].concat()
    }

    /// Its section in git's configuration. Each hook has one of its own: a command is not told which event it runs for.
    pub(super) fn section(self) -> String {
        format!("hook.git-proof-{}", self.as_str())
    }

    /// Whether a text calls it, in a line that is no comment: for files that are not ours to write.
    pub(super) fn is_called_in(self, text: &str) -> bool {
        let calls = ["git-proof hook ", "git proof hook "].map(|call| format!("{call}{}", self.as_str()));
        let mut lines = text.lines().filter(|line| !line.trim_start().starts_with('#'));
        lines.any(|line| calls.iter().any(|call| line.contains(call)))
    }
}

/// Bytes that a shell takes for one word, as they are.
pub(crate) fn quoted(bytes: &[u8]) -> Vec<u8> {
    let parts: Vec<&[u8]> = bytes.split(|byte| *byte == b'\'').collect();
    [b"'", &parts.join(&b"'\\''"[..])[..], b"'"].concat()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // tests
mod tests {
    use super::*;

    #[test]
    fn every_script_is_a_shebang_and_a_block_of_one_line() {
        for script in GitHook::ALL.map(GitHook::script).into_iter().chain([PRE_RECEIVE]) {
            let lines: Vec<&str> = script.lines().collect();
            let [shebang, begin, line, end] = lines[..] else { panic!("{script}") };
            assert_eq!((format!("{shebang}\n").as_str(), begin, end), (SHEBANG, BEGIN, END));
            assert_eq!(line.matches(FALLBACK).count(), 2, "{line}");
            assert!(script.ends_with('\n'));
        }
    }

    #[test]
    fn shared_line_says_nothing_and_stops_nothing_without_the_program() {
        for hook in GitHook::ALL {
            let line = hook.shared_line();
            assert!(!line.contains("not found") && !line.contains("; false") && !line.contains('\n'), "{line}");
            assert!(hook.is_called_in(&line));
            assert!(hook.is_called_in(&hook.short_line("")));
        }
    }

    #[test]
    fn line_differs_from_the_script_in_the_path_alone() {
        for hook in GitHook::ALL {
            let line = String::from_utf8(hook.line(Some(Path::new("/a b/it's/git-proof")))).unwrap();
            assert_eq!(line.replace("'/a b/it'\\''s/git-proof'", FALLBACK), hook.block().lines().nth(1).unwrap());
            assert_eq!(hook.line(None), hook.line(Some(Path::new("/new\nline"))));
        }
    }

    #[test]
    fn comment_that_names_a_hook_does_not_call_it() {
        assert!(GitHook::PrePush.is_called_in("x\n  git-proof hook pre-push \"$@\"\n"));
        assert!(GitHook::PrePush.is_called_in("run: git proof hook pre-push {1} {2}"));
        assert!(!GitHook::PrePush.is_called_in("# git-proof hook pre-push\ngit-proof hook post-commit"));
    }
}
