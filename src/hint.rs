//! Hints: what to do about an error or a finding. A hint is a value, and the door that shows it words it: the command line
//! names a command to type ([`Display`](fmt::Display)), MCP names the tool that does the same ([`Hint::as_calls`]).

use std::borrow::Cow;
use std::cell::Cell;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};

/// Stands for the commit that is judged, until [`Hint::name_commit`] puts its id there.
pub const JUDGED: &str = "COMMIT";

/// What to do, clause by clause. `; ` stands between two clauses.
#[derive(Debug, Clone, PartialEq, Eq)]
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
    ($($(#[$doc:meta])* $name:ident $(($($field:ident),+))? $words:literal $(=> $call:literal)?)*) => {
        /// Something that somebody is told to type, with its arguments.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub enum Step {
            $($(#[$doc])* $name $(($(steps!(@text $field)),+))?,)*
        }

        /// A step without its arguments.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum StepKind {
            $($(#[$doc])* $name,)*
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
                    $(Self::$name $(($($field),+))? => format!($words),)*
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
    /// Binds a finalized session to its commits.
    Anchor(session) "git proof anchor --session {session}" => "anchor_commit(session_id={session})"
    /// Binds the current session to a commit.
    AnchorCommit(commit) "git proof anchor {commit}" => "anchor_commit(session_id, commits=[\"{commit}\"])"
    /// Records what was run.
    Attest "git proof attest \"ran cargo test\"" => "merkle_attest(session_id, operations=[\"ran cargo test\"])"
    /// Writes a backup of the store.
    Backup "git proof backup FILE"
    /// Copies anchors to rewritten commits.
    Carry "git proof carry"
    /// Checks the chain of a session.
    Check(session) "git proof check --session {session}" => "audit_verify_chain(session_id={session})"
    /// Explains commits that exist already.
    Cover(commits) "git proof cover {commits} --reflection \"why it was made, what is uncertain\""
    /// Shows what the tool does, in a directory of its own.
    Demo "git proof demo"
    /// Mends what can be mended.
    DoctorFix "git proof doctor --fix"
    /// Closes a session: reflection and finalize in one.
    Done(session) "git proof done --session {session} \"what was done, what is uncertain\""
        => "thought_record(type=reflection), then merkle_finalize(session_id={session})"
    /// Closes the current session.
    DoneHere "git proof done \"what was done, what is uncertain\""
    /// Ends a session without a root.
    End(session) "git proof end --session {session}" => "audit_session_end(session_id={session})"
    /// Computes the root of a session and anchors it.
    Finalize(session) "git proof finalize --session {session}" => "merkle_finalize(session_id={session})"
    /// Computes the root of the current session and anchors it.
    FinalizeHere "git proof finalize"
    /// Judges commits by proofs of another repository.
    GateProofs "git proof gate --proofs URL"
    /// Lists the commands.
    Help "git proof -h"
    /// Wires the hooks.
    Init "git proof init"
    /// Sets up an agent.
    InitAgent(agent) "git proof init --agent {agent}"
    /// Writes a policy.
    InitPolicy "git proof init --policy"
    /// Shows the entries of the current session.
    Log "git proof log" => "thought_tree(session_id)"
    /// Lists the sessions.
    LogAll "git proof log --all"
    /// Shows the entries of a session.
    LogOf(session) "git proof log --session {session}" => "thought_tree(session_id={session})"
    /// Shows what waits in working memory.
    MemoryList(session) "git proof memory list --session {session}"
    /// Makes a record of what waits in working memory.
    MemoryPack(session) "git proof memory pack --session {session}" => "memory_pack(session_id={session})"
    /// Puts a note into working memory.
    MemoryPut "git proof memory put --text \"…\"" => "memory_put(session_id, text)"
    /// Says what is wrong with a policy.
    PolicyCheck "git proof policy check"
    /// Records a text from a file.
    RecordFile "git proof record plan --content-file FILE"
    /// Records a reflection that may be published.
    RecordReflection(session) "git proof record --type reflection --content \"what may be said\" --session {session}"
        => "thought_record(type=reflection) without the credential, then merkle_finalize(session_id={session})"
    /// Writes a report of a range.
    Report(arguments) "git proof report {arguments}"
    /// Moves texts of cold sessions into archives.
    Retain "git proof retain" => "retention_run"
    /// Drops the texts of a session.
    RetainFreeze(session) "git proof retain --freeze {session}"
    /// Shows the root of the current session.
    Root "git proof root" => "merkle_root(session_id)"
    /// Lists the rounds.
    Rounds "git proof rounds"
    /// Takes the chain of a remote as it is.
    RoundsAccept(remote) "git proof rounds accept {remote}"
    /// Shows the sessions of a round.
    RoundsShow(round) "git proof rounds show {round}"
    /// Looks for words in records.
    Search "git proof search durability" => "thought_search(query)"
    /// Seals what is anchored.
    Seal "git proof seal" => "round_seal"
    /// Seals what is anchored, and leaves open sessions to the next round.
    SealDefer "git proof seal --defer" => "round_seal(defer=true)"
    /// Seals what is anchored, and signs the seal.
    SealSign "git proof seal --sign" => "round_seal(sign=true)"
    /// Shows a commit or a record.
    Show(name) "git proof show {name}"
    /// Signs the anchors of a commit.
    Sign(commit) "git proof sign {commit}"
    /// Opens a session.
    Start "git proof start \"what you are about to do\"" => "audit_session_start(intent)"
    /// Opens a session that goes on where another one stopped.
    StartAnew(session) "git proof start \"what may be said\" --continues {session}" => "audit_session_start(intent)"
    /// Shares proofs with the remote.
    Sync "git proof sync"
    /// Fetches proofs from the remote.
    SyncFetchOnly "git proof sync --fetch-only"
    /// Shares proofs with a remote that is named.
    SyncWith "git proof sync REMOTE"
    /// Shows how a record came about.
    Trail(record) "git proof trail {record}" => "thought_trail(record_id={record})"
    /// Takes out what was set up for an agent.
    Uninstall(agent) "git proof init --uninstall --agent {agent}"
    /// Judges commits.
    Verify(commits) "git proof verify {commits}" => "verify_commits(commits=[\"{commits}\"])"
    /// Says why lines are as they are.
    Why(place) "git proof why {place}" => "why(path)"

    /// Adds a key to the agent that holds keys.
    SshAdd "ssh-add"
    /// Makes a key for checkpoints.
    SshKeygen(path) "ssh-keygen -t ed25519 -N '' -f {path}"
    /// Lets git run a hook.
    MakeExecutable(path) "chmod +x {path}"
    /// Removes a lock that a killed process left behind.
    RemoveLock(lock) "rm '{lock}'" => "remove '{lock}'"
    /// Puts a file in the place of a link to it.
    ReplaceLink(link, target) "rm '{link}' && mv '{target}' '{link}'"
    /// Lists branches.
    GitBranches "git branch --all"
    /// Makes a commit.
    GitCommit "git commit"
    /// Sets something.
    GitConfig(key, value) "git config {key} {value}"
    /// Shows what is set.
    GitConfigShow(key) "git config {key}"
    /// Shows what git signs with.
    GitConfigSigning "git config --get-regexp 'gpg|user.signingkey'"
    /// Takes a value out of the configuration.
    GitConfigRemove(scope, key, value) "git config --{scope} --fixed-value --unset-all {key} {value}"
    /// Trusts a repository of another user.
    GitConfigSafe(directory) "git config --global --add safe.directory '{directory}'"
    /// Goes back to the default of a setting.
    GitConfigUnset(key) "git config --unset {key}"
    /// Brings commits of others.
    GitFetch "git fetch"
    /// Brings a ref that a clone does not fetch by itself.
    GitFetchRef(name) "git fetch origin {name}:{name}"
    /// Brings objects that a partial clone lacks.
    GitFetchRefetch "git fetch --refetch"
    /// Brings the history that a shallow clone lacks.
    GitFetchUnshallow "git fetch --unshallow"
    /// Brings the history of a ref that a shallow clone lacks.
    GitFetchUnshallowRef(name) "git fetch --unshallow origin {name}:{name}"
    /// Tells what is damaged.
    GitFsck "git fsck"
    /// Makes a repository.
    GitInit "git init"
    /// Lists commits.
    GitLogOneline "git log --oneline"
    /// Lists what was pushed to a ref.
    GitLogRef(name) "git log {name}"
    /// Shows the note of a commit.
    GitNotesShow(commit) "git notes --ref=proof show {commit}"
    /// Pushes a branch.
    GitPush "git push"
    /// Removes refs of a remote.
    GitPushDelete(remote, refs) "git push {remote} --delete {refs}"
    /// Names a remote.
    GitRemoteAdd "git remote add origin URL"
    /// Lists remotes.
    GitRemotes "git remote -v"
    /// Asks git what it thinks of the repository.
    GitStatus "git status"
    /// Makes the repositories of submodules.
    GitSubmodules "git submodule update --init"
    /// Finds worktrees that were moved.
    GitWorktreeRepair "git worktree repair"
    /// An option of the command that was typed.
    Option(option) "{option}"
    /// How a command is used, in the words of the parser of arguments.
    Usage(usage) "{usage}"
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

    /// What is to be typed, in the order in which it is named.
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
            if let Part::Step(Step::Cover(commit) | Step::Sign(commit) | Step::AnchorCommit(commit)) = part
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

impl JsonSchema for Hint {
    fn schema_name() -> Cow<'static, str> {
        String::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        String::json_schema(generator)
    }

    fn inline_schema() -> bool {
        String::inline_schema()
    }
}
