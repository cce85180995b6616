//! How fast a root is computed: against what the CPU can hash at all, and against two public libraries.
//!
//! `cargo bench --bench tree`; `benches/peers.sh` adds two libraries of other languages.

#![allow(clippy::expect_used)] // a benchmark whose figures would mean nothing should stop

mod table;

use std::hint::black_box;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use ct_merkle::mem_backed_tree::MemoryBackedTree;
use git_proof::proof::digest::{ContentHash, NodeHash, sha256};
use git_proof::proof::scheme::Scheme;
use git_proof::proof::tree::{Tree, root_of};
use rs_merkle::MerkleTree;
use rs_merkle::algorithms::Sha256 as RsSha256;
use sha2::Sha256;
use sha2::block_api::compress256;

use table::{Row, Target, medians, percentile, sorted_times};

const LEAVES: usize = 1_000_000;
const ROUNDS: usize = 15;
/// A tenth for those that take seconds.
const PEER_LEAVES: usize = 100_000;
const PEER_ROUNDS: usize = 3;

fn main() {
    if !table::wanted() {
        return;
    }
    let contents: Vec<[u8; 32]> = (0..LEAVES as u64).map(|number| sha256(&number.to_be_bytes())).collect();
    check_roots(&contents);

    let leaves: Vec<NodeHash> = contents.iter().copied().map(NodeHash::new).collect();
    let [one, two, limit, limit_of_two, kept, rs_merkle, rfc9162, ct_merkle] = medians(
        ROUNDS,
        [
            &mut || _ = black_box(root_of(Scheme::V1, &leaves, 1)),
            &mut || _ = black_box(root_of(Scheme::V1, &leaves, 2)),
            &mut || _ = black_box(compress_only(LEAVES - 1)),
            &mut || compress_on_two_threads(LEAVES - 1),
            &mut || _ = black_box(kept_tree(&leaves)),
            &mut || _ = black_box(rs_merkle_root(&contents)),
            &mut || _ = black_box(rfc9162_root(&contents)),
            &mut || _ = black_box(ct_merkle_root(&contents)),
        ],
    );
    let mut rows = vec![
        Row::speed("root of 1,000,000 leaves, one thread : SHA-256 alone", one, limit, Target::AtLeast(0.75)),
        Row::speed("root, two threads : one thread", two, one, Target::AtLeast(1.8)),
        Row::speed("SHA-256 alone, two threads : one thread", limit_of_two, limit, Target::None),
        Row::speed("root : rs_merkle", one, rs_merkle, Target::AtLeast(1.0)),
        Row::speed("tree that keeps its nodes : rs_merkle", kept, rs_merkle, Target::None),
        Row::speed("root in v1-rfc9162, leaves hashed : ct-merkle", rfc9162, ct_merkle, Target::AtLeast(1.0)),
    ];
    if let Some(installed) = std::env::var_os("GIT_PROOF_PEERS") {
        rows.extend(peers(Path::new(&installed), &contents[..PEER_LEAVES]));
    }
    table::print(&rows);
}

/// Two libraries that are programs here. They time themselves, so that starting an interpreter does not count, and say which
/// root they got, so that what is compared is the same computation.
fn peers(installed: &Path, contents: &[[u8; 32]]) -> Vec<Row> {
    let leaves: Vec<NodeHash> = contents.iter().copied().map(NodeHash::new).collect();
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/peers");
    let mut javascript = Command::new("node");
    javascript.arg(scripts.join("merkletreejs.js")).arg(installed).arg(PEER_LEAVES.to_string());
    let mut python = Command::new(installed.join("venv/bin/python"));
    python.arg(scripts.join("pymerkle_root.py")).arg(PEER_LEAVES.to_string());
    let v1 = root_of(Scheme::V1, &leaves, 1).expect("there are leaves");
    let rfc9162 = NodeHash::new(rfc9162_root(contents));
    let [ours, merkletreejs, ours_rfc9162, pymerkle] = sorted_times(
        PEER_ROUNDS,
        [
            &mut || timed(|| black_box(root_of(Scheme::V1, &leaves, 1))),
            &mut || timed_itself(&mut javascript, &v1.to_string()),
            &mut || timed(|| black_box(rfc9162_root(contents))),
            &mut || timed_itself(&mut python, &rfc9162.to_string()),
        ],
    )
    .map(|times| percentile(&times, 50));
    let row = |figure: &str, ours, theirs| Row::speed(figure, ours, theirs, Target::AtLeast(1.0));
    vec![
        row("root of 100,000 leaves : merkletreejs", ours, merkletreejs),
        row("root of 100,000 leaves in v1-rfc9162, leaves hashed : pymerkle", ours_rfc9162, pymerkle),
    ]
}

fn timed<T>(work: impl FnOnce() -> T) -> Duration {
    let begun = Instant::now();
    work();
    begun.elapsed()
}

fn timed_itself(command: &mut Command, root: &str) -> Duration {
    let output = command.output().expect("the peers are installed");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let (theirs, milliseconds) = text.trim().split_once(' ').expect("a root and a time");
    assert_eq!(theirs, root, "{command:?}");
    Duration::from_secs_f64(milliseconds.parse::<f64>().expect("a number") / 1e3)
}

/// The least that a tree of so many nodes can cost: two compressions a node, of a message that is always the same.
fn compress_only(nodes: usize) -> u32 {
    let blocks = black_box([[0x5a; 64]; 2]);
    let mut sum = 0;
    for _ in 0..nodes {
        // Each node starts afresh, as in a tree: the CPU may begin one before it has finished the last.
        let mut state = black_box([0x6a09_e667; 8]);
        compress256(&mut state, &blocks);
        sum ^= state[0];
    }
    sum
}

/// What a second thread can gain at all on this machine, at this time.
fn compress_on_two_threads(nodes: usize) {
    std::thread::scope(|scope| {
        scope.spawn(|| black_box(compress_only(nodes / 2)));
        black_box(compress_only(nodes - nodes / 2));
    });
}

fn kept_tree(leaves: &[NodeHash]) -> Tree {
    let mut tree = Tree::new(Scheme::V1);
    for leaf in leaves {
        tree.push(*leaf);
    }
    tree
}

fn rs_merkle_root(contents: &[[u8; 32]]) -> [u8; 32] {
    MerkleTree::<RsSha256>::from_leaves(contents).root().expect("there are leaves")
}

fn rfc9162_root(contents: &[[u8; 32]]) -> [u8; 32] {
    let leaf = |content: &[u8; 32]| Scheme::V1Rfc9162.leaf(&ContentHash::new(*content));
    let leaves: Vec<NodeHash> = contents.iter().map(leaf).collect();
    *root_of(Scheme::V1Rfc9162, &leaves, 1).expect("there are leaves").as_bytes()
}

fn ct_merkle_root(contents: &[[u8; 32]]) -> [u8; 32] {
    let mut tree = MemoryBackedTree::<Sha256, [u8; 32]>::new();
    for content in contents {
        tree.push(*content);
    }
    (*tree.root().as_bytes()).into()
}

/// What is compared must be the same computation: the definition, rs_merkle (which moves odd nodes up, so its root is
/// ours for powers of two only) and ct-merkle (the tree of RFC 9162, for any count).
fn check_roots(contents: &[[u8; 32]]) {
    let leaves: Vec<NodeHash> = contents.iter().copied().map(NodeHash::new).collect();
    let ours = |leaves: &[NodeHash], threads| *root_of(Scheme::V1, leaves, threads).expect("leaves").as_bytes();
    let defined = by_definition(contents);
    assert_eq!(ours(&leaves, 1), defined);
    assert_eq!(ours(&leaves, 2), defined);
    assert_eq!(kept_tree(&leaves).root().map(|root| *root.as_bytes()), Some(defined));
    let power = 1 << contents.len().ilog2();
    assert_eq!(ours(&leaves[..power], 1), rs_merkle_root(&contents[..power]));
    assert_eq!(rfc9162_root(contents), ct_merkle_root(contents));
}

/// The root of `v1` as the format defines it, level by level.
fn by_definition(leaves: &[[u8; 32]]) -> [u8; 32] {
    let mut level = leaves.to_vec();
    while level.len() > 1 {
        level = level.chunks(2).map(|pair| sha256(&[pair[0], pair[pair.len() - 1]].concat())).collect();
    }
    level[0]
}
