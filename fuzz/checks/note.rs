//! Lines of a note.

use git_proof::proof::anchor::{ANCHOR_TYPE, Anchor};
use git_proof::proof::note::{NoteLine, Signature};
use git_proof::proof::word::{WORD_TYPE, Word};

use super::assert_canonical;

/// One line of a note, or all lines of one.
pub fn note_line(data: &[u8]) {
    data.split(|byte| *byte == b'\n').for_each(one_line);
}

fn one_line(line: &[u8]) {
    if let Ok(text) = std::str::from_utf8(line) {
        signature(text);
    }
    let parsed = match NoteLine::parse(line) {
        Ok(Some(parsed)) => parsed,
        Ok(None) => return assert!(line.trim_ascii().is_empty()),
        Err(malformed) => return assert!(!malformed.to_string().is_empty()),
    };
    assert_canonical(line);
    match &parsed {
        NoteLine::Unknown { kind } => {
            assert_eq!(parsed.to_line(), None);
            assert!(![ANCHOR_TYPE, WORD_TYPE].contains(&kind.as_str()), "what is of our own types is read or refused");
            return;
        }
        NoteLine::Anchor { anchor, .. } => {
            let text = anchor.to_text();
            let again = Anchor::parse(text.as_bytes()).expect("an anchor is read back");
            assert_eq!((&again, again.id()), (&**anchor, anchor.id()));
        }
        NoteLine::Word { word, .. } => {
            assert_eq!(Word::parse(word.to_text().as_bytes()).as_ref(), Ok(&**word), "a word is read back");
        }
        NoteLine::Seal { .. } => {}
    }
    assert_eq!(parsed.to_line().as_deref().map(str::as_bytes), Some(line), "printing gives back the bytes");
}

/// Base64 has one spelling.
fn signature(text: &str) {
    if let Some(signature) = Signature::from_base64(text) {
        assert_eq!(signature.to_base64(), text);
    }
    let signature = Signature(text.as_bytes().to_vec());
    if !text.is_empty() {
        assert_eq!(Signature::from_base64(&signature.to_base64()), Some(signature));
    }
}
