//! Values that only stand for a credential: placeholders, references to where the secret is stored, and passwords of
//! documentation.

use super::value::surprise;

/// Whether a value says that it stands for another: `your-token-here`, `<token>`, `AKIA…EXAMPLE`, `********`.
pub(super) fn is_placeholder(value: &[u8]) -> bool {
    #[rustfmt::skip]
    const WORDS: &[&str] = &[
        "example", "placeholder", "your_", "your-", "your.", "yourpass", "yourtoken", "yourkey", "yoursecret", "yourapi",
        "xxxx", "****", "...", "…", "____", "----", "0000000", "changeme", "change-me", "change_me", "changethis",
        "redacted", "removed", "masked", "hidden", "censored", "dummy", "replace", "insert", "sample", "notreal",
        "not-real", "not_real", "notasecret", "fixme", "todo", "foobar", "foo_bar", "foo-bar", "foobaz", "lorem",
        "deadbeef", "cafebabe", "0123456789", "1234567890", "123456789a", "abcdefgh", "123456abc", "abc123", "abcd1234",
        "_here", "-here", "some-", "some_", "testtest", "fake", "bogus", "invalid", "undefined",
    ];
    /// Values of RFC 6749 and RFC 6750, which documentation repeats.
    const KNOWN: &[&str] = &[
        "2YotnFZFEjr1zCsicMWpAA",
        "tGzv3JOkF0XG5Qx2TlKWIA",
        "mF_9.B5f-4.1JqM",
        "gX1fBat3bV",
        "7Fjfp0ZBr1KtDRbnfVdmIw",
    ];
    let lower = value.to_ascii_lowercase();
    KNOWN.iter().any(|known| known.as_bytes() == value)
        || WORDS.iter().any(|word| contains(&lower, word.as_bytes()))
        || value.contains(&b'<') && value.contains(&b'>')
}

/// Whether a value counts up or repeats itself, as `abcdef0123` and `1a2b3c4d` do.
pub(super) fn is_series(value: &[u8]) -> bool {
    let counted = |step: usize| {
        let pairs = value.iter().zip(value.iter().skip(step));
        pairs.filter(|(left, right)| left == right || left.checked_add(1) == Some(**right)).count()
    };
    let pairs = value.len().saturating_sub(1);
    counted(1) * 10 >= pairs * 4 || counted(2) * 4 >= pairs * 3
}

/// Whether a value names where the secret is, or is code that makes it, or is a digest.
pub(super) fn is_reference(value: &[u8]) -> bool {
    #[rustfmt::skip]
    const STARTS: &[&str] = &[
        "#{", "@{", "env.", "env:", "process.env", "os.environ", "secrets.", "vault:", "op://", "arn:", "ref+", "enc[", "enc:",
        "file:", "./", "../", "~/", "c:\\", "data:", "sha1-", "sha256-", "sha384-", "sha512-", "sha256:", "ssh-", "ecdsa-",
        "age1", "aaaab3nza", "aaaac3nza", "aaaae2vjz", "pbkdf2", "bcrypt", "scrypt", "argon2", "**", "$2", "$argon", "$pbkdf2",
    ];
    // These may be in a random value by chance.
    const PARTS: &[&str] = &["$(", "{}", "::", "->", "%s", "://", "()"];
    let start = value[..value.len().min(12)].to_ascii_lowercase();
    let is_variable =
        matches!(value, [b'$' | b'%', next, ..] if next.is_ascii_alphabetic() || matches!(next, b'_' | b'{' | b'('));
    let is_code = value.starts_with(b"/") || PARTS.iter().any(|part| contains(value, part.as_bytes()));
    is_variable
        || is_verifier_key(value)
        || contains(value, b"{{")
        || contains(value, b"${")
        || STARTS.iter().any(|with| start.starts_with(with.as_bytes()))
        || is_code && surprise(value) < 450
}

/// Whether a value is the public key of a log: a name, eight hexadecimal digits and the key, with `+` between them.
fn is_verifier_key(value: &[u8]) -> bool {
    let id = value.split(|byte| *byte == b'+').nth(1).unwrap_or_default();
    id.len() == 8 && id.iter().all(u8::is_ascii_hexdigit)
}

/// Whether a value is a password that documentation uses: common words and numbers.
pub(super) fn is_common(value: &[u8]) -> bool {
    is_of_words(&value.to_ascii_lowercase())
}

/// Whether a value is common words with other characters for some letters: `p@ssw0rd`.
pub(super) fn is_disguised(value: &[u8]) -> bool {
    let spelled: Vec<u8> = value.to_ascii_lowercase().into_iter().map(letter_for).collect();
    let end = value.iter().rposition(u8::is_ascii_alphabetic).map_or(0, |at| at + 1);
    is_of_words(&spelled[..end])
}

/// The letter that a digit or a mark is used for: `p@ssw0rd`.
fn letter_for(byte: u8) -> u8 {
    match byte {
        b'0' => b'o',
        b'1' | b'!' => b'i',
        b'3' => b'e',
        b'4' | b'@' => b'a',
        b'5' | b'$' => b's',
        b'7' => b't',
        other => other,
    }
}

/// Whether the letters of a value are common words, one after the other.
fn is_of_words(value: &[u8]) -> bool {
    #[rustfmt::skip]
    const WORDS: &[&str] = &[
        "password", "passwd", "passwort", "passphrase", "pass", "secret", "administrator", "admin", "root", "username", "user",
        "test", "qwerty", "letmein", "welcome", "hello", "guest", "demo", "token", "key", "super", "strong", "secure", "very",
        "long", "safe", "hunter", "default", "login", "world", "correct", "horse", "battery", "staple", "this", "the", "and",
        "new", "old", "my", "app", "api", "database", "db", "postgres", "mysql", "redis", "abc", "is", "not", "open",
        "sesame", "foo", "bar", "baz", "some", "value", "good", "bad", "wrong", "right", "a",
    ];
    let mut rest = value;
    while let Some(first) = rest.first() {
        rest = if first.is_ascii_alphabetic() {
            match WORDS.iter().find_map(|word| rest.strip_prefix(word.as_bytes())) {
                Some(after) => after,
                None => return false,
            }
        } else {
            &rest[1..]
        };
    }
    true
}

fn contains(value: &[u8], part: &[u8]) -> bool {
    value.windows(part.len()).any(|window| window == part)
}
