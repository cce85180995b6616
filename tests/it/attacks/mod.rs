//! Attacks on real repositories, each with plain git or hand-made bytes, on a commit that a real session explains and
//! that passes before. What counts is the exit code and the stable code of the finding, as a server sees them.

mod binding;
mod crowded;
mod failing;
mod forged;
mod history;
mod hostile;
mod judges;
mod merging;
mod messages;
mod modes;
mod names;
mod notes;
mod overrides;
mod packed;
mod packs;
mod poison;
mod policy;
mod random;
mod ranges;
mod receive;
mod records;
mod replay;
mod same;
mod signers;
mod squash;
mod transplant;
mod vouch;
mod withheld;
mod word;

use std::path::Path;

use git_proof::proof::evidence;
use git_proof::proof::note::Signature;
use serde_json::Value;

use crate::common;
use crate::store::scratch::{Ran, Scratch, text};

/// A policy that asks for everything that an anchor can show without a second person.
const STRICT: &str = "[proof_grade]\nrequire = \"all\"\n[proof]\nrooted = true\n";

/// A repository with a commit that a session of five entries explains: plan, analysis, decision, the commit, reflection.
struct Proven {
    scratch: Scratch,
    /// The commit before it.
    base: String,
    /// The commit that is proven.
    head: String,
    /// The root of its session.
    root: String,
}

/// What `verify` or `gate` answered.
#[derive(Debug)]
struct Judged {
    exit: Option<i32>,
    said: Value,
    err: String,
}

impl Judged {
    /// The codes of the findings of this severity.
    fn codes(&self, severity: &str) -> Vec<&str> {
        let commits = self.said["commits"].as_array().map_or(&[][..], Vec::as_slice);
        let findings = commits.iter().flat_map(|commit| commit["findings"].as_array().unwrap());
        findings.filter(|finding| finding["severity"] == severity).map(|finding| text(finding, "code")).collect()
    }

    #[track_caller]
    fn passes(&self) -> &Self {
        assert_eq!((self.exit, self.said["verdict"].as_str()), (Some(0), Some("pass")), "{self:?}");
        self
    }

    /// It is let through by a person's word, and that is said.
    #[track_caller]
    fn is_vouched(&self) -> &Self {
        assert_eq!((self.exit, self.said["verdict"].as_str()), (Some(0), Some("vouched")), "{self:?}");
        self
    }

    #[track_caller]
    fn fails(&self, code: &str) -> &Self {
        assert_eq!(self.exit, Some(1), "{self:?}");
        assert!(self.codes("error").contains(&code), "{self:?}");
        self
    }

    /// It is turned away, with whatever code.
    #[track_caller]
    fn is_turned_away(&self) -> &Self {
        assert_eq!(self.exit, Some(1), "{self:?}");
        assert!(!self.codes("error").is_empty(), "{self:?}");
        self
    }

    #[track_caller]
    fn unchecked(&self, code: &str) -> &Self {
        assert_eq!(self.exit, Some(3), "{self:?}");
        assert!(self.codes("unchecked").contains(&code), "{self:?}");
        self
    }

    #[track_caller]
    fn warns(&self, code: &str) -> &Self {
        assert_eq!(self.exit, Some(0), "{self:?}");
        assert!(self.codes("warning").contains(&code), "{self:?}");
        self
    }

    /// The command itself could not work, and says so with this code.
    #[track_caller]
    fn refused(&self, code: &str, exit: i32) {
        let error: Value = serde_json::from_str(&self.err).unwrap_or_else(|error| panic!("{error}: {self:?}"));
        assert_eq!((error["error"]["code"].as_str(), self.exit), (Some(code), Some(exit)), "{self:?}");
    }
}

impl From<Ran> for Judged {
    fn from(ran: Ran) -> Self {
        Self { exit: ran.exit, said: serde_json::from_str(&ran.out).unwrap_or_default(), err: ran.err }
    }
}

impl Proven {
    /// With the default policy.
    fn new() -> Self {
        Self::with_files(&[])
    }

    /// With this policy in the base.
    fn with_policy(policy: &str) -> Self {
        Self::with_files(&[(".proof/policy.toml", policy.as_bytes())])
    }

    /// With these files in the base.
    fn with_files(files: &[(&str, &[u8])]) -> Self {
        let scratch = Scratch::new();
        let mut proven = Self { scratch, base: String::new(), head: String::new(), root: String::new() };
        proven.write("a.txt", "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n");
        for (path, content) in files {
            proven.write(path, content);
        }
        proven.base = proven.commit("Begin");
        proven.write("a.txt", "one\ntwo\nthree\nfour\nFIVE\nsix\nseven\neight\nnine\n");
        (proven.head, proven.root) = proven.prove("s", "Shout five\n\nProof-Grade: true");
        proven.gate().passes();
        proven
    }

    /// Commits what is in the worktree, in a session of its own. The answer is the commit, and the session's root.
    #[track_caller]
    fn prove(&self, session: &str, message: &str) -> (String, String) {
        self.scratch.start(session, &[]);
        self.scratch.record("plan", "shout");
        self.scratch.record("analysis", "five is the quietest");
        self.scratch.record("decision", "shout five and nothing else");
        let commit = self.commit(message);
        self.scratch.run(["hook", "post-commit"]).text();
        self.scratch.record("reflection", "five is loud now");
        let root = self.scratch.json(&["finalize"]);
        assert_eq!(root["anchors"][0]["rooted"], true, "{root}");
        (commit, text(&root, "root").to_owned())
    }

    fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.scratch.place.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    /// Commits what is in the worktree.
    #[track_caller]
    fn commit(&self, message: &str) -> String {
        self.scratch.git(["add", "--all"]);
        self.scratch.git(["commit", "--quiet", "--allow-empty", "-m", message]);
        self.tip("HEAD")
    }

    #[track_caller]
    fn tip(&self, name: &str) -> String {
        self.git(&["rev-parse", name])
    }

    /// Runs git; the answer is what it prints, without the newline at the end.
    #[track_caller]
    fn git(&self, arguments: &[&str]) -> String {
        self.scratch.git(arguments).trim_end().to_owned()
    }

    /// Runs git with some input.
    #[track_caller]
    fn git_with(&self, arguments: &[&str], input: impl AsRef<[u8]>) -> String {
        let ran = common::run_with_input(self.scratch.command("git").args(arguments), input.as_ref());
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        ran.stdout.trim_end().to_owned()
    }

    #[track_caller]
    fn blob(&self, content: impl AsRef<[u8]>) -> String {
        self.git_with(&["hash-object", "-w", "--stdin"], content)
    }

    /// Judges what HEAD has more than the base.
    fn gate(&self) -> Judged {
        self.judge(&["gate", "--base", &self.base, "--head", "HEAD"])
    }

    fn judge(&self, arguments: &[&str]) -> Judged {
        self.scratch.run(["--json"].iter().chain(arguments)).into()
    }

    fn note(&self, commit: &str) -> String {
        self.git(&["notes", "--ref=proof", "show", commit])
    }

    /// Replaces a note, byte for byte.
    fn set_note(&self, commit: &str, content: impl AsRef<[u8]>) {
        let blob = self.blob(content);
        self.git(&["notes", "--ref=proof", "add", "--force", "-C", &blob, commit]);
    }

    /// The anchor of the proven commit, with some fields set to other values.
    fn anchor_with(&self, fields: &[(&str, Value)]) -> String {
        let mut line: Value = serde_json::from_str(&self.note(&self.head)).unwrap();
        for (field, value) in fields {
            line["anchor"][*field] = value.clone();
        }
        line.to_string()
    }

    fn evidence_path(root: &str) -> String {
        format!("{}/{root}.jsonl", &root[..2])
    }

    /// The lines of the session's evidence.
    fn evidence(&self) -> Vec<String> {
        let name = format!("refs/proof/evidence:{}", Self::evidence_path(&self.root));
        self.git(&["cat-file", "blob", &name]).lines().map(str::to_owned).collect()
    }

    /// Puts lines in the place of the session's evidence.
    fn set_evidence<T: AsRef<str>>(&self, lines: &[T]) {
        let text: String = lines.iter().map(|line| format!("{}\n", line.as_ref())).collect();
        self.put("refs/proof/evidence", &Self::evidence_path(&self.root), "100644", &self.blob(text));
    }

    /// Puts an object at a path of a ref's tree, in a new commit on top.
    #[track_caller]
    fn put(&self, name: &str, path: &str, mode: &str, id: &str) {
        let index = self.scratch.around().join("index");
        let git = |arguments: &[&str]| {
            let ran: Ran =
                self.scratch.command("git").env("GIT_INDEX_FILE", &index).args(arguments).output().unwrap().into();
            ran.text().trim_end().to_owned()
        };
        git(&["read-tree", "--empty"]);
        let there = self.git(&["for-each-ref", "--format=%(objectname)", name]);
        if !there.is_empty() {
            git(&["read-tree", name]);
        }
        git(&["update-index", "--add", "--replace", "--cacheinfo", &format!("{mode},{id},{path}")]);
        self.set_tree(name, &git(&["write-tree"]));
        let _ = std::fs::remove_file(index);
    }

    /// Moves a ref to a new commit of this tree, on top of where it is.
    fn set_tree(&self, name: &str, tree: &str) {
        let there = self.git(&["for-each-ref", "--format=%(objectname)", name]);
        let mut arguments = vec!["commit-tree", tree, "-m", "put"];
        arguments.extend(if there.is_empty() { vec![] } else { vec!["-p", &there] });
        let commit = self.git(&arguments);
        self.git(&["update-ref", name, &commit]);
    }

    /// Publishes a session that was never recorded, and answers the fields of an anchor that names it.
    fn fabricate(&self, lines: &[String]) -> Vec<(&'static str, Value)> {
        let file: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let found = evidence::verify(file.as_bytes()).unwrap();
        let root = found.root.to_string();
        self.put("refs/proof/evidence", &Self::evidence_path(&root), "100644", &self.blob(file));
        vec![
            ("root", root.into()),
            ("count", found.count.into()),
            ("genesis", found.genesis.to_string().into()),
            ("head", found.head.to_string().into()),
            ("session_id", found.opening.session_id.to_string().into()),
        ]
    }

    /// A commit of any tree on any parents, by plumbing.
    #[track_caller]
    fn made(&self, tree: &str, parents: &[&str], message: &str) -> String {
        let parents = parents.iter().flat_map(|parent| ["-p", *parent]);
        let arguments: Vec<&str> = ["commit-tree", tree, "-m", message].into_iter().chain(parents).collect();
        self.git(&arguments)
    }

    /// The tree of a commit with other content at some paths.
    #[track_caller]
    fn tree_with(&self, commit: &str, files: &[(&str, &str)]) -> String {
        let index = self.scratch.around().join("tree-index");
        let git = |arguments: &[&str]| {
            let ran: Ran =
                self.scratch.command("git").env("GIT_INDEX_FILE", &index).args(arguments).output().unwrap().into();
            ran.text().trim_end().to_owned()
        };
        git(&["read-tree", commit]);
        for (path, content) in files {
            let blob = self.blob(content);
            git(&["update-index", "--add", "--replace", "--cacheinfo", &format!("100644,{blob},{path}")]);
        }
        let tree = git(&["write-tree"]);
        let _ = std::fs::remove_file(index);
        tree
    }

    /// The change id of a commit, by the recipe of the format.
    #[track_caller]
    fn change_id(&self, commit: &str) -> String {
        let script = "git diff-tree -p -r --root --no-commit-id --full-index --no-renames --no-ext-diff --no-textconv \
            --no-color --diff-algorithm=myers --indent-heuristic -U3 --src-prefix=a/ --dst-prefix=b/ \"$1\" \
            | awk '/^index /{h=$0;next} h!=\"\"{if(/^Binary files /)print h;h=\"\"} {sub(/^@@ .*/,\"@@\")} 1' | sha256sum";
        let ran: Ran = self.scratch.command("sh").args(["-c", script, "sh", commit]).output().unwrap().into();
        ran.text()[..64].to_owned()
    }

    /// Adds lines to the index of changes: the change of this commit is said to have been seen as these ranges.
    #[track_caller]
    fn sight(&self, commit: &str, ranges: &[[&str; 2]]) {
        let change = self.change_id(commit);
        let path = format!("{}/{change}", &change[..2]);
        let there = self.scratch.command("git").args(["show", &format!("refs/proof/changes:{path}")]).output().unwrap();
        let there = if there.status.success() { String::from_utf8(there.stdout).unwrap() } else { String::new() };
        let new = ranges.iter().map(|[base, head]| format!("{{\"base\":\"{base}\",\"head\":\"{head}\"}}"));
        let mut lines: Vec<String> = there.lines().map(str::to_owned).chain(new).collect();
        lines.sort();
        lines.dedup();
        self.put("refs/proof/changes", &path, "100644", &self.blob(lines.join("\n") + "\n"));
    }

    /// Judges what one commit has more than another.
    fn gate_of(&self, base: &str, head: &str) -> Judged {
        self.judge(&["gate", "--base", base, "--head", head])
    }

    /// The file of a loose object.
    fn object_file(&self, id: &str) -> std::path::PathBuf {
        self.scratch.place.join(".git/objects").join(&id[..2]).join(&id[2..])
    }
}

/// Copies a file over another, which git keeps read-only.
/// A key that git signs with from now on: its public half.
fn signing_key(proven: &Proven) -> String {
    let file = proven.scratch.around().join("ada");
    let mut keygen = common::command("ssh-keygen", proven.scratch.around());
    let made = common::run(keygen.args(["-q", "-N", "", "-C", "", "-t", "ed25519", "-f", file.to_str().unwrap()]));
    assert_eq!(made.code, Some(0), "{}", made.stderr);
    proven.git(&["config", "gpg.format", "ssh"]);
    proven.git(&["config", "user.signingkey", file.to_str().unwrap()]);
    std::fs::read_to_string(file.with_extension("pub")).unwrap().trim().to_owned()
}

/// Lines with signatures of a seal that name the key of the first one, which did not make them.
fn forged_seals(proven: &Proven, seal: &str, count: u16) -> String {
    let note = proven.note(seal);
    let line: Value = serde_json::from_str(note.lines().next().unwrap()).unwrap();
    let signature = Signature::from_base64(line["signature"].as_str().unwrap()).unwrap();
    let forge = |number: u16| {
        let (mut line, mut bytes) = (line.clone(), signature.0.clone());
        let end = bytes.len() - 8;
        bytes[end..end + 2].copy_from_slice(&number.to_be_bytes());
        bytes[end + 2] ^= 1;
        line["signature"] = Signature(bytes).to_base64().into();
        line.to_string() + "\n"
    };
    (0..count).map(forge).collect()
}

fn copy_over(from: &Path, to: &Path) {
    let _ = std::fs::remove_file(to);
    std::fs::create_dir_all(to.parent().unwrap()).unwrap();
    std::fs::copy(from, to).unwrap();
}
