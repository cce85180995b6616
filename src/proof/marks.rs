//! The marks that AI tools leave in commit messages, as the default rules of `proof_grade.trailers`.
//!
//! A rule goes by the address or the account that a tool writes, wherever that is known: the names that tools show change
//! from version to version, and Claude, Devin, Jules, Zed and Junie are names of people. A name alone counts where nobody
//! has it (Copilot, Codex), or where nothing but the name of a tool or a model stands beside it (`Claude Opus 4.5`). So
//! `Claude Dupont <claude@dupont.example>` is no mark. A co-author who goes by Claude and nothing else is taken for the tool.
//!
//! Every rule begins with plain letters: [`super::grade`] compares those first, since most lines are no mark at all.

/// Groups of rules, each with what they have in common.
const GROUPS: [(&str, &[&str]); 6] = [
    (
        "addresses and accounts of tools",
        &[
            r"Co-?(authored|developed)-by: .*<[^<>]*@(aider\.chat|all-hands\.dev|ampcode\.com|devin\.ai|kiro\.dev|opencode\.ai|openhands\.dev|roocode\.com|swe-agent\.com)>",
            r"Co-?(authored|developed)-by: .*<(agent|bot|claude|codex|cursoragent|grok|no-?reply)@(anthropic|augmentcode|block|codeium|continue|cursor|factory|jetbrains|openai|replit|sourcery|tabnine|warp|windsurf|x|zed)\.(ai|com|dev|xyz)>",
            r"Co-?(authored|developed)-by: .*<(copilot@github\.com|(gemini-cli|jules)@google\.com|qwen-coder@alibabacloud\.com|cascade@windsurf\.ai|crush@charm\.land|vibe@mistral\.ai)>",
            r"Co-?(authored|developed)-by: .*<([0-9]+\+)?(copilot|codex|kiro-agent|(amazon-q-developer|anthropic-claude|augmentcode|chatgpt-codex-connector|claude|claude-code-action|cline|continue|copilot|copilot-swe-agent|cursor|cursoragent|devin-ai-integration|factory-droid|gemini-cli|gemini-code-assist|google-labs-jules|jetbrains-ai|jules-fleet|junie-agent|openai-codex|opencode-agent|replit-agent|roomote|sourcery-ai|windsurf-bot)\[bot\])@users\.noreply\.github\.com>",
        ],
    ),
    (
        "names that no person has, alone or with a model",
        &[
            r"Co-?(authored|developed)-by: (GitHub |OpenAI |Google )?(aider|Amp|ChatGPT|Claude|Cline|Codex|Copilot|Cursor|Gemini|Grok|opencode|OpenHands|Qwen|SWE-agent|Windsurf)(( <|[ -](\(|claude-|v?[0-9]|(Agent|AI|Assistant|Autofix|Bot|Cascade|CLI|Code|Coder|Haiku|Opus|Sonnet)\b)).*)?",
            r"Co-?(authored|developed)-by: (Augment|Devin|Factory|Goose|Jules|Junie|Kiro|Replit|Roo|Sourcery|Zed)([ -](Agent|AI|Assistant|Bot|CLI|Code|Droid)\b.*| <(agent|ai|bot|no-?reply)@.*)?",
            r"Co-?(authored|developed)-by: .*\b(?-i:AI)\b.*",
        ],
    ),
    ("what projects ask for", &[r"Assisted-by: .*", r"Generated-(by|with): .*"]),
    (
        "the same; not \"no\", \"none\", \"n/a\" or \"false\"",
        &[r"AI-(assisted|generated)(-by: .*|: ([^fn]|fu|n[^o/]).*)?", r"AI-(agent|model|tool): .*"],
    ),
    (
        "trailers of single tools",
        &[
            r"Agent-Logs-Url: .*",
            r"Amp-Thread(-ID)?: .*",
            r"Claude-Session: .*",
            r"Copilot-Session: .*",
            r"Made-with: Cursor",
            r"Replit-Commit-Author: (Agent|Assistant)",
        ],
    ),
    (
        "lines that are no trailers",
        &[
            r"Generated (with|by) \[?(aider|Amp|Claude|Codex|Copilot|Crush|Cursor|Devin|Gemini|Junie|opencode|Qwen|Windsurf)( (Agent|AI|CLI|Code))*(\.|(\]| ?\().*)?",
            r"Made with \[Cursor\].*",
            r"🤖 (Generated|Made) (with|by) .*",
            r"💘 Generated with \[?Crush\b.*",
        ],
    ),
];

/// The rules.
pub fn trailers() -> Vec<String> {
    rules().map(str::to_owned).collect()
}

/// Whether a rule is one of these.
pub(super) fn contains(rule: &str) -> bool {
    rules().any(|known| known == rule)
}

fn rules() -> impl Iterator<Item = &'static str> {
    GROUPS.iter().flat_map(|(_, rules)| rules.iter().copied())
}

/// The rules as a policy file has them: the key with its list. No rule has an apostrophe, so none needs an escape.
pub fn toml() -> String {
    let mut text = "trailers = [\n".to_owned();
    for (what, rules) in GROUPS {
        text.push_str(&format!("  # {what}\n"));
        for rule in rules {
            text.push_str(&format!("  '{rule}',\n"));
        }
    }
    text + "]\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_can_stand_in_a_policy_file_and_begins_with_plain_letters() {
        for rule in rules() {
            assert!(regex_lite::Regex::new(&format!("(?i)^(?:{rule})$")).is_ok(), "{rule}");
            assert!(!rule.contains('\''), "{rule}");
            assert!(rule.starts_with(|first: char| first.is_ascii_alphabetic() || !first.is_ascii()), "{rule}");
        }
    }
}
