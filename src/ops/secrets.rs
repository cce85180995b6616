//! The secret guard: a record that holds a credential would publish it with the evidence, so it is refused.
//!
//! Few rules, high precision: each is a prefix that only such a credential has, the characters that follow it, and how
//! many. A placeholder (few different characters, or the word EXAMPLE) is let through.

use std::sync::LazyLock;

use memchr::memmem::Finder;

/// A credential that was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Secret {
    /// What it looks like.
    pub what: &'static str,
    /// Where it begins.
    pub at: usize,
}

struct Rule {
    what: &'static str,
    prefix: &'static str,
    follows: fn(u8) -> bool,
    /// At least this many characters, and at most.
    length: (usize, usize),
}

const ANY: usize = usize::MAX;

#[rustfmt::skip] // a table reads better as one
const RULES: &[Rule] = &[
    Rule { what: "an AWS access key",             prefix: "AKIA",              follows: upper,    length: (16, 16) },
    Rule { what: "an AWS temporary access key",   prefix: "ASIA",              follows: upper,    length: (16, 16) },
    Rule { what: "a GitHub token",                prefix: "ghp_",              follows: word,     length: (36, 255) },
    Rule { what: "a GitHub token",                prefix: "gho_",              follows: word,     length: (36, 255) },
    Rule { what: "a GitHub token",                prefix: "ghu_",              follows: word,     length: (36, 255) },
    Rule { what: "a GitHub token",                prefix: "ghs_",              follows: word,     length: (36, 255) },
    Rule { what: "a GitHub token",                prefix: "ghr_",              follows: word,     length: (36, 255) },
    Rule { what: "a GitHub token",                prefix: "github_pat_",       follows: word_,    length: (60, 255) },
    Rule { what: "a GitLab token",                prefix: "glpat-",            follows: url_safe, length: (20, 64) },
    Rule { what: "a GitLab token",                prefix: "gldt-",             follows: url_safe, length: (20, 64) },
    Rule { what: "a GitLab runner token",         prefix: "glrt-",             follows: url_safe, length: (20, 64) },
    Rule { what: "a Slack token",                 prefix: "xoxb-",             follows: dashed,   length: (30, 255) },
    Rule { what: "a Slack token",                 prefix: "xoxp-",             follows: dashed,   length: (30, 255) },
    Rule { what: "a Slack token",                 prefix: "xoxa-",             follows: dashed,   length: (30, 255) },
    Rule { what: "a Slack app token",             prefix: "xapp-1-",           follows: dashed,   length: (30, 255) },
    Rule { what: "a Slack webhook",               prefix: "hooks.slack.com/services/T", follows: path, length: (30, 120) },
    Rule { what: "a Discord webhook",             prefix: "discord.com/api/webhooks/", follows: path, length: (70, 120) },
    Rule { what: "a Google API key",              prefix: "AIza",              follows: url_safe, length: (35, 35) },
    Rule { what: "a Google OAuth token",          prefix: "ya29.",             follows: url_safe, length: (40, ANY) },
    Rule { what: "an Azure storage key",          prefix: "AccountKey=",       follows: base64,   length: (80, 90) },
    Rule { what: "a DigitalOcean token",          prefix: "dop_v1_",           follows: hex,      length: (64, 64) },
    Rule { what: "an Anthropic key",              prefix: "sk-ant-",           follows: url_safe, length: (40, 255) },
    Rule { what: "an OpenAI key",                 prefix: "sk-proj-",          follows: url_safe, length: (40, 255) },
    Rule { what: "a Stripe live key",             prefix: "sk_live_",          follows: word,     length: (24, 255) },
    Rule { what: "a Stripe live key",             prefix: "rk_live_",          follows: word,     length: (24, 255) },
    Rule { what: "an npm token",                  prefix: "npm_",              follows: word,     length: (36, 36) },
    Rule { what: "a PyPI token",                  prefix: "pypi-AgEIcHlwaS5vcmc", follows: url_safe, length: (50, ANY) },
    Rule { what: "a crates.io token",             prefix: "cio",               follows: word,     length: (32, 32) },
    Rule { what: "a Hugging Face token",          prefix: "hf_",               follows: letter,   length: (34, 34) },
    Rule { what: "a SendGrid key",                prefix: "SG.",               follows: dotted,   length: (66, 67) },
    Rule { what: "a Shopify token",               prefix: "shpat_",            follows: hex,      length: (32, 32) },
];

/// Finds the first credential in a text.
pub fn find_secret(text: &str) -> Option<Secret> {
    // To set up a search takes longer than to run it over a paragraph.
    static FINDERS: LazyLock<Vec<Finder<'static>>> =
        LazyLock::new(|| RULES.iter().map(|rule| Finder::new(rule.prefix)).collect());
    let by_rule = RULES.iter().zip(FINDERS.iter()).filter_map(|(rule, finder)| rule.find(finder, text));
    by_rule.chain(private_key(text)).chain(json_web_token(text)).chain(aws_secret(text)).min_by_key(|secret| secret.at)
}

impl Rule {
    fn find(&self, finder: &Finder<'_>, text: &str) -> Option<Secret> {
        let bytes = text.as_bytes();
        finder.find_iter(bytes).find_map(|at| {
            let body = &bytes[at + self.prefix.len()..];
            let (least, most) = self.length;
            // No further than needed: a text may repeat the prefix from end to end.
            let enough = if most == ANY { least } else { most + 1 };
            let length = body.iter().take(enough).take_while(|byte| (self.follows)(**byte)).count();
            let fits = (least..=most).contains(&length);
            (fits && starts_a_word(bytes, at, word_) && is_random(&body[..length]))
                .then_some(Secret { what: self.what, at })
        })
    }
}

/// Whether what is at this place is not the tail of a longer word. In JSON a line break before it is spelled out.
fn starts_a_word(bytes: &[u8], at: usize, in_word: fn(u8) -> bool) -> bool {
    match bytes[..at] {
        [] | [.., b'\\', b'n' | b'r' | b't'] => true,
        [.., before] => !in_word(before),
    }
}

/// A block of a private key: the header, and a line of base64 below it. The header alone is talk.
fn private_key(text: &str) -> Option<Secret> {
    memchr::memmem::find_iter(text.as_bytes(), "-----BEGIN ").find_map(|at| {
        let (label, rest) = text[at + 11..].split_once("-----")?;
        if !(label.len() < 40 && label.ends_with("PRIVATE KEY") || label == "PGP PRIVATE KEY BLOCK") {
            return None;
        }
        // Inside JSON or source code the line breaks may be spelled out, and each line quoted or indented.
        let below = rest.trim_start_matches(|c: char| !c.is_alphanumeric() && c != '\n');
        let spelled_out = below.starts_with(['n', 'r']) && rest[..rest.len() - below.len()].ends_with('\\');
        if !(below.starts_with('\n') || spelled_out) {
            return None; // a sentence goes on after the header
        }
        let body: String = rest.chars().take(1024).collect::<String>().replace("\\n", "\n").replace("\\r", "");
        let mut lines = body.lines().map(|line| line.trim_matches(|c: char| !c.is_ascii_alphanumeric()));
        let is_key = |line: &str| line.bytes().take_while(|byte| base64(*byte)).count() >= 40;
        // There may be lines such as `Proc-Type: 4,ENCRYPTED` before the key.
        let first = lines.find(|line| !line.is_empty() && (is_key(line) || !line.contains(": ")))?;
        is_key(first).then_some(Secret { what: "a private key", at })
    })
}

/// The secret that belongs to an AWS access key has no prefix of its own, but the name of the setting that holds it.
fn aws_secret(text: &str) -> Option<Secret> {
    let lower = text.to_ascii_lowercase();
    memchr::memmem::find_iter(lower.as_bytes(), "aws_secret_access_key").find_map(|at| {
        let rest = text[at + 21..].trim_start_matches(['"', '\'', '\\', ' ', ':', '=']);
        let between = text.len() - rest.len() - at - 21;
        let body: Vec<u8> = rest.bytes().take(41).take_while(|byte| base64(*byte)).collect();
        let is_secret = (1..=8).contains(&between) && body.len() == 40 && is_random(&body);
        is_secret.then_some(Secret { what: "an AWS secret key", at })
    })
}

/// Three parts of base64, the first two of which begin as JSON objects do.
fn json_web_token(text: &str) -> Option<Secret> {
    let bytes = text.as_bytes();
    memchr::memmem::find_iter(bytes, "eyJ").find_map(|at| {
        if !starts_a_word(bytes, at, dotted) {
            return None;
        }
        let length = bytes[at..].iter().take_while(|byte| dotted(**byte)).count();
        let mut parts = text[at..at + length].split('.');
        let (header, payload, signature) = (parts.next()?, parts.next()?, parts.next()?);
        let is_token = header.len() >= 16 && payload.starts_with("eyJ") && payload.len() >= 10 && signature.len() >= 32;
        (is_token && is_random(signature.as_bytes())).then_some(Secret { what: "a JSON web token", at })
    })
}

/// False for placeholders: `xxxxxxxx`, `0000`, `AKIAIOSFODNN7EXAMPLE`, `your_token_here`.
fn is_random(body: &[u8]) -> bool {
    let mut seen = [false; 256];
    for byte in body {
        seen[usize::from(*byte)] = true;
    }
    let different = seen.iter().filter(|seen| **seen).count();
    let upper = body.to_ascii_uppercase();
    let talks = ["EXAMPLE", "PLACEHOLDER", "YOUR_", "YOUR-", "XXXX", "0123456789", "1234567890", "ABCDEFGH"];
    different >= 9 && !talks.iter().any(|word| memchr::memmem::find(&upper, word.as_bytes()).is_some())
}

fn upper(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit()
}

fn letter(byte: u8) -> bool {
    byte.is_ascii_alphabetic()
}

fn word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

fn word_(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn dashed(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-'
}

fn url_safe(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')
}

fn dotted(byte: u8) -> bool {
    url_safe(byte) || byte == b'.'
}

fn path(byte: u8) -> bool {
    url_safe(byte) || byte == b'/'
}

fn base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

fn hex(byte: u8) -> bool {
    byte.is_ascii_hexdigit()
}
