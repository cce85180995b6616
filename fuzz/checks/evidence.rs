//! Evidence files.

use git_proof::proof::chain::Chain;
use git_proof::proof::digest::{ChainHash, RootHash, sha256};
use git_proof::proof::evidence::{self, EvidenceError, Summary, Verifier};
use git_proof::proof::record::{Line, Opening};
use git_proof::proof::scheme::Scheme;
use git_proof::proof::tree::Tree;

use super::assert_canonical;

/// Most pushes that one input may cost: cutting a large one into single bytes would only slow the fuzzer down.
const MAX_PIECES: usize = 1 << 14;

/// An evidence file.
pub fn evidence(data: &[u8]) {
    let whole = read(data, data.len());
    for size in [1, 7, 64] {
        if data.len() / size <= MAX_PIECES {
            assert_eq!(read(data, size), whole, "in pieces of {size}");
        }
    }
    let (verdict, lines) = whole;
    assert_eq!(evidence::verify(data), verdict);
    match verdict {
        Ok(summary) => accepted(data, &summary, &lines),
        Err(error) => assert!(error.line >= 1 && !error.to_string().is_empty()),
    }
    repaired(data);
}

/// An entry line as a verifier shows it: its position, its text printed again, its chain hash.
type Seen = (u64, String, ChainHash);

/// What a verifier says and shows when the file comes in pieces of this size.
fn read(data: &[u8], size: usize) -> (Result<Summary, EvidenceError>, Vec<Seen>) {
    let mut seen = Vec::new();
    let mut verifier = Verifier::new();
    let pushed = data
        .chunks(size.max(1))
        .try_for_each(|piece| verifier.push_with(piece, |index, line, hash| seen.push((index, print(line), *hash))));
    (pushed.and_then(|()| verifier.finish()), seen)
}

fn print(line: &Line<'_>) -> String {
    match line {
        Line::Entry(entry) => entry.to_line(),
        Line::Withheld(withheld) => withheld.to_line(),
    }
}

/// A file that holds is exactly what printing its lines gives, and its root is that of a tree built another way.
fn accepted(data: &[u8], summary: &Summary, lines: &[Seen]) {
    let mut printed = summary.opening.to_line() + "\n";
    for (at, (index, line, _)) in lines.iter().enumerate() {
        assert_eq!(*index, at as u64);
        printed += line;
        printed.push('\n');
    }
    assert_eq!(printed.as_bytes(), data, "printing gives back the bytes");
    printed.lines().for_each(|line| assert_canonical(line.as_bytes()));
    assert_eq!((summary.count, Some(&summary.head)), (lines.len() as u64, lines.last().map(|(_, _, hash)| hash)));
    assert_eq!(summary.require(&summary.root, summary.count), Ok(()));
    assert!(summary.require(&summary.root, summary.count + 1).is_err());
    assert!(summary.require(&RootHash::new(sha256(data)), summary.count).is_err());

    let scheme = summary.opening.scheme;
    let parsed = || lines.iter().map(|(_, line, _)| Line::parse(line.as_bytes()).expect("was parsed before"));
    let mut leaves: Vec<_> = parsed()
        .map(|line| match line {
            Line::Entry(entry) => scheme.content_hash(entry.to_line().as_bytes(), entry.body.text()),
            Line::Withheld(withheld) => withheld.content_hash,
        })
        .map(|content| scheme.leaf(&content))
        .collect();
    if scheme == Scheme::V1Sorted {
        leaves.sort_unstable();
    }
    let mut tree = Tree::new(scheme);
    for leaf in leaves {
        tree.push(leaf);
    }
    assert_eq!(tree.root(), Some(summary.root));

    // Withholding every entry that may be withheld changes nothing but what can be read.
    let mut public = summary.opening.to_line() + "\n";
    for line in parsed() {
        public += &match line {
            Line::Entry(entry) => evidence::publish(scheme, &entry, true),
            Line::Withheld(withheld) => withheld.to_line(),
        };
        public.push('\n');
    }
    let published = evidence::verify(public.as_bytes()).expect("what is published holds");
    // A reflection that is withheld is none, and what cannot be read cannot be ignored.
    let Summary { withheld, reflection, ignored, .. } = *summary;
    assert_eq!(Summary { withheld, reflection, ignored, ..published }, *summary);
}

/// The lines that can be read, chained anew, are a file that holds.
fn repaired(data: &[u8]) {
    let mut lines = data.split(|byte| *byte == b'\n');
    let Some(Ok(opening)) = lines.next().map(Opening::parse) else { return };
    let line = opening.to_line();
    let mut file = line.clone() + "\n";
    let mut chain = Chain::new(opening.scheme, opening.scheme.genesis(line.as_bytes()));
    let mut parents = vec![chain.genesis()];
    for line in lines.filter_map(|line| Line::parse(line).ok()) {
        // The hash that does not fit any more still says which earlier entry to branch off from, or none.
        let choose = |old: &ChainHash| match old.as_bytes() {
            [0, at, ..] => parents[usize::from(*at) % parents.len()],
            _ => chain.head(),
        };
        let (line, content, prev) = match line {
            Line::Entry(mut entry) => {
                entry.prev_hash = choose(&entry.prev_hash);
                let line = entry.to_line();
                let content = opening.scheme.content_hash(line.as_bytes(), entry.body.text());
                (line, content, entry.prev_hash)
            }
            Line::Withheld(mut withheld) => {
                withheld.prev_hash = choose(&withheld.prev_hash);
                (withheld.to_line(), withheld.content_hash, withheld.prev_hash)
            }
        };
        parents.push(chain.append(&content, &prev).expect("the parent is known"));
        file += &line;
        file.push('\n');
    }
    if parents.len() > 1 {
        let (verdict, lines) = read(file.as_bytes(), file.len());
        let summary = verdict.expect("lines that are chained right hold");
        assert_eq!((summary.genesis, summary.head), (chain.genesis(), chain.head()));
        accepted(file.as_bytes(), &summary, &lines);
    }
}
