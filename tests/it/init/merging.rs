//! What is in a file stays, byte for byte, and comes back when ours is taken out.

use std::path::Path;

use proptest::prelude::*;

use super::{AGENTS, FILES, get, init, put};
use crate::store::scratch::Scratch;

/// Settings of people, in the shapes that they have.
const SHAPES: [(&str, &str); 18] = [
    ("empty object", "{}"),
    ("empty object with a newline", "{}\n"),
    ("one line", "{\"theme\":\"dark\"}"),
    ("one line with spaces", "{ \"theme\": \"dark\", \"list\": [1, 2] }\n"),
    ("two spaces", "{\n  \"theme\": \"dark\",\n  \"nested\": {\n    \"a\": [1, 2]\n  }\n}\n"),
    ("four spaces", "{\n    \"theme\": \"dark\"\n}\n"),
    ("tabs", "{\n\t\"theme\": \"dark\",\n\t\"nested\": {\n\t\t\"a\": 1\n\t}\n}\n"),
    ("CRLF", "{\r\n  \"theme\": \"dark\"\r\n}\r\n"),
    ("no final newline", "{\n  \"theme\": \"dark\"\n}"),
    ("trailing commas", "{\n  \"theme\": \"dark\",\n  \"list\": [\n    1,\n  ],\n}\n"),
    (
        "comments",
        "// mine\n{\n  // the theme\n  \"theme\": \"dark\" // at night, not, by, day\n  /* the end */\n}\n// over\n",
    ),
    ("comment that ends in a space", "{\n  \"theme\": \"dark\", // at night \n  // or \n}\n"),
    ("comment behind a trailing comma", "{\n  \"theme\": \"dark\", // é, 夜 \"quoted\"\n}\n"),
    ("byte order mark", "\u{feff}{\n  \"theme\": \"dark\"\n}\n"),
    (
        "foreign servers",
        "{\n  \"mcpServers\": {\n    \"other\": { \"command\": \"x\", \"args\": [] }\n  },\n  \"servers\": {\n    \"other\": {}\n  },\n  \
         \"context_servers\": {\"other\": {}}\n}\n",
    ),
    (
        "empty servers and hooks",
        "{\n  \"mcpServers\": {},\n  \"servers\": {},\n  \"context_servers\": {},\n  \"hooks\": {}\n}\n",
    ),
    (
        "foreign hooks",
        "{\n  \"version\": 1,\n  \"hooks\": {\n    \"Stop\": [\n      { \"hooks\": [{ \"type\": \"command\", \"command\": \"say done\" }] }\n    ],\n    \
         \"stop\": [{ \"command\": \"say done\" }],\n    \"AfterTool\": [],\n    \"Other\": []\n  },\n  \"last\": null\n}\n",
    ),
    ("escapes and odd names", "{\n  \"a\\\"b\": \"// no comment, /* none */ {\",\n  \"\": [\"]\", \"}\"]\n}\n"),
];

fn json_files() -> impl Iterator<Item = (&'static str, &'static str)> {
    FILES.into_iter().filter(|(_, path)| Path::new(path).extension().is_some_and(|extension| extension == "json"))
}

/// Whether one text is the other with things added in between.
fn is_kept(old: &str, new: &str) -> bool {
    let mut rest = new.bytes();
    old.bytes().all(|byte| rest.any(|found| found == byte))
}

fn plain(value: &jsonc_parser::ast::Value<'_>) -> serde_json::Value {
    use jsonc_parser::ast::Value as Found;
    match value {
        Found::StringLit(text) => text.value.to_string().into(),
        Found::NumberLit(number) => serde_json::from_str(number.value).unwrap(),
        Found::BooleanLit(boolean) => boolean.value.into(),
        Found::Object(object) => object
            .properties
            .iter()
            .map(|property| (property.name.as_str().to_owned(), plain(&property.value)))
            .collect(),
        Found::Array(array) => array.elements.iter().map(plain).collect(),
        Found::NullKeyword(_) => serde_json::Value::Null,
    }
}

/// The JSON that is left without comments and trailing commas.
fn value(text: &str) -> serde_json::Value {
    let options = jsonc_parser::ParseOptions::default();
    let ast = jsonc_parser::parse_to_ast(
        text.trim_start_matches('\u{feff}'),
        &jsonc_parser::CollectOptions::default(),
        &options,
    );
    plain(&ast.unwrap().value.unwrap())
}

/// Whether everything of one value is in the other, at its place.
fn holds(whole: &serde_json::Value, part: &serde_json::Value) -> bool {
    match (whole, part) {
        (serde_json::Value::Object(whole), serde_json::Value::Object(part)) => {
            part.iter().all(|(name, part)| whole.get(name).is_some_and(|whole| holds(whole, part)))
        }
        (serde_json::Value::Array(whole), serde_json::Value::Array(part)) => {
            part.iter().enumerate().all(|(index, part)| whole.get(index).is_some_and(|whole| holds(whole, part)))
        }
        _ => whole == part,
    }
}

#[test]
fn merging_keeps_every_byte_and_every_entry() {
    for (shape, text) in SHAPES {
        let scratch = Scratch::new();
        for (agent, path) in json_files() {
            put(&scratch, path, text);
            assert_eq!(init(&scratch, agent, &[])[path], "updated", "{shape} {path}");
            let merged = get(&scratch, path);
            assert!(is_kept(text, &merged), "{shape} {path}: {merged}");
            assert!(holds(&value(&merged), &value(text)), "{shape} {path}: {merged}");
            assert!(merged.contains("git-proof") || merged.contains("git proof hook"), "{shape} {path}: {merged}");
        }
    }
}

#[test]
fn merging_twice_is_merging_once() {
    for (shape, text) in SHAPES {
        let scratch = Scratch::new();
        for (agent, path) in json_files() {
            put(&scratch, path, text);
            init(&scratch, agent, &[]);
            let once = get(&scratch, path);
            assert_eq!(init(&scratch, agent, &[])[path], "unchanged", "{shape} {path}");
            assert_eq!(get(&scratch, path), once);
        }
    }
}

#[test]
fn uninstalling_restores_the_original_bytes() {
    for (shape, text) in SHAPES {
        let scratch = Scratch::new();
        for (agent, path) in json_files() {
            put(&scratch, path, text);
            init(&scratch, agent, &[]);
            let merged = get(&scratch, path);
            init(&scratch, agent, &["--uninstall"]);
            assert_eq!(get(&scratch, path), text, "{shape} {path}: {merged}");
        }
    }
}

#[test]
fn layout_of_the_file_is_kept() {
    let scratch = Scratch::new();
    for (before, after) in [
        (
            "{\n\t\"theme\": \"dark\" // mine\n}",
            "{\n\t\"theme\": \"dark\", // mine\n\t\"mcpServers\": {\n\t\t\"git-proof\": {\n\t\t\t\"command\": \"git\",\n\t\t\t\"args\": [\"proof\", \"mcp\", \"--profile\", \"core\"],\n\t\t\t\"alwaysLoad\": true\n\t\t}\n\t}\n}",
        ),
        (
            "{\r\n    \"mcpServers\": {\r\n        \"a\": {},\r\n    },\r\n}\r\n",
            "{\r\n    \"mcpServers\": {\r\n        \"a\": {},\r\n        \"git-proof\": {\r\n            \"command\": \"git\",\r\n            \"args\": [\"proof\", \"mcp\", \"--profile\", \"core\"],\r\n            \"alwaysLoad\": true\r\n        },\r\n    },\r\n}\r\n",
        ),
        (
            "{\"mcpServers\": {}}",
            "{\"mcpServers\": { \"git-proof\": {\"command\": \"git\", \"args\": [\"proof\", \"mcp\", \"--profile\", \"core\"], \"alwaysLoad\": true} }}",
        ),
    ] {
        put(&scratch, ".mcp.json", before);
        init(&scratch, "claude-code", &[]);
        assert_eq!(get(&scratch, ".mcp.json"), after);
    }
}

#[test]
fn entry_that_somebody_has_changed_is_left_as_it_is() {
    let scratch = Scratch::new();
    let text = "{\n  \"mcpServers\": {\n    \"git-proof\": { \"command\": \"git\", \"args\": [\"proof\", \"mcp\"], \"env\": {} }\n  }\n}\n";
    put(&scratch, ".mcp.json", text);
    assert_eq!(init(&scratch, "claude-code", &[])[".mcp.json"], "unchanged");
    let foreign = "{\n  \"mcpServers\": {\n    \"git-proof\": { \"command\": \"docker\" }\n  }\n}\n";
    put(&scratch, ".mcp.json", foreign);
    assert_eq!(init(&scratch, "claude-code", &["--uninstall"])[".mcp.json"], "unchanged");
    assert_eq!(get(&scratch, ".mcp.json"), foreign);
}

#[test]
fn hook_in_a_group_with_others_is_taken_out_alone() {
    let scratch = Scratch::new();
    let group = |ours: &str| {
        format!(
            "{{\n  \"hooks\": {{\n    \"Stop\": [\n      {{ \"hooks\": [{{ \"command\": \"a\" }}{ours}] }}\n    ]\n  }}\n}}\n"
        )
    };
    put(&scratch, ".claude/settings.json", &group(", { \"command\": \"git proof hook claude-code\" }"));
    init(&scratch, "claude-code", &["--uninstall"]);
    assert_eq!(get(&scratch, ".claude/settings.json"), group(""));
}

#[test]
fn what_was_added_after_ours_stays() {
    let scratch = Scratch::new();
    init(&scratch, "claude-code", &[]);
    let theirs = get(&scratch, ".mcp.json").replace("    }\n  }\n}", "    },\n    \"theirs\": {}\n  }\n}");
    put(&scratch, ".mcp.json", &theirs);
    init(&scratch, "claude-code", &["--uninstall"]);
    assert_eq!(get(&scratch, ".mcp.json"), "{\n  \"mcpServers\": {\n    \"theirs\": {}\n  }\n}\n");
}

#[test]
fn comma_of_a_formatter_does_not_keep_ours_in() {
    let scratch = Scratch::new();
    put(&scratch, ".zed/settings.json", "{\n  \"a\": 1,\n}\n");
    init(&scratch, "zed", &[]);
    let formatted = get(&scratch, ".zed/settings.json").replace("]\n", "],\n").replace("}\n  }", "},\n  }");
    put(&scratch, ".zed/settings.json", &formatted);
    init(&scratch, "zed", &["--uninstall"]);
    assert_eq!(get(&scratch, ".zed/settings.json"), "{\n  \"a\": 1,\n}\n");
}

#[test]
fn line_comment_before_ours_does_not_swallow_what_follows() {
    let ours = r#"{ "hooks": [{ "type": "command", "command": "git proof hook claude-code" }] }"#;
    for (with, without) in [
        (format!("{{\"hooks\": {{\"Stop\": [ // mine\n{ours}]}}}}"), "{\"hooks\": {\"Stop\": [ // mine\n]}}"),
        (format!("{{\"hooks\": {{\"Stop\": [ // mine\n{ours}, 1]}}}}"), "{\"hooks\": {\"Stop\": [ // mine\n 1]}}"),
        (format!("{{\"hooks\": {{\"Stop\": [ /* mine */ {ours}]}}}}"), "{\"hooks\": {\"Stop\": [ /* mine */ ]}}"),
    ] {
        let scratch = Scratch::new();
        put(&scratch, ".claude/settings.json", &with);
        init(&scratch, "claude-code", &["--uninstall"]);
        assert_eq!(get(&scratch, ".claude/settings.json"), without);
    }
}

#[test]
fn empty_file_is_filled_and_an_empty_one_is_not_complained_of() {
    for (agent, path) in FILES {
        let scratch = Scratch::new();
        put(&scratch, path, "");
        assert_eq!(init(&scratch, agent, &["--uninstall"])[path], "unchanged");
        assert_eq!(init(&scratch, agent, &[])[path], "updated");
        assert_eq!(init(&scratch, agent, &[])[path], "unchanged");
    }
}

#[test]
fn toml_is_kept_and_comes_back() {
    for text in [
        "model = \"x\" # mine\n",
        "model = \"x\"",
        "model = \"x\"\r\n\r\n[mcp_servers.other]\r\ncommand = \"y\"\r\n",
        "# only a comment\n",
        "\n\n",
        "mcp_servers.other.command = \"y\"\n",
        "[mcp_servers]\n[mcp_servers.other]\ncommand = \"y\"\n\n# the end\n",
        "mcp_servers = { other = { command = \"y\" } } # inline\n[features]\na = true\n",
        "approval = 1\r\n\nmodel = \"x\"\n# lines that end in two ways\n",
    ] {
        let scratch = Scratch::new();
        put(&scratch, ".codex/config.toml", text);
        assert_eq!(init(&scratch, "codex", &[])[".codex/config.toml"], "updated", "{text}");
        let merged = get(&scratch, ".codex/config.toml");
        let parsed: toml_edit::DocumentMut = merged.parse().unwrap_or_else(|error| panic!("{error}: {merged}"));
        assert_eq!(parsed["mcp_servers"]["git-proof"]["command"].as_str(), Some("git"), "{merged}");
        assert!(is_kept(text.trim(), &merged), "{merged}");
        assert_eq!(init(&scratch, "codex", &[])[".codex/config.toml"], "unchanged");
        init(&scratch, "codex", &["--uninstall"]);
        if !text.trim().is_empty() {
            assert_eq!(get(&scratch, ".codex/config.toml"), text, "{merged}");
        }
    }
}

#[test]
fn toml_table_that_was_edited_is_taken_out_without_the_comments_around_it() {
    let ours = "args = [\"proof\", \"mcp\", \"--profile\", \"core\"]\r\n";
    for edited in [
        "args = [\r\n  \"proof\", # comment\r\n  \"mcp\",\r\n] # of the table\r\n",
        "args = [\"proof\", \"mcp\", \"--profile\", \"core\"]\r\nstartup_timeout_sec = 20 # a slow disk\r\n",
        "args = [\"proof\", \"mcp\", \"--profile\", \"core\"]\r\n[mcp_servers.git-proof.env]\r\nHOME = \"/\"\r\n",
    ] {
        let scratch = Scratch::new();
        let (before, after) =
            ("model = \"x\"\r\n# mine\r\n", "\r\n# features\r\n[features]\r\na = true\r\n# the end\r\n");
        put(&scratch, ".codex/config.toml", before);
        init(&scratch, "codex", &[]);
        let merged = get(&scratch, ".codex/config.toml");
        assert!(merged.ends_with(ours), "{merged}");
        put(&scratch, ".codex/config.toml", &format!("{}{after}", merged.replace(ours, edited)));
        init(&scratch, "codex", &["--uninstall"]);
        assert_eq!(get(&scratch, ".codex/config.toml"), format!("{before}{after}"), "{edited}");
    }
}

#[test]
fn agents_md_keeps_its_text_and_gets_one_block() {
    for text in ["# Rules\n\nBe kind.\n", "# Rules", "# Rules\r\n\r\nBe kind.\r\n"] {
        let scratch = Scratch::new();
        put(&scratch, "AGENTS.md", text);
        init(&scratch, "zed", &["--agents-md"]);
        let merged = get(&scratch, "AGENTS.md");
        assert!(merged.starts_with(text) && merged.contains("merkle_finalize"), "{merged}");
        assert_eq!(init(&scratch, "zed", &["--agents-md"])["AGENTS.md"], "unchanged");
        init(&scratch, "zed", &["--agents-md", "--uninstall"]);
        assert_eq!(get(&scratch, "AGENTS.md"), text);
    }
}

#[test]
fn agents_md_is_not_touched_unless_asked_for() {
    for agent in AGENTS {
        let scratch = Scratch::new();
        init(&scratch, agent, &[]);
        assert!(!scratch.place.join("AGENTS.md").exists());
    }
}

/// Objects as people lay them out: any mix of lines, spaces, comments and trailing commas.
fn settings() -> impl Strategy<Value = String> {
    let space = prop_oneof![Just(""), Just(" "), Just("\n  "), Just("\n\t"), Just(" // c, \"x\"\n  "), Just("/* { */")];
    let scalar =
        prop_oneof![Just("1".to_owned()), Just("\"a,}//\"".to_owned()), Just("null".to_owned()), Just("[]".to_owned())];
    let name = prop_oneof![Just("a"), Just("b"), Just("mcpServers"), Just("hooks"), Just("c")];
    let object = |inner: BoxedStrategy<String>| {
        let item = (name.clone(), space.clone(), inner, space.clone());
        (proptest::collection::vec(item, 1..4), space.clone(), any::<bool>()).prop_map(|(items, start, trailing)| {
            let mut seen = Vec::new();
            let mut parts = Vec::new();
            for (name, before, value, after) in items {
                let fits = value.starts_with('{') || !matches!(name, "mcpServers" | "hooks");
                if !seen.contains(&name) && fits {
                    seen.push(name);
                    parts.push(format!("\"{name}\":{before}{value}{after}"));
                }
            }
            let trailing = if trailing && !parts.is_empty() { "," } else { "" };
            if parts.is_empty() { "{}".to_owned() } else { format!("{{{start}{}{trailing}\n}}", parts.join(",\n  ")) }
        })
    };
    let inner = object(scalar.clone().boxed()).boxed();
    object(prop_oneof![scalar, inner].boxed())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_layout_survives_setting_up_and_comes_back(text in settings()) {
        let scratch = Scratch::new();
        put(&scratch, ".gemini/settings.json", &text);
        init(&scratch, "gemini", &[]);
        let merged = get(&scratch, ".gemini/settings.json");
        prop_assert!(is_kept(&text, &merged), "{merged}");
        prop_assert!(holds(&value(&merged), &value(&text)), "{merged}");
        prop_assert_eq!(&init(&scratch, "gemini", &[])[".gemini/settings.json"], "unchanged");
        init(&scratch, "gemini", &["--uninstall"]);
        prop_assert_eq!(get(&scratch, ".gemini/settings.json"), text, "{}", merged);
    }
}
