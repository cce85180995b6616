//! Trees that git would not write, against git itself: the list of paths that differ must be the one that `git diff-tree`
//! prints, with the same modes and ids, and a tree that git refuses to read must be refused.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::Stdio;

use git_proof::git::{Git, ObjectError};
use git_proof::proof::digest::TreeId;
use git_proof::proof::merge::Entry;

use super::pack::{Item, Made, Pack};
use super::random::{Random, asked};
use super::scratch::{Scratch, judging};

/// Modes with the digits that git writes, and with digits that it only reads.
const MODES: [&str; 32] = [
    "100644",
    "100644",
    "100644",
    "100755",
    "100664",
    "100600",
    "100000",
    "100777",
    "100100",
    "100677",
    "104755",
    "0100644",
    "000000000000100755",
    "40000",
    "40000",
    "40000",
    "040000",
    "40755",
    "40777",
    "00040000",
    "120000",
    "120777",
    "160000",
    "160644",
    "0",
    "10644",
    "60000",
    "20000",
    "140000",
    "777777",
    "7777777777777740000",
    "123456712345671234567100644",
];

/// Names that git writes, and names that it only reads. Many begin alike, so that the order of files and directories
/// matters.
const NAMES: [&[u8]; 34] = [
    b"a",
    b"a",
    b"a.b",
    b"a-b",
    b"a0",
    b"aa",
    b"ab",
    b"b",
    b"b.c",
    b"c",
    b"A",
    b"a/",
    b"a/b",
    b"/",
    b"/a",
    b"a//b",
    b"b/c",
    b".",
    b"..",
    b".git",
    b".GIT",
    b".git/config",
    b"../a",
    b" ",
    b"a b",
    b"a\nb",
    b"\n",
    b"a\t",
    b"\"a\"",
    b"\xff",
    b"a\xff",
    b"\xc3\xa4",
    b"-",
    b"\x01",
];

/// Makes random trees.
struct Maker {
    random: Random,
    pack: Pack,
    blobs: Vec<Made>,
    trees: Vec<Made>,
    /// Trees that git cannot read.
    broken: Vec<Made>,
}

impl Maker {
    fn new(seed: u64, sha256: bool) -> Self {
        let mut pack = Pack::new(sha256);
        let blobs = (0..6).map(|number| pack.blob(format!("{number}\n").as_bytes())).collect();
        let trees = vec![pack.tree(&[])];
        Self { random: Random(seed), pack, blobs, trees, broken: Vec::new() }
    }

    fn name(&mut self) -> Vec<u8> {
        if self.random.below(200) == 0 {
            return vec![b"ab/"[self.random.below(3)]; 200 + self.random.below(6000)];
        }
        self.random.of(&NAMES).to_vec()
    }

    fn item(&mut self) -> Item {
        let (mode, name) = (self.random.of(&MODES).to_owned(), self.name());
        let mut item = Item { mode, name, id: Vec::new() };
        item.id = self.content(item.is_tree());
        item
    }

    /// What an entry can lead to.
    fn content(&mut self, tree: bool) -> Vec<u8> {
        let length = if self.pack.sha256 { 32 } else { 20 };
        let made = match self.random.below(400) {
            0 if !self.broken.is_empty() => self.random.of(&self.broken),
            // The other kind of thing, and nothing at all.
            1 if tree => self.random.of(&self.blobs),
            2 => return vec![0; length],
            3 => return vec![7; length],
            4..=20 => self.random.of(&self.trees),
            _ if tree => self.random.of(&self.trees),
            _ => self.random.of(&self.blobs),
        };
        self.pack.objects[made].0.clone()
    }

    fn items(&mut self) -> Vec<Item> {
        let count = self.random.below(9);
        let mut items: Vec<Item> = (0..count).map(|_| self.item()).collect();
        self.arrange(&mut items);
        items
    }

    /// Sorts entries as git does, or nearly so, or not at all.
    fn arrange(&mut self, items: &mut Vec<Item>) {
        let key = |item: &Item| [&item.name[..], if item.is_tree() { b"/" } else { b"" }].concat();
        match self.random.below(10) {
            0 => {}
            1 => items.sort_by(|one, other| one.name.cmp(&other.name)),
            2 => items.sort_by_key(|item| std::cmp::Reverse(key(item))),
            _ => items.sort_by_key(key),
        }
        if self.random.below(3) > 0 {
            items.dedup_by(|one, other| one.name == other.name);
        }
    }

    /// Entries that differ a little from others.
    fn changed(&mut self, items: &[Item]) -> Vec<Item> {
        let mut items = items.to_vec();
        for _ in 0..=self.random.below(3) {
            let at = self.random.below(items.len() + 1);
            let new = self.item();
            match self.random.below(7) {
                0 => items.insert(at, new),
                _ if at == items.len() => items.push(new),
                1 => drop(items.remove(at)),
                2 => items[at].mode = new.mode,
                3 => items[at].name = new.name,
                4 => {
                    let tree = items[at].is_tree();
                    items[at].id = self.content(tree);
                }
                5 => {
                    // A directory that differs a little itself.
                    let inner = self.pack.known.get(&items[at].id).map(|made| self.pack.objects[*made].1.clone());
                    if let Some(inner) = inner.filter(|inner| !inner.is_empty()) {
                        let made = self.changed(&inner);
                        let made = self.pack.tree(&made);
                        items[at].id.clone_from(&self.pack.objects[made].0);
                    }
                }
                _ => {
                    let other = self.random.below(items.len());
                    items.swap(at, other);
                }
            }
        }
        if self.random.below(2) == 0 {
            self.arrange(&mut items);
        }
        items
    }

    /// A tree with something wrong in its bytes.
    fn broken(&mut self) -> Made {
        let mut raw: Vec<u8> = Vec::new();
        for item in self.items() {
            raw.extend([item.mode.as_bytes(), b" ", &item.name, b"\0", &item.id].concat());
        }
        let id = vec![b'x'; if self.pack.sha256 { 32 } else { 20 }];
        let at = self.random.below(raw.len() + 1);
        match self.random.below(9) {
            0 => raw.truncate(at),
            1 => raw.extend([b"100644 a\0", &id[1..]].concat()),
            2 => raw.extend([b"100844 a\0", &id[..]].concat()),
            3 => raw.extend([b"100644 \0", &id[..]].concat()),
            4 => raw.extend([b" a\0", &id[..]].concat()),
            5 => raw.extend([b"100644 a", &id[..]].concat()),
            6 => raw.push(self.random.of(b"\0a 1")),
            7 => raw.splice(0..0, [b"0x1ff a\0", &id[..]].concat()).for_each(drop),
            _ => raw.insert(at, self.random.of(b"\0 /8a")),
        }
        self.pack.broken_tree(&raw)
    }

    /// A tree and what became of it.
    fn pair(&mut self) -> [Made; 2] {
        if self.random.below(60) == 0 {
            let broken = self.broken();
            self.broken.push(broken);
            let other = self.random.of(&self.trees);
            return if self.random.below(2) == 0 { [broken, other] } else { [other, broken] };
        }
        let items = match self.random.below(3) {
            0 => self.items(),
            _ => self.pack.objects[self.random.of(&self.trees)].1.clone(),
        };
        let changed = if self.random.below(12) == 0 { self.items() } else { self.changed(&items) };
        let pair = [self.pack.tree(&items), self.pack.tree(&changed)];
        self.trees.extend(pair);
        // Later trees are made of earlier ones, of which the latest are large: a few of all stay.
        if self.trees.len() > 60 {
            let gone = 1 + self.random.below(59);
            self.trees.swap_remove(gone);
            let gone = 1 + self.random.below(58);
            self.trees.swap_remove(gone);
        }
        if self.random.below(2) == 0 { pair } else { [pair[1], pair[0]] }
    }
}

/// What `git diff-tree --raw` prints of two trees.
type Raw = Vec<u8>;

/// What git prints for each pair; `None` where it refuses one.
fn told_by_git(scratch: &Scratch, pairs: &[[String; 2]]) -> Vec<Option<Raw>> {
    let mut told: Vec<Option<Raw>> = Vec::new();
    // Git stops at what it cannot read. It goes on with the next pair as another process.
    while told.len() < pairs.len() {
        let left = &pairs[told.len()..];
        let list: String = left.iter().fold(String::new(), |mut list, [old, new]| {
            writeln!(list, "{old} {new}").unwrap();
            list
        });
        let mut git = judging(scratch.path());
        git.args(["diff-tree", "--stdin", "--raw", "-r", "-z", "--no-renames", "--no-abbrev"]);
        git.arg("--ignore-submodules=none").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = git.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let output = std::thread::scope(|scope| {
            scope.spawn(move || stdin.write_all(list.as_bytes())); // it may stop reading
            child.wait_with_output().unwrap()
        });
        let mut rest = &output.stdout[..];
        for (at, [old, new]) in left.iter().enumerate() {
            let Some(after) = rest.strip_prefix(format!("{old} {new}\n").as_bytes()) else { break };
            let next = left.get(at + 1).map(|[old, new]| format!("{old} {new}\n"));
            let end = next.and_then(|next| memchr::memmem::find(after, next.as_bytes()));
            if end.is_none() && !output.status.success() {
                told.push(None);
                rest = b"";
                break;
            }
            let (raw, after) = after.split_at(end.unwrap_or(after.len()));
            told.push(Some(raw.to_vec()));
            rest = after;
        }
        assert!(rest.is_empty(), "{}", String::from_utf8_lossy(rest));
        let why = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code().is_some(), "{:?} {why}", output.status);
        assert!(output.status.success() || matches!(told.last(), Some(None)), "{why}");
    }
    told
}

/// Our own list, as git prints it.
fn told_by_us(git: &Git, [old, new]: [&TreeId; 2]) -> Result<Raw, ObjectError> {
    let absent = "0".repeat(old.to_string().len());
    let mut raw = Vec::new();
    for change in git.diff(Some(old), Some(new))? {
        let bits = |entry: Option<Entry>| entry.map_or(0, |entry| entry.mode.bits());
        let id = |entry: Option<Entry>| entry.map_or_else(|| absent.clone(), |entry| entry.id.to_string());
        let kind = |entry: Option<Entry>| bits(entry) & 0o170_000;
        let letter = match (change.old, change.new) {
            (None, _) => 'A',
            (_, None) => 'D',
            (old, new) if kind(old) != kind(new) => 'T',
            _ => 'M',
        };
        let (old, new) = (change.old, change.new);
        write!(raw, ":{:06o} {:06o} {} {} {letter}\0", bits(old), bits(new), id(old), id(new)).unwrap();
        raw.extend(change.path);
        raw.push(0);
    }
    Ok(raw)
}

/// Compares so many pairs; answers how many git printed something for, and how many it refused.
fn compare(seed: u64, count: usize, sha256: bool) -> (usize, usize) {
    let scratch = Scratch::of_format(if sha256 { "sha256" } else { "sha1" });
    let mut maker = Maker::new(seed, sha256);
    let pairs: Vec<[Made; 2]> = (0..count).map(|_| maker.pair()).collect();
    maker.pack.index(&scratch);
    let told = told_by_git(
        &scratch,
        &pairs.iter().map(|pair| pair.map(|made| maker.pack.id(made).to_string())).collect::<Vec<_>>(),
    );
    let git = scratch.open();
    let (mut changed, mut refused) = (0, 0);
    for (pair, told) in pairs.iter().zip(told) {
        let [old, new] = pair.map(|made| maker.pack.id(made));
        let ours = told_by_us(&git, [&old, &new]);
        refused += usize::from(told.is_none());
        changed += usize::from(told.as_ref().is_some_and(|raw| !raw.is_empty()));
        if ours.as_ref().ok() != told.as_ref() {
            let kept = scratch.keep();
            let show = |raw: &Raw| raw.escape_ascii().to_string().replace("\\x00:", "\n");
            panic!(
                "seed {seed}: {old} {new} in {}:\ngit:\n{}\nours:\n{}",
                kept.display(),
                told.as_ref().map_or("refused".to_owned(), show),
                ours.as_ref().map_or_else(ToString::to_string, show)
            );
        }
    }
    (changed, refused)
}

#[test]
fn odd_trees_differ_where_git_says_so() {
    let (pairs, seed) = (asked("PAIRS", 9000), asked("SEED", 1));
    let (changed, refused) = compare(seed, pairs, false);
    assert!(changed > pairs / 2, "{changed} of {pairs} pairs differ, {refused} are refused");
    assert!(refused > pairs / 100, "{changed} of {pairs} pairs differ, {refused} are refused");
}

#[test]
fn odd_trees_with_longer_ids_differ_where_git_says_so() {
    let (pairs, seed) = (asked("PAIRS", 1000), asked("SEED", 2));
    let (changed, refused) = compare(seed, pairs, true);
    assert!(changed > pairs / 2, "{changed} of {pairs} pairs differ, {refused} are refused");
    assert!(refused > pairs / 100, "{changed} of {pairs} pairs differ, {refused} are refused");
}

#[test]
fn empty_tree_is_always_there() {
    for format in ["sha1", "sha256"] {
        let scratch = Scratch::of_format(format);
        let empty = scratch.git_line(["hash-object", "-t", "tree", "/dev/null"]);
        let length = empty.len() / 2;
        let id: Vec<u8> = (0..length).map(|at| u8::from_str_radix(&empty[2 * at..2 * at + 2], 16).unwrap()).collect();
        let mut pack = Pack::new(format == "sha256");
        let item = |mode: &str, id: &[u8]| Item { mode: mode.to_owned(), name: b"d".to_vec(), id: id.to_vec() };
        let pairs = [
            [pack.tree(&[item("40000", &id)]), pack.tree(&[item("100644", &id)])],
            [pack.tree(&[item("100644", &id)]), pack.tree(&[item("40755", &id)])],
        ];
        pack.index(&scratch);
        let git = scratch.open();
        for pair in pairs {
            let [old, new] = pair.map(|made| pack.id(made));
            let told = told_by_git(&scratch, &[[old.to_string(), new.to_string()]]).remove(0);
            assert_eq!(told_by_us(&git, [&old, &new]).ok(), told, "{format}");
            let empty = TreeId::parse(&empty).unwrap();
            let told = told_by_git(&scratch, &[[empty.to_string(), new.to_string()]]).remove(0);
            assert_eq!(told_by_us(&git, [&empty, &new]).ok(), told, "{format}");
        }
    }
}
