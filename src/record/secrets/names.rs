//! Names of settings that hold credentials: `DB_PASSWORD`, `clientSecret`, `x-api-key`, `API key`.

use super::alphabet::{NAME, is};

/// What a name says about its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Name {
    /// A password, which a person may have chosen.
    Password,
    /// The word `pass` alone, which is a verb as well.
    Pass,
    /// A token or a secret, which was drawn at random.
    Secret,
    /// A key of some service. Keys of maps and caches have such names, too.
    Key,
    /// The word `key` alone.
    BareKey,
    /// The header `Authorization`, or a scheme of it.
    Authorization,
    /// The header `Cookie`.
    Cookie,
}

/// Endings that name a password.
const PASSWORDS: &[&str] =
    &["password", "passwd", "passphrase", "passcode", "passwort", "kennwort", "passw", "pword", "pwd", "pass", "senha"];

/// Words that name a secret of another kind, and that other words end with as well.
const SECRETS: &[&str] = &["secret", "token", "apikey", "accesskey", "secretkey", "authkey", "privatekey"];

/// Words that name a secret only if they stand alone.
#[rustfmt::skip]
const SECRET_WORDS: &[&str] = &[
    "credential", "credentials", "creds", "cred", "jwt", "tkn", "sas", "passkey", "signingkey",
    "masterkey", "sharedkey", "accountkey", "encryptionkey", "servicekey", "appkey", "seckey", "privkey", "sessionkey",
    "licensekey", "licencekey", "secrets", "tokens",
];

/// Words before `key` that make it the key of a service.
#[rustfmt::skip]
const KEY_OF: &[&str] = &[
    "api", "access", "secret", "private", "priv", "signing", "sign", "encryption", "encrypt", "master", "shared", "account",
    "storage", "auth", "authentication", "authorization", "service", "server", "app", "application", "admin", "deploy",
    "license", "licence", "subscription", "consumer", "client", "security", "hmac", "aes", "cipher", "crypto", "session",
    "cookie", "jwt", "root", "ingest", "ingestion", "integration", "developer", "rest", "live", "webhook", "functions",
    "symmetric", "wallet", "role", "agent", "write", "read", "sending", "personal", "org", "project", "sas", "sec", "unseal",
    "recovery", "stream", "bot",
];

/// Words before a key or a token that make it harmless.
#[rustfmt::skip]
const HARMLESS: &[&str] = &[
    "public", "pub", "foreign", "primary", "cache", "partition", "sort", "row", "map", "dict", "object", "dedup",
    "idempotency", "routing", "page", "next", "continuation", "cursor", "progress", "sync", "csrf", "xsrf", "cancellation",
    "cancel", "resume", "publishable", "host", "lookup", "hash", "index", "group", "composite", "unique", "verify",
    "verifying", "verification", "verifier", "change", "max", "min", "num", "input", "output", "prompt", "completion", "stop",
    "eos", "bos", "hot", "arrow", "shift", "known", "any", "each", "ssh", "gpg", "pgp", "trusted", "authorized", "peer", "site",
    "react", "resource", "socket", "websocket", "request", "lock", "action", "first", "last", "prev", "previous", "per", "no",
    "proof", "without", "skip", "by",
];

/// Words before any secret that say that it is not the secret itself.
const DERIVED: &[&str] = &["hashed", "hash", "encrypted", "sealed", "masked", "redacted", "public", "pub"];

/// Words at the end of a name that say nothing: `DB_PASSWORD_PROD`, `SECRET_KEY_BASE`.
#[rustfmt::skip]
const ENDINGS: &[&str] = &[
    "base", "prod", "production", "staging", "stage", "dev", "live", "value", "val", "plain", "plaintext", "text", "str",
    "string", "b64", "base64", "raw", "old", "new", "current", "default", "primary", "secondary", "admin", "user", "rw", "ro",
    "json", "data", "main", "master", "root", "header", "env", "encoded", "bytes", "hex", "backup", "test", "local", "remote",
];

/// Names longer than this are no names of settings.
const LONGEST: usize = 80;

/// What a name says about its value. `before` is the text before the name, for names of several words: `API key`.
pub(super) fn classify(name: &str, before: &str) -> Option<Name> {
    if name.len() <= 2 && is_number(name) {
        // Vault prints `Unseal Key 1: …`.
        let before = before.strip_suffix(' ')?;
        let length = before.bytes().rev().take(12).take_while(|byte| is(*byte, NAME)).count();
        let name = &before[before.len() - length..];
        return if is_number(name) { None } else { classify(name, &before[..before.len() - length]) };
    }
    if name.len() > LONGEST || !has_stem(name.as_bytes()) {
        return None;
    }
    let mut words = words_of(name);
    while words.len() > 1 && words.last().is_some_and(|word| ENDINGS.contains(&&word[..]) || is_number(word)) {
        words.pop();
    }
    let last = words.pop()?;
    let last = last.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let own = words.pop().unwrap_or_default();
    let previous = if own.is_empty() { word_before(before).unwrap_or_default() } else { own.clone() };
    let ends = |endings: &[&str]| endings.iter().any(|ending| last.ends_with(ending));
    match last {
        "authorization" | "bearer" | "basic" | "auth" | "ssws" => Some(Name::Authorization),
        "cookie" => Some(Name::Cookie),
        "sig" => before.ends_with(['&', '?']).then_some(Name::Key), // of a link that is signed
        "id" => (own == "secret").then_some(Name::Secret),          // Vault has a secret id
        _ if is_harmless_word(last) || DERIVED.contains(&&previous[..]) => None,
        "pass" if own.is_empty() => Some(Name::Pass),
        "pw" | "psw" | "pswd" | "psk" => Some(Name::Password),
        _ if ends(PASSWORDS) => Some(Name::Password),
        _ if HARMLESS.contains(&&previous[..]) => None,
        "pat" => (!own.is_empty()).then_some(Name::Key), // patterns have this name, too
        _ if ends(SECRETS) || SECRET_WORDS.contains(&last) => Some(Name::Secret),
        "key" if KEY_OF.contains(&&previous[..]) => Some(Name::Secret),
        "login" | "skey" => (!own.is_empty()).then_some(Name::Key),
        "key" => Some(if own.is_empty() { Name::BareKey } else { Name::Key }),
        _ => (last.len() >= 6 && last.ends_with("key")).then_some(Name::Key),
    }
}

/// Whether a word only ends like the name of a secret, or says that it is no secret: `csrftoken`.
fn is_harmless_word(last: &str) -> bool {
    let glued = last.strip_suffix("key").or_else(|| last.strip_suffix("token")).unwrap_or_default();
    HARMLESS.contains(&glued)
        || matches!(last, "bypass" | "compass" | "surpass" | "trespass" | "monkey" | "turkey")
        || last.starts_with("csrf")
        || last.starts_with("xsrf")
}

/// Whether a name has the first letters of a word that `classify` knows. This is asked of every word of a text.
fn has_stem(name: &[u8]) -> bool {
    let end = &name[name.len().saturating_sub(40)..];
    let is_stem = |three: &[u8]| match [three[0] | 32, three[1] | 32, three[2] | 32] {
        [b'p', second, third] => matches!(second, b'w' | b's') || second == b'a' && matches!(third, b's' | b't'),
        [b's', second, third] => matches!(&[second, third], b"ec" | b"en" | b"ig" | b"as" | b"sw"),
        [b'b', second, third] => matches!(&[second, third], b"ea" | b"as"),
        [b'k', b'e', third] => matches!(third, b'y' | b'n'),
        three => matches!(&three, b"tok" | b"tkn" | b"cre" | b"coo" | b"aut" | b"jwt" | b"log"),
    };
    end.windows(3).any(is_stem) || matches!(name, [.., b'p' | b'P', b'w' | b'W'])
}

/// The words of a name, in small letters.
fn words_of(name: &str) -> Vec<String> {
    let bytes = name.as_bytes();
    let mut words = vec![String::new()];
    for (at, byte) in bytes.iter().enumerate() {
        let before = at.checked_sub(1).map_or(b'_', |at| bytes[at]);
        let is_small = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_lowercase);
        let starts = byte.is_ascii_uppercase()
            && (before.is_ascii_lowercase() || before.is_ascii_uppercase() && is_small(bytes.get(at + 1)));
        if starts || !byte.is_ascii_alphanumeric() {
            words.push(String::new());
        }
        if byte.is_ascii_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.push(char::from(byte.to_ascii_lowercase()));
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

fn is_number(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_digit())
}

/// The word before a name, if a single space is between them.
fn word_before(before: &str) -> Option<String> {
    let rest = before.strip_suffix(' ')?;
    let length = rest.bytes().rev().take(24).take_while(|byte| is(*byte, NAME)).count();
    words_of(&rest[rest.len() - length..]).pop()
}
