//! Values that the text itself calls a credential: `DB_PASSWORD=…`, `"api_key": "…"`, `Authorization: Bearer …`.

use super::alphabet::{NAME, is, is_symbol};
use super::assigned::{Assigned, Sign, assigned_to, used_as};
use super::encoded::{from_base64, is_encoded_text};
use super::names::{Name, classify};
use super::value::{Strength, is_grouped_hex, is_short_password, is_uuid, strength, surprise};
use super::{Secret, commands};

/// Finds the first value that the text calls a credential and that looks like one.
pub(super) fn find(text: &str) -> Option<Secret> {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let length = bytes[at..].iter().take_while(|byte| is(**byte, NAME)).count();
        if length > 1 || length == 1 && bytes[at].is_ascii_digit() {
            let found = credential_of(text, at, at + length).or_else(|| commands::find(text, at, at + length));
            if found.is_some() {
                return found;
            }
        }
        at += length + 1;
    }
    None
}

/// The credential that is given for the name at this place.
fn credential_of(text: &str, start: usize, end: usize) -> Option<Secret> {
    let name = text[start..end].trim_end_matches(['.', '-']);
    let before = &text[..start];
    let class = classify(name, before)?;
    if before.ends_with("::") {
        return None; // the path of a type
    }
    let in_path = before.ends_with([':', '/']); // of a resource: `arn:aws:…:secret:name`
    if class == Name::Cookie {
        return cookie(&text[end..]).then_some(Secret { what: "a cookie", at: start });
    }
    if matches!(class, Name::Password | Name::Secret)
        && let Some(value) = used_as(before)
    {
        let bytes = value.as_bytes();
        let is_chosen = class == Name::Password && strength(bytes) == Strength::Chosen && is_short_password(bytes);
        if (strength(bytes) == Strength::Random && !is_uuid(bytes)) || is_chosen {
            let what = if class == Name::Password { "a password" } else { "a secret key or token" };
            return Some(Secret { what, at: value.as_ptr().addr() - text.as_ptr().addr() });
        }
    }
    assigned_to(text, start, end).into_iter().find_map(|value| {
        let what = match class {
            Name::Authorization => authorization(name, &value)?,
            Name::Pass if value.sign != Sign::Assigns => return None,
            Name::Secret if in_path && strength(value.text.as_bytes()) < Strength::Random => return None,
            Name::Password | Name::Pass => is_password(&value).then_some("a password")?,
            Name::Secret => is_secret(&value).then_some("a secret key or token")?,
            Name::BareKey if value.sign != Sign::Assigns || is_grouped_hex(value.text.as_bytes()) => return None,
            Name::BareKey | Name::Key | Name::Cookie => is_key(&value).then_some("a secret key or token")?,
        };
        Some(Secret { what, at: value.at })
    })
}

fn is_password(value: &Assigned<'_>) -> bool {
    match strength(value.text.as_bytes()) {
        Strength::Random => true,
        Strength::Chosen => value.is_marked() && !value.text.contains(' '),
        Strength::Plain => false,
    }
}

fn is_secret(value: &Assigned<'_>) -> bool {
    let bytes = value.text.as_bytes();
    match strength(bytes) {
        Strength::Random => true,
        Strength::Chosen if value.is_marked() && bytes.len() >= 12 && !bytes.contains(&b' ') => {
            surprise(bytes) >= 420 || value.is_quoted && bytes.iter().any(|byte| is_symbol(*byte))
        }
        _ => false,
    }
}

/// Digests, ids and texts in base64 are the keys of maps and caches, so they do not count.
fn is_key(value: &Assigned<'_>) -> bool {
    let bytes = value.text.as_bytes();
    let is_digest = is_uuid(bytes) || is_grouped_hex(bytes) && matches!(bytes.len(), 40 | 64 | 128);
    let is_random = value.is_marked() && bytes.len() >= 20 && strength(bytes) == Strength::Random;
    is_random && !is_digest && !is_encoded_text(bytes)
}

/// The value of an `Authorization` header, or of a scheme of it.
fn authorization(name: &str, value: &Assigned<'_>) -> Option<&'static str> {
    let bytes = value.text.as_bytes();
    let decoded = String::from_utf8(from_base64(bytes)).unwrap_or_default();
    if let Some((_, password)) = decoded.split_once(':')
        && !decoded.contains(char::is_control)
    {
        return (strength(password.as_bytes()) >= Strength::Chosen).then_some("a login in base64");
    }
    if value.sign == Sign::Calls && name.to_ascii_lowercase().ends_with("auth") {
        return is_password(value).then_some("a password");
    }
    let is_named = !name.eq_ignore_ascii_case("basic");
    (is_named && strength(bytes) == Strength::Random && !is_uuid(bytes)).then_some("an authorization header")
}

/// Whether a value in a `Cookie` header is long and random, as that of a session.
fn cookie(rest: &str) -> bool {
    let Some(header) = rest.trim_start_matches(['"', '\'']).strip_prefix(':') else { return false };
    let length = header.bytes().take(2048).position(|byte| byte == b'\n').unwrap_or(header.len().min(2048));
    let pairs = header.as_bytes()[..length].split(|byte| b"; \"'<".contains(byte));
    let mut values = pairs.filter_map(|pair| pair.iter().position(|byte| *byte == b'=').map(|at| &pair[at + 1..]));
    values.any(|value| value.len() >= 20 && strength(value) == Strength::Random && !is_uuid(value))
}
