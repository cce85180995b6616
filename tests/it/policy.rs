//! The policy file: read strictly, from the tip of the base, and able to say why.

use git_proof::proof::policy::Policy;

use crate::report::Project;

/// Line and message of what is wrong with a policy.
fn refusal(text: &str) -> (usize, String) {
    let error = Policy::parse(text.as_bytes()).expect_err(text);
    (error.line, error.message)
}

#[test]
fn an_unknown_key_is_refused_with_its_line_and_the_nearest_key() {
    for (text, line, message) in [
        ("[proof]\nrootd = true\n", 2, "\"rootd\" is not a key of [proof]; did you mean \"rooted\"?"),
        ("\n\n[prof]\nrooted = true\n", 3, "\"prof\" is not a section of a policy; did you mean \"proof\"?"),
        ("[proof-grade]\n", 1, "\"proof-grade\" is not a section of a policy; did you mean \"proof_grade\"?"),
        (
            "[proof_grade]\nRequire = \"all\"\n",
            2,
            "\"Require\" is not a key of [proof_grade]; did you mean \"require\"?",
        ),
        ("[proof_grade]\n# x\nsignatures = 2\n", 3, "\"signatures\" is a key of [proof], not of [proof_grade]"),
        ("rooted = true\n", 1, "\"rooted\" is a key of [proof], and stands before any section"),
        (
            "[proof]\nzebra = 1\n",
            2,
            "\"zebra\" is not a key of [proof]; there are schemes, binding, evidence, rooted, reflection, signatures, sealed, sealers, vouchers, pin",
        ),
        ("proof = { sealrs = [] }\n", 1, "\"sealrs\" is not a key of [proof]; did you mean \"sealers\"?"),
        ("[proof]\nvoucher = []\n", 2, "\"voucher\" is not a key of [proof]; did you mean \"vouchers\"?"),
        ("[proof]\nrooted = true\nzzz = 1\n[proof_grade]\nyyy = 1\n", 3, "\"zzz\" is not a key of [proof]; there are "),
    ] {
        let refused = refusal(text);
        assert!(refused.0 == line && refused.1.starts_with(message), "{text}: {refused:?}");
    }
}

#[test]
fn a_value_that_cannot_be_used_is_refused_with_its_line() {
    for (text, line, part) in [
        ("[proof]\n\nsignatures = \"two\"\n", 3, "invalid type"),
        ("[proof]\nsignatures = -1\n", 2, "invalid value"),
        ("[proof_grade]\nrequire = \"al\"\n", 2, "unknown variant `al`"),
        ("[proof]\nschemes = [\n  \"v1\",\n  \"v9\",\n]\n", 2, "\"v9\" is not"),
        ("[proof]\n\nschemes = []\n", 3, "proof.schemes is empty"),
        ("[proof]\npin = \"12\"\n", 2, "is not a pin"),
        ("[proof]\nrooted = true\nrooted = false\n", 3, "duplicate key"),
        ("[proof\n", 1, ""),
        ("[proof_grade]\ntrailers = [\n  \"fine\",\n  \"(\",\n]\n", 4, "proof_grade.trailers: \"(\" is not a regular"),
        ("[proof_grade]\n\nauthors = [\"*\"]\n", 3, "proof_grade.authors: \"*\" is not a regular"),
        ("[proof_grade]\npaths = [\"a\", \"/b\"]\n", 2, "proof_grade.paths: \"/b\" is not a glob"),
    ] {
        let refused = refusal(text);
        assert!(refused.0 == line && refused.1.contains(part), "{text}: {refused:?}");
        assert!(!refused.1.contains('\n'), "{refused:?}");
    }
}

#[test]
fn an_empty_file_is_the_default_policy() {
    for text in ["", "# nothing\n", "[proof]\n[proof_grade]\n"] {
        assert_eq!(Policy::parse(text.as_bytes()), Ok(Policy::default()));
    }
}

#[test]
fn policy_check_names_file_line_and_key() {
    let project = Project::new();
    project.write(".proof/policy.toml", "[proof]\nrooted = true\n");
    assert_eq!(project.scratch.run(["policy", "check"]).exit, Some(0));
    project.write(".proof/policy.toml", "[proof]\nroted = true\n");
    let error = project.scratch.refused(&["policy", "check"], "ERR_CONFIG_INVALID", 2);
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("line 2: \"roted\" is not a key of [proof]; did you mean \"rooted\"?"), "{message}");
    assert!(error["hint"].as_str().unwrap().contains("proof_grade.{require,trailers,"), "{error}");
}

#[test]
fn without_a_policy_the_defaults_are_used_and_it_says_so() {
    let project = Project::new();
    project.git(&["checkout", "--quiet", "-b", "topic"]);
    project.commit("x", "x", "by hand");
    let ran = project.gate("main", &[]);
    assert_eq!(ran.exit, Some(0));
    assert_eq!(ran.err, "git proof gate: main has no .proof/policy.toml; the defaults are used\n");
    let error = project.scratch.refused(&["gate", "--base", "main", "--require-policy"], "POLICY_UNREADABLE", 3);
    assert!(error["message"].as_str().unwrap().contains("main has no .proof/policy.toml"));
    // With one, nothing is said.
    project.git(&["checkout", "--quiet", "main"]);
    project.commit(".proof/policy.toml", "", "a policy");
    project.git(&["checkout", "--quiet", "topic"]);
    let ran = project.gate("main", &["--require-policy"]);
    assert_eq!((ran.exit, ran.err.as_str()), (Some(0), ""));
}

#[test]
fn a_change_is_judged_by_the_policy_of_the_base_and_not_by_the_one_it_brings() {
    let project = Project::new();
    project.commit(".proof/policy.toml", "[proof_grade]\nrequire = \"all\"\n", "all commits");
    project.git(&["checkout", "--quiet", "-b", "topic"]);
    project.commit(".proof/policy.toml", "[proof_grade]\nrequire = \"none\"\n", "none");
    project.commit("x", "x", "by hand");
    assert_eq!(project.verdict("main"), (1, vec!["ANCHOR_MISSING".to_owned(); 2]));
}

#[test]
fn a_policy_at_the_merge_base_does_not_count_once_the_base_has_moved_on() {
    let project = Project::new();
    project.git(&["checkout", "--quiet", "-b", "topic"]);
    project.commit("x", "x", "by hand");
    assert_eq!(project.verdict("main"), (0, vec![]));
    project.git(&["checkout", "--quiet", "main"]);
    project.commit(".proof/policy.toml", "[proof_grade]\nrequire = \"all\"\n", "all commits");
    project.git(&["checkout", "--quiet", "topic"]);
    assert_eq!(project.verdict("main"), (1, vec!["ANCHOR_MISSING".to_owned()]));
}

#[test]
fn whatever_touches_the_settings_must_be_proven_even_if_nothing_else_must() {
    let project = Project::new();
    project.commit(".proof/policy.toml", "[proof_grade]\nrequire = \"none\"\n", "none");
    project.git(&["branch", "base"]);
    for file in [".proof/policy.toml", ".proof/allowed_signers", ".proof/anything/else"] {
        project.git(&["reset", "--quiet", "--hard", "base"]);
        project.commit(file, "# mine\n", "by hand");
        assert_eq!(project.verdict("base"), (1, vec!["ANCHOR_MISSING".to_owned()]), "{file}");
    }
    project.git(&["reset", "--quiet", "--hard", "base"]);
    project.git(&["rm", "--quiet", "-r", ".proof"]);
    project.git(&["commit", "--quiet", "-m", "by hand"]);
    assert_eq!(project.verdict("base"), (1, vec!["ANCHOR_MISSING".to_owned()]));
    // A proof makes it right.
    project.git(&["reset", "--quiet", "--hard", "base"]);
    project.proven("s1", ".proof/policy.toml");
    assert_eq!(project.verdict("base"), (0, vec![]));
}

#[test]
fn a_policy_that_cannot_be_read_is_not_the_defaults() {
    let project = Project::new();
    project.commit(".proof/policy.toml", "[proof]\nroted = true\n", "misspelled");
    let base = project.head();
    project.commit("x", "x", "by hand");
    let ran = project.gate(&base, &["--json"]);
    let error = ran.error("POLICY_UNREADABLE", 3);
    assert!(error["message"].as_str().unwrap().contains("line 2: \"roted\" is not a key"), "{error}");
}

#[test]
fn explain_names_the_rule() {
    let project = Project::new();
    let policy = "[proof_grade]\nauthors = [\"Ada .*\"]\npaths = [\"src/**\"]\n";
    project.commit(".proof/policy.toml", policy, "a policy");
    let said = |commit: &str, more: &[&str]| {
        let ran = project.scratch.run([&["policy", "explain", commit], more].concat());
        ran.text().split_once(' ').unwrap().1.to_owned()
    };
    let by = ["--base", "HEAD"];
    assert_eq!(said("HEAD", &by), "must be anchored: it touches .proof/, which decides about all others.\n");
    project.commit("x", "x", "by hand");
    assert_eq!(said("HEAD", &[]), "must be anchored: its author matches proof_grade.authors \"Ada .*\".\n");
    let policy = "[proof_grade]\npaths = [\"src/**\"]\n";
    project.commit(".proof/policy.toml", policy, "another policy");
    project.commit("src/a/b.rs", "x", "by hand");
    assert_eq!(said("HEAD", &[]), "must be anchored: it touches a path of proof_grade.paths \"src/**\".\n");
    project.commit("y", "y", "by hand");
    assert_eq!(said("HEAD", &[]), "need not be anchored: no rule of the policy applies to it.\n");
    project.commit("y", "z", "by hand\n\nAssisted-by: an agent");
    let rule = "must be anchored: the line \"Assisted-by: an agent\" of its message matches proof_grade.trailers";
    assert_eq!(said("HEAD", &[]), format!("{rule}.\n"));
    let first = project.git(&["rev-list", "--max-parents=0", "HEAD"]);
    assert_eq!(said("HEAD", &["--base", &first]), format!("{rule} (by the defaults: there is no policy file).\n"));
}

#[test]
fn a_pattern_that_can_never_match_is_refused_with_what_to_write() {
    for (pattern, part) in [
        ("", "write \"**\" for every file"),
        ("/src/**", "write \"src/**\""),
        ("./src/**", "write \"src/**\""),
        ("src/./auth/**", "write \"src/auth/**\""),
        (".", "write \"**\" for every file"),
        ("!docs/**", "no pattern makes an exception"),
        ("../src/**", "no path of a repository has \"..\""),
        ("src/../auth", "no path of a repository has \"..\""),
        ("src//auth", "write \"src/auth\""),
        ("docs//", "write \"docs/\""),
        ("src/**/", "write \"src/**\""),
        ("src/**.rs", "write \"src/**/*.rs\""),
        ("src**", "\"**\" stands for whole directories"),
        ("src/[ab]", "use *, **, ? and plain characters"),
        ("{a,b}", "use *, **, ? and plain characters"),
        ("src\\\\auth", "use *, **, ? and plain characters"),
    ] {
        let (line, message) = refusal(&format!("[proof_grade]\npaths = [\"fine/**\",\n\"{pattern}\"]\n"));
        assert_eq!(line, 3, "{pattern}: {message}");
        assert!(message.starts_with("proof_grade.paths: ") && message.contains(part), "{pattern}: {message}");
        assert!(message.contains("is not a glob: "), "{pattern}: {message}");
    }
    for pattern in
        ["**", "src/**", "docs/", "Makefile", "*.toml", "**/*.rs", "src/*/mod.rs", "a b/…/?", ".github/**", "..a"]
    {
        assert!(Policy::parse(format!("[proof_grade]\npaths = [\"{pattern}\"]\n").as_bytes()).is_ok(), "{pattern}");
    }
}

#[test]
fn a_directory_pattern_does_not_ask_for_the_proof_of_a_file_of_that_name() {
    let project = Project::new();
    project.commit(".proof/policy.toml", "[proof_grade]\npaths = [\"src/**\"]\n", "a policy");
    project.git(&["branch", "base"]);
    project.commit("src", "a file\n", "by hand");
    assert_eq!(project.verdict("base"), (0, vec![]));
    project.git(&["reset", "--quiet", "--hard", "base"]);
    project.commit("src/deep/down/a.rs", "x\n", "by hand");
    assert_eq!(project.verdict("base"), (1, vec!["ANCHOR_MISSING".to_owned()]));
}

/// A repository with a policy, and files that its patterns are held against.
fn with_paths(paths: &str) -> Project {
    let project = Project::new();
    project.write("src/auth/login.rs", "x\n");
    project.write("docs/guide.md", "x\n");
    project.commit(".proof/policy.toml", &format!("[proof_grade]\npaths = {paths}\n"), "a policy");
    project
}

#[test]
fn policy_check_names_the_patterns_that_match_no_file() {
    let project = with_paths("[\"src/auth\", \"docs/**\", \"*.rs\", \"nowhere/**\"]");
    let ran = project.scratch.run(["policy", "check"]);
    let expected = [
        "proof_grade.paths \"src/auth\" matches no file of HEAD; did you mean \"src/auth/**\"?",
        "proof_grade.paths \"*.rs\" matches no file of HEAD; did you mean \"**/*.rs\"?",
        "proof_grade.paths \"nowhere/**\" matches no file of HEAD",
    ];
    for line in expected {
        assert!(ran.text().contains(&format!("\nnote: {line}\n")), "{}", ran.out);
    }
    let said = project.scratch.json(&["policy", "check"]);
    assert_eq!((&said["valid"], &said["warnings"]), (&true.into(), &serde_json::json!(expected)));
    // Another tree has other files.
    project.git(&["checkout", "--quiet", "-b", "other"]);
    project.commit("nowhere/else", "x\n", "more");
    project.git(&["checkout", "--quiet", "main"]);
    let said = project.scratch.json(&["policy", "check", "--tree", "other"]);
    assert_eq!(said["warnings"].as_array().unwrap().len(), 2, "{said}");
    assert!(said["warnings"][0].as_str().unwrap().contains(" matches no file of other; "), "{said}");
    project.scratch.refused(&["policy", "check", "--tree", "nothing"], "ERR_COMMIT_NOT_FOUND", 2);
}

#[test]
fn policy_check_reads_the_lists_of_signers_beside_it() {
    let project = Project::new();
    project.write(".proof/policy.toml", "[proof]\nsignatures = 1\n");
    project.write(".proof/allowed_signers", "ada@x nonsense ssh-ed25519 AAAA\n");
    let check = || project.scratch.run(["policy", "check"]);
    let refused = check();
    assert_eq!(refused.exit, Some(2), "{refused:?}");
    assert!(refused.err.contains("allowed_signers cannot be used\n  caused by: line 1: "), "{refused:?}");
    let key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHZjQEukehDez+GdBOoqQAOy1MaU1VDpl3Ha//aK6pYG";
    project.write(".proof/allowed_signers", &format!("ada@x cert-authority {key}\nbob@x {key}\n"));
    let said = check();
    assert_eq!(said.exit, Some(0), "{said:?}");
    assert!(said.out.contains("note: line 1 of .proof/allowed_signers is skipped, and its key may sign "), "{said:?}");
    project.write(".proof/revoked_signers", "what is this\n");
    assert!(check().err.contains("revoked_signers cannot be used"), "{:?}", check());
}

#[test]
fn policy_check_works_where_there_is_no_tree() {
    let scratch = crate::store::scratch::Scratch::without_repository();
    let policy = "[proof_grade]\npaths = [\"src/auth\"]\n";
    std::fs::write(scratch.place.join("policy.toml"), policy).unwrap();
    let said = scratch.json(&["policy", "check", "policy.toml"]);
    assert_eq!(said["warnings"], serde_json::json!([]));
    scratch.refused(&["policy", "check", "policy.toml", "--tree", "HEAD"], "ERR_NO_REPOSITORY", 3);
    scratch.git(["init", "--quiet"]);
    assert_eq!(scratch.json(&["policy", "check", "policy.toml"])["warnings"], serde_json::json!([]));
}

#[test]
fn the_gate_says_which_patterns_match_no_file_of_the_base() {
    let project = with_paths("[\"src/auth\", \"docs/**\"]");
    project.git(&["checkout", "--quiet", "-b", "topic"]);
    project.commit("src/auth/login.rs", "y\n", "by hand");
    let line = "proof_grade.paths \"src/auth\" matches no file of main; did you mean \"src/auth/**\"?";
    for format in ["human", "github", "markdown", "sarif", "junit"] {
        let ran = project.gate("main", &["--format", format]);
        assert_eq!((ran.exit, ran.err), (Some(0), format!("git proof gate: {line}\n")), "{format}");
    }
    let ran = project.gate("main", &["--json"]);
    assert_eq!(ran.json()["warnings"], serde_json::json!([line]));
    assert_eq!(ran.err, format!("git proof gate: {line}\n"));
    project.git(&["checkout", "--quiet", "main"]);
    project.commit(".proof/policy.toml", "[proof_grade]\npaths = [\"docs/**\"]\n", "better");
    let ran = project.gate("main", &["--json"]);
    assert_eq!((ran.json().get("warnings"), ran.err.as_str()), (None, ""));
}

#[test]
fn scheme_that_the_default_policy_refuses_is_said_when_a_session_starts() {
    let project = Project::new();
    for (scheme, more, warned) in [
        ("v1", &[][..], false),
        ("v1-rfc9162", &[], false),
        ("v1-sorted", &[], true),
        ("ams-v0", &[], true),
        ("ams-v0", &["--not-proof-grade"], false),
    ] {
        let arguments = [&["--json", "start", "--intent", "try it", "--scheme", scheme], more].concat();
        let ran = project.scratch.run(arguments);
        let said = format!("warning: the default policy refuses scheme {scheme}");
        assert_eq!(ran.err.contains(&said), warned, "{}", ran.err);
        // The sessions before are still open, which is said too.
        let warnings = ran.json()["warnings"].as_array().cloned().unwrap_or_default();
        let of_schemes = warnings.iter().filter(|warning| warning.as_str().unwrap().contains("refuses scheme"));
        assert_eq!(of_schemes.count(), usize::from(warned), "{}", ran.out);
    }
}
