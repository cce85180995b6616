//! Rule 1 against git itself: a commit may replace another one only if git would have made it. What git makes without a
//! conflict is accepted, and nothing else is.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;

use git_proof::git::{Allowance, Containment, Git};
use git_proof::proof::digest::{CommitId, ObjectId, TreeId};
use git_proof::proof::merge::{Mode, PathChange};

use super::pack::{Item, Pack};
use super::random::{Lines, Random, asked, edit};
use super::scratch::{FILE, PROGRAM, Scratch, judging, output};
use crate::common::command;

/// Files by their paths: whether each is a program, and its lines.
type Files = BTreeMap<String, (bool, Vec<Vec<u8>>)>;

/// How many commits of others there are after the place where the topics begin.
const OTHERS: usize = 50;

/// A project: what others do on its main branch, and what topics do beside them.
struct Project {
    /// The first commit, then those of others.
    main: Vec<CommitId>,
    /// The commits of each topic, the one that it starts from first.
    topics: Vec<Vec<CommitId>>,
}

/// Random projects, all of them in one repository.
struct Projects {
    random: Random,
    stream: Vec<u8>,
    commits: usize,
}

impl Projects {
    fn commit(&mut self, parent: Option<usize>, files: &Files) -> usize {
        self.commits += 1;
        let number = self.commits;
        // Every commit starts a branch of its own: no branch has to be moved by hand.
        write!(self.stream, "commit refs/made/{number}\nmark :{number}\ncommitter n <e> {number} +0000\n").unwrap();
        write!(self.stream, "data {}\nnumber {number}\n", format!("number {number}").len()).unwrap();
        if let Some(parent) = parent {
            writeln!(self.stream, "from :{parent}").unwrap();
        }
        writeln!(self.stream, "deleteall").unwrap();
        for (path, (program, lines)) in files {
            let text = [lines.join(&b"\n"[..]), b"\n".to_vec()].concat();
            let mode = if *program { PROGRAM } else { FILE };
            write!(self.stream, "M {mode} inline {path}\ndata {}\n", text.len()).unwrap();
            self.stream.extend([&text[..], b"\n"].concat());
        }
        number
    }

    fn kind(&mut self) -> Lines {
        self.random.of(&[Lines::Words(300), Lines::Words(2000), Lines::Unique(5), Lines::Unique(30), Lines::Program])
    }

    fn files(&mut self) -> Files {
        let mut files = Files::new();
        for number in 0..8 {
            let kind = self.kind();
            let count = 20 + self.random.below(100);
            let path = format!("{}f{number}", self.random.of(&["", "a/", "b/", "a/b/"]));
            files.insert(path, (false, kind.lines(&mut self.random, count)));
        }
        files
    }

    /// Changes a file or two.
    fn change(&mut self, files: &mut Files) {
        for _ in 0..=self.random.below(2) {
            let number = self.random.below(files.len());
            let Some(path) = files.keys().nth(number).cloned() else { continue };
            match self.random.below(40) {
                0 => drop(files.remove(&path)),
                1 => {
                    let lines = Lines::Unique(0).lines(&mut self.random, 10);
                    files.insert(format!("new/{:x}", self.random.next()), (false, lines));
                }
                2 => files.get_mut(&path).unwrap().0 ^= true,
                _ => {
                    let kind = self.random.of(&[Lines::Words(2000), Lines::Unique(5), Lines::Program]);
                    edit(&mut self.random, &mut files.get_mut(&path).unwrap().1, kind, 3);
                }
            }
        }
    }

    /// A branch of so many commits, with the one that it starts from.
    fn branch(&mut self, from: usize, files: &Files, count: usize) -> Vec<(usize, Files)> {
        let mut branch = vec![(from, files.clone())];
        while branch.len() <= count {
            let (parent, mut files) = branch.last().unwrap().clone();
            self.change(&mut files);
            if files != branch.last().unwrap().1 {
                branch.push((self.commit(Some(parent), &files), files));
            }
        }
        branch
    }

    fn project(&mut self, topics: usize) -> [Vec<Vec<usize>>; 2] {
        let files = self.files();
        let first = self.commit(None, &files);
        let numbers = |branch: Vec<(usize, Files)>| branch.into_iter().map(|(number, _)| number).collect();
        let main = numbers(self.branch(first, &files, OTHERS));
        let topics = (0..topics).map(|_| {
            let count = 1 + self.random.below(5);
            numbers(self.branch(first, &files, count))
        });
        let topics = topics.collect();
        [vec![main], topics]
    }

    fn make(seed: u64, projects: usize, topics: usize) -> (Scratch, Vec<Project>) {
        let scratch = Scratch::new();
        let mut made = Self { random: Random(seed), stream: Vec::new(), commits: 0 };
        let projects: Vec<_> = (0..projects).map(|_| made.project(topics)).collect();
        let marks = scratch.git_dir().join("marks");
        let option = format!("--export-marks={}", marks.display());
        output(command("git", scratch.path()).args(["fast-import", "--quiet", &option]), &made.stream);
        let ids: BTreeMap<usize, CommitId> = std::fs::read_to_string(marks)
            .unwrap()
            .lines()
            .map(|line| line.trim_start_matches(':').split_once(' ').unwrap())
            .map(|(mark, id)| (mark.parse().unwrap(), CommitId::parse(id).unwrap()))
            .collect();
        let branch = |numbers: Vec<usize>| numbers.iter().map(|number| ids[number]).collect();
        let projects = projects.into_iter().map(|[mut main, topics]| Project {
            main: branch(main.remove(0)),
            topics: topics.into_iter().map(branch).collect(),
        });
        let projects = projects.collect();
        (scratch, projects)
    }
}

/// A change, and where it is to stand.
struct Move {
    base: CommitId,
    head: CommitId,
    onto: CommitId,
}

/// The tree that git merges to for each; `None` where there is a conflict.
fn merged_by_git(scratch: &Scratch, moves: &[Move]) -> Vec<Option<TreeId>> {
    let list: String = moves.iter().fold(String::new(), |mut list, Move { base, head, onto }| {
        writeln!(list, "{base} -- {onto} {head}").unwrap();
        list
    });
    let mut git = judging(scratch.path());
    git.args(["merge-tree", "--stdin", "-z", "--name-only", "--no-messages"]);
    let printed = output(&mut git, list.as_bytes());
    let mut words = printed.split(|byte| *byte == 0);
    let mut merged = Vec::new();
    for _ in moves {
        let (clean, tree) = (words.next().unwrap(), words.next().unwrap());
        let tree = TreeId::parse(std::str::from_utf8(tree).unwrap()).unwrap();
        merged.push((clean == b"1").then_some(tree));
        // The paths in conflict.
        assert!(words.by_ref().any(<[u8]>::is_empty));
    }
    assert_eq!(words.collect::<Vec<_>>(), [b""]);
    merged
}

/// Edits trees after git has made them.
struct Hand<'a> {
    git: &'a Git,
    random: Random,
    pack: Pack,
}

impl<'a> Hand<'a> {
    fn new(git: &'a Git, seed: u64) -> Self {
        Self { git, random: Random(seed), pack: Pack::new(false) }
    }

    fn lines(&self, id: &ObjectId) -> Vec<Vec<u8>> {
        let text = self.git.blob(id, usize::MAX).unwrap();
        text.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect()
    }

    fn blob(&mut self, lines: &[Vec<u8>]) -> ObjectId {
        let made = self.pack.blob(&lines.concat());
        self.pack.id(made).0
    }

    /// A tree with another entry at a path, or with none.
    fn put(&mut self, tree: Option<&TreeId>, path: &[u8], entry: Option<(Mode, ObjectId)>) -> Option<TreeId> {
        let entries = tree.map(|tree| self.git.tree(tree).unwrap()).unwrap_or_default();
        let item = |mode: u32, name: &[u8], id: &ObjectId| Item {
            mode: format!("{mode:o}"),
            name: name.to_vec(),
            id: id.as_bytes().to_vec(),
        };
        let (name, below) = match path.iter().position(|byte| *byte == b'/') {
            Some(slash) => (&path[..slash], Some(&path[slash + 1..])),
            None => (path, None),
        };
        let mut items: Vec<Item> = entries
            .iter()
            .filter(|entry| entry.name != name)
            .map(|entry| item(entry.mode, &entry.name, &entry.id))
            .collect();
        if let Some(below) = below {
            let inner =
                entries.iter().find(|entry| entry.name == name && entry.is_tree()).map(|entry| TreeId(entry.id));
            items.extend(self.put(inner.as_ref(), below, entry).map(|inner| item(0o40000, name, &inner.0)));
        } else {
            items.extend(entry.map(|(mode, id)| item(mode.bits(), name, &id)));
        }
        items.sort_by_key(|item| [&item.name[..], if item.is_tree() { b"/" } else { b"" }].concat());
        let made = self.pack.tree(&items);
        Some(self.pack.id(made)).filter(|_| !items.is_empty())
    }

    /// The same tree with one more thing done to it, by a random hand.
    fn edit(&mut self, ours: &TreeId, merged: &TreeId, change: &[PathChange]) -> (&'static str, TreeId) {
        let made = self.git.diff(Some(ours), Some(merged)).unwrap();
        let all = self.git.diff(None, Some(merged)).unwrap();
        loop {
            let (any, touched) = (&all[self.random.below(all.len())], &made[self.random.below(made.len())]);
            let Some(there) = any.new else { continue };
            let (what, path, entry) = match self.random.below(8) {
                kind @ (0 | 1) => {
                    // Another line, in any file or in one that is touched anyway.
                    let (what, path) = if kind == 0 { ("a line", any) } else { ("a line of a touched file", touched) };
                    let Some(there) = path.new else { continue };
                    let mut lines = self.lines(&there.id);
                    let at = self.random.below(lines.len() + 1);
                    let line = format!("edited {}\n", self.random.below(1000)).into_bytes();
                    match self.random.below(3) {
                        0 => lines.insert(at, line),
                        1 if at < lines.len() => drop(lines.remove(at)),
                        _ if at < lines.len() => lines[at] = line,
                        _ => continue,
                    }
                    (what, path, Some((there.mode, self.blob(&lines))))
                }
                2 => {
                    let path = [&any.path[..], b".rej"].concat();
                    let tree = self.put(Some(merged), &path, Some((there.mode, there.id))).unwrap();
                    return ("another path", tree);
                }
                3 => ("a path that is gone", any, None),
                4 => {
                    let mode = if there.mode == Mode::File { Mode::Program } else { Mode::File };
                    ("a mode", any, Some((mode, there.id)))
                }
                5 => {
                    // The same lines at another place.
                    let (Some(old), Some(new)) = (touched.old, touched.new) else { continue };
                    let (before, after) = (self.lines(&old.id), self.lines(&new.id));
                    let prefix = before.iter().zip(&after).take_while(|(one, other)| one == other).count();
                    let rest = before[prefix..].iter().rev().zip(after[prefix..].iter().rev());
                    let suffix = rest.take_while(|(one, other)| one == other).count();
                    let mut lines = before.clone();
                    lines.drain(prefix..before.len() - suffix);
                    let to = self.random.below(lines.len() + 1);
                    lines.splice(to..to, after[prefix..after.len() - suffix].iter().cloned());
                    ("a moved hunk", touched, Some((new.mode, self.blob(&lines))))
                }
                6 => ("a path that is left out", touched, touched.old.map(|old| (old.mode, old.id))),
                _ => {
                    let path = &change[self.random.below(change.len())];
                    ("a path as it was elsewhere", path, path.new.map(|new| (new.mode, new.id)))
                }
            };
            if let Some(tree) = self.put(Some(merged), &path.path, entry)
                && tree != *merged
            {
                return (what, tree);
            }
        }
    }
}

/// What came of many moves.
#[derive(Debug, Default)]
struct Counts {
    /// Clean merges by git.
    clean: usize,
    /// Those of them that we take for one.
    accepted: usize,
    /// Clean merges that are refused because a mode alone changes, of a file that is another one there.
    other_blob: usize,
    edited: usize,
}

/// Whether a change does no more to some file than change its mode, and others have changed the content.
fn meets_other_blob(git: &Git, change: &[PathChange], onto: &TreeId) -> bool {
    let blob = |path: &[u8]| git.entry_at(Some(onto), path).unwrap().map(|entry| entry.id);
    change.iter().any(|path| path.is_mode_alone() && blob(&path.path) != path.new.map(|new| new.id))
}

/// Asks about what git makes of each move, and about that with an edit.
fn judge(scratch: &Scratch, moves: &[Move], seed: u64) -> Counts {
    let merged = merged_by_git(scratch, moves);
    let git = scratch.open();
    let tree = |commit: &CommitId| git.commit(commit).unwrap().tree;
    let mut hand = Hand::new(&git, seed);
    let mut counts = Counts::default();
    let mut edited = Vec::new();
    for (Move { base, head, onto }, merged) in moves.iter().zip(&merged) {
        let [base, head, onto] = [base, head, onto].map(tree);
        // Where others have done the same, nothing is left to be moved.
        let Some(merged) = merged.filter(|merged| *merged != onto) else { continue };
        let change = git.diff(Some(&base), Some(&head)).unwrap();
        let accepted = git.is_merge_of_trees((Some(&base), &head), (Some(&onto), &merged)).unwrap();
        if meets_other_blob(&git, &change, &onto) {
            assert!(
                !accepted,
                "a mode alone must meet the content that it was made for: {base} {head} {onto} {merged}"
            );
            counts.other_blob += 1;
        } else {
            counts.clean += 1;
            counts.accepted += usize::from(accepted);
        }
        for _ in 0..4 {
            edited.push(([base, head, onto, merged], hand.edit(&onto, &merged, &change)));
        }
    }
    hand.pack.index(scratch);
    let git = scratch.open();
    for ([base, head, onto, merged], (what, tree)) in &edited {
        assert_ne!(tree, merged);
        let accepted = git.is_merge_of_trees((Some(base), head), (Some(onto), tree)).unwrap();
        assert!(!accepted, "{what}: {base} {head} {onto}, git made {merged}, edited to {tree}");
    }
    counts.edited = edited.len();
    counts
}

#[test]
fn what_git_merges_is_accepted_and_what_was_edited_is_not() {
    let (projects, seed) = (asked("PROJECTS", 25), asked("SEED", 1));
    let (scratch, projects) = Projects::make(seed, projects, 8);
    let mut moves = Vec::new();
    for project in &projects {
        for (topic, others) in project.topics.iter().flat_map(|topic| [(topic, 10), (topic, OTHERS)]) {
            let onto = project.main[others];
            moves.extend(topic.windows(2).map(|pair| Move { base: pair[0], head: pair[1], onto }));
            if topic.len() > 2 {
                moves.push(Move { base: topic[0], head: topic[topic.len() - 1], onto });
            }
        }
    }
    let counts = judge(&scratch, &moves, seed);
    eprintln!("{} moves, {counts:?}", moves.len());
    assert!(counts.clean > moves.len() / 3, "{counts:?} of {}", moves.len());
    assert!(counts.accepted * 100 >= counts.clean * 99, "{counts:?}");
}

/// Runs a git command that may end in a conflict.
fn succeeds(scratch: &Scratch, arguments: &[&str]) -> bool {
    let mut git = command("git", scratch.path());
    let identity = ["-c", "user.name=n", "-c", "user.email=e", "-c", "advice.mergeConflict=false"];
    git.args(identity).args(arguments).output().unwrap().status.success()
}

/// Throws away what a command has begun.
fn start_at(scratch: &Scratch, id: &CommitId) {
    for name in ["cherry-pick", "rebase"] {
        succeeds(scratch, &[name, "--abort"]);
    }
    scratch.git(["checkout", "-q", "-f", "--detach", &id.to_string()]);
    scratch.git(["clean", "-q", "-d", "-f"]);
}

#[test]
fn cherry_picks_rebases_and_squashes_of_git_are_accepted() {
    let (projects, seed) = (asked("PROJECTS", 3), asked("SEED", 2));
    let (scratch, projects) = Projects::make(seed, projects, 3);
    let (mut made, mut accepted) = (0, 0);
    let head = || CommitId::parse(&scratch.git_line(["rev-parse", "HEAD"])).unwrap();
    for project in &projects {
        for (topic, others) in project.topics.iter().flat_map(|topic| [(topic, 10), (topic, OTHERS)]) {
            let (onto, tip) = (&project.main[others], topic.last().unwrap());
            let mut check = |pairs: &[[CommitId; 2]]| {
                let git = scratch.open();
                for pair in pairs {
                    let [from, to] = pair.map(|id| git.commit(&id).unwrap());
                    made += 1;
                    accepted += usize::from(git.is_rewrite(&from, &to).unwrap());
                }
            };
            start_at(&scratch, onto);
            if succeeds(&scratch, &["cherry-pick", &tip.to_string()]) {
                check(&[[*tip, head()]]);
            }
            start_at(&scratch, tip);
            if succeeds(&scratch, &["rebase", "-q", "--onto", &onto.to_string(), &topic[0].to_string()]) {
                let list = scratch.git_line(["rev-list", "--reverse", &format!("{onto}..HEAD")]);
                let new: Vec<CommitId> = list.lines().map(|line| CommitId::parse(line).unwrap()).collect();
                // Git leaves a commit out if others have done the same.
                if new.len() + 1 == topic.len() {
                    check(&topic[1..].iter().zip(new).map(|(old, new)| [*old, new]).collect::<Vec<_>>());
                }
            }
            start_at(&scratch, onto);
            let squashed = succeeds(&scratch, &["merge", "-q", "--squash", &tip.to_string()]);
            if squashed && succeeds(&scratch, &["commit", "-q", "-m", "squashed"]) {
                let git = scratch.open();
                let tree = |id: &CommitId| git.commit(id).unwrap().tree;
                let ([base, tip], [onto, new]) = ([&topic[0], tip].map(tree), [onto, &head()].map(tree));
                made += 1;
                accepted += usize::from(git.is_merge_of_trees((Some(&base), &tip), (Some(&onto), &new)).unwrap());
            }
        }
    }
    eprintln!("{made} made, {accepted} accepted");
    assert!(made > 10 * projects.len(), "{made}");
    assert!(accepted * 100 >= made * 99, "{accepted} of {made}");
}

/// A text and what two sides made of it.
fn triple(random: &mut Random) -> [Vec<u8>; 3] {
    let kind = random.of(&[
        Lines::Few(3),
        Lines::Few(12),
        Lines::Words(20),
        Lines::Words(300),
        Lines::Program,
        Lines::Unique(5),
        Lines::Unique(30),
        Lines::Odd,
    ]);
    let (count, longest) = (random.below(120), random.of(&[1, 3, 8]));
    let base = kind.lines(random, count);
    let mut sides = [base.clone(), base.clone(), base];
    for side in &mut sides[1..] {
        for _ in 0..random.of(&[1, 1, 1, 2, 3, 6]) {
            edit(random, side, kind, longest);
        }
    }
    // Both have the same change, beside their own.
    if random.below(10) == 0 {
        let [_, ours, theirs] = &mut sides;
        theirs.clone_from(ours);
        edit(random, &mut sides[2], kind, longest);
    }
    let mut texts = sides.map(|lines| {
        let mut text = lines.join(&b"\n"[..]);
        if random.below(8) > 0 {
            text.push(b'\n');
        }
        text
    });
    if random.below(60) == 0 {
        let side = random.below(3);
        let at = random.below(texts[side].len() + 1);
        texts[side].insert(at, 0);
    }
    texts
}

#[test]
fn texts_merge_as_git_merges_them() {
    let (count, seed) = (asked("TRIPLES", 2000), asked("SEED", 3));
    let mut random = Random(seed);
    let triples: Vec<[Vec<u8>; 3]> = (0..count).map(|_| triple(&mut random)).collect();
    let scratch = Scratch::new();
    let file = |name: &str, number: usize| scratch.path().join(format!("{name}{number}"));
    for (number, texts) in triples.iter().enumerate() {
        for (name, text) in ["base", "ours", "theirs"].iter().zip(texts) {
            std::fs::write(file(name, number), text).unwrap();
        }
    }
    let script = format!(
        "i=0; while [ $i -lt {count} ]; do
            git merge-file -p ours$i base$i theirs$i >merged$i 2>/dev/null; code=$?
            [ $code = 0 ] || git merge-file -p --union ours$i base$i theirs$i >union$i 2>/dev/null
            echo $code; i=$((i+1)); done"
    );
    let codes = String::from_utf8(output(command("sh", scratch.path()).args(["-c", &script]), b"")).unwrap();
    let codes: Vec<u8> = codes.lines().map(|line| line.parse().unwrap()).collect();
    assert_eq!(codes.len(), count);

    let mut pack = Pack::new(false);
    let mut tree = |text: &[u8]| {
        let blob = pack.blob(text);
        let id = pack.id(blob).0.as_bytes().to_vec();
        let tree = pack.tree(&[Item { mode: FILE.to_owned(), name: b"f".to_vec(), id }]);
        pack.id(tree)
    };
    // Of each triple its trees, what git makes of it, and what else somebody might.
    let mut asked = Vec::new();
    for (number, (texts, code)) in triples.iter().zip(&codes).enumerate() {
        let [base, ours, theirs] = texts.each_ref().map(|text| tree(text));
        let printed = std::fs::read(file("merged", number)).unwrap();
        let mut others = vec![base, theirs];
        // Where one side alone changed something, git does not look into the texts; `merge-file` refuses binary ones.
        let merged = match [base, ours, theirs] {
            [base, ours, theirs] if ours == theirs || base == theirs => Some(ours),
            [base, ours, theirs] if base == ours => Some(theirs),
            _ if *code == 0 => Some(tree(&printed)),
            _ => {
                others.extend([&printed, &std::fs::read(file("union", number)).unwrap()].map(|text| tree(text)));
                None
            }
        };
        let mut longer = texts[1].clone();
        longer.extend(b"more\n");
        others.push(tree(&longer));
        asked.push((number, [base, ours, theirs], merged, others));
    }
    pack.index(&scratch);
    let git = scratch.open();
    let (mut clean, mut contained) = (0, 0);
    for (number, [base, ours, theirs], merged, others) in asked {
        let is_merge = |made: &TreeId| git.is_merge_of_trees((Some(&base), &theirs), (Some(&ours), made)).unwrap();
        let change = git.diff(Some(&base), Some(&theirs)).unwrap();
        if let Some(merged) = merged.filter(|merged| *merged != ours && !change.is_empty()) {
            assert!(is_merge(&merged), "seed {seed}, triple {number}: git merges it to {merged}");
            clean += 1;
        }
        for other in others.iter().filter(|other| Some(**other) != merged) {
            assert!(!is_merge(other), "seed {seed}, triple {number}: git merges it to {merged:?}, not to {other}");
        }
        if !change.is_empty() {
            let within = Containment::new(&git, &change).is_in(Some(&ours), &mut Allowance::default()).unwrap();
            assert_eq!(within, merged == Some(ours), "seed {seed}, triple {number}: whether ours has it already");
            contained += usize::from(within);
        }
    }
    eprintln!("{count} triples, {clean} merged, {contained} contained");
    assert!(clean > count / 4 && contained > 0, "{clean} merged, {contained} contained");
}

#[test]
fn tree_that_git_would_not_write_is_no_merge() {
    let scratch = Scratch::new();
    let mut pack = Pack::new(false);
    let [old, new, evil] = [&b"old\n"[..], b"new\n", b"evil\n"].map(|text| pack.blob(text));
    let item = |pack: &Pack, mode: &str, name: &str, made: usize| Item {
        mode: mode.to_owned(),
        name: name.as_bytes().to_vec(),
        id: pack.objects[made].0.clone(),
    };
    let mut tree = |items: &[(&str, &str, usize)]| {
        let items: Vec<Item> = items.iter().map(|(mode, name, made)| item(&pack, mode, name, *made)).collect();
        pack.tree(&items)
    };
    let directory = "40000";
    let inner = tree(&[(FILE, "b", new)]);
    // What the change does; what is there already; the honest merge; and what is no merge.
    let cases = [
        // A file and a directory of one name.
        (
            [tree(&[(FILE, "x", old)]), tree(&[(directory, "a", inner), (FILE, "x", old)])],
            tree(&[(FILE, "a", evil), (FILE, "x", old)]),
            None,
            vec![
                tree(&[(FILE, "a", evil), (directory, "a", inner), (FILE, "x", old)]),
                tree(&[(FILE, "a", evil), (FILE, "a.b", old), (directory, "a", inner), (FILE, "x", old)]),
            ],
        ),
        // A name twice, in either order, and a path as one name.
        (
            [tree(&[(FILE, "x", old)]), tree(&[(FILE, "f", new), (FILE, "x", old)])],
            tree(&[(FILE, "x", evil)]),
            Some(tree(&[(FILE, "f", new), (FILE, "x", evil)])),
            vec![
                tree(&[(FILE, "f", new), (FILE, "f", evil), (FILE, "x", evil)]),
                tree(&[(FILE, "f", evil), (FILE, "f", new), (FILE, "x", evil)]),
                tree(&[(FILE, "f", new), (FILE, "f", new), (FILE, "x", evil)]),
                tree(&[(FILE, "x", evil), (FILE, "f", new)]),
            ],
        ),
        (
            [tree(&[(FILE, "x", old)]), tree(&[(directory, "a", inner), (FILE, "x", old)])],
            tree(&[(FILE, "x", evil)]),
            Some(tree(&[(directory, "a", inner), (FILE, "x", evil)])),
            vec![tree(&[(FILE, "a/b", new), (FILE, "x", evil)])],
        ),
        // An original that has a name twice hides no other path.
        (
            [tree(&[(FILE, "x", old)]), tree(&[(FILE, "f", new), (FILE, "f", new), (FILE, "x", old)])],
            tree(&[(FILE, "x", old)]),
            None,
            vec![tree(&[(FILE, "f", new), (FILE, "g", evil), (FILE, "x", old)])],
        ),
    ];
    pack.index(&scratch);
    let git = scratch.open();
    for ([base, head], onto, merged, others) in cases {
        let [base, head, onto] = [base, head, onto].map(|made| pack.id(made));
        let is_merge =
            |made: usize| git.is_merge_of_trees((Some(&base), &head), (Some(&onto), &pack.id(made))).unwrap();
        assert!(merged.is_none_or(is_merge), "{base} {head} {onto}");
        for other in others {
            assert!(!is_merge(other), "{base} {head} {onto}: {}", pack.id(other));
        }
    }
}
