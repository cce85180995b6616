//! The marks that AI tools leave in messages: which lines the defaults take for one, where they may stand, and that the
//! documents show the same list.

use std::path::Path;

use git_proof::proof::grade::{Grader, Reason, Subject};
use git_proof::proof::policy::{Policy, ProofGrade};

/// Why the defaults ask for the proof of a commit with this message.
fn reason(message: &str) -> Option<Reason> {
    let subject = Subject {
        message: message.as_bytes(),
        author: b"Ada <ada@example.org>",
        merge: false,
        touches_settings: false,
        paths: &[],
    };
    Grader::new(&ProofGrade::default()).unwrap().reason(&subject)
}

#[track_caller]
fn is_marked(message: &str) -> bool {
    match reason(message) {
        None => false,
        Some(Reason::Trailer { .. }) => true,
        Some(other) => panic!("{message:?}: {other}"),
    }
}

/// What tools write, each as it was seen in a public history or in the source of the tool.
const TOOLS: &[&str] = &[
    "Co-Authored-By: Claude <noreply@anthropic.com>",
    "Co-Authored-By: Claude Opus 4.5 (1M context) <noreply@anthropic.com>",
    "Co-authored-by: Claude <x@y>",
    "Co-authored-by: Claude",
    "Co-authored-by: goose <noreply@anthropic.com>",
    "Co-authored-by: claude[bot] <209825114+claude[bot]@users.noreply.github.com>",
    "Co-authored-by: Copilot <198982749+Copilot@users.noreply.github.com>",
    "Co-authored-by: copilot-swe-agent[bot] <198982749+Copilot@users.noreply.github.com>",
    "Co-authored-by: GitHub Copilot <copilot@github.com>",
    "Co-authored-by: Copilot Autofix powered by AI <62310815+github-advanced-security[bot]@users.noreply.github.com>",
    "CO-AUTHORED-BY: codex <x@y>",
    "Co-authored-by: GPT 5.5 <codex@openai.com>",
    "Co-authored-by: Codex <noreply@openai.com>",
    "Co-authored-by: chatgpt-codex-connector[bot] <199175422+chatgpt-codex-connector[bot]@users.noreply.github.com>",
    "Co-authored-by: ChatGPT <x@example.com>",
    "Co-authored-by: Cursor <cursoragent@cursor.com>",
    "Co-authored-by: Cursor Agent <noreply@cursor.com>",
    "Made-with: Cursor",
    "Made with [Cursor](https://cursor.com)",
    "Co-authored-by: Gemini 2.5 Pro <someone@example.org>",
    "Co-authored-by: Gemini CLI <gemini-cli@google.com>",
    "Co-Authored-By: gemini-code-assist[bot] <176961590+gemini-code-assist[bot]@users.noreply.github.com>",
    "Co-Authored-By: Devin <158243242+devin-ai-integration[bot]@users.noreply.github.com>",
    "Co-Authored-By: devin-ai-integration[bot] <devin-ai-integration[bot]@users.noreply.github.com>",
    "Co-authored-by: Devin AI <devin@cognition.ai>",
    "Co-authored-by: aider (gpt-4o) <aider@aider.chat>",
    "Co-authored-by: aider (anthropic/claude-sonnet-4) <noreply@aider.chat>",
    "Co-authored-by: Windsurf <noreply@codeium.com>",
    "Co-authored-by: Windsurf Cascade <cascade@windsurf.ai>",
    "Co-authored-by: Amp <amp@ampcode.com>",
    "Amp-Thread-ID: https://ampcode.com/threads/T-123",
    "Amp-Thread: https://ampcode.com/threads/T-123",
    "Co-Authored-By: opencode <noreply@opencode.ai>",
    "Co-authored-by: opencode-agent[bot] <opencode-agent[bot]@users.noreply.github.com>",
    "Co-Authored-By: google-labs-jules[bot] <161369871+google-labs-jules[bot]@users.noreply.github.com>",
    "Co-authored-by: Jules <jules@google.com>",
    "Co-authored-by: cline[bot] <205137888+cline[bot]@users.noreply.github.com>",
    "Co-authored-by: Cline <someone@example.org>",
    "Co-authored-by: Roo Code <roomote@roocode.com>",
    "Co-authored-by: Zed Agent <agent@zed.dev>",
    "Co-authored-by: kiro-agent <244629292+kiro-agent@users.noreply.github.com>",
    "Co-authored-by: Augment Agent <someone@example.org>",
    "Co-authored-by: Qwen-Coder <qwen-coder@alibabacloud.com>",
    "Co-authored-by: Grok <grok@x.ai>",
    "Co-authored-by: openhands <openhands@all-hands.dev>",
    "Co-authored-by: SWE-agent <noemail@swe-agent.com>",
    "Co-authored-by: factory-droid[bot] <138933559+factory-droid[bot]@users.noreply.github.com>",
    "Replit-Commit-Author: Agent",
    "Co-authored-by: Replit Agent <agent@replit.com>",
    "Co-authored-by: Sourcery AI <someone@example.org>",
    "Co-authored-by: junie-agent[bot] <1+junie-agent[bot]@users.noreply.github.com>",
    "Co-authored-by: Junie <noreply@jetbrains.com>",
    "Co-Authored-By: Crush <crush@charm.land>",
    "Co-developed-by: Claude claude-opus-4-6",
    "Co-developed-by: Some AI <tool@example.org>",
    "Coauthored-by: Claude <noreply@anthropic.com>",
    "Assisted-by: Claude:claude-opus-4-6",
    "assisted-by: anyone",
    "Generated-by: ChatGPT",
    "Generated-with: something",
    "AI-assisted",
    "AI-assisted: yes",
    "AI-Assisted-By: anything",
    "AI-Generated: true",
    "AI-Generated: fully",
    "AI-Agent: aider",
    "Claude-Session: https://claude.ai/code/session_1",
    "Copilot-Session: 5a0e",
    "\u{1f916} Generated with [Claude Code](https://claude.com/claude-code)",
    "\u{1f916} Generated with [OpenCode](https://opencode.ai)",
    "Generated with [Claude Code](https://claude.ai/code)",
    "Generated with Claude Code",
    "Generated with Devin (https://cli.devin.ai/docs)",
    "\u{1f498} Generated with Crush",
];

/// What people write.
const PEOPLE: &[&str] = &[
    "Co-authored-by: Devin Smith <devin.smith@company.com>",
    "Co-authored-by: Devin <devin@company.com>",
    "Co-authored-by: Claude Dupont <claude@dupont.example>",
    "Co-authored-by: Claude-Anne Martin <ca@martin.example>",
    "Co-authored-by: Jean-Claude Codet <jc@codet.example>",
    "Co-authored-by: Claude Vautrin <81847+claude@users.noreply.github.com>",
    "Co-authored-by: Jules Verne <jules.verne@company.com>",
    "Co-authored-by: Jules <jules@company.com>",
    "Co-authored-by: Zed <zed@company.com>",
    "Co-authored-by: Zed Shaw <zed@zed.dev.example>",
    "Co-authored-by: Kiro Tanaka <kiro@company.com>",
    "Co-authored-by: Junie Park <junie@company.com>",
    "Co-authored-by: Patsy Cline <patsy@company.com>",
    "Co-authored-by: Ai Weiwei <ai@company.com>",
    "Co-authored-by: Augusta King <augment@company.com>",
    "Co-authored-by: Jane <jane@openai.com>",
    "Co-authored-by: Jane <jane@anthropic.com>",
    "Co-authored-by: Jane <jane@cursor.com>",
    "Co-authored-by: dependabot[bot] <49699333+dependabot[bot]@users.noreply.github.com>",
    "Co-authored-by: Jane <12+jane@users.noreply.github.com>",
    "Reviewed-by: Claude Dupont <claude@dupont.example>",
    "Signed-off-by: Devin Smith <devin.smith@company.com>",
    "Replit-Commit-Author: Jane",
    "AI-assisted: no",
    "AI-assisted: none",
    "AI-assisted: n/a",
    "AI-generated: false",
    "Generated with protoc 29.3",
    "Generated by cursor pagination, see the test",
    "The cursor moves where Claude said it would.",
    "fix: do not crash when Co-authored-by: Claude <noreply@anthropic.com> is there",
    "> Co-authored-by: Claude <noreply@anthropic.com>",
];

#[test]
fn what_tools_write_is_a_mark() {
    for line in TOOLS {
        assert!(is_marked(&format!("A change\n\nIts body.\n\n{line}\n")), "{line}");
    }
}

#[test]
fn what_people_write_is_none() {
    for line in PEOPLE {
        assert!(!is_marked(&format!("A change\n\nIts body.\n\n{line}\n")), "{line}: {:?}", reason(line));
    }
}

/// Git reads trailers in the last paragraph only. Tools and people add paragraphs after them.
#[test]
fn a_mark_counts_wherever_it_stands() {
    let mark = "Co-authored-by: Claude <noreply@anthropic.com>";
    for message in [
        format!("A change\n\n{mark}\n\nAnd one more paragraph.\n"),
        format!("A change\n\n{mark}\n\nReviewed-by: Bob <bob@example.org>\n"),
        format!("A change\n\n* first (#1)\n\n{mark}\n\n* second (#2)\n\nText.\n"),
        format!("A change\n{mark}\n"),
        format!("A change\n\nText before it.\n{mark}\nText after it.\n"),
        format!("A change\n\n{mark}\r\n\r\nText.\r\n"),
        "A change\n\nCo-authored-by : Claude\n\t<noreply@anthropic.com>\n\nText.\n".to_owned(),
        "A change\n\n\u{1f916} Generated with [Claude Code](https://claude.ai/code)\n\nText.\n".to_owned(),
    ] {
        assert!(is_marked(&message), "{message}");
    }
    // What git does not show is not read.
    assert!(!is_marked(&format!("A change\n\0\n{mark}\n")));
}

#[test]
fn the_reason_names_the_line() {
    let message = "A change\n\nCo-authored-by: Claude <noreply@anthropic.com>\n\nText.\n";
    assert_eq!(
        reason(message).unwrap().to_string(),
        "the line \"Co-authored-by: Claude <noreply@anthropic.com>\" of its message matches proof_grade.trailers"
    );
    let long = format!("A change\n\nAssisted-by: {}\n", "x".repeat(1000));
    assert!(reason(&long).unwrap().to_string().chars().count() < 200);
}

/// Our own trailers keep git's rule: one that stands elsewhere is a stray, which is reported.
#[test]
fn trailers_of_ours_count_only_where_git_reads_them() {
    use git_proof::proof::trailer::ProofTrailers;
    let found = ProofTrailers::parse(b"A change\n\nProof-Grade: true\n\nText.\n");
    assert_eq!((found.trailers.len(), found.strays.len()), (0, 1));
}

/// The list of a policy file, as it stands there.
fn list(text: &str) -> &str {
    let from = text.find("\ntrailers = [").unwrap_or_else(|| panic!("no list in {text}")) + 1;
    &text[from..from + text[from..].find("\n]\n").unwrap() + 3]
}

#[test]
fn defaults_the_offered_policy_and_the_documents_have_the_same_list() {
    let scratch = crate::store::scratch::Scratch::new();
    scratch.git(["commit", "--quiet", "--allow-empty", "-m", "first"]);
    scratch.json(&["init", "--policy"]);
    let offered = std::fs::read_to_string(scratch.place.join(".proof/policy.toml")).unwrap();
    let documented = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/gate.md")).unwrap();
    assert_eq!(list(&documented), list(&offered));
    let policy = Policy::parse(format!("[proof_grade]\n{}", list(&documented)).as_bytes()).unwrap();
    assert_eq!(policy.proof_grade, ProofGrade::default());
    assert!(Policy::parse(offered.as_bytes()).unwrap().proof_grade == ProofGrade::default());
}
