//! History: names turned into commits, and ranges.

use std::collections::HashSet;
use std::path::Path;

use super::open::Git;
use crate::error::{Code, Error, Result};
use crate::hint::{Step, hint};
use crate::proof::digest::CommitId;

/// Most commits that are walked here: git knows ways to walk fast through long histories.
const LONGEST_LINE: usize = 64;

impl Git {
    /// The commit that a name means, as git reads it.
    pub fn resolve(&self, revision: &str) -> Result<CommitId> {
        let unknown = || {
            Error::new(Code::CommitNotFound, format!("{revision:?} is not a commit of this repository"))
                .hint(hint!(Step::GitLogOneline, " lists commits"; Step::GitFetch, " brings those of others"))
        };
        if let Some(id) = CommitId::parse(revision) {
            return if self.has(&id.0) { Ok(id) } else { Err(unknown()) };
        }
        if revision == "HEAD" {
            return self.tip("HEAD")?.ok_or_else(|| {
                Error::new(Code::CommitNotFound, "there is no commit here yet: HEAD is a branch without any").hint(
                    hint!(Step::GitCommit, " makes the first one"; Step::GitBranches, " lists branches that have some"),
                )
            });
        }
        self.must_name_one_thing(revision)?;
        if let Some(id) = self.resolve_here(revision) {
            return Ok(id);
        }
        // Everything behind `:/` is the text that git looks for, and what it finds is a commit.
        let peeled = if revision.starts_with(":/") { revision.to_owned() } else { format!("{revision}^{{commit}}") };
        let mut command = self.plumbing(["rev-parse", "--verify", "--quiet", "--end-of-options", &peeled]);
        match self.text_of(&mut command)?.and_then(|text| CommitId::parse(text.trim_end())) {
            Some(id) => Ok(id),
            None => Err(self.unreadable_name(revision)?.unwrap_or_else(unknown)),
        }
    }

    /// Refuses a name that means two commits, such as a tag `origin/main` beside the branch: anyone who may push a tag
    /// could otherwise decide which of them is judged. `HEAD`, `FETCH_HEAD` and the like are files of this clone, which
    /// nobody can push.
    fn must_name_one_thing(&self, revision: &str) -> Result<()> {
        let name = &revision[..revision.find(['~', '^', ':']).unwrap_or(revision.len())];
        let name = name.split("@{").next().unwrap_or(name);
        let stands = |folder: &Path| folder.join(name).is_file();
        if name.is_empty() || name == "@" || stands(&self.place.git_dir) || stands(&self.place.common_dir) {
            return Ok(());
        }
        let mut found: Vec<(String, CommitId)> = Vec::new();
        // In git's order.
        for (before, after) in [
            ("", ""),
            ("refs/", ""),
            ("refs/tags/", ""),
            ("refs/heads/", ""),
            ("refs/remotes/", ""),
            ("refs/remotes/", "/HEAD"),
        ] {
            let full = format!("{before}{name}{after}");
            if full.starts_with("refs/")
                && let Ok(Some(tip)) = self.tip(&full)
            {
                found.push((full, tip));
            }
        }
        // The beginning of an id, alone or as `git describe` writes it: v1.0-2-g1a2b3c4. A whole id alone is always the id.
        let digits = name.rsplit_once("-g").map_or(name, |(_, digits)| digits);
        let is_short = (4..=self.hex_length()).contains(&digits.len())
            && (digits.len() < name.len() || digits.len() < self.hex_length())
            && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        if is_short && !found.is_empty() {
            // The ids that begin so; git takes the ref, and a person may have meant the commit.
            let flag = format!("--disambiguate={digits}");
            let ids = self.text_of(&mut self.plumbing(["rev-parse", &flag]))?.unwrap_or_default();
            let ids = ids.lines().filter_map(CommitId::parse).filter(|id| self.commit(id).is_ok());
            found.extend(ids.map(|id| (id.to_string(), id)));
        }
        let mut names: Vec<&str> = Vec::new();
        for (at, (full, tip)) in found.iter().enumerate() {
            if at == 0 || *tip != found[0].1 {
                names.push(full);
            }
        }
        if names.len() < 2 {
            return Ok(());
        }
        Err(Error::new(Code::NameAmbiguous, format!("{name:?} names two things: {}", names.join(" and ")))
            .hint(format!("write the whole name, such as {}", names.last().copied().unwrap_or_default())))
    }

    /// The commit that a branch or tag means, or one a few steps before it, such as `main~10` or `main^2`, without asking git,
    /// which takes as long as judging a few commits. `None` for every other name, and where git may see another history.
    fn resolve_here(&self, revision: &str) -> Option<CommitId> {
        let plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '/' | '.' | '_' | '-');
        let (name, mut steps) = revision.split_at(revision.find(['~', '^']).unwrap_or(revision.len()));
        let first = name.split('/').next().unwrap_or_default();
        // Of these, some are a worktree's own.
        let special = ["refs", "bisect", "worktree", "worktrees", "main-worktree", "rewritten"].contains(&first);
        if special || !name.chars().all(plain) || self.refs_by_command || self.is_shallow() {
            return None;
        }
        // Before any branch or tag of that name git takes an id in either case, and `HEAD`, `FETCH_HEAD` or whatever else
        // has a file of its own: who may push a tag must not be able to stand in for those.
        let is_id = name.len() == self.hex_length() && name.bytes().all(|byte| byte.is_ascii_hexdigit());
        let stands = |folder: &Path| folder.join(name).symlink_metadata().is_ok();
        if is_id || stands(&self.place.git_dir) || stands(&self.place.common_dir) {
            return None;
        }
        // In git's order.
        let mut tip = None;
        for place in ["refs", "refs/tags", "refs/heads", "refs/remotes"] {
            tip = self.tip(&format!("{place}/{name}")).ok()?;
            if tip.is_some() {
                break;
            }
        }
        let tip = tip?;
        let mut commit = self.commit(&tip).ok()?;
        while let Some(step) = steps.chars().next() {
            let digits = steps[1..].bytes().take_while(u8::is_ascii_digit).count();
            let number = if digits == 0 { 1 } else { steps[1..=digits].parse().ok()? };
            steps = &steps[1 + digits..];
            let (times, parent) = if step == '~' { (number, 1) } else { (1, number) };
            if !matches!(step, '~' | '^') || times > LONGEST_LINE || parent == 0 {
                return None;
            }
            for _ in 0..times {
                commit = self.commit(commit.parents.get(parent - 1)?).ok()?;
            }
        }
        Some(commit.id)
    }

    /// The commits of `base..head`, the newest first, where each has one parent and the last of them leads to `base`: by
    /// their own word, and without asking git. `None` for every other range, and for a long one.
    pub fn line(&self, base: &CommitId, head: &CommitId) -> Option<Vec<CommitId>> {
        let mut line = Vec::new();
        let mut at = *head;
        while at != *base {
            let commit = self.commit(&at).ok()?;
            let [parent] = commit.parents.as_slice() else { return None };
            if line.len() == LONGEST_LINE || self.is_shallow() {
                return None;
            }
            line.push(at);
            at = *parent;
        }
        Some(line)
    }

    /// The commits that arguments as of `git rev-list` select, parents after their children.
    pub fn commits<S: AsRef<str>>(&self, arguments: &[S]) -> Result<Vec<CommitId>> {
        let arguments: Vec<&str> = arguments.iter().map(AsRef::as_ref).collect();
        let mut command = self.plumbing(["rev-list", "--topo-order", "--end-of-options"]);
        let output = self.run(command.args(&arguments))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            if let Some(error) = self.unreadable_range(&arguments, &said)? {
                return Err(error);
            }
            let error = Error::new(Code::CommitNotFound, format!("{} is not a range", arguments.join(" ")))
                .because(fatal(&said))
                .hint(hint!("a range is BASE..HEAD"; Step::GitFetch, " brings what is not here yet"));
            return Err(error);
        }
        Ok(String::from_utf8_lossy(&output.stdout).lines().filter_map(CommitId::parse).collect())
    }

    /// Those of these commits that do not lead to `tip`, or whose way there is cut off in this clone.
    pub fn outside(&self, commits: &[CommitId], tip: &CommitId) -> Result<HashSet<CommitId>> {
        if commits.is_empty() {
            return Ok(HashSet::new());
        }
        let arguments: Vec<String> = commits.iter().map(ToString::to_string).chain([format!("^{tip}")]).collect();
        Ok(self.commits(&arguments)?.into_iter().collect())
    }

    /// The newest commits of HEAD that no remote-tracking branch has, parents after their children.
    pub fn unpushed(&self, most: usize) -> Result<Vec<CommitId>> {
        self.newest(&["--topo-order", "HEAD", "--not", "--remotes"], most)
    }

    /// The newest commits that `git rev-list` has for these arguments.
    pub fn newest(&self, arguments: &[impl AsRef<str>], most: usize) -> Result<Vec<CommitId>> {
        let mut command = self.plumbing(["rev-list", &format!("--max-count={most}")]);
        command.args(arguments.iter().map(AsRef::as_ref)).arg("--");
        self.ids_of(&mut command)
    }

    /// The commits leading to `head` that change a path, parents after their children.
    pub fn commits_touching(&self, head: &CommitId, path: &str) -> Result<Vec<CommitId>> {
        let head = head.to_string();
        let mut command = self.plumbing(["rev-list", "--topo-order", "--full-history", &head, "--", path]);
        self.ids_of(&mut command)
    }

    /// All best common ancestors of two commits, as git finds them.
    pub fn merge_bases(&self, one: &CommitId, two: &CommitId) -> Result<Vec<CommitId>> {
        self.ids_of(&mut self.plumbing(["merge-base", "--all", &one.to_string(), &two.to_string()]))
    }

    /// The best common ancestor of two commits; `None` if they have none, or it is not in this clone.
    pub fn merge_base(&self, one: &CommitId, two: &CommitId) -> Result<Option<CommitId>> {
        let found = self.ids_of(&mut self.plumbing(["merge-base", &one.to_string(), &two.to_string()]))?;
        Ok(found.first().copied())
    }

    /// Whether one commit is the other or an ancestor of it.
    pub fn is_ancestor(&self, ancestor: &CommitId, of: &CommitId) -> Result<bool> {
        if ancestor == of {
            return Ok(true);
        }
        let mut command = self.plumbing(["merge-base", "--is-ancestor", &ancestor.to_string(), &of.to_string()]);
        Ok(self.run(&mut command)?.status.success())
    }

    /// Those of these commits that no ref below a prefix, such as `refs/remotes/origin`, can reach.
    pub fn unreachable_from(&self, prefix: &str, commits: &[CommitId]) -> Result<Vec<CommitId>> {
        if commits.is_empty() {
            return Ok(Vec::new());
        }
        let mut input: Vec<String> = commits.iter().map(ToString::to_string).collect();
        input.extend(self.refs_below(prefix)?.into_iter().map(|(_, tip)| format!("^{tip}")));
        let mut command = self.plumbing(["rev-list", "--ignore-missing", "--stdin"]);
        let output = self.run_with(&mut command, &(input.join("\n") + "\n"))?;
        let text = String::from_utf8_lossy(&output.stdout);
        let unreachable: HashSet<CommitId> = text.lines().filter_map(CommitId::parse).collect();
        Ok(commits.iter().copied().filter(|commit| unreachable.contains(commit) || !self.has(&commit.0)).collect())
    }

    /// The commits whose first parent is `parent`, among those that some commits lead to.
    pub fn children(&self, parent: &CommitId, tips: &[CommitId]) -> Result<Vec<CommitId>> {
        if tips.is_empty() {
            return Ok(Vec::new());
        }
        let mut command = self.plumbing(["rev-list", "--parents", "--ignore-missing"]);
        command.args(tips.iter().map(ToString::to_string)).arg(format!("^{parent}"));
        let first = |line: &str| {
            let mut ids = line.split(' ').map(CommitId::parse);
            ids.next()?.filter(|_| ids.next().flatten() == Some(*parent))
        };
        Ok(self.text_of(&mut command)?.unwrap_or_default().lines().filter_map(first).collect())
    }

    /// The tips of a remote's branches, as far as this clone knows.
    pub fn branches_of(&self, remote: &str) -> Result<Vec<CommitId>> {
        Ok(self.refs_below(&format!("refs/remotes/{remote}"))?.into_iter().map(|(_, tip)| tip).collect())
    }

    /// The refs below a prefix, with the commits that they name.
    pub fn refs_below(&self, prefix: &str) -> Result<Vec<(String, CommitId)>> {
        let format = "--format=%(objectname) %(refname)";
        let text = self.text_of(&mut self.plumbing(["for-each-ref", format, prefix]))?.unwrap_or_default();
        let read = |line: &str| {
            let (id, name) = line.split_once(' ')?;
            Some((name.to_owned(), CommitId::parse(id)?))
        };
        Ok(text.lines().filter_map(read).collect())
    }
}

/// The line in which git says what went wrong; hints and warnings may stand before it.
fn fatal(said: &str) -> &str {
    let mut lines = said.lines();
    lines.clone().find_map(|line| line.strip_prefix("fatal: ")).or_else(|| lines.next()).unwrap_or_default()
}
