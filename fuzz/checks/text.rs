//! What is made of the text of a record, which others may have written.

use git_proof::flow::Points;
use git_proof::proof::text::inert;
use git_proof::record::find_secret;

/// A text.
pub fn text(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    shown(text);
    let points = Points::read(text, None);
    let all: Vec<&str> = points.points.iter().map(|point| &point.text[..]).chain([&points.text[..]]).collect();
    for word in all.iter().flat_map(|said| said.split_whitespace()) {
        assert!(text.contains(word), "{word:?} was not said");
    }
    assert!(points.points.iter().all(|point| !point.text.trim().is_empty()), "a point that says nothing");
    let metadata = serde_json::from_str(text).ok();
    if metadata.is_some() {
        let read = Points::read("a", metadata.as_ref());
        assert_eq!(read.text, "a", "metadata says more, and nothing else");
    }
    if let Some(secret) = find_secret(text) {
        assert!(text.get(secret.at..).is_some_and(|rest| !rest.is_empty()), "{secret:?}");
        assert!(find_secret(&format!("{text} and more")).is_some_and(|again| again.at <= secret.at));
    }
}

/// What is shown does nothing: no control, nothing that hides or reorders, no command of a runner.
fn shown(text: &str) {
    let safe = inert(text);
    assert_eq!(inert(&safe), safe, "what is inert stays as it is");
    assert!(!safe.chars().any(|letter| letter.is_control() || ('\u{202a}'..='\u{202e}').contains(&letter)));
    assert!(!safe.contains("##[") && !safe.contains("##vso["));
    if text.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == ' ') {
        assert_eq!(safe, text);
    }
}
