//! Trailers are found as git finds them, and ours are read in one spelling only.

use git_proof::proof::digest::RootHash;
use git_proof::proof::record::Id;
use git_proof::proof::scheme::Scheme;
use git_proof::proof::trailer::{ProofTrailer, ProofTrailers, RootTrailer, Stray, add, trailers};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::{Config, TestRunner};

use crate::common;

/// The keys that git is told about, so that they count as known ones: ours, and all others that begin as ours do. Here
/// any `Proof-` key counts as known, so that a key of a later version is seen and reported.
const KNOWN: [&str; 5] = ["Proof-Root", "Proof-Session", "Proof-Grade", "Proof-Unknown", "proof-x"];

/// Ends the trailers of one message in git's output. No generated message has it.
const END: &str = "End-Of-Message: here";

/// What git makes of each message, as lines `key: value`.
fn as_git_reads(messages: &[Vec<u8>]) -> Vec<Vec<String>> {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("end"), format!("title\n\n{END}\n")).unwrap();
    let mut git = common::command("git", directory.path());
    for (number, key) in KNOWN.iter().enumerate() {
        // No name that is the beginning of a key: git would take such a key for a short form of ours.
        git.arg("-c").arg(format!("trailer.0known{number}.key={key}"));
    }
    git.args(["interpret-trailers", "--parse", "--no-divider"]);
    for (number, message) in messages.iter().enumerate() {
        let name = number.to_string();
        std::fs::write(directory.path().join(&name), message).unwrap();
        git.args([name.as_str(), "end"]);
    }
    let output = git.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout);
    let mut read = vec![Vec::new()];
    for line in text.split_terminator('\n') {
        if line == END {
            read.push(Vec::new());
        } else {
            read.last_mut().unwrap().push(line.to_owned());
        }
    }
    read.pop();
    assert_eq!(read.len(), messages.len());
    read
}

fn as_we_read(message: &[u8]) -> Vec<String> {
    // Git prints a key that it was told about as it was told; here it stays as it is written.
    let spelled = |key: String| match KNOWN.iter().find(|known| known.eq_ignore_ascii_case(&key)) {
        Some(known) => (*known).to_owned(),
        None => key,
    };
    trailers(message).map(|trailer| format!("{}: {}", spelled(trailer.key), trailer.value)).collect()
}

fn assert_read_alike(messages: &[Vec<u8>]) {
    for (message, theirs) in messages.iter().zip(as_git_reads(messages)) {
        assert_eq!(as_we_read(message), theirs, "{:?}", String::from_utf8_lossy(message));
    }
}

#[test]
fn messages_of_every_kind_are_read_as_git_reads_them() {
    let messages = [
        "",
        "\n",
        "title",
        "title\n",
        "Proof-Grade: true\n",
        "\n\nProof-Grade: true\n",
        "title\nProof-Grade: true\n",
        "title\n\nbody\n",
        "title\n\nKey: value",
        "title\n\nKey: value\n",
        "title\n\nKey: value\n\n\n",
        "title\n\nKey: value\n   \n\t\n",
        "title\n\nKey: one\nKey: two\nKey: one\n",
        "title\n\nbody\n\nKey: value\n\nbody again\n",
        "title\n\nbody\nKey: value\n",
        "title\n\nKey: value\nbody\n",
        "title\n\nSome: text\n\nKey: value\n",
        "title\n   \nKey: value\n",
        "title\n\t\r\nKey: value\n",
        // A divider is no end here.
        "title\n\n---\n\nKey: value\n",
        "title\n\nKey: value\n\n---\n\ndiff --git a/x b/x\n",
        "title\n\n---\nKey: value\n",
        // Comments are no part of the message, and end what is folded.
        "title\n\n# comment\nKey: value\n",
        "title\n\nKey: value\n# comment\n",
        "title\n\nKey: value\n\n# comment\n",
        "title\n\nKey: value\n\n# comment\n\n",
        "title\n\nKey: value\n# comment\n continued\n",
        "title\n\nKey: value\n# comment\nOther: value\n",
        "# comment\ntitle\n\nKey: value\n",
        "# comment\n\nKey: value\n",
        "#\n# all\n# comments\n",
        "title\n# comment\n\nKey: value\n",
        "title\n\n#Key: value\n",
        // The end that git leaves out of account.
        "title\n\nKey: value\n# ------------------------ >8 ------------------------\nOther: value\n",
        "title\n\nKey: value\n\n# ------------------------ >8 ------------------------\n\nOther: value\n",
        "title\n\n# ------------------------ >8 ------------------------\nOther: value\n",
        "# ------------------------ >8 ------------------------\ntitle\n\nOther: value\n",
        "title\n\nKey: value\n# ------------------------ >8 ------------------------",
        "title\n\nKey: value\n# ------------------------ >8 -----------------------\nOther: value\n",
        "title\n\nKey: value\n\nConflicts:\n\tfile\n\tother\n",
        "title\n\nKey: value\n\nConflicts:\n\tfile\n\nOther: value\n",
        "title\n\nKey: value\n\nConflicts: \n\tfile\n",
        "title\n\nKey: value\nConflicts:\n\tfile\n",
        "title\n\nKey: value\n\nConflicts:",
        "title\n\nConflicts:\n\tfile\n",
        "Conflicts:\n\tfile\n\nKey: value\n",
        "title\n\nKey: value\n\nConflicts:\nfile\n",
        "title\n\nKey: value\n\n# Conflicts:\n#\tfile\n",
        // Folding.
        "title\n\nKey: one\n two\n\tthree\n",
        "title\n\nKey: one  \n   two  \n",
        "title\n\nKey:\n value\n",
        "title\n\nKey: one\n two: three\n",
        "title\n\n continued\nKey: value\n",
        "title\n\nbody\n continued\nSigned-off-by: A <a@b>\n",
        "title\n\nKey: value\n continued\nbody\n more\nSigned-off-by: A <a@b>\n continued\n",
        // Line ends of another system.
        "title\r\n\r\nKey: value\r\nOther: value\r\n",
        "title\r\n\r\nKey: one\r\n two\r\n",
        "title\r\n\r\nbody\r\n\r\nKey: value\r\n\r\n",
        "title\n\nKey: one\rtwo\n",
        // A known line makes a block of which a quarter are trailers.
        "title\n\nSigned-off-by: A <a@b>\none\ntwo\nthree\n",
        "title\n\nSigned-off-by: A <a@b>\none\ntwo\nthree\nfour\n",
        "title\n\nOther: A <a@b>\none\ntwo\nthree\n",
        "title\n\nProof-Session: x\none\ntwo\nthree\n",
        "title\n\nproof-SESSION: x\none\ntwo\nthree\n",
        "title\n\nProof-Session: x\none\ntwo\nthree\nfour\n",
        "title\n\nProof-Unknown: x\none\n",
        "title\n\n(cherry picked from commit 0123)\n",
        "title\n\nbody\n(cherry picked from commit 0123)\nKey: value\n",
        "title\n\nSigned-off-by:A <a@b>\nbody\n",
        "title\n\nsigned-off-by: A <a@b>\nbody\n",
        // Keys and separators.
        "title\n\nKey : value\n",
        "title\n\nKey\t: value\n",
        "title\n\nKey:value\n",
        "title\n\nKey:\n",
        "title\n\nKey:   \n",
        "title\n\nKey: a: b\n",
        "title\n\n: value\n",
        "title\n\nKey=value\n",
        "title\n\nKey #12\n",
        "title\n\nTwo words: value\n",
        "title\n\nKey-: value\n-Key: value\n",
        "title\n\n1: value\n",
        "title\n\nK\u{e9}y: value\n",
        "title\n\nKey_: value\n",
        "title\n\nhttps://example.org/\n",
    ];
    assert_read_alike(&messages.map(|message| message.as_bytes().to_vec()));
}

#[test]
fn messages_with_values_of_every_kind_are_read_as_git_reads_them() {
    let long = format!("title\n\nKey: {}\n", "long ".repeat(20_000));
    let many = format!("title\n\n{}", "Key: value\n".repeat(5000));
    let messages = [
        "title\n\nKey: \u{fc}mlaut \u{1f600}\n",
        "title\n\nKey:\u{a0}value\u{a0}\n",
        "title\n\nKey:\u{c}value\u{c}\n",
        "title\n\nKey: \u{b}value\u{b}\n",
        "title\n\n\u{c}\n\nKey: value\n",
        "title\n\u{b}\nKey: value\n",
        "title\n\n\u{c}Key: value\n",
        "title\n\nKey: one\n\u{c}two\n",
        &long,
        &many,
    ];
    let mut messages: Vec<Vec<u8>> = messages.iter().map(|message| message.as_bytes().to_vec()).collect();
    messages.push(b"title\n\nKey: \xff\xfe\n".to_vec());
    messages.push(b"title\n\nK\xffy: value\nKey: value\n".to_vec());
    assert_read_alike(&messages);
}

/// Lines that matter to the rules. No key is the beginning of one of ours: git would take it for a short form.
fn line() -> impl Strategy<Value = String> {
    let key = select(vec!["Key", "X-Y", "Other", "Proof-Root", "proof-session", "PROOF-GRADE", "Proof-Unknown", "4"]);
    let gap = select(vec!["", "", "", " ", "\t", "  "]);
    let value = select(vec!["value", " value", "  two words ", "", " a:b", " \u{fc}", "\u{c}x\u{c}", " #", " x\t"]);
    let end = select(vec!["\n", "\n", "\n", "\n", "\r\n"]);
    let content = prop_oneof![
        5 => (key, gap, value).prop_map(|(key, gap, value)| {
            // Git does not know a key by the space after it, so a known one is only given without.
            let gap = if key.to_ascii_lowercase().starts_with("proof-") { "" } else { gap };
            format!("{key}{gap}:{value}")
        }),
        2 => Just(String::new()),
        2 => select(vec![" folded", "\tfolded: too", "  ", "\t", "\r"]).prop_map(str::to_owned),
        2 => select(vec!["words", "two words: no", ": x", "---", "- item", "Key value"]).prop_map(str::to_owned),
        1 => select(vec!["# comment", "#", "#Key: value"]).prop_map(str::to_owned),
        1 => select(vec!["Signed-off-by: A <a@b>", "(cherry picked from commit 01)", "Conflicts:", "\tpath"])
            .prop_map(str::to_owned),
        1 => Just("# ------------------------ >8 ------------------------".to_owned()),
    ];
    (content, end).prop_map(|(content, end)| content + end)
}

fn message() -> impl Strategy<Value = Vec<u8>> {
    let title = select(vec!["title\n\n", "title\n\n", "title\n\n", "title\n\nbody\n\n", "", "# comment\n"]);
    (title, prop::collection::vec(line(), 0..10), prop::bool::weighted(0.2)).prop_map(|(title, lines, cut)| {
        let mut message = (title.to_owned() + &lines.concat()).into_bytes();
        if cut {
            message.pop();
        }
        message
    })
}

#[test]
fn messages_put_together_at_random_are_read_as_git_reads_them() {
    // Many messages to a process: starting git costs more than all of its work here.
    let mut runner = TestRunner::new(Config::default());
    for _ in 0..8 {
        let messages: Vec<_> = (0..500).map(|_| message().new_tree(&mut runner).unwrap().current()).collect();
        assert_read_alike(&messages);
    }
}

#[test]
fn trailers_are_added_as_git_adds_them() {
    let line = "Proof-Session: s-1";
    let mut runner = TestRunner::new(Config::default());
    // Where one of ours is there already, git must be told about it to read the block as we do.
    let is_ours = |message: &Vec<u8>| String::from_utf8_lossy(message).to_ascii_lowercase().contains("proof-");
    let mut messages: Vec<_> = (0..3000).map(|_| message().new_tree(&mut runner).unwrap().current()).collect();
    messages.retain(|message| !message.is_empty() && !is_ours(message));
    let directory = tempfile::tempdir().unwrap();
    let mut git = common::command("git", directory.path());
    git.args(["interpret-trailers", "--in-place", "--no-divider", "--if-exists=addIfDifferent", "--trailer", line]);
    for (number, message) in messages.iter().enumerate() {
        std::fs::write(directory.path().join(number.to_string()), message).unwrap();
        git.arg(number.to_string());
    }
    assert!(git.output().unwrap().status.success());
    for (number, message) in messages.iter().enumerate() {
        let theirs = std::fs::read(directory.path().join(number.to_string())).unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert_eq!(text(&add(message, line)), text(&theirs), "{:?}", text(message));
    }
}

#[test]
fn a_short_form_of_a_key_is_not_ours() {
    // Where our keys are configured, git takes `Proof` and even `-` for `Proof-Root`. That cannot apply here: a commit
    // must read the same everywhere.
    let message = b"title\n\nProof: x\n-: y\nproof-gra: true\n";
    assert_eq!(as_we_read(message), ["Proof: x", "-: y", "proof-gra: true"]);
    assert_eq!(ProofTrailers::parse(message).trailers, []);
}

const ROOT: &str = "3d57a3460ec04baf37262a1518dd0fe8cceaa18beacd1e56f332c25ca1d67e2e";

fn session(id: &str) -> ProofTrailer {
    ProofTrailer::Session(Id::parse(id).unwrap())
}

fn root(id: &str, scheme: Scheme, count: u64) -> ProofTrailer {
    let root = RootHash::parse(ROOT).unwrap();
    ProofTrailer::Root(RootTrailer { session_id: Id::parse(id).unwrap(), scheme, root, count })
}

fn outside(line: &str) -> Stray {
    Stray::Outside { line: line.to_owned() }
}

fn malformed(line: &str) -> Stray {
    Stray::Malformed { line: line.to_owned() }
}

#[test]
fn each_of_our_trailers_is_read() {
    let message = format!("title\n\nProof-Root: s-1:v1-rfc9162:{ROOT}:12\nProof-Session: s.2\nProof-Grade: true\n");
    let found = ProofTrailers::parse(message.as_bytes());
    assert_eq!(found.trailers, [root("s-1", Scheme::V1Rfc9162, 12), session("s.2"), ProofTrailer::Grade]);
    assert_eq!(found.strays, []);
}

#[test]
fn a_trailer_is_printed_as_it_is_read() {
    for trailer in [root("s", Scheme::AmsV0, 1), session("a"), ProofTrailer::Grade] {
        let message = format!("title\n\n{trailer}\n");
        assert_eq!(ProofTrailers::parse(message.as_bytes()).trailers, [trailer]);
    }
}

#[test]
fn several_of_one_kind_are_all_read_in_order() {
    let message = format!(
        "title\n\nProof-Root: a:v1:{ROOT}:1\nProof-Session: b\nproof-root: c:v1-sorted:{ROOT}:2\nProof-Session: b\n"
    );
    let found = ProofTrailers::parse(message.as_bytes());
    let expected = [root("a", Scheme::V1, 1), session("b"), root("c", Scheme::V1Sorted, 2), session("b")];
    assert_eq!(found.trailers, expected);
}

#[test]
fn a_line_of_ours_outside_the_block_is_reported_and_not_read() {
    let message = b"Proof-Grade: true\n\nbody\n  proof-session: x\n\nKey: value\n";
    let found = ProofTrailers::parse(message);
    assert_eq!(found.trailers, []);
    assert_eq!(found.strays, [outside("Proof-Grade: true"), outside("proof-session: x")]);
}

#[test]
fn a_line_of_ours_that_is_folded_into_another_is_reported_and_not_read() {
    let found = ProofTrailers::parse(b"title\n\nKey: value\n Proof-Grade: true\n");
    assert_eq!((found.trailers, found.strays), (vec![], vec![outside("Proof-Grade: true")]));
}

#[test]
fn a_line_of_ours_after_the_end_that_git_reads_is_reported_and_not_read() {
    let scissors = b"title\n\nKey: value\n# ------------------------ >8 ------------------------\nProof-Grade: true\n";
    let found = ProofTrailers::parse(scissors);
    assert_eq!((found.trailers, found.strays), (vec![], vec![outside("Proof-Grade: true")]));
}

#[test]
fn a_line_of_ours_without_a_colon_is_reported() {
    let found = ProofTrailers::parse(b"title\n\nProof-Session: x\nProof-Grade true\n");
    assert_eq!((found.trailers, found.strays), (vec![session("x")], vec![outside("Proof-Grade true")]));
}

#[test]
fn text_after_a_nul_is_reported_and_not_read() {
    let found = ProofTrailers::parse(b"title\n\nProof-Session: x\n\0\nProof-Grade: true\n");
    assert_eq!((found.trailers, found.strays), (vec![session("x")], vec![outside("Proof-Grade: true")]));
}

#[test]
fn text_right_after_a_nul_is_reported_and_not_read() {
    let found = ProofTrailers::parse(b"title\n\nProof-Session: x\0Proof-Grade: true\n");
    assert_eq!((found.trailers, found.strays), (vec![session("x")], vec![outside("Proof-Grade: true")]));
}

#[test]
fn a_value_that_is_not_what_its_key_calls_for_is_reported() {
    let upper = ROOT.to_uppercase();
    let short = &ROOT[1..];
    let lines = [
        format!("Proof-Root: s:v1:{upper}:1"),
        format!("Proof-Root: s:v1:{short}:1"),
        format!("Proof-Root: s:v1:{ROOT}:0"),
        format!("Proof-Root: s:v1:{ROOT}:01"),
        format!("Proof-Root: s:v1:{ROOT}:+1"),
        format!("Proof-Root: s:v1:{ROOT}:-1"),
        format!("Proof-Root: s:v1:{ROOT}:9007199254740992"),
        format!("Proof-Root: s:v1:{ROOT}:"),
        format!("Proof-Root: s:v1:{ROOT}"),
        format!("Proof-Root: s:v1:{ROOT}:1:1"),
        format!("Proof-Root: s:v2:{ROOT}:1"),
        format!("Proof-Root: s:V1:{ROOT}:1"),
        format!("Proof-Root: :v1:{ROOT}:1"),
        format!("Proof-Root: s :v1:{ROOT}:1"),
        format!("Proof-Root: v1:{ROOT}:1"),
        "Proof-Session: two words".to_owned(),
        "Proof-Session: .hidden".to_owned(),
        format!("Proof-Session: {}", "x".repeat(129)),
        "Proof-Grade: True".to_owned(),
        "Proof-Grade: yes".to_owned(),
        "Proof-Grade: true true".to_owned(),
        "Proof-Grade: ".to_owned(),
    ];
    for line in lines {
        let found = ProofTrailers::parse(format!("title\n\n{line}\n").as_bytes());
        assert_eq!((found.trailers, found.strays), (vec![], vec![malformed(line.trim_end())]), "{line}");
    }
}

#[test]
fn a_key_of_ours_that_is_not_known_is_reported() {
    let found = ProofTrailers::parse(b"title\n\nProof-Rot: x\nProof-Grade: true\n");
    assert_eq!(found.trailers, [ProofTrailer::Grade]);
    assert_eq!(found.strays, [Stray::UnknownKey { key: "Proof-Rot".to_owned() }]);
}

#[test]
fn keys_are_known_in_any_case() {
    let found = ProofTrailers::parse(b"title\n\nPROOF-grade: true\n");
    assert_eq!((found.trailers, found.strays), (vec![ProofTrailer::Grade], vec![]));
}
