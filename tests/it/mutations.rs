//! Whatever is changed in a file that proves something, it is refused or is openly something else.

use std::ops::Range;

use git_proof::proof::anchor::Anchor;
use git_proof::proof::digest::{AnchorId, ChainHash, ChangeId, CommitId, ContentHash, RootHash, TreeId};
use git_proof::proof::evidence;
use git_proof::proof::inclusion::InclusionProof;
use git_proof::proof::note::{NoteLine, Signature};
use git_proof::proof::record::{Line, Opening};
use git_proof::proof::scheme::Scheme;
use git_proof::proof::seal::{Rounds, Seal, SealedSession, seal_hash};
use git_proof::proof::tree::Tree;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use crate::naive;
use crate::sessions::{Session, any_session, id, session, text, timestamp};

/// One small change to some bytes.
#[derive(Debug, Clone)]
enum Mutation {
    FlipBits(Index, u8),
    DropByte(Index),
    RepeatByte(Index),
    SwapBytes(Index),
    Truncate(Index),
    WhiteSpace(Index, u8),
    ReorderKeys(Index, Index),
    SpellNumber(Index, fn(&str) -> String),
    DropLine(Index),
    RepeatLine(Index),
    SwapLines(Index, Index),
    CarriageReturns,
    ByteOrderMark,
}

const SPELLINGS: [fn(&str) -> String; 6] = [
    |number| format!("{number}.0"),
    |number| format!("{number}e0"),
    |number| format!("{number}E0"),
    |number| format!("0{number}"),
    |number| format!("+{number}"),
    |number| format!("-{number}"),
];

fn byte_mutation() -> impl Strategy<Value = Mutation> {
    let at = any::<Index>;
    prop_oneof![
        4 => (at(), 1u8..).prop_map(|(at, bits)| Mutation::FlipBits(at, bits)),
        2 => at().prop_map(Mutation::DropByte),
        2 => at().prop_map(Mutation::RepeatByte),
        2 => at().prop_map(Mutation::SwapBytes),
        1 => at().prop_map(Mutation::Truncate),
        2 => (at(), select(&b" \t\n\r"[..])).prop_map(|(at, space)| Mutation::WhiteSpace(at, space)),
        2 => (at(), at()).prop_map(|(object, member)| Mutation::ReorderKeys(object, member)),
        2 => (at(), select(&SPELLINGS[..])).prop_map(|(at, spelling)| Mutation::SpellNumber(at, spelling)),
        1 => Just(Mutation::ByteOrderMark),
    ]
}

fn line_mutation() -> impl Strategy<Value = Mutation> {
    let at = any::<Index>;
    prop_oneof![
        at().prop_map(Mutation::DropLine),
        at().prop_map(Mutation::RepeatLine),
        (at(), at()).prop_map(|(first, second)| Mutation::SwapLines(first, second)),
        Just(Mutation::CarriageReturns),
    ]
}

fn mutation() -> impl Strategy<Value = Mutation> {
    prop_oneof![3 => byte_mutation(), 1 => line_mutation()]
}

impl Mutation {
    /// The changed bytes; `None` where there is nothing to change in this way.
    fn apply(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let mut mutant = bytes.to_vec();
        match self {
            Self::FlipBits(at, bits) => mutant[at.index(bytes.len())] ^= bits,
            Self::DropByte(at) => drop(mutant.remove(at.index(bytes.len()))),
            Self::RepeatByte(at) => {
                let at = at.index(bytes.len());
                mutant.insert(at, bytes[at]);
            }
            Self::SwapBytes(at) => {
                let at = at.index(bytes.len() - 1);
                mutant.swap(at, at + 1);
            }
            Self::Truncate(at) => mutant.truncate(at.index(bytes.len())),
            Self::WhiteSpace(at, space) => {
                let gaps = gaps(bytes);
                mutant.insert(gaps[at.index(gaps.len())], *space);
            }
            Self::ReorderKeys(object, member) => {
                let objects: Vec<_> = objects(bytes).into_iter().filter(|members| members.len() > 1).collect();
                let members = objects.get(object.index(objects.len().max(1)))?;
                let at = member.index(members.len() - 1);
                let (first, second) = (members[at].clone(), members[at + 1].clone());
                let swapped = [&bytes[second.clone()], b",", &bytes[first.clone()]].concat();
                mutant.splice(first.start..second.end, swapped);
            }
            Self::SpellNumber(at, spelling) => {
                let numbers = numbers(bytes);
                let range = numbers.get(at.index(numbers.len().max(1)))?.clone();
                let spelled = spelling(std::str::from_utf8(&bytes[range.clone()]).unwrap());
                mutant.splice(range, spelled.into_bytes());
            }
            Self::DropLine(at) => {
                let mut lines = lines(bytes);
                lines.remove(at.index(lines.len()));
                mutant = lines.concat();
            }
            Self::RepeatLine(at) => {
                let mut lines = lines(bytes);
                let at = at.index(lines.len());
                lines.insert(at, lines[at]);
                mutant = lines.concat();
            }
            Self::SwapLines(first, second) => {
                let mut lines = lines(bytes);
                let count = lines.len();
                lines.swap(first.index(count), second.index(count));
                mutant = lines.concat();
            }
            Self::CarriageReturns => {
                let with_return = |line: &[u8]| [line.strip_suffix(b"\n").unwrap_or(line), b"\r\n"].concat();
                mutant = lines(bytes).into_iter().flat_map(with_return).collect();
            }
            Self::ByteOrderMark => mutant = [b"\xef\xbb\xbf", bytes].concat(),
        }
        (mutant != bytes).then_some(mutant)
    }
}

fn lines(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.split_inclusive(|byte| *byte == b'\n').collect()
}

/// For each byte of JSON, whether it belongs to a string (the quotes do).
fn in_strings(json: &[u8]) -> Vec<bool> {
    let (mut inside, mut escaped) = (false, false);
    json.iter()
        .map(|&byte| {
            let was_inside = inside;
            match byte {
                _ if escaped => escaped = false,
                b'\\' if inside => escaped = true,
                b'"' => inside = !inside,
                _ => {}
            }
            was_inside || inside
        })
        .collect()
}

/// Positions where a character can be put without being part of a string.
fn gaps(json: &[u8]) -> Vec<usize> {
    let strings = in_strings(json);
    (0..=json.len())
        .filter(|&at| {
            let opens = json.get(at) == Some(&b'"') && (at == 0 || !strings[at - 1]);
            at == json.len() || !strings[at] || opens
        })
        .collect()
}

/// The numbers outside of strings.
fn numbers(json: &[u8]) -> Vec<Range<usize>> {
    let strings = in_strings(json);
    let digit = |at: usize| !strings[at] && matches!(json[at], b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
    let starts = (0..json.len())
        .filter(|&at| !strings[at] && matches!(json[at], b'0'..=b'9' | b'-') && !(at > 0 && digit(at - 1)));
    starts.map(|start| start..(start..json.len()).find(|at| !digit(*at)).unwrap_or(json.len())).collect()
}

/// The members of each object, in valid JSON without white space.
fn objects(json: &[u8]) -> Vec<Vec<Range<usize>>> {
    let strings = in_strings(json);
    let mut open: Vec<(u8, usize, Vec<Range<usize>>)> = Vec::new();
    let mut objects = Vec::new();
    for at in (0..json.len()).filter(|at| !strings[*at]) {
        match json[at] {
            bracket @ (b'{' | b'[') => open.push((bracket, at + 1, Vec::new())),
            b',' => {
                let (_, start, members) = open.last_mut().unwrap();
                members.push(*start..at);
                *start = at + 1;
            }
            b'}' | b']' => {
                let (bracket, start, mut members) = open.pop().unwrap();
                members.push(start..at);
                if bracket == b'{' {
                    objects.push(members);
                }
            }
            _ => {}
        }
    }
    objects
}

#[test]
fn the_mutations_find_keys_numbers_and_gaps() {
    let json = br#"{"a":{"b\"1,":2,"c":[3,-4.5e6]},"d":"7"}"#;
    let show = |ranges: &[Range<usize>]| -> Vec<String> {
        ranges.iter().map(|range| String::from_utf8_lossy(&json[range.clone()]).into_owned()).collect()
    };
    assert_eq!(show(&numbers(json)), ["2", "3", "-4.5e6"]);
    let objects = objects(json);
    assert_eq!(show(&objects[0]), [r#""b\"1,":2"#, r#""c":[3,-4.5e6]"#]);
    assert_eq!(show(&objects[1])[1], r#""d":"7""#);
    assert_eq!(gaps(br#"{"a":1}"#), [0, 1, 4, 5, 6, 7]);
}

/// Whether a file is accepted as the evidence of a session that is trusted.
fn accepted(session: &Session, file: &[u8]) -> bool {
    evidence::verify(file).and_then(|summary| summary.require(&session.root, session.count)).is_ok()
}

fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig { failure_persistence: None, max_global_rejects: 100_000, ..ProptestConfig::with_cases(cases) }
}

fn fully_covered() -> impl Strategy<Value = Session> {
    select(vec![Scheme::V1, Scheme::V1Rfc9162]).prop_flat_map(|scheme| session(scheme, 6))
}

proptest! {
    #![proptest_config(cases(150))]

    #[test]
    fn a_session_as_generated_holds(session in any_session(8)) {
        let summary = evidence::verify(session.evidence.as_bytes()).unwrap();
        prop_assert_eq!(summary.require(&session.root, session.count), Ok(()));
        prop_assert_eq!((summary.genesis, summary.head), (session.genesis, session.head));
    }
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn evidence_that_was_changed_is_refused(
        session in fully_covered(),
        mutations in prop::collection::vec(mutation(), 12),
    ) {
        for mutation in mutations {
            let Some(mutant) = mutation.apply(session.evidence.as_bytes()) else { continue };
            prop_assert!(!accepted(&session, &mutant), "{:?}\n{}", mutation, String::from_utf8_lossy(&mutant));
        }
    }

    /// The order of sibling branches is not covered by a sorted tree; that each follows its parent is, by the chain.
    #[test]
    fn sorted_evidence_that_was_changed_is_refused_or_has_sibling_branches_in_another_order(
        session in session(Scheme::V1Sorted, 6),
        mutations in prop::collection::vec(mutation(), 12),
    ) {
        for mutation in mutations {
            let original = session.evidence.as_bytes();
            let Some(mutant) = mutation.apply(original) else { continue };
            if accepted(&session, &mutant) {
                prop_assert!(matches!(mutation, Mutation::SwapLines(..)), "{:?}", mutation);
                let (mut before, mut after) = (lines(original), lines(&mutant));
                prop_assert_eq!(before[0], after[0]);
                before.sort_unstable();
                after.sort_unstable();
                prop_assert_eq!(before, after);
            }
        }
    }

    /// Only texts and parents are covered in this scheme, and that every line is canonical.
    #[test]
    fn ams_evidence_that_was_changed_is_refused_or_says_the_same_with_the_same_parents(
        session in session(Scheme::AmsV0, 6),
        mutations in prop::collection::vec(mutation(), 12),
    ) {
        for mutation in mutations {
            let Some(mutant) = mutation.apply(session.evidence.as_bytes()) else { continue };
            if accepted(&session, &mutant) {
                prop_assert_eq!(covered_by_ams(session.evidence.as_bytes()), covered_by_ams(&mutant));
                let opening = lines(&mutant)[0];
                let printed = Opening::parse(&opening[..opening.len() - 1]).unwrap().to_line() + "\n";
                prop_assert_eq!(printed.as_bytes(), opening);
            }
        }
    }

    #[test]
    fn white_space_key_order_and_number_spelling_are_refused_in_every_scheme(
        session in any_session(5),
        at in any::<Index>(),
        other in any::<Index>(),
        space in select(&b" \t\n\r"[..]),
        spelling in select(&SPELLINGS[..]),
    ) {
        let not_canonical =
            [Mutation::WhiteSpace(at, space), Mutation::ReorderKeys(at, other), Mutation::SpellNumber(at, spelling)];
        for mutation in not_canonical {
            let Some(mutant) = mutation.apply(session.evidence.as_bytes()) else { continue };
            // A minus sign before a number gives another number, which this scheme does not cover.
            let another_number = session.scheme == Scheme::AmsV0
                && matches!(mutation, Mutation::SpellNumber(..))
                && spelling("5") == "-5";
            prop_assert!(another_number || !accepted(&session, &mutant), "{:?}", mutation);
        }
    }

    #[test]
    fn evidence_held_against_another_count_is_refused(session in any_session(5), count in 1u64..12) {
        prop_assume!(count != session.count);
        let summary = evidence::verify(session.evidence.as_bytes()).unwrap();
        prop_assert!(summary.require(&session.root, count).is_err());
    }
}

/// The content hash and parent of every entry, after a line-by-line check that each is printed as it was read.
fn covered_by_ams(file: &[u8]) -> Vec<(ContentHash, ChainHash)> {
    let entries = lines(file).into_iter().skip(1);
    entries
        .map(|line| {
            let line = &line[..line.len() - 1];
            match Line::parse(line).unwrap() {
                Line::Entry(entry) => {
                    assert_eq!(entry.to_line().as_bytes(), line);
                    (ContentHash::new(naive::sha256(&[entry.body.text().as_bytes()])), entry.prev_hash)
                }
                Line::Withheld(withheld) => {
                    assert_eq!(withheld.to_line().as_bytes(), line);
                    (withheld.content_hash, withheld.prev_hash)
                }
            }
        })
        .collect()
}

fn digest() -> impl Strategy<Value = [u8; 32]> {
    any::<[u8; 32]>()
}

fn anchor() -> impl Strategy<Value = Anchor> {
    let object = || prop_oneof!["[0-9a-f]{40}", "[0-9a-f]{64}"];
    let session = (id(), prop::option::of(text()), select(&Scheme::ALL), 1u64..=(1 << 53) - 1);
    let hashes = (digest(), digest(), digest(), prop::option::of(digest()));
    (session, hashes, object(), "[0-9a-f]{64}", timestamp()).prop_map(
        |((session_id, task_id, scheme, count), (root, genesis, head, change_id), commit, tree, anchored_at)| Anchor {
            anchored_at,
            change_id: change_id.map(ChangeId::new),
            count,
            genesis: ChainHash::new(genesis),
            head: ChainHash::new(head),
            root: RootHash::new(root),
            scheme,
            session_id,
            task_id,
            tree: TreeId::parse(&tree[..commit.len()]).unwrap(),
            commit: CommitId::parse(&commit).unwrap(),
        },
    )
}

fn note_line() -> impl Strategy<Value = NoteLine> {
    let signature = prop::option::of(prop::collection::vec(any::<u8>(), 1..40).prop_map(Signature));
    (anchor(), signature).prop_map(|(anchor, signature)| NoteLine::Anchor { anchor: Box::new(anchor), signature })
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn an_anchor_line_that_was_changed_is_refused_or_another_anchor(
        original in note_line(),
        mutations in prop::collection::vec(byte_mutation(), 12),
    ) {
        let line = original.to_line().unwrap();
        prop_assert_eq!(NoteLine::parse(line.as_bytes()), Ok(Some(original.clone())));
        for mutation in mutations {
            let Some(mutant) = mutation.apply(line.as_bytes()) else { continue };
            // Blank and unknown lines are reported or passed over, never taken for an anchor.
            let Ok(Some(parsed @ NoteLine::Anchor { .. })) = NoteLine::parse(&mutant) else { continue };
            let printed = parsed.to_line().unwrap();
            prop_assert_eq!(printed.as_bytes(), &mutant[..], "{:?}", mutation);
            prop_assert_ne!(identity(&parsed), identity(&original), "{:?}", mutation);
        }
    }

    #[test]
    fn an_anchor_of_its_own_type_that_was_respelled_is_refused(
        original in note_line(),
        at in any::<Index>(),
        other in any::<Index>(),
        space in select(&b" \t\n\r"[..]),
        spelling in select(&SPELLINGS[..]),
    ) {
        let line = original.to_line().unwrap();
        let respelled = [
            Mutation::WhiteSpace(at, space),
            Mutation::ReorderKeys(at, other),
            Mutation::SpellNumber(at, spelling),
            Mutation::ByteOrderMark,
            Mutation::CarriageReturns,
        ];
        for mutation in respelled {
            let Some(mutant) = mutation.apply(line.as_bytes()) else { continue };
            prop_assert!(NoteLine::parse(&mutant).is_err(), "{:?} {}", mutation, String::from_utf8_lossy(&mutant));
        }
    }
}

/// What tells two anchor lines apart: the anchor's id, and the signature.
fn identity(line: &NoteLine) -> (AnchorId, Option<Signature>) {
    match line {
        NoteLine::Anchor { anchor, signature } => (anchor.id(), signature.clone()),
        other => unreachable!("{other:?} is no anchor"),
    }
}

/// A valid proof out of a session, with the root and count that are trusted.
fn proof() -> impl Strategy<Value = InclusionProof> {
    (any_session(20), any::<Index>()).prop_map(|(session, at)| {
        let mut contents = session.contents.clone();
        if session.scheme == Scheme::V1Sorted {
            contents.sort_unstable();
        }
        let index = at.index(contents.len());
        let mut tree = Tree::new(session.scheme);
        for content in &contents {
            tree.push(session.scheme.leaf(&ContentHash::new(*content)));
        }
        InclusionProof {
            scheme: session.scheme,
            leaf_hash: ContentHash::new(contents[index]),
            index: index as u64,
            count: session.count,
            steps: tree.path(index as u64).unwrap(),
            root: session.root,
        }
    })
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn an_inclusion_proof_that_was_changed_is_refused(
        proof in proof(),
        mutations in prop::collection::vec(prop_oneof![9 => byte_mutation(), 1 => Just(Mutation::CarriageReturns)], 12),
    ) {
        let line = proof.to_line();
        prop_assert_eq!(InclusionProof::parse(line.as_bytes()), Ok(proof.clone()));
        prop_assert_eq!(proof.verify(&proof.root, proof.count), Ok(()));
        for mutation in mutations {
            let Some(mutant) = mutation.apply(line.as_bytes()) else { continue };
            if let Ok(parsed) = InclusionProof::parse(&mutant) {
                let printed = parsed.to_line();
                prop_assert_eq!(printed.as_bytes(), &mutant[..], "{:?}", mutation);
                prop_assert!(parsed.verify(&proof.root, proof.count).is_err(), "{:?}", mutation);
            }
        }
    }
}

fn sealed_session() -> impl Strategy<Value = SealedSession> {
    (prop::collection::btree_set(digest(), 1..3), 1u64..1000, digest(), select(&Scheme::ALL), id()).prop_map(
        |(anchors, count, root, scheme, session_id)| SealedSession {
            anchors: anchors.into_iter().map(AnchorId::new).collect(),
            count,
            root: RootHash::new(root),
            scheme,
            session_id,
        },
    )
}

/// The bytes of two seals in a chain.
fn two_seals() -> impl Strategy<Value = [String; 2]> {
    let round = || {
        // A session stands in a round once.
        prop::collection::vec(sealed_session(), 1..4).prop_map(|mut sessions| {
            sessions.sort_by(|left, right| left.session_id.cmp(&right.session_id));
            sessions.dedup_by(|left, right| left.session_id == right.session_id);
            sessions
        })
    };
    (round(), round(), timestamp(), timestamp()).prop_map(|(first, second, opened_at, sealed_at)| {
        let mut rounds = Rounds::new();
        let first = rounds.seal(first, opened_at, sealed_at).unwrap().to_text();
        rounds.push(first.as_bytes()).unwrap();
        let second = rounds.seal(second, opened_at, sealed_at).unwrap().to_text();
        rounds.clone().push(second.as_bytes()).unwrap();
        [first, second]
    })
}

proptest! {
    #![proptest_config(cases(150))]

    #[test]
    fn a_seal_that_was_changed_is_refused_or_is_another_seal_that_the_next_one_does_not_follow(
        [first, second] in two_seals(),
        mutations in prop::collection::vec(byte_mutation(), 12),
    ) {
        for mutation in mutations {
            let Some(mutant) = mutation.apply(first.as_bytes()) else { continue };
            if let Ok(parsed) = Seal::parse(&mutant) {
                let printed = parsed.to_text();
                prop_assert_eq!(printed.as_bytes(), &mutant[..], "{:?}", mutation);
                prop_assert_ne!(seal_hash(&mutant), seal_hash(first.as_bytes()));
            }
            let mut rounds = Rounds::new();
            if rounds.push(&mutant).is_ok() {
                prop_assert!(rounds.push(second.as_bytes()).is_err(), "{:?}", mutation);
            }
        }
    }

    #[test]
    fn a_seal_that_was_respelled_is_refused(
        [first, _] in two_seals(),
        at in any::<Index>(),
        other in any::<Index>(),
        space in select(&b" \t\n\r"[..]),
        spelling in select(&SPELLINGS[..]),
    ) {
        let respelled = [
            Mutation::WhiteSpace(at, space),
            Mutation::ReorderKeys(at, other),
            Mutation::SpellNumber(at, spelling),
            Mutation::ByteOrderMark,
            Mutation::CarriageReturns,
        ];
        for mutation in respelled {
            let Some(mutant) = mutation.apply(first.as_bytes()) else { continue };
            prop_assert!(Seal::parse(&mutant).is_err(), "{:?}", mutation);
        }
    }
}
