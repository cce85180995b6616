//! Archives of cold sessions.

use git_proof::proof::digest::{ArchiveHash, sha256};
use git_proof::proof::evidence;
use git_proof::store::{Archive, Damage, RootRow};

use super::scratch::{Scratch, now};

/// The first byte says what the rest is: `z` the file of an archive, `t` the text in one.
pub fn archive(data: &[u8]) {
    let Some((form, rest)) = data.split_first() else { return };
    match form {
        b'z' => assert!(verify(&evidence_of_one(), &ArchiveHash::new([0; 32]), rest).is_err()),
        b't' => text(rest),
        _ => {}
    }
}

/// A text is accepted if it is the whole evidence of the session that is asked for, under its own name.
fn text(text: &[u8]) {
    let hash = ArchiveHash::new(sha256(text));
    let file = stored(text);
    let Ok(summary) = evidence::verify(text) else {
        assert!(matches!(verify(&evidence_of_one(), &hash, &file), Err(Damage::Differs(_))));
        return;
    };
    let root = root_of(&summary);
    assert_eq!(verify(&root, &hash, &file).is_ok(), summary.withheld == 0);
    let others = [
        (RootRow { record_count: summary.count + 1, ..root.clone() }, hash),
        (RootRow { genesis: summary.head, ..root.clone() }, hash),
        (root.clone(), ArchiveHash::new([0; 32])),
    ];
    for (root, hash) in others {
        assert!(matches!(verify(&root, &hash, &file), Err(Damage::Differs(_))));
    }
    for cut in [1, 4, file.len() / 2] {
        assert!(verify(&root, &hash, &file[..file.len() - cut]).is_err(), "{cut} bytes too few");
    }
}

fn verify(root: &RootRow, hash: &ArchiveHash, file: &[u8]) -> Result<(), Damage> {
    let scratch = Scratch::empty();
    let archive = Archive::new(scratch.path().to_owned(), None);
    scratch.write(archive.path(hash), file);
    archive.verify(hash, root)
}

/// The root of some session.
fn evidence_of_one() -> RootRow {
    let text = include_bytes!("../corpus/archive/text");
    let summary = evidence::verify(&text[1..]).expect("a session");
    root_of(&summary)
}

/// The root under which a session would be finalized.
fn root_of(summary: &evidence::Summary) -> RootRow {
    RootRow {
        session_id: summary.opening.session_id.clone(),
        scheme: summary.opening.scheme,
        genesis: summary.genesis,
        head: summary.head,
        root: summary.root,
        count: summary.count,
        record_count: summary.count,
        finalized_at: now(),
    }
}

/// A zstd frame that compresses nothing.
fn stored(text: &[u8]) -> Vec<u8> {
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0xa0];
    frame.extend(u32::try_from(text.len()).expect("a small text").to_le_bytes());
    let mut parts = text.chunks(1 << 17).peekable();
    if parts.peek().is_none() {
        frame.extend([1, 0, 0]);
    }
    while let Some(part) = parts.next() {
        let head = u32::try_from(part.len() << 3).expect("a part") | u32::from(parts.peek().is_none());
        frame.extend(&head.to_le_bytes()[..3]);
        frame.extend_from_slice(part);
    }
    frame
}
