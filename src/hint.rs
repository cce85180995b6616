//! Hints: what to do about an error or a finding. A hint is a value, and the door that shows it words it: the command line
//! names a command to type ([`Display`](fmt::Display)), MCP names the tool that does the same ([`Hint::as_calls`]).

use std::borrow::Cow;
use std::cell::Cell;
use std::fmt;

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

/// Stands for the commit that is judged, until [`Hint::name_commit`] puts its id there.
pub const JUDGED: &str = "COMMIT";

/// What to do, clause by clause. `; ` stands between two clauses.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema)]
#[schemars(with = "String")]
pub struct Hint(Vec<Vec<Part>>);

/// A piece of a clause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Words that name no command.
    Text(Cow<'static, str>),
    /// Something to type.
    Step(Step),
}

/// Makes a [`Hint`] of texts and steps: commas between the parts of a clause, semicolons between clauses.
macro_rules! hint {
    ($($($part:expr),+);+ $(;)?) => {
        $crate::hint::Hint::new(vec![$(vec![$($crate::hint::Part::from($part)),+]),+])
    };
}
pub(crate) use hint;

macro_rules! steps {
    ($($name:ident $(($($field:ident),+))? $words:literal $(=> $call:literal)?)*) => {
        /// Something that somebody is told to type, with its arguments.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub enum Step {
            $(#[doc = concat!("`", $words, "`")] $name $(($(steps!(@text $field)),+))?,)*
        }

        /// A step without its arguments.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum StepKind {
            $(#[doc = concat!("`", $words, "`")] $name,)*
        }

        impl StepKind {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// The command line, with the names of its arguments in braces.
            pub const fn words(self) -> &'static str {
                match self {
                    $(Self::$name => $words,)*
                }
            }
        }

        impl Step {
            /// The command line, to be typed as it stands.
            fn command_line(&self) -> String {
                match self {
                    $(Self::$name $(($($field),+))? => {
                        $($(let $field = typed(stringify!($field), $field);)+)?
                        format!($words)
                    })*
                }
            }

            /// The call of an MCP tool that does the same, if there is one.
            fn call(&self) -> Option<String> {
                #[allow(unused_variables)] // where no tool does it
                match self {
                    $(Self::$name $(($($field),+))? => steps!(@call $($call)?),)*
                }
            }
        }
    };
    (@text $field:ident) => { String };
    (@call) => { None };
    (@call $call:literal) => { Some(format!($call)) };
}

steps! {
    Anchor(session) "git proof anchor --session {session}" => "anchor_commit(session_id={session})"
    Attest "git proof attest \"ran cargo test\"" => "merkle_attest(session_id, operations=[\"ran cargo test\"])"
    Backup "git proof backup FILE"
    Check(session) "git proof check --session {session}" => "audit_verify_chain(session_id={session})"
    Cover(commits) "git proof cover {commits} --reflection \"why it was made, what is uncertain\""
    Decide "git proof decide \"what was chosen, and what was rejected\""
    Demo "git proof demo"
    DoctorFix "git proof doctor --fix"
    Done(session) "git proof done --session {session} \"what was done, what is uncertain\""
        => "thought_record(type=reflection), then merkle_finalize(session_id={session})"
    DoneHere "git proof done \"what was done, what is uncertain\""
    End(session) "git proof end --session {session}" => "audit_session_end(session_id={session})"
    Finalize(session) "git proof finalize --session {session}" => "merkle_finalize(session_id={session})"
    FinalizeHere "git proof finalize"
    GateProofs(source) "git proof gate --base main --proofs {source}"
    Help "git proof -h"
    ImportRefs "git proof import --from-refs"
    Init "git proof init"
    InitAgent(agent) "git proof init --agent {agent}"
    InitPolicy "git proof init --policy"
    Log "git proof log" => "thought_tree(session_id)"
    LogAll "git proof log --all"
    LogHead "git proof log HEAD"
    LogOf(session) "git proof log --session {session}" => "thought_tree(session_id={session})"
    MemoryList(session) "git proof memory list --session {session}"
    MemoryPack(session) "git proof memory pack --session {session}" => "memory_pack(session_id={session})"
    MemoryPut "git proof memory put --text \"…\"" => "memory_put(session_id, text)"
    PolicyCheck "git proof policy check"
    Private "--private" => "private=true"
    RecordFile(kind) "git proof record {kind} --content-file FILE"
    RecordReflection(session) "git proof record --type reflection --content \"what may be said\" --session {session}"
        => "thought_record(type=reflection) without the credential, then merkle_finalize(session_id={session})"
    Report(range, option) "git proof report {range} {option}"
    Retain "git proof retain" => "retention_run"
    RetainFreeze(session) "git proof retain --freeze {session}"
    Root "git proof root" => "merkle_root(session_id)"
    Rounds "git proof rounds"
    RoundsAccept(remote) "git proof rounds accept {remote}"
    RoundsShow(round) "git proof rounds show {round}"
    Search "git proof search durability" => "thought_search(query)"
    Seal "git proof seal" => "round_seal"
    SealDefer "git proof seal --defer" => "round_seal(defer=true)"
    SealSign "git proof seal --sign" => "round_seal(sign=true)"
    Show(name) "git proof show {name}"
    Sign(commit) "git proof sign {commit}"
    SignSession(commit, session) "git proof sign {commit} --session {session}"
    Start "git proof start \"what you are about to do\"" => "audit_session_start"
    StartAnew(session) "git proof start \"what may be said\" --continues {session}"
        => "audit_session_start opens a session that can be published: say there what may be said"
    StartNext(session) "git proof start \"what you are about to do\" --continues {session}"
    Sync "git proof sync"
    SyncFetchOnly "git proof sync --fetch-only"
    SyncWith "git proof sync REMOTE"
    Trail(record) "git proof trail {record}" => "thought_trail(record_id={record})"
    Uninstall(agent) "git proof init --uninstall --agent {agent}"
    UninstallAgentsMd "git proof init --uninstall --agents-md"
    Verify(commits) "git proof verify {commits}" => "verify_commits(commits=[\"{commits}\"])"
    Why(place) "git proof why {place}" => "why(path)"
    SshKeygen(path) "ssh-keygen -t ed25519 -N '' -f {path}"
    MakeExecutable(path) "chmod +x {path}"
    RemoveLock(lock) "rm {lock}" => "remove '{lock}'"
    ReplaceLink(link, target) "rm {link} && mv {target} {link}"
    GitBranches "git branch --all"
    GitCommit "git commit"
    GitConfig(key, value) "git config {key} {value}"
    GitConfigShow(key) "git config --get {key}"
    GitConfigSigning "git config --get-regexp 'gpg|user.signingkey'"
    GitConfigKey "git config user.signingkey ~/.ssh/id_ed25519.pub"
    GitConfigRemove(scope, key, value) "git config --{scope} --fixed-value --unset-all {key} {value}"
    GitConfigSafe(directory) "git config --global --add safe.directory {directory}"
    GitConfigUnset(key) "git config --unset {key}"
    GitFetch "git fetch"
    GitFetchRef(name) "git fetch origin {name}:{name}"
    GitFetchRefetch "git fetch --refetch"
    GitFetchUnshallow "git fetch --unshallow"
    GitFetchUnshallowRef(name) "git fetch --unshallow origin {name}:{name}"
    GitFsck "git fsck"
    GitInit "git init"
    GitLogOneline "git log --oneline"
    GitLogRef(name) "git log {name}"
    GitNotesShow(commit) "git notes --ref=proof show {commit}"
    GitPush "git push"
    GitPushDelete(remote, refs) "git push {remote} --delete {refs}"
    GitRemoteAdd "git remote add origin URL"
    GitRemotes "git remote -v"
    GitWorktreeRepair "git worktree repair"
    Option(option) "{option}"
    Usage(usage) "{usage}"
}

/// An argument as it is typed. What comes from a repository, such as the name of a branch, must not be read by the shell.
fn typed(field: &str, value: &str) -> String {
    let is_safe = |text: &str| {
        !text.is_empty()
            && !text.starts_with('~')
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_./:=@^~+,%-".contains(&byte))
    };
    let quoted = |text: &str| format!("'{}'", text.replace('\'', "'\\''"));
    match field {
        // Words of ours.
        "option" | "usage" => value.to_owned(),
        "lock" | "link" | "target" | "directory" => quoted(value),
        "commits" | "refs" if value.split(' ').all(is_safe) => value.to_owned(),
        _ if is_safe(value) => value.to_owned(),
        _ => quoted(value),
    }
}

thread_local! {
    /// Whether hints are serialized as calls.
    static AS_CALLS: Cell<bool> = const { Cell::new(false) };
}

/// Does something, such as making JSON, in which hints are to be worded as calls of MCP tools.
pub fn worded_as_calls<T>(work: impl FnOnce() -> T) -> T {
    let before = AS_CALLS.replace(true);
    let done = work();
    AS_CALLS.set(before);
    done
}

impl Hint {
    /// A hint of clauses.
    pub fn new(clauses: Vec<Vec<Part>>) -> Self {
        Self(clauses)
    }

    /// The commands in the hint, in order.
    pub fn steps(&self) -> impl Iterator<Item = &Step> {
        self.0.iter().flatten().filter_map(|part| match part {
            Part::Step(step) => Some(step),
            Part::Text(_) => None,
        })
    }

    /// The same, and then more.
    #[must_use]
    pub fn and(mut self, more: Self) -> Self {
        self.0.extend(more.0);
        self
    }

    /// The same for agents: with calls of tools in the place of commands, and without clauses that name a command for which
    /// there is no tool. `None` if nothing remains.
    pub fn as_calls(&self) -> Option<String> {
        let clauses: Vec<String> = self.0.iter().filter_map(|clause| clause.iter().map(Part::call).collect()).collect();
        (!clauses.is_empty()).then(|| clauses.join("; "))
    }

    /// Puts the id of the commit that was judged into the steps, so that they can be typed as they stand.
    pub fn name_commit(&mut self, id: &str) {
        for part in self.0.iter_mut().flatten() {
            if let Part::Step(Step::Cover(commit) | Step::Sign(commit)) = part
                && commit == JUDGED
            {
                id.clone_into(commit);
            }
        }
    }
}

impl Part {
    fn call(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Text(text) => Some(Cow::Borrowed(text)),
            Self::Step(step) => step.call().map(Cow::Owned),
        }
    }
}

/// Whether a text names no command and no option. Commands are steps, so that every door can word them.
pub fn is_plain(text: &str) -> bool {
    let names = |kind: &StepKind| {
        let words = kind.words();
        let end = words.match_indices(' ').map(|(at, _)| at).nth(1).unwrap_or(words.len());
        !words.starts_with('{') && text.contains(&words[..end])
    };
    !text.contains("--") && !text.contains("git proof") && !StepKind::ALL.iter().any(names)
}

impl From<&'static str> for Part {
    fn from(text: &'static str) -> Self {
        debug_assert!(is_plain(text), "a command in the text of a hint: {text:?}");
        Self::Text(Cow::Borrowed(text))
    }
}

/// Text that holds a name, such as that of a file. A test reads the sources for commands in what is around the name.
impl From<String> for Part {
    fn from(text: String) -> Self {
        Self::Text(Cow::Owned(text))
    }
}

impl From<Step> for Part {
    fn from(step: Step) -> Self {
        Self::Step(step)
    }
}

impl<P: Into<Part>> From<P> for Hint {
    fn from(part: P) -> Self {
        Self(vec![vec![part.into()]])
    }
}

/// As a command line has it.
impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, clause) in self.0.iter().enumerate() {
            f.write_str(if at > 0 { "; " } else { "" })?;
            for part in clause {
                write!(f, "{part}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Step(step) => write!(f, "{step}"),
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.command_line())
    }
}

/// A text, or null where there is nothing that an agent could call.
impl Serialize for Hint {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if AS_CALLS.get() { self.as_calls().serialize(serializer) } else { serializer.collect_str(self) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doors_word_a_hint_each_in_its_way() {
        let hint = hint!("first ", Step::Finalize("s".into()), " there"; Step::Sync, " shares it"; "nothing is lost");
        let typed = "first git proof finalize --session s there; git proof sync shares it; nothing is lost";
        let called = "first merkle_finalize(session_id=s) there; nothing is lost";
        assert_eq!(hint.to_string(), typed);
        assert_eq!(hint.as_calls().as_deref(), Some(called));
        assert_eq!(serde_json::json!(hint), typed);
        assert_eq!(worded_as_calls(|| serde_json::json!(hint)), called);
        assert_eq!(worded_as_calls(|| serde_json::json!(Hint::from(Step::Sync))), serde_json::Value::Null);
        assert_eq!(serde_json::json!(hint), typed, "the door after that words it as before");
    }

    #[test]
    fn names_of_a_repository_are_quoted_where_a_shell_would_read_them() {
        let typed = |step: Step| step.to_string();
        assert_eq!(typed(Step::GitLogRef("refs/heads/a-1".into())), "git log refs/heads/a-1");
        assert_eq!(typed(Step::GitLogRef("x;id$(id)".into())), "git log 'x;id$(id)'");
        assert_eq!(typed(Step::GitLogRef("x{a,b}".into())), "git log 'x{a,b}'");
        assert_eq!(typed(Step::RemoveLock("/it's/a.lock".into())), "rm '/it'\\''s/a.lock'");
        assert!(typed(Step::Cover("abc def".into())).starts_with("git proof cover abc def --"));
        assert!(typed(Step::Cover("abc `id`".into())).starts_with("git proof cover 'abc `id`' --"));
    }

    #[test]
    fn commit_that_was_judged_is_put_where_it_is_meant() {
        let mut hint = hint!(Step::Cover(JUDGED.into()); "COMMIT in a text stays"; Step::Sign("main".into()));
        hint.name_commit("8bfea854fd8c");
        assert!(hint.to_string().starts_with("git proof cover 8bfea854fd8c --reflection"));
        assert!(hint.to_string().ends_with("; COMMIT in a text stays; git proof sign main"));
    }

    #[test]
    #[should_panic(expected = "a command in the text of a hint")]
    fn text_that_names_a_command_is_refused() {
        let _ = Hint::from("git fetch brings it");
    }
}
