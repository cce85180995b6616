//! Walks through random histories against their definition, and against git: whatever the clocks of the commits say.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::Write as _;

use git_proof::git::{Git, History};
use git_proof::proof::digest::CommitId;

use super::random::{Random, asked};
use super::scratch::{Scratch, output};
use crate::common::command;

/// What the committers' clocks say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Clocks {
    /// Each commit is later than its parents.
    Right,
    /// All commits are of one second.
    Equal,
    /// A commit is as late as its parents, or a little later.
    Close,
    /// Some clocks are wrong by any amount.
    Skewed,
    /// No clock means anything.
    Random,
}

impl Clocks {
    fn time(self, random: &mut Random, number: usize, latest: usize) -> usize {
        match self {
            Self::Right => 1000 + number,
            Self::Equal => 1000,
            Self::Close => latest.max(1000) + random.below(2),
            Self::Skewed if random.below(5) > 0 => 1000 + number,
            Self::Skewed | Self::Random => random.below(2000),
        }
    }

    fn are_right(self) -> bool {
        matches!(self, Self::Right | Self::Equal | Self::Close)
    }
}

/// A random history: of each commit its parents, which come before it.
struct Graph {
    parents: Vec<Vec<usize>>,
    clocks: Clocks,
    ids: Vec<CommitId>,
    /// Of each commit all that it reaches, itself included.
    reached: Vec<BTreeSet<usize>>,
}

impl Graph {
    fn new(random: &mut Random, clocks: Clocks) -> Self {
        let count = 2 + random.below(59);
        let (roots, merges, near) = (random.of(&[1, 1, 1, 2, 4]), random.of(&[0, 10, 40, 80]), random.of(&[2, 4, 60]));
        let mut parents: Vec<Vec<usize>> = Vec::new();
        let mut reached: Vec<BTreeSet<usize>> = Vec::new();
        for number in 0..count {
            let mut own = Vec::new();
            if number >= roots {
                let wanted = match random.below(100) {
                    sides if sides >= merges => 1,
                    sides => 2 + sides % 7 / 6,
                };
                for _ in 0..wanted {
                    let parent = number - 1 - random.below(near.min(number));
                    if !own.contains(&parent) {
                        own.push(parent);
                    }
                }
                // Two branches that merge each other, again and again.
                if number >= roots + 2 && merges > 0 && random.below(4) == 0 {
                    own = vec![number - 1 - number % 2, number - 2 - number % 2];
                }
            }
            let mut all: BTreeSet<usize> = own.iter().flat_map(|parent| reached[*parent].clone()).collect();
            all.insert(number);
            parents.push(own);
            reached.push(all);
        }
        Self { parents, clocks, ids: Vec::new(), reached }
    }

    fn write(&self, random: &mut Random, stream: &mut Vec<u8>, first: usize) {
        let mut times: Vec<usize> = Vec::new();
        for (number, parents) in self.parents.iter().enumerate() {
            let latest = parents.iter().map(|parent| times[*parent]).max().unwrap_or(0);
            let time = self.clocks.time(random, number, latest);
            times.push(time);
            let mark = first + number;
            write!(stream, "commit refs/made/{mark}\nmark :{mark}\ncommitter n <e> {time} +0000\n").unwrap();
            write!(stream, "data {}\n{mark}\n", mark.to_string().len()).unwrap();
            for (at, parent) in parents.iter().enumerate() {
                writeln!(stream, "{} :{}", if at == 0 { "from" } else { "merge" }, first + parent).unwrap();
            }
        }
    }

    /// What some commits reach and others do not.
    fn only(&self, ours: &[usize], theirs: &[usize]) -> BTreeSet<CommitId> {
        let all = |ends: &[usize]| ends.iter().flat_map(|end| self.reached[*end].clone()).collect::<BTreeSet<usize>>();
        all(ours).difference(&all(theirs)).map(|number| self.ids[*number]).collect()
    }

    fn merge_bases(&self, one: usize, two: usize) -> BTreeSet<CommitId> {
        let common: BTreeSet<usize> = self.reached[one].intersection(&self.reached[two]).copied().collect();
        let is_best = |base: &usize| common.iter().all(|other| other == base || !self.reached[*other].contains(base));
        common.iter().filter(|base| is_best(base)).map(|number| self.ids[*number]).collect()
    }
}

fn graphs(scratch: &Scratch, random: &mut Random, count: usize) -> Vec<Graph> {
    let kinds = [Clocks::Right, Clocks::Equal, Clocks::Close, Clocks::Skewed, Clocks::Random];
    let mut graphs: Vec<Graph> = (0..count).map(|number| Graph::new(random, kinds[number % kinds.len()])).collect();
    let (mut stream, mut first) = (Vec::new(), 1);
    for graph in &graphs {
        graph.write(random, &mut stream, first);
        first += graph.parents.len();
    }
    let marks = scratch.git_dir().join("marks");
    let option = format!("--export-marks={}", marks.display());
    output(command("git", scratch.path()).args(["fast-import", "--quiet", &option]), &stream);
    let marks = std::fs::read_to_string(marks).unwrap();
    let mut marks: BTreeMap<usize, CommitId> = marks
        .lines()
        .map(|line| line.trim_start_matches(':').split_once(' ').unwrap())
        .map(|(mark, id)| (mark.parse().unwrap(), CommitId::parse(id).unwrap()))
        .collect();
    for graph in &mut graphs {
        graph.ids = graph.parents.iter().map(|_| marks.pop_first().unwrap().1).collect();
    }
    graphs
}

fn check(git: &Git, graph: &Graph, random: &mut Random) {
    let history = History::default();
    let count = graph.ids.len();
    for one in 0..count {
        for two in [random.below(count), random.below(count), random.below(count), count - 1] {
            let [from, to] = [one, two].map(|number| graph.ids[number]);
            let what = || format!("{:?} clocks: {from} and {to} of {:?}", graph.clocks, graph.parents);
            assert_eq!(history.reaches(git, &from, &to).unwrap(), graph.reached[one].contains(&two), "{}", what());
            let bases: BTreeSet<CommitId> = history.merge_bases(git, &from, &to).unwrap().into_iter().collect();
            assert_eq!(bases, graph.merge_bases(one, two), "merge bases, {}", what());
            // One against one, and several against several.
            let (mut ours, mut theirs) = (vec![one], vec![two]);
            if random.below(3) == 0 {
                ours.extend([random.below(count), random.below(count)]);
                theirs.extend([random.below(count), random.below(count)]);
            }
            let ids = |numbers: &[usize]| numbers.iter().map(|number| graph.ids[*number]).collect::<Vec<_>>();
            let only = history.only(git, &ids(&ours), &ids(&theirs));
            only.complete().unwrap();
            let found: BTreeSet<CommitId> = only.commits.iter().copied().collect();
            assert_eq!(found.len(), only.commits.len(), "a commit twice, {}", what());
            let expected = graph.only(&ours, &theirs);
            let shared: BTreeSet<CommitId> = graph.only(&ours, &[]).difference(&expected).copied().collect();
            assert!(only.shared.iter().all(|id| shared.contains(id)), "shared, {}", what());
            assert_eq!(found, expected, "{}", what());
        }
    }
}

#[test]
fn walks_through_random_histories_find_what_is_there() {
    let (count, seed) = (asked("GRAPHS", 100), asked("SEED", 1));
    let mut random = Random(seed);
    let scratch = Scratch::new();
    let graphs = graphs(&scratch, &mut random, count);
    let git = scratch.open();
    for graph in &graphs {
        check(&git, graph, &mut random);
    }
}

#[test]
fn definition_of_a_walk_is_what_git_says() {
    let (count, seed) = (asked("GRAPHS", 40), asked("SEED", 2));
    let mut random = Random(seed);
    let scratch = Scratch::new();
    let graphs = graphs(&scratch, &mut random, count);
    let (mut list, mut expected) = (String::new(), Vec::new());
    for graph in &graphs {
        for _ in 0..4 {
            let [one, two] = [0, 1].map(|_| random.below(graph.ids.len()));
            writeln!(list, "{} {}", graph.ids[one], graph.ids[two]).unwrap();
            expected.push((graph, one, two));
        }
    }
    let script = "while read one two; do
        git merge-base --is-ancestor $two $one && echo yes || echo no
        echo $(git merge-base --all $one $two | sort)
        echo $(git rev-list $one ^$two | sort); done";
    let printed = output(command("sh", scratch.path()).args(["-c", script]), list.as_bytes());
    let printed = String::from_utf8(printed).unwrap();
    let lines: Vec<&str> = printed.lines().collect();
    assert_eq!(lines.len(), 3 * expected.len());
    for ((graph, one, two), lines) in expected.into_iter().zip(lines.chunks(3)) {
        let ids = |line: &str| line.split_whitespace().map(|id| CommitId::parse(id).unwrap()).collect::<BTreeSet<_>>();
        assert_eq!(lines[0] == "yes", graph.reached[one].contains(&two));
        assert_eq!(ids(lines[1]), graph.merge_bases(one, two));
        // Git's own list may hold too much where clocks are wrong.
        let (only, told) = (graph.only(&[one], &[two]), ids(lines[2]));
        assert!(told == only || !graph.clocks.are_right() && told.is_superset(&only), "{:?}", graph.clocks);
    }
}
