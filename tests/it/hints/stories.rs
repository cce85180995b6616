//! For every kind of step, the story of somebody to whom it is said. The last command of a story prints it.

use git_proof::hint::StepKind;

/// How somebody comes to be told something.
pub(super) struct Story {
    /// Leads to the state in which the step is printed, and prints it.
    pub(super) script: &'static str,
    /// What changes the store afterwards, where no command can: SQL, and the command that then prints the step.
    pub(super) altered: Option<(&'static str, &'static str)>,
    /// What must succeed once the step was typed.
    pub(super) then: Option<&'static str>,
}

/// A step that shows something.
const fn shows(script: &'static str) -> Story {
    Story { script, altered: None, then: None }
}

/// A step that mends something.
const fn mends(script: &'static str, then: &'static str) -> Story {
    Story { script, altered: None, then: Some(then) }
}

/// A step for a store that holds what no command of this version writes.
const fn altered(script: &'static str, sql: &'static str, prints: &'static str) -> Story {
    Story { script, altered: Some((sql, prints)), then: None }
}

/// The words that stories are told in, besides those of `mistakes`.
pub(super) const WORDS: &str = r#"
hooked() { git proof init >/dev/null 2>&1; }
open() { git proof start "try it" --session-id "$1" >/dev/null; }
explain() { open "$1"; edit "$1"; commit "$1"; git proof done "done" >/dev/null; }
remote() { git init -q --bare --initial-branch=main "$1"; }
shared() { remote ../remote; git remote add origin ../remote; }
key() { ssh-keygen -q -t ed25519 -N '' -C '' -f ../key; git config gpg.format ssh; git config user.signingkey ../key.pub; }
sealed() { hooked; for name in "$@"; do explain "$name"; git proof seal >/dev/null; done; }
cold() { sealed one two; git config proof.warmRounds 1; git proof retain >/dev/null; rm -rf .git/proof/archive; }
rules() { mkdir -p .proof; printf "$1" >.proof/policy.toml; git config proof.rules main; }
copy() { git clone -q --bare . ../remote; git push -q ../remote 'refs/proof/*:refs/proof/*' 'refs/notes/proof:refs/notes/proof'; }
"#;

/// The story of a step. A kind without one does not compile.
#[allow(clippy::too_many_lines)] // one match, so that the compiler finds a kind without a story
pub(super) const fn story(kind: StepKind) -> Story {
    match kind {
        StepKind::Anchor => mends(
            r#"
            hooked; open s; edit a; commit A; mkdir -p .git/refs/notes; touch .git/refs/notes/proof.lock
            export GIT_PROOF_PATIENCE=10; git proof done "done""#,
            "rm .git/refs/notes/proof.lock; git proof anchor --session s && git proof verify",
        ),
        StepKind::Attest => shows(r#"open s; git proof attest '{"observed":{}}'"#),
        StepKind::Backup => mends("open s; echo x >text; git proof import text", "git proof import FILE"),
        StepKind::Check => shows("cold; git proof doctor"),
        StepKind::Cover => mends("begin; edit a; commit A; git proof verify", "git proof verify"),
        StepKind::Decide => mends("open s; git proof decide </dev/null", "git proof log | grep chosen"),
        StepKind::Demo => shows("mkdir d; edit d/a; export TMPDIR=$HOME; git proof demo d"),
        StepKind::DoctorFix => mends(
            "
            hooked; open s; chmod -x .git/hooks/post-commit; edit a; commit A 2>/dev/null
            chmod +x .git/hooks/post-commit; git proof doctor",
            "git proof doctor --json | grep -v 'not finished'",
        ),
        StepKind::Done => mends("open s; git proof finalize", "git proof root"),
        StepKind::DoneHere => mends("hooked; open s; edit a; commit A; git proof status", "git proof root"),
        StepKind::End => shows("hooked; edit a; commit A; open s; git proof seal"),
        StepKind::Finalize => {
            mends(r#"open s; git proof record reflection "done" >/dev/null; git proof root"#, "git proof root")
        }
        StepKind::FinalizeHere => mends(
            r#"hooked; open s; edit a; commit A; git proof record reflection "done" >/dev/null; git proof status"#,
            "git proof verify",
        ),
        StepKind::GateProofs => shows("sealed one; copy; git proof accept ../remote --digest x"),
        StepKind::GitBranches => shows("edit a; git add a; export GIT_EDITOR='echo A >'; git proof verify"),
        StepKind::GitCommit => {
            mends("edit a; git add a; export GIT_EDITOR='echo A >'; git proof verify", "git proof verify")
        }
        StepKind::GitConfig => mends("open s; git config proof.warmDays soon; git proof retain", "git proof retain"),
        StepKind::GitConfigKey => mends(
            r"
            hooked; explain s; mkdir -p ~/.ssh; ssh-keygen -q -t ed25519 -N '' -C '' -f ~/.ssh/id_ed25519; git proof sign",
            "git proof sign",
        ),
        StepKind::GitConfigRemove => mends(
            "hooked; git config notes.rewriteRef refs/notes/proof; git proof doctor",
            "git proof doctor | grep rewriteRef | grep ok",
        ),
        StepKind::GitConfigSafe => mends(
            "
            chown 12345 . .git || exit 77
            export GIT_CONFIG_GLOBAL=$HOME/settings; git proof verify",
            "git proof init",
        ),
        StepKind::GitConfigShow => shows("edit a; commit A; git config proof.rules nowhere; git proof verify"),
        StepKind::GitConfigSigning => shows(
            r#"
            hooked; key; explain s; printf '#!/bin/sh\nexit 1\n' >../signs; chmod +x ../signs
            git config gpg.ssh.program "$PWD/../signs"; git proof sign"#,
        ),
        StepKind::GitConfigUnset => {
            mends("open s; git config proof.archive config; git proof retain", "git proof retain")
        }
        StepKind::GitFetch => shows("shared; edit a; commit A; git push -q origin main; git proof verify a..b"),
        StepKind::GitFetchRef => mends(
            "
            hooked; explain s; copy; git clone -q ../remote ../clone; cd ../clone
            git fetch -q origin refs/notes/proof:refs/notes/proof; git proof verify --json",
            "git proof verify",
        ),
        StepKind::GitFetchRefetch => shows(
            "
            hooked; explain s; copy; tree=$(git rev-parse HEAD^{tree}); git remote add origin ../remote
            rm .git/objects/$(echo $tree | sed 's,^..,&/,'); git proof anchor",
        ),
        StepKind::GitFetchUnshallow => mends(
            r#"
            hooked; edit a; commit A; explain s; copy; git clone -q --depth 1 "file://$PWD/../remote" ../clone; cd ../clone
            git proof sync >/dev/null; git proof verify --json HEAD"#,
            "git proof verify",
        ),
        StepKind::GitFetchUnshallowRef => mends(
            r#"
            sealed one two; copy; git clone -q "file://$PWD/../remote" ../clone; cd ../clone
            git fetch -q --depth 1 origin refs/proof/rounds:refs/proof/rounds; git proof rounds"#,
            "! git proof rounds | grep OBJECT_MISSING",
        ),
        StepKind::GitFsck => shows(
            "hooked; open s; edit a; commit A; mkdir -p .git/refs/proof/evidence/x; touch .git/refs/proof/evidence/x/y.lock; git proof done x",
        ),
        StepKind::GitInit => mends("cd $HOME; git proof log", "git proof init"),
        StepKind::GitLogOneline => shows("edit a; commit A; git proof verify nowhere"),
        StepKind::GitLogRef => shows(
            r#"
            sealed one two three; tip=$(git rev-parse refs/proof/evidence); tab=$(printf '\t')
            all=$(git ls-tree -r $tip | sed "s,$tab../,$tab," | git mktree)
            tree=$(git ls-tree $tip | sed "s/tree [0-9a-f]*/tree $all/" | git mktree)
            git update-ref refs/proof/evidence $(git commit-tree -p $tip -m x $tree); git proof rounds --json"#,
        ),
        StepKind::GitNotesShow => shows(
            r#"
            hooked; open s; edit a; commit A; seq 100000 >../lines; git notes --ref=proof add -F ../lines
            git proof done "done""#,
        ),
        StepKind::GitPush => mends(
            "
            shared; hooked; explain s; git push -q -u origin main; git checkout -q -b topic; explain one; explain two
            git checkout -q main; git merge -q --squash topic; git commit -qm both; git branch -qD topic
            git proof verify --json",
            "git proof verify",
        ),
        StepKind::GitPushDelete => mends(
            r"
            shared; remote ../other; git remote add other ../other; hooked; explain s; git proof sync >/dev/null
            printf '#!/bin/sh\nexit 1\n' >../remote/hooks/update; chmod +x ../remote/hooks/update
            git proof sync --move-to other 2>../said || true; rm ../remote/hooks/update; cat ../said",
            "test -z \"$(git ls-remote origin 'refs/proof/*')\"",
        ),
        StepKind::GitRemoteAdd => mends("edit a; commit A; remote URL; git proof sync", "git proof sync"),
        StepKind::GitRemotes => shows("shared; edit a; commit A; git proof sync elsewhere"),
        StepKind::GitWorktreeRepair => mends(
            "
            edit a; commit A; git worktree add -q ../linked -b side; mv ../place ../moved; cd ../linked
            git proof log || true; cd ../moved",
            "cd ../linked && git proof init",
        ),
        StepKind::Help => shows("git proof man nonsense"),
        StepKind::ImportRefs => mends(
            r#"
            begin; open s; git proof decide "chose a journal" >/dev/null; edit b; commit B; git proof done "done" >/dev/null
            git proof sync >/dev/null; git clone -q ../remote ../clone; cd ../clone; git proof search journal"#,
            "git proof search journal | grep chose",
        ),
        StepKind::Init => mends("git proof doctor", "git proof doctor"),
        StepKind::InitAgent => mends("hooked; echo '{}' >.mcp.json; git proof doctor", "grep git-proof .mcp.json"),
        StepKind::InitPolicy => mends("git proof policy check", "git proof policy check"),
        StepKind::Log => shows("edit a; commit A; open s; git proof show nothing"),
        StepKind::LogAll => shows("open s; git proof log --session t"),
        StepKind::LogHead => shows("edit a; commit A; git proof log"),
        StepKind::LogOf => shows("open s; git proof record plan x --parent p"),
        StepKind::MakeExecutable => {
            mends("hooked; chmod -x .git/hooks/post-commit; git proof doctor", "git proof init")
        }
        StepKind::MemoryList => shows("open s; git proof memory drop 7"),
        StepKind::MemoryPack => mends(
            "open s; git proof memory put --text x >/dev/null; git proof memory prove --text x",
            "git proof memory prove --text x",
        ),
        StepKind::MemoryPut => mends("open s; git proof memory pack", "git proof memory pack"),
        StepKind::Option => mends(
            "sealed one; asked='git proof retain --freeze one'; export asked; $asked",
            "git proof check --session one",
        ),
        StepKind::PolicyCheck => shows(r"rules '[proof]\nrootd = true\n'; commit A; git proof verify --rules HEAD"),
        StepKind::Private => shows(
            r#"
            open s; asked="git proof record plan ghp_16C7e42F292c6912E7710c838347Ae178B4a"; export asked; $asked"#,
        ),
        StepKind::RecordFile => mends("open s; echo text >FILE; git proof record plan", "git proof log | grep text"),
        StepKind::RecordReflection => altered(
            r#"open s; git proof record reflection "so" >/dev/null"#,
            "UPDATE thought_records SET private = 1",
            "git proof finalize",
        ),
        StepKind::RemoveLock => mends(
            "hooked; mkdir -p .git/refs/notes; touch .git/refs/notes/proof.lock; git proof doctor",
            "test ! -e .git/refs/notes/proof.lock",
        ),
        StepKind::ReplaceLink => mends(
            "open s; mv .git/proof/store.db ../kept; ln -s ../../../kept .git/proof/store.db; git proof log",
            "git proof log",
        ),
        StepKind::Report => shows("hooked; explain s; git proof report --markdown HEAD"),
        StepKind::Retain => shows(
            r#"
            hooked; open one; git proof record analysis "x" --private --json >../record; edit a; commit A
            git proof done "done" >/dev/null; git proof seal >/dev/null; git proof retain --freeze one --yes >/dev/null
            git proof disclose $(sed 's/.*"id":"\([^"]*\)".*/\1/' ../record)"#,
        ),
        StepKind::RetainFreeze => shows("cold; git proof log --session one"),
        StepKind::Root => shows("hooked; explain s; echo x >proof; git proof check-proof proof --root abc --count 1"),
        StepKind::Rounds => {
            shows("sealed one two; git update-ref refs/proof/rounds refs/proof/rounds~1; git proof seal")
        }
        StepKind::RoundsAccept => mends(
            "
            shared; sealed one two; git proof sync >/dev/null; git -C ../remote update-ref refs/proof/rounds refs/proof/rounds~1
            git proof sync --fetch-only",
            "git proof sync",
        ),
        StepKind::RoundsShow => shows("sealed one; git proof prove --round --session one --root abc"),
        StepKind::Seal => mends("hooked; explain s; git proof rounds show 7", "git proof rounds show 1"),
        StepKind::SealDefer => mends("hooked; explain s; open t; git proof seal", "git proof rounds show 1"),
        StepKind::SealSign => mends(
            r#"
            hooked; key; rules '[proof_grade]\nrequire = "all"\n[proof]\nsealed = true\n'
            printf 'ada@example.org %s\n' "$(cat ../key.pub)" >.proof/allowed_signers; explain s; git proof verify"#,
            "git proof rounds show 1",
        ),
        StepKind::Search => shows("open s; git proof search ''"),
        StepKind::Show => shows("edit main; commit A; git proof why main"),
        StepKind::Sign => mends(
            r#"
            hooked; key; rules '[proof_grade]\nrequire = "all"\n[proof]\nsignatures = 1\n'
            printf 'ada@example.org %s\n' "$(cat ../key.pub)" >.proof/allowed_signers; explain s; git proof verify"#,
            "git proof verify",
        ),
        StepKind::SignSession => mends(
            r#"
            hooked; key; explain s; git proof start other >/dev/null; git proof cover HEAD --reflection "so" >/dev/null
            rm -rf .git/proof; git proof sign"#,
            "git proof verify",
        ),
        StepKind::SshKeygen => mends(
            "sealed one; git config proof.origin example.org/proofs; git proof rounds checkpoint",
            "git proof rounds checkpoint --key PATH",
        ),
        StepKind::Start => mends("git proof log", "git proof log"),
        StepKind::StartAnew => mends(
            r#"open s; git proof record plan "so" >/dev/null; git proof end >/dev/null; git proof finalize"#,
            "git proof log",
        ),
        StepKind::StartNext => mends("open s; git proof record plan x >/dev/null; git proof end | sed 's/To go on in a new session/hint/'", "git proof log"),
        StepKind::Sync => mends(
            "
            shared; hooked; explain s; git push -q origin main; git proof sync >/dev/null
            git update-ref -d refs/proof/evidence; rm -r .git/proof; git proof verify --json",
            "git proof verify",
        ),
        StepKind::SyncFetchOnly => {
            mends("begin; git clone -q ../remote ../clone; cd ../clone; git proof verify", "git proof verify")
        }
        StepKind::SyncWith => shows("edit a; commit A; remote REMOTE; git proof sync"),
        StepKind::Trail => shows(
            r#"
            open s; git proof record plan "so" --json >../record; edit a; commit A
            id=$(sed 's/.*"id":"\([^"]*\)".*/\1/' ../record); git branch $id; git proof show $id"#,
        ),
        StepKind::Uninstall => mends(
            "git proof init --agent claude-code >/dev/null; git proof init --uninstall",
            "! grep git-proof .mcp.json",
        ),
        StepKind::UninstallAgentsMd => mends(
            "git proof init --agents-md >/dev/null; git proof init --uninstall",
            "test ! -e AGENTS.md",
        ),
        StepKind::Usage => shows("git proof --json recrod"),
        StepKind::Verify => shows("edit a; commit A; open s; git proof sign"),
        StepKind::Why => shows("mkdir src; seq 30 >src/main.rs; commit A; git proof why src/main.rs:0"),
    }
}
