//! URLs that carry a credential: `postgres://ada:…@db.internal/app`, and links that are signed.

use memchr::memmem;

use super::Secret;
use super::value::{Strength, is_grouped_hex, is_random_body, is_short_password, is_uncommon, strength};

/// The longest URL that is looked at.
const LONGEST: usize = 2048;

/// Schemes of databases and queues.
#[rustfmt::skip]
const DATABASES: &[&str] = &[
    "postgres", "postgresql", "mysql", "mariadb", "mongodb", "redis", "rediss", "amqp", "amqps", "sqlserver", "mssql", "oracle",
    "clickhouse", "cassandra", "couchdb", "neo4j", "bolt", "nats", "kafka", "influxdb", "cockroachdb", "memcached", "db2",
    "libsql",
];

/// Finds the first URL that carries a credential.
pub(super) fn find(text: &str) -> Option<Secret> {
    let bytes = text.as_bytes();
    memmem::find_iter(bytes, "://").find_map(|colon| {
        let in_scheme = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
        let start = colon - bytes[..colon].iter().rev().take(24).take_while(|byte| in_scheme(**byte)).count();
        let is_end = |byte: u8| byte.is_ascii_whitespace() || b"\"'`<>\\".contains(&byte);
        // A URL within a URL is looked at on its own.
        let rest = &bytes[colon + 3..];
        let rest = &rest[..memmem::find(&rest[..rest.len().min(LONGEST)], b"://").unwrap_or(rest.len())];
        let rest = &rest[..rest.iter().take(LONGEST).take_while(|byte| !is_end(**byte)).count()];
        let what = password_of(&text[start..colon], rest).or_else(|| webhook(rest)).or_else(|| signature(rest))?;
        Some(Secret { what, at: start })
    })
}

/// The kind of a URL with a password or a token before its host.
fn password_of(scheme: &str, rest: &[u8]) -> Option<&'static str> {
    let scheme = scheme.to_ascii_lowercase();
    let is_database = DATABASES.contains(&scheme.split('+').next().unwrap_or_default());
    // People forget to encode the marks in the password of a database.
    let ends = |byte: &u8| *byte == b'/' || !is_database && matches!(byte, b'?' | b'#');
    let authority = rest.split(ends).next().unwrap_or_default();
    let sign = memchr::memrchr(b'@', authority)?;
    let (login, host) = (&authority[..sign], &authority[sign + 1..]);
    let carries = match memchr::memchr(b':', login) {
        Some(split) => is_password(&login[..split], &login[split + 1..], host, is_database),
        None => login.len() >= 20 && strength(login) == Strength::Random && !is_tracker(host),
    };
    carries.then_some(if is_database { "a database URL with a password" } else { "a URL with a password" })
}

/// Whether the password of a URL is a real one. A short or simple one counts unless the host is one of examples.
fn is_password(user: &[u8], password: &[u8], host: &[u8], is_database: bool) -> bool {
    let password = unpercent(password);
    if strength(&password) >= Strength::Chosen {
        return true;
    }
    let is_word = is_database && password.len() >= 6 && is_uncommon(&password);
    !is_documentation(host) && !password.eq_ignore_ascii_case(user) && (is_short_password(&password) || is_word)
}

/// Whether a host is one that examples use.
fn is_documentation(host: &[u8]) -> bool {
    const NAMES: &[&str] =
        &["localhost", "host", "hostname", "server", "domain", "foo", "bar", "site", "yourdomain", "mydomain"];
    let host = String::from_utf8_lossy(host).to_ascii_lowercase();
    let name = host.split(':').next().unwrap_or_default();
    let has_part = |part: &str| NAMES.contains(&part) || part.starts_with("example");
    name.len() < 2
        || name.starts_with("127.")
        || name == "0.0.0.0"
        || name == "1.2.3.4"
        || name.split('.').any(has_part)
}

/// Whether a host is of a service whose URLs have a public key before the host.
fn is_tracker(host: &[u8]) -> bool {
    memmem::find(host, b"sentry").is_some() || memmem::find(host, b"ingest").is_some()
}

/// A URL to which anyone may post who knows it: a part of its path is random.
fn webhook(rest: &[u8]) -> Option<&'static str> {
    let rest = rest.split(|byte| *byte == b'#').next().unwrap_or_default();
    let hook = memmem::find(rest, b"hook")?;
    let mut parts = rest[hook..].split(|byte| b"/?&@=".contains(byte)).skip(1);
    let is_commit = |part: &[u8]| matches!(part.len(), 40 | 64) && is_grouped_hex(part);
    let is_random = |part: &[u8]| part.len() >= 20 && strength(part) == Strength::Random && !is_commit(part);
    parts.any(is_random).then_some("a webhook URL")
}

/// A link whose query has a signature in place of a login.
fn signature(rest: &[u8]) -> Option<&'static str> {
    let query = &rest[memchr::memchr(b'?', rest)?..];
    let is_signature =
        |name: &[u8]| [&b"sig"[..], b"X-Amz-Signature", b"X-Goog-Signature", b"Signature"].contains(&name);
    let mut fields = query[1..].split(|byte| *byte == b'&').filter_map(|field| {
        let sign = memchr::memchr(b'=', field)?;
        Some((&field[..sign], &field[sign + 1..]))
    });
    fields
        .any(|(name, value)| {
            let value = unpercent(value);
            is_signature(name) && value.len() >= 40 && is_random_body(&value)
        })
        .then_some("a signed URL")
}

/// Decodes percent codes.
fn unpercent(text: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let digits = (text[at] == b'%').then(|| text.get(at + 1..at + 3)).flatten();
        let code = digits.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        bytes.push(code.unwrap_or(text[at]));
        at += if code.is_some() { 3 } else { 1 };
    }
    bytes
}
