//! Random files, changed at random, against git: which lines differ is decided by heuristics that begin at certain
//! sizes, repetitions and indentations, so all of these are among them.

use git_proof::proof::digest::CommitId;

use super::scratch::{Entry, FILE, OPTIONS, Scratch, judge, judging, output};

/// Random numbers that are the same each time (splitmix64).
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// A number below `end`.
    pub(super) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(end.max(1)).unwrap()).unwrap()
    }

    pub(super) fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }
}

/// What the lines of a file look like.
#[derive(Debug, Clone, Copy)]
pub(super) enum Lines {
    /// So many different ones.
    Few(usize),
    /// So many different ones, where there are hundreds.
    Words(usize),
    /// A program's, with its indentation.
    Program,
    /// Each another, but for so many in a hundred.
    Unique(usize),
    /// Blank ones, odd white space, carriage returns, bytes that are no text.
    Odd,
}

impl Lines {
    pub(super) fn line(self, random: &mut Random) -> Vec<u8> {
        match self {
            Self::Few(kinds) => vec![b"abcdefghijklmnopqrstuvwxyz"[random.below(kinds)]],
            Self::Words(kinds) => format!("word {}", random.below(kinds)).into_bytes(),
            Self::Program => {
                let indent = random.below(5);
                let unit = random.of(&["    ", "    ", "\t", "  "]);
                let text =
                    random.of(&["{", "}", "}", "", "", "end", "if x {", "} else {", "f();", "g();", "return;", "# c"]);
                if text.is_empty() { Vec::new() } else { format!("{}{text}", unit.repeat(indent)).into_bytes() }
            }
            Self::Unique(common) if random.below(100) < common => Self::Few(4).line(random),
            Self::Unique(_) => format!("{:x}", random.next()).into_bytes(),
            Self::Odd => random
                .of(&[&b""[..], b" ", b"\t", b"\r", b"x\r", b"x", b"\\ No newline", b"@@ -1", b"\xff\xfe", b"index 1"])
                .to_vec(),
        }
    }

    pub(super) fn lines(self, random: &mut Random, count: usize) -> Vec<Vec<u8>> {
        (0..count).map(|_| self.line(random)).collect()
    }
}

/// Changes a file in one place.
pub(super) fn edit(random: &mut Random, lines: &mut Vec<Vec<u8>>, kind: Lines, longest: usize) {
    let at = random.below(lines.len() + 1);
    let end = (at + random.below(longest + 1)).min(lines.len());
    match random.below(6) {
        0 => drop(lines.drain(at..end)),
        1 => {
            let block: Vec<_> = lines.drain(at..end).collect();
            let to = random.below(lines.len() + 1);
            lines.splice(to..to, block);
        }
        2 => {
            let block = lines[at..end].to_vec();
            lines.splice(at..at, block);
        }
        3 => {
            let count = random.below(longest) + 1;
            let block = kind.lines(random, count);
            lines.splice(at..at, block);
        }
        _ => {
            for line in &mut lines[at..end] {
                *line = kind.line(random);
            }
        }
    }
}

/// The content of a file and what became of it.
fn pair(random: &mut Random, large: bool) -> [Vec<u8>; 2] {
    let kind = match random.below(11) {
        0..=2 => Lines::Few(random.below(8) + 1),
        3 | 4 => Lines::Program,
        5..=7 => Lines::Words(random.of(&[20, 50, 300, 2000])),
        8 | 9 => Lines::Unique(random.of(&[0, 5, 30, 80])),
        _ => Lines::Odd,
    };
    let longest = random.of(&[4, 12, 40, 40, 120, 300]);
    let count = if large { 500 + random.below(12_000) } else { random.below(longest) };
    let old = kind.lines(random, count);
    let mut new = old.clone();
    match random.below(12) {
        0 => new = kind.lines(random, count),
        1 => new.reverse(),
        2 => {
            for _ in 0..count {
                let (one, other) = (random.below(count), random.below(count));
                new.swap(one, other);
            }
        }
        // Many small changes all over: what makes git give up looking for the best answer.
        3 | 4 => {
            for line in &mut new {
                if random.below(5) < 2 {
                    *line = kind.line(random);
                }
            }
        }
        edits => {
            let longest = random.of(&[1, 3, 8, count / 3 + 1]);
            for _ in 0..edits {
                edit(random, &mut new, kind, longest);
            }
        }
    }
    [old, new].map(|lines| {
        let mut text = lines.join(&b"\n"[..]);
        if random.below(6) > 0 {
            text.push(b'\n');
        }
        text
    })
}

/// Compares so many pairs and answers how many had a change at all.
fn compare(seed: u64, pairs: usize, large: bool) -> usize {
    let mut random = Random(seed);
    let texts: Vec<Vec<u8>> = (0..pairs).flat_map(|_| pair(&mut random, large)).collect();
    let snapshots: Vec<Vec<Entry<'_>>> = texts.iter().map(|text| vec![(&b"f"[..], FILE, text.as_slice())]).collect();
    let scratch = Scratch::new();
    let commits = scratch.commits(&snapshots);
    let list = commits.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n") + "\n";
    let options = OPTIONS.iter().filter(|option| **option != "--no-commit-id");
    let printed = output(judging(scratch.path()).args(options).arg("--stdin").arg("--always"), list.as_bytes());
    let git = scratch.open();
    let (mut changed, mut rest) = (0, printed.as_slice());
    for (at, id) in commits.iter().enumerate() {
        let line = format!("{id}\n");
        rest = rest.strip_prefix(line.as_bytes()).unwrap();
        let end = commits.get(at + 1).map_or(rest.len(), |next| find(rest, next));
        let (diff, after) = rest.split_at(end);
        rest = after;
        let ours = git.change_id(&git.commit(id).unwrap()).unwrap().map(|id| id.to_string());
        if ours != judge(diff) {
            let kept = scratch.keep();
            panic!(
                "seed {seed}, large {large}: {id} in {}:\n{}",
                kept.display(),
                String::from_utf8_lossy(&diff[..diff.len().min(4000)])
            );
        }
        changed += usize::from(ours.is_some());
    }
    changed
}

/// Where the line with an id is.
fn find(text: &[u8], id: &CommitId) -> usize {
    let line = format!("{id}\n");
    let mut from = 0;
    loop {
        if text[from..].starts_with(line.as_bytes()) {
            return from;
        }
        from += text[from..].iter().position(|byte| *byte == b'\n').unwrap() + 1;
    }
}

/// How many pairs are compared: `PAIRS=20000 SEED=7 cargo test --test it change::random` compares as many as one likes.
pub(super) fn asked<N: std::str::FromStr<Err: std::fmt::Debug>>(name: &str, otherwise: N) -> N {
    std::env::var(name).map_or(otherwise, |text| text.parse().unwrap())
}

#[test]
fn small_files_changed_at_random_have_the_change_id_that_git_gives_them() {
    let (pairs, seed) = (asked("PAIRS", 300), asked("SEED", 1));
    assert!(compare(seed, pairs, false) > pairs);
}

#[test]
fn large_files_changed_at_random_have_the_change_id_that_git_gives_them() {
    let (pairs, seed) = (asked("LARGE_PAIRS", 6), asked("SEED", 2));
    assert!(compare(seed, pairs, true) > pairs);
}
