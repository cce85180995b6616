//! Where credentials stand in what developers and agents write.

use super::{Form, Kind};

/// A credential in each place that is usual for its form, with the name of the place.
pub(super) fn places(kind: &Kind, credential: &str) -> Vec<(&'static str, String)> {
    match kind.form {
        Form::Line => lines(credential),
        Form::Named => settings(kind.setting, credential),
        Form::Token => [settings(kind.setting, credential), anywhere(credential)].concat(),
    }
}

/// Places that name what the credential is for.
fn settings(setting: &str, credential: &str) -> Vec<(&'static str, String)> {
    let (upper, dashed, words) = (setting.to_uppercase(), setting.replace('_', "-"), setting.replace('_', " "));
    let camel: String = setting
        .split('_')
        .enumerate()
        .map(|(at, word)| if at == 0 { word.to_owned() } else { word[..1].to_uppercase() + &word[1..] })
        .collect();
    let json = serde_json::json!({ "region": "eu-1", (setting): credential }).to_string();
    vec![
        ("an environment file", format!("DEBUG=0\n{upper}={credential}\nPORT=8080\n")),
        ("a shell command", format!("export {upper}='{credential}' && make deploy")),
        ("a YAML file", format!("service:\n  {setting}: {credential}\n  port: 8080\n")),
        ("a quoted YAML value", format!("service:\n  {dashed}: \"{credential}\"\n")),
        ("a TOML file", format!("[service]\n{setting} = \"{credential}\"\n")),
        ("JSON", json.clone()),
        ("JSON in a string", serde_json::json!({ "content": json }).to_string()),
        ("an option", format!("deploy --region eu-1 --{dashed} {credential} --yes")),
        ("a log line", format!("2026-03-01T09:00:00Z DEBUG client: using {setting}={credential} region=eu-1")),
        ("source code", format!("let client = Client::new();\nconst {camel} = \"{credential}\";\n")),
        ("a typed constant", format!("const {upper}: &str = \"{credential}\";")),
        ("prose", format!("I set the {words} to {credential} and ran the job again.")),
        ("a list", format!("Settings of the job:\n\n- {words}: `{credential}`\n- region: eu-1\n")),
        ("a diff", format!("-{upper}=\n+{upper}={credential}\n")),
        ("XML", format!("<config><{camel}>{credential}</{camel}></config>")),
    ]
}

/// Places that say nothing about what it is.
fn anywhere(credential: &str) -> Vec<(&'static str, String)> {
    vec![
        ("nothing", credential.to_owned()),
        ("a sentence", format!("I tried it with {credential}.")),
        ("code in a sentence", format!("The call with `{credential}` was refused, so I rejected that way.")),
        ("a long text", format!("{}\n{credential}\n{}", "Nothing of note. ".repeat(200), "More of it. ".repeat(200))),
        ("parentheses", format!("the other one ({credential}) works")),
        ("a header", format!("Authorization: Bearer {credential}")),
        ("a URL", format!("https://api.corp.net/v1/items?page=2&k={}", percent(credential))),
        ("a list of strings", format!("[\"eu-1\", \"{credential}\", \"8080\"]")),
        ("Windows lines", format!("first\r\n{credential}\r\nlast")),
    ]
}

/// Places for whole lines.
fn lines(credential: &str) -> Vec<(&'static str, String)> {
    let indented: String = credential.lines().map(|line| format!("    {line}\n")).collect();
    let quoted: String = credential.lines().map(|line| format!("> {line}\n")).collect();
    let added: String = credential.lines().map(|line| format!("+{line}\n")).collect();
    vec![
        ("nothing", credential.to_owned()),
        ("a fence", format!("I ran this:\n\n```\n{credential}\n```\n\nand it worked.")),
        ("an indented block", format!("settings: |\n{indented}")),
        ("a quotation", format!("They wrote:\n\n{quoted}")),
        ("a diff", format!("@@ -1,0 +1,2 @@\n{added}")),
        ("JSON", serde_json::json!({ "content": format!("before\n{credential}\nafter") }).to_string()),
        ("Windows lines", format!("first\r\n{}\r\nlast", credential.replace('\n', "\r\n"))),
    ]
}

/// Encodes what a query may not hold.
fn percent(text: &str) -> String {
    let keep = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~');
    text.bytes().map(|byte| if keep(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}
