//! The secret guard: what it must catch and what it must let through. All credentials here are made up, and put
//! together at run time.

use git_proof::record::find_secret;

use super::scratch::{Dice, Scratch};

const DIGITS: &str = "0123456789";
const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// So many characters, drawn from these alphabets, the same in every run.
fn drawn(length: usize, alphabets: &[&str]) -> String {
    let all: Vec<char> = alphabets.concat().chars().collect();
    let mut dice = Dice(length as u64 + all.len() as u64);
    (0..length).map(|_| all[usize::try_from(dice.below(all.len() as u64)).unwrap()]).collect()
}

fn word(length: usize) -> String {
    drawn(length, &[DIGITS, LOWER, UPPER])
}

fn safe(length: usize) -> String {
    drawn(length, &[DIGITS, LOWER, UPPER, "-_"])
}

fn hex(length: usize) -> String {
    drawn(length, &[DIGITS, "abcdef"])
}

fn base64(length: usize) -> String {
    drawn(length, &[DIGITS, LOWER, UPPER, "+/"])
}

/// A PEM block of this label.
fn pem(label: &str, headers: &str, ending: &str) -> String {
    let body: Vec<String> = (0..12).map(|at| base64(64 - usize::from(at == 11) * 20)).collect();
    let dashes = "-".repeat(5);
    let lines =
        [&[format!("{dashes}BEGIN {label}{dashes}{headers}")], &body[..], &[format!("{dashes}END {label}{dashes}")]];
    lines.concat().join(ending)
}

fn json_web_token() -> String {
    let join = |parts: &[&str]| parts.concat();
    let header = join(&["ey", "JhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9"]);
    let payload = join(&["ey", "JzdWIiOiI3MyIsIm5hbWUiOiJBZGEifQ"]);
    [header, payload, safe(43)].join(".")
}

/// Credentials as their issuers make them.
fn credentials() -> Vec<(&'static str, String)> {
    let join = |parts: &[&str]| parts.concat();
    vec![
        ("AWS access key", join(&["AK", "IA", &drawn(16, &[UPPER, "234567"])])),
        ("AWS temporary key", join(&["AS", "IA", &drawn(16, &[UPPER, "234567"])])),
        ("AWS secret key", join(&["aws_secret", "_access_key = ", &base64(40)])),
        ("AWS secret key in the environment", join(&["AWS_SECRET", "_ACCESS_KEY=\"", &base64(40), "\""])),
        ("AWS secret key in JSON", join(&["{\"aws_secret", "_access_key\": \"", &base64(40), "\"}"])),
        ("GitHub personal token", join(&["gh", "p_", &word(36)])),
        ("GitHub OAuth token", join(&["gh", "o_", &word(36)])),
        ("GitHub user token", join(&["gh", "u_", &word(36)])),
        ("GitHub server token", join(&["gh", "s_", &word(36)])),
        ("GitHub refresh token", join(&["gh", "r_", &word(76)])),
        ("GitHub fine-grained token", join(&["github", "_pat_", &word(22), "_", &word(59)])),
        ("GitLab token", join(&["gl", "pat-", &safe(20)])),
        ("GitLab routable token", join(&["gl", "pat-", &safe(27), ".01.", &word(9)])),
        ("GitLab deploy token", join(&["gl", "dt-", &safe(20)])),
        ("GitLab runner token", join(&["gl", "rt-", &safe(20)])),
        ("Slack bot token", join(&["xo", "xb-", &drawn(12, &[DIGITS]), "-", &drawn(13, &[DIGITS]), "-", &word(24)])),
        ("Slack user token", join(&["xo", "xp-", &drawn(12, &[DIGITS]), "-", &drawn(13, &[DIGITS]), "-", &hex(32)])),
        ("Slack app token", join(&["xa", "pp-1-A", &drawn(10, &[UPPER]), "-", &drawn(13, &[DIGITS]), "-", &hex(64)])),
        (
            "Slack webhook",
            join(&[
                "https://hooks.slack",
                ".com/services/T",
                &drawn(8, &[UPPER]),
                "/B",
                &drawn(8, &[UPPER]),
                "/",
                &word(24),
            ]),
        ),
        ("Discord webhook", join(&["https://discord", ".com/api/webhooks/", &drawn(18, &[DIGITS]), "/", &safe(68)])),
        ("Google API key", join(&["AI", "za", &safe(35)])),
        ("Google OAuth token", join(&["ya", "29.", &safe(120)])),
        ("Azure storage key", join(&["DefaultEndpointsProtocol=https;Account", "Key=", &base64(86), "==;Suffix=x"])),
        ("DigitalOcean token", join(&["do", "p_v1_", &hex(64)])),
        ("Anthropic key", join(&["sk", "-ant-api03-", &safe(93), "AA"])),
        ("OpenAI key", join(&["sk", "-proj-", &safe(120)])),
        ("Stripe key", join(&["sk", "_live_", &word(24)])),
        ("Stripe restricted key", join(&["rk", "_live_", &word(99)])),
        ("npm token", join(&["np", "m_", &word(36)])),
        ("PyPI token", join(&["pypi", "-AgEIcHlwaS5vcmc", &safe(160)])),
        ("crates.io token", join(&["ci", "o", &word(32)])),
        ("Hugging Face token", join(&["h", "f_", &drawn(34, &[LOWER, UPPER])])),
        ("SendGrid key", join(&["S", "G.", &safe(22), ".", &safe(43)])),
        ("Shopify token", join(&["shp", "at_", &hex(32)])),
        ("JSON web token", json_web_token()),
        ("private key", pem("PRIVATE KEY", "", "\n")),
        ("RSA key", pem("RSA PRIVATE KEY", "", "\n")),
        ("EC key with Windows line ends", pem("EC PRIVATE KEY", "", "\r\n")),
        ("OpenSSH key", pem("OPENSSH PRIVATE KEY", "", "\n")),
        ("encrypted key", pem("RSA PRIVATE KEY", "\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n", "\n")),
        ("PGP key", pem("PGP PRIVATE KEY BLOCK", "\nVersion: GnuPG v2\n", "\n")),
        ("key in JSON", format!("{{\"private_key\":\"{}\"}}", pem("PRIVATE KEY", "", "\\n"))),
        ("key indented in YAML", pem("PRIVATE KEY", "", "\n    ")),
        ("key in source code", pem("PRIVATE KEY", "", "\\n\" +\n    \"")),
        ("key in a diff", pem("PRIVATE KEY", "", "\n+")),
        ("key with words behind it", join(&["-----BEGIN ", "PRIVATE KEY-----\n", &base64(64), " of: ours\n"])),
    ]
}

/// What developers write all day.
fn harmless() -> Vec<(&'static str, String)> {
    let join = |parts: &[&str]| parts.concat();
    let (commit, digest) = (hex(40), hex(64));
    vec![
        ("words below a header", join(&["-----BEGIN ", "PRIVATE KEY-----\nis: how a block begins\nand so on\n"])),
        ("commit id", format!("reverts {commit}, see {}", &commit[..9])),
        ("SHA-256 digest", format!("sha256:{digest}")),
        ("UUID", "8bfea854-fd8c-44dc-a9ce-c13027ce08d6".to_owned()),
        ("image", format!("data:image/png;base64,iVBORw0KGgo{}==", base64(4000))),
        ("token keys in JSON", r#"{"token": null, "access_token": "", "max_tokens": 4096}"#.to_owned()),
        ("regular expression", r"\b(ghp|gho|ghs)_[A-Za-z0-9]{36}\b and xox[bap]-[0-9-]+".to_owned()),
        ("prefixes", "GitHub tokens start with ghp_, GitLab's with glpat-, AWS keys with AKIA".to_owned()),
        ("example key of AWS", join(&["AKIA", "IOSFODNN7EXAMPLE"])),
        ("example secret of AWS", join(&["aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCY", "EXAMPLEKEY"])),
        ("variable for a secret", "aws_secret_access_key = os.environ[\"AWS_SECRET_ACCESS_KEY\"]".to_owned()),
        ("reference to a secret", "AWS_SECRET_ACCESS_KEY: ${{ secrets.AWS_SECRET_ACCESS_KEY }}".to_owned()),
        ("placeholder of x", format!("ghp_{}", "x".repeat(36))),
        ("placeholder of stars", format!("ghp_{}", "*".repeat(36))),
        ("placeholder with digits in order", join(&["ghp_0123456789", "abcdefghijklmnopqrstuvwxyz"])),
        ("placeholder in words", "Authorization: Bearer ghp_YOUR_TOKEN_HERE".to_owned()),
        ("placeholder of a key", "OPENAI_API_KEY=sk-proj-your-key-goes-here".to_owned()),
        ("shortened token", format!("ghp_{}…", &word(36)[..4])),
        ("public key", pem("PUBLIC KEY", "", "\n")),
        ("RSA public key", pem("RSA PUBLIC KEY", "", "\n")),
        ("certificate", pem("CERTIFICATE", "", "\n")),
        ("PGP signature", pem("PGP SIGNATURE", "", "\n")),
        ("SSH public key", format!("ssh-rsa AAAAB3NzaC1yc2E{} ada@example.org", base64(350))),
        ("sentence about a key", "refuse what has -----BEGIN PRIVATE KEY----- in it".to_owned()),
        ("header of a key in code", "if text.contains(\"-----BEGIN PRIVATE KEY-----\") {\n    return Err(refused);\n}".to_owned()),
        ("header of a key, then a digest", format!("it looks for -----BEGIN PRIVATE KEY----- alone\n\n{digest}\n")),
        ("header of a key, then its certificate", format!("-----BEGIN PRIVATE KEY-----\n(taken out)\n{}", pem("CERTIFICATE", "", "\n"))),
        ("Cargo lock file", format!("name = \"sha2\"\nversion = \"0.11.1\"\nchecksum = \"{digest}\"")),
        ("npm lock file", format!("\"integrity\": \"sha512-{}==\"", base64(86))),
        ("Go sum file", format!("golang.org/x/crypto v0.1.0 h1:{}=", base64(43))),
        ("long identifier", "someVeryLongCamelCaseIdentifierThatGoesOnAndOnForever2".to_owned()),
        ("long Java name", "AbstractSingletonProxyFactoryBeanConfigurationInitializer".to_owned()),
        ("base64 of text", "VGhlIHF1aWNrIGJyb3duIGZveCBqdW1wcyBvdmVyIHRoZSBsYXp5IGRvZy4=".to_owned()),
        ("base64 of JSON", join(&["ey", "JuYW1lIjoiQWRhIiwibGFuZ3VhZ2UiOiJSdXN0IiwieWVhciI6MTg0M30="])),
        ("JWT header alone", join(&["ey", "JhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9", ".<payload>.<signature>"])),
        ("minified script", "!function(e,t){\"object\"==typeof exports?t(exports):t(e.x={})}(this,function(e){var n=e.token,r=n+\"_live_\";e.sk=r});".to_owned()),
        ("source map", format!("//# sourceMappingURL=data:application/json;base64,ey{}", base64(2000))),
        ("SSH fingerprint", format!("SHA256:{}", base64(43))),
        ("test keys of Stripe", join(&["sk", "_test_", &word(24)])),
        ("snake case", "npm_config_registry and hf_hub_download and cio_error_code".to_owned()),
        ("file of a snapshot", format!("assets/index-{}.js", safe(8))),
        ("git object with a prefix inside a word", format!("{}AKIA{}", &digest[..8], drawn(16, &[UPPER]))),
        ("Slack's documentation", "https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX".to_owned()),
        ("ARN", "arn:aws:iam::123456789012:user/ASIAN-region-admin".to_owned()),
        ("URL with a query", format!("https://example.org/?state={}&code={}", word(40), word(40))),
        ("bcrypt", format!("$2b$12${}", word(53))),
        // Settings without a secret in them.
        ("setting from the environment", "DB_PASSWORD=${DB_PASSWORD:?not set}\nAPI_KEY=$(pass show api-key2)".to_owned()),
        ("setting of a template", "password: {{ .Values.postgres.password1 }}\ntoken: <%= ENV['TOKEN1'] %>".to_owned()),
        ("setting to change", "DB_PASSWORD=changeme123\nSECRET_KEY=change-me-please-2024\napi_key: YOUR_API_KEY_1".to_owned()),
        ("setting that was taken out", "password: ********\ntoken: [REDACTED]\napi_key=xxxxxxxxxxxxxxxxxxxxxxxx".to_owned()),
        ("password of documentation", "password=hunter2, password: 'secret', \"password\": \"Password123\", pass=p@ssw0rd".to_owned()),
        ("reference to a vault", "DB_PASSWORD=op://prod/db01/password\napi_key = vault:secret/data/app#key".to_owned()),
        ("name of a secret", "secretName: web-tls-cert-2024-06\nsecretKeyRef: { name: db-creds-v2, key: password }".to_owned()),
        ("ARN of a secret", "arn:aws:secretsmanager:eu-west-1:123456789012:secret:prod/db-a1B2c3".to_owned()),
        ("code for a password", "let password = config.database().password2.clone().unwrap_or_default();".to_owned()),
        ("code for a token", "while let Some(token) = lexer.next_token2(&mut state)? { tokens.push(token); }".to_owned()),
        ("type of a password", "pub password: Option<SecretBox<str>>, token: Arc<RwLock<Token2>>".to_owned()),
        ("sentence about a password", "The password is read from stdin and the token was moved to the keychain in v2.3.1.".to_owned()),
        ("the verb", "Pass `--release=Profile2` to cargo, or pass ``weak=False`` to connect().".to_owned()),
        ("limits of a model", r#"{"max_tokens": 4096, "stop_token": "<|im_end|>", "prompt_tokens": 1024}"#.to_owned()),
        ("page token", format!("nextPageToken: \"{}\", cursor_token={}", safe(40), safe(64))),
        ("cache key", format!("cache_key = \"{digest}\"\nkey: {commit}\npartition_key: {}", safe(32))),
        ("public key", format!("public_key = \"{}=\"\nverifier_key: {}", base64(43), base64(43))),
        ("hash of a token", format!("hashed_token: {}\ntoken_hash: {digest}\npassword_hash: {digest}", base64(43))),
        ("WebSocket", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==".to_owned()),
        ("template of a header", "Authorization: Bearer <token>\nAuthorization: Bearer $TOKEN\nX-Api-Key: {api_key}".to_owned()),
        ("header of an RFC", "Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\nAuthorization: Bearer mF_9.B5f-4.1JqM".to_owned()),
        // Addresses.
        ("URL of documentation", "postgres://user:password@localhost/db and https://user:pass@example.com, ftp://rms:secret123@example.com".to_owned()),
        ("URL with variables", "redis://:${REDIS_PASSWORD}@cache:6379 mysql://$USER:$PASS@db/app amqp://{user}:{password}@mq".to_owned()),
        ("URL with a user", "ssh://git@git.corp.net/x.git https://ada@git.corp.net http://host:8080/a@b".to_owned()),
        ("URL of a commit", format!("https://git.corp.net/webhooks/commit/{commit}#diff-{digest}")),
        ("ports", "docker run -p 127.0.0.1:8080:80/tcp -u 1000:1000 nginx; cargo test -p sqlx-mysql2".to_owned()),
        ("template of a command", "curl -u user:password https://example.com; curl -u $USER:$TOKEN x; mysql -u root -p".to_owned()),
        // Ids.
        ("ids of models", format!("msg_01{} toolu_01{} chatcmpl-{} resp_{}", word(22), word(22), word(29), hex(48))),
        ("ids of a forge", format!("PR_kwDOABcdEf5{} node_id: MDQ6VXNlcjE= dpl_{}", word(12), word(44))),
        ("id of a session", format!("session_id: 8bfea854-fd8c-44dc-a9ce-c13027ce08d6, request_token: {}", hex(32))),
        ("ULID", "01ARZ3NDEKTSV4RRFFQ69G5FAV".to_owned()),
        ("note verifier", format!("sum.golang.org+033de0ae+{} ledger_key = \"ada+0fb2d3c1+{}\"", base64(44), base64(44))),
        ("container", format!("ghcr.io/acme/app@sha256:{digest} and pod web-7d9f8b6c5d-x2k4p")),
        ("mangled symbol", "_ZN4core3fmt9Formatter12pad_integral17h3f2d1c4b5a697887E".to_owned()),
        ("test vector", "key = 000102030405060708090a0b0c0d0e0f\nsecret: 0x0000000000000000000000000000000000000001".to_owned()),
        ("counted token", "token: a1b2c3d4e5f6a7b8c9d0, api_key=1a2b3c4d5e6f7g8h9i0j".to_owned()),
        ("base64 of a setting", "cGFzc3dvcmQ6ICR7REJfUEFTU1dPUkR9CnRva2VuOiA8dG9rZW4+Cg==".to_owned()),
        ("wrapped image", pem("IMAGE", "", "\n")),
        ("path", "/home/ada/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/serde_json-1.0.154/src/value/mod.rs".to_owned()),
        ("regular expressions", r#"token_pat = "[A-Za-z0-9_]{20,40}(-[0-9a-f]{8})?"; HEX_PAT = '[0-9A-Fa-f]{1,4}'"#.to_owned()),
        ("sentence about words", "The mnemonic of this opcode is the word that the assembler shows for the bytes that follow.".to_owned()),
    ]
}

#[test]
fn credentials_are_caught() {
    let missed: Vec<&str> =
        credentials().iter().filter(|(_, text)| find_secret(text).is_none()).map(|(what, _)| *what).collect();
    assert!(missed.is_empty(), "{missed:?}");
}

#[test]
fn credentials_are_caught_wherever_they_stand() {
    for (what, secret) in credentials() {
        let places = [
            format!("I used {secret}."),
            format!("token={secret}"),
            format!("`{secret}`"),
            format!("curl -H 'Authorization: Bearer {secret}' https://example.org"),
            format!("é\u{1f600}\n{secret}\nmore"),
            format!("{}\n{secret}", "long ".repeat(500)),
            serde_json::json!({ "log": format!("first\n{secret}\nlast") }).to_string(),
            format!("https://ada:{secret}@example.org/x.git"),
        ];
        for place in places {
            assert!(find_secret(&place).is_some(), "{what} in {}", &place[place.len().saturating_sub(200)..]);
        }
    }
}

#[test]
fn place_of_a_credential_is_where_it_begins() {
    let secret = ["gh", "p_", &word(36)].concat();
    assert_eq!(find_secret(&format!("é {secret}")).unwrap().at, 3);
}

#[test]
fn credential_is_found_wherever_it_is_split_in_a_long_text() {
    let filler = "Nothing of note here. ".repeat(300);
    let (left, right) = (token()[..20].to_owned(), token()[20..].to_owned());
    for text in [
        format!("{filler}\n{left}\n{right}\n{filler}"),
        format!("a \\n b %20 {filler}\n{left}\n{right}\n{filler} &amp; c"),
        format!("{filler}\nline\nline2x\nline3y {filler}{left}\u{200b}{right} {filler}"),
    ] {
        let at = find_secret(&text).map(|secret| secret.at);
        assert_eq!(at, text.find(&left));
    }
}

#[test]
fn harmless_text_is_let_through() {
    let caught: Vec<_> =
        harmless().into_iter().filter_map(|(what, text)| Some((what, find_secret(&text)?.what))).collect();
    assert!(caught.is_empty(), "{caught:?}");
}

/// What the guard does not see, as docs/secrets.md says.
#[test]
fn credentials_without_a_mark_are_not_seen() {
    let texts = [
        "password: sunflower".to_owned(),
        "password=hunter2".to_owned(),
        word(40),
        hex(40),
        token().chars().rev().collect(),
        token().split("").collect::<Vec<_>>().join(" "),
    ];
    assert!(texts.iter().all(|text| find_secret(text).is_none()));
}

#[test]
fn as_much_is_let_through_as_is_caught() {
    assert!(credentials().len() >= 25 && harmless().len() >= credentials().len());
}

#[test]
fn megabytes_of_random_text_are_let_through() {
    for alphabets in [&[DIGITS, LOWER, UPPER, "+/"][..], &[DIGITS, LOWER, UPPER, "-_"], &[DIGITS, "abcdef\n"]] {
        assert_eq!(find_secret(&drawn(1 << 20, alphabets)), None);
    }
}

#[test]
fn text_that_repeats_a_prefix_from_end_to_end_takes_no_longer_than_other_text() {
    let dashes = "-".repeat(5);
    let begin = format!("{dashes}BEGIN PRIVATE KEY{dashes}\n");
    let pieces = [
        "AKIA",
        "xoxb-",
        "ya29.",
        "-eyJ",
        "eyJ",
        "ey.eyJ.",
        "aws_secret_access_key=",
        "-----BEGIN ",
        &begin,
        "://",
        "a://b:c@",
        "key=",
        "password is ",
        "curl -u ",
        "a\"+\"",
        "aB3\n",
        "%41",
        "\\u0041",
        "&#65;",
        "\u{200b}",
        "eyJh",
        "pass(\"a\",",
        "Q~",
        "seed phrase: ",
        "value: ",
        "cookie: a=",
        "hook://",
    ];
    for piece in pieces {
        assert_eq!(find_secret(&piece.repeat((1 << 16) / piece.len())), None, "{piece}");
    }
}

fn token() -> String {
    ["gh", "p_", &word(36)].concat()
}

#[test]
fn record_with_a_credential_is_refused_before_anything_is_written() {
    let scratch = Scratch::with_session();
    let events = scratch.rows("audit_events");
    let content = format!("pushed with {}", token());
    let error = scratch.refused(&["record", "--type", "plan", "--content", &content], "ERR_SECRET_DETECTED", 2);
    assert_eq!(error["details"]["at"], 12);
    assert_eq!((scratch.rows("thought_records"), scratch.rows("audit_events")), (0, events));
}

#[test]
fn refusal_does_not_repeat_the_credential() {
    let scratch = Scratch::with_session();
    let ran = scratch.run(["record", "--type", "plan", "--content", &token()]);
    assert_eq!(ran.exit, Some(2));
    assert!(!ran.err.contains(&token()));
}

#[test]
fn credential_in_metadata_is_refused() {
    let scratch = Scratch::with_session();
    let metadata = serde_json::json!({ "log": { "lines": [format!("first\n{}", token())] } }).to_string();
    let record = ["record", "--type", "plan", "--content", "x", "--metadata", &metadata];
    scratch.refused(&record, "ERR_SECRET_DETECTED", 2);
    assert_eq!(scratch.rows("thought_records"), 0);
}

#[test]
fn credential_in_an_attestation_is_refused() {
    let scratch = Scratch::with_session();
    scratch.refused(&["attest", "fine", &token()], "ERR_SECRET_DETECTED", 2);
    assert_eq!(scratch.rows("thought_records"), 0);
}

#[test]
fn credential_in_an_intent_task_or_caller_is_refused() {
    let scratch = Scratch::new();
    let token = token();
    scratch.refused(&["start", "--intent", &token], "ERR_SECRET_DETECTED", 2);
    scratch.refused(&["start", "--intent", "x", "--task", &token], "ERR_SECRET_DETECTED", 2);
    scratch.refused(&["start", "--intent", "x", "--caller", &token], "ERR_SECRET_DETECTED", 2);
    assert_eq!(scratch.rows("audit_sessions"), 0);
}

#[test]
fn private_record_may_hold_a_credential() {
    let scratch = Scratch::with_session();
    let metadata = serde_json::json!({ "key": token() }).to_string();
    let record = ["record", "--type", "plan", "--content", &token(), "--metadata", &metadata, "--private"];
    let entry = scratch.json(&record);
    assert_eq!((&entry["private"], &entry["content"]), (&true.into(), &token().into()));
    assert_eq!(scratch.json(&["log"])["entries"][0]["private"], true);
}
