//! Tokens of several parts with dots between them: JSON web tokens, tokens of Discord bots.

use super::Secret;
use super::alphabet::word;
use super::value::is_random_body;

/// The longest name before a token, as in `TOKEN_…`.
const LONGEST_NAME: usize = 40;

/// Finds a token of several parts in a run of characters: at its begin, or behind a joint near it.
pub(super) fn find(run: &str) -> Option<Secret> {
    memchr::memchr(b'.', run.as_bytes())?;
    let joints = run.bytes().take(LONGEST_NAME).enumerate().filter(|(_, byte)| matches!(byte, b'_' | b'-' | b'.'));
    let mut starts = std::iter::once(0).chain(joints.map(|(joint, _)| joint + 1));
    starts.find_map(|at| Some(Secret { what: kind_of(&run[at..])?, at }))
}

fn kind_of(token: &str) -> Option<&'static str> {
    let is_json = |part: &str| part.starts_with("eyJ");
    let is_random = |part: &str, least: usize| part.len() >= least && is_random_body(part.as_bytes());
    let mut parts = token.splitn(6, '.');
    let (first, second, third) = (parts.next()?, parts.next()?, parts.next()?);
    if is_json(first) && first.len() >= 16 {
        let is_signed = is_json(second) && second.len() >= 10 && is_random(third, 32);
        // An encrypted token has five parts, and the last three are the nonce, the text and its tag.
        let is_encrypted =
            parts.next().is_some_and(|text| text.len() >= 10) && parts.next().is_some_and(|tag| tag.len() >= 16);
        return (is_signed || is_encrypted).then_some("a JSON web token");
    }
    let is_bot = first.starts_with(['M', 'N', 'O']) && (23..=28).contains(&first.len()) && first.bytes().all(word);
    (is_bot && (6..=7).contains(&second.len()) && is_random(third, 27)).then_some("a Discord bot token")
}
