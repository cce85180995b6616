//! One line of an allowed-signers file: `PRINCIPALS [OPTIONS] TYPE KEY [COMMENT]`.

use super::pattern::Patterns;
use crate::proof::note::Signature;
use crate::proof::sshsig::PublicKey;
use crate::proof::timestamp::Timestamp;

/// A key, whose it is, and what it may sign when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) principals: Patterns,
    pub(super) options: Options,
    pub(super) key: PublicKey,
    /// Why the key may sign nothing, if so: the line says something that is not supported. It still ties names together.
    pub(super) skipped: Option<&'static str>,
}

/// The options of a line, which restrict its key.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Options {
    pub(super) namespaces: Option<Patterns>,
    pub(super) valid_after: Option<Timestamp>,
    pub(super) valid_before: Option<Timestamp>,
}

/// The line without the white space around it; `None` for one that says nothing.
pub(super) fn content(line: &str) -> Result<Option<&str>, String> {
    let line = line.strip_suffix('\r').unwrap_or(line).trim_matches([' ', '\t']);
    if line.is_empty() || line.starts_with('#') {
        return Ok(None);
    }
    // They would be printed with the name of the signer.
    if line.chars().any(|character| character.is_control() && character != '\t') {
        return Err("a control character".to_owned());
    }
    Ok(Some(line))
}

impl Entry {
    /// Reads what [`content`] left.
    pub(super) fn parse(line: &str) -> Result<Self, String> {
        let (field, rest, quotes) = match quoted(line) {
            Some((field, rest)) if rest.starts_with([' ', '\t']) => (field, rest.trim_start_matches([' ', '\t']), true),
            _ => {
                let (field, rest) = split(line);
                (field.to_owned(), rest, false)
            }
        };
        if field.contains('"') {
            return Err("a quote inside of a principal is not supported".to_owned());
        }
        let principals =
            Patterns::parse(&field).ok_or("the list of principals names no one, or has an empty element")?;
        let (options, skipped, rest) = if ["ssh-", "ecdsa-", "sk-"].iter().any(|start| rest.starts_with(start)) {
            (Options::default(), None, rest)
        } else {
            Options::read(rest)?
        };
        let skipped = if quotes { Some("a quoted principal is not supported") } else { skipped };
        Ok(Self { principals, options, key: read_key(rest)?, skipped })
    }
}

/// A key as it is in a public key file: `TYPE KEY [COMMENT]`.
pub(super) fn read_key(text: &str) -> Result<PublicKey, String> {
    let (kind, rest) = split(text);
    let (base64, _) = split(rest);
    if base64.is_empty() {
        return Err("no key".to_owned());
    }
    let blob = Signature::from_base64(base64).ok_or("the key is not base64")?.0;
    let key = PublicKey::parse(&blob).map_err(|error| error.to_string())?;
    if key.kind() == kind { Ok(key) } else { Err(format!("the key is of type {}, not {kind:?}", key.kind())) }
}

/// The text up to the first white space, and what follows it.
fn split(text: &str) -> (&str, &str) {
    text.split_once([' ', '\t']).map_or((text, ""), |(field, rest)| (field, rest.trim_start_matches([' ', '\t'])))
}

impl Options {
    /// Reads options, and answers what follows them; also why the line is skipped, if it has one that is not supported.
    fn read(text: &str) -> Result<(Self, Option<&'static str>, &str), String> {
        let mut options = Self::default();
        let mut skipped = None;
        let mut rest = text;
        loop {
            let length = rest.find(|character: char| !character.is_ascii_alphanumeric() && character != '-');
            let (name, after) = rest.split_at(length.unwrap_or(rest.len()));
            let name = name.to_ascii_lowercase();
            if name == "cert-authority" {
                skipped = Some("cert-authority is not supported: list the keys themselves");
                match after.strip_prefix(',') {
                    Some(next) => {
                        rest = next;
                        continue;
                    }
                    None if after.starts_with([' ', '\t']) => {
                        rest = after.trim_start_matches([' ', '\t']);
                        break;
                    }
                    None => return Err("no white space between options and key".to_owned()),
                }
            }
            let value = after.strip_prefix('=').map(quoted);
            let (value, after) = match (name.as_str(), value) {
                ("namespaces" | "valid-after" | "valid-before", Some(value)) => {
                    value.ok_or_else(|| format!("{name} has no value in quotes"))?
                }
                _ => return Err(format!("{:?} is neither an option nor a key", split(rest).0)),
            };
            let is_local = |value: &str| !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
            let repeated = match name.as_str() {
                "namespaces" => {
                    let patterns = Patterns::parse(&value).ok_or("namespaces lists nothing, or an empty element")?;
                    options.namespaces.replace(patterns).is_some()
                }
                // Without a Z ssh-keygen reads local time: who is a signer would depend on where one asks.
                _ if is_local(&value) => {
                    skipped = Some("a time without a Z is local time: add a Z for UTC");
                    false
                }
                "valid-after" => options.valid_after.replace(read_time(&name, &value)?).is_some(),
                _ => options.valid_before.replace(read_time(&name, &value)?).is_some(),
            };
            if repeated {
                return Err(format!("{name} is there twice"));
            }
            match after.strip_prefix(',') {
                Some(next) => rest = next,
                None if after.starts_with([' ', '\t']) => {
                    rest = after.trim_start_matches([' ', '\t']);
                    break;
                }
                None => return Err("no white space between options and key".to_owned()),
            }
        }
        if options.valid_after.zip(options.valid_before).is_some_and(|(after, before)| before <= after) {
            return Err("valid-before is not after valid-after".to_owned());
        }
        Ok((options, skipped, rest))
    }
}

/// A text in quotes, in which `\"` is a quote, and what follows it.
fn quoted(text: &str) -> Option<(String, &str)> {
    let text = text.strip_prefix('"')?;
    let mut from = 0;
    loop {
        let end = from + text.get(from..)?.find('"')?;
        if !text[..end].ends_with('\\') {
            return Some((text[..end].replace("\\\"", "\""), &text[end + 1..]));
        }
        from = end + 1;
    }
}

/// `YYYYMMDDZ`, `YYYYMMDDHHMMZ` or `YYYYMMDDHHMMSSZ`.
fn read_time(name: &str, text: &str) -> Result<Timestamp, String> {
    let wrong = || format!("{name} is {text:?}, not a time such as 20260301Z or 202603011200Z");
    let digits = text.strip_suffix('Z').ok_or_else(wrong)?;
    if !matches!(digits.len(), 8 | 12 | 14) || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(wrong());
    }
    let all = format!("{digits:0<14}");
    let part = |from: usize, to: usize| all.get(from..to).unwrap_or_default();
    let (date, time) = ([part(0, 4), part(4, 6), part(6, 8)], [part(8, 10), part(10, 12), part(12, 14)]);
    let time = Timestamp::parse(&format!("{}T{}.000Z", date.join("-"), time.join(":")));
    time.filter(|time| time.seconds() > 0).ok_or_else(wrong)
}
