//! Trailers of a commit's message.

use git_proof::proof::trailer::{ProofTrailer, ProofTrailers, RootTrailer, Stray, trailers};

/// A commit's message.
pub fn trailer_block(data: &[u8]) {
    let found = ProofTrailers::parse(data);
    let all: Vec<_> = trailers(data).collect();
    for trailer in &all {
        let key = &trailer.key;
        assert!(!key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-'), "{key:?}");
        assert_eq!(trailer.value.trim_matches([' ', '\t', '\r', '\n']), trailer.value);
        assert!(!trailer.value.contains('\n'));
    }

    if found.strays.iter().any(|stray| matches!(stray, Stray::More { .. })) {
        return; // not all of them were read
    }

    // Every trailer of ours is either read or reported, and nothing is both.
    let ours = all.iter().filter(|trailer| trailer.key.to_ascii_lowercase().starts_with("proof-")).count();
    let inside = found.strays.iter().filter(|stray| !matches!(stray, Stray::Outside { .. }));
    assert_eq!(found.trailers.len() + inside.count(), ours);

    let mut message = "Title\n\n".to_owned();
    for trailer in &found.trailers {
        message += &trailer.to_string();
        message.push('\n');
        if let ProofTrailer::Root(root) = trailer {
            assert_eq!(RootTrailer::parse(&root.to_string()).as_ref(), Some(root));
        }
    }
    let again = ProofTrailers::parse(message.as_bytes());
    assert_eq!((again.trailers, again.strays), (found.trailers, Vec::new()), "what we write is what we read");

    // What follows the first NUL is reported and never read.
    let hidden = [data, b"\0\n\nProof-Grade: true\n"].concat();
    assert_eq!(trailers(&hidden).collect::<Vec<_>>(), all);
    let reported = Stray::Outside { line: "Proof-Grade: true".to_owned() };
    assert!(ProofTrailers::parse(&hidden).strays.contains(&reported));

    if let Ok(text) = std::str::from_utf8(data)
        && let Some(root) = RootTrailer::parse(text)
    {
        assert_eq!(root.to_string(), text);
    }
}
