//! `demo`: runs anywhere, shows each forgery caught, checks what it shows, and leaves what it made.

use serde_json::Value;

use crate::store::scratch::{Ran, Scratch};

const FORGED: [(&str, &str); 3] =
    [("forged/record", "CHAIN_BROKEN"), ("forged/note", "BINDING_MISMATCH"), ("forged/root", "NOT_ROOTED")];

/// Plays in a directory below the place; no git identity, an empty home.
fn play(scratch: &Scratch, arguments: &[&str]) -> Ran {
    let mut command = scratch.proof(arguments);
    for name in ["GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"] {
        command.env_remove(name);
    }
    command.env("LC_ALL", "C.UTF-8").env("TMPDIR", scratch.around()).output().unwrap().into()
}

#[test]
fn demo_shows_each_forgery_caught_and_leaves_what_it_made() {
    let scratch = Scratch::without_repository();
    let ran = play(&scratch, &["demo", "play"]);
    let said = ran.text();
    assert!(said.contains("proven: exact, rooted, not signed, sealed in round 1"), "{said}");
    for (branch, code) in FORGED {
        assert!(said.contains(&format!("$ git proof show {branch}\n")), "{said}");
        assert!(said.contains(&format!("▸ caught: {code}\n")), "{said}");
    }
    assert!(said.contains("All 3 forgeries were caught, and main is still proven."), "{said}");
    let verify = |revision: &str| -> (Option<i32>, String) {
        let ran = scratch.run(["-C", "play", "--json", "verify", revision]);
        (ran.exit, ran.out)
    };
    assert_eq!(verify("main").0, Some(0));
    for (branch, code) in FORGED {
        let (exit, said) = verify(branch);
        assert_eq!(exit, Some(1), "{branch}: {said}");
        let said: Value = serde_json::from_str(&said).unwrap();
        let findings = said["commits"][0]["findings"].as_array().unwrap();
        assert!(findings.iter().any(|finding| finding["code"] == code), "{branch}: {said}");
    }
    assert_eq!(scratch.git(["-C", "play", "status", "--porcelain", "--untracked-files=no"]), "");
    assert_eq!(scratch.git(["-C", "play", "branch", "--show-current"]), "main\n");
}

#[test]
fn demo_fits_a_screen_or_two() {
    let scratch = Scratch::without_repository();
    let ran = play(&scratch, &["demo", "play"]);
    assert!(ran.text().lines().count() <= 110, "{}", ran.out);
    let commands = ran.out.lines().filter(|line| line.starts_with("$ git ")).count();
    assert!(commands >= 12, "{}", ran.out);
}

#[test]
fn demo_without_a_directory_makes_one_of_its_own() {
    let scratch = Scratch::without_repository();
    let outcome = play(&scratch, &["demo", "--fast", "--json"]).json();
    let directory = std::path::Path::new(outcome["directory"].as_str().unwrap());
    assert!(directory.starts_with(scratch.around().canonicalize().unwrap()) && directory.join(".git").is_dir());
    assert_eq!(outcome["proven"], true);
    let codes: Vec<(&str, &str, bool)> = outcome["forgeries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|forged| {
            let text = |name: &str| forged[name].as_str().unwrap();
            (text("branch"), text("code"), forged["caught"].as_bool().unwrap())
        })
        .collect();
    assert_eq!(codes, FORGED.map(|(branch, code)| (branch, code, true)));
}

#[test]
fn demo_leaves_a_directory_that_is_in_use_alone() {
    let scratch = Scratch::without_repository();
    std::fs::create_dir(scratch.place.join("used")).unwrap();
    std::fs::write(scratch.place.join("used/file"), "mine").unwrap();
    std::fs::write(scratch.place.join("plain"), "mine").unwrap();
    for name in ["used", "plain", "plain/below"] {
        play(&scratch, &["--json", "demo", name]).error("INVALID_PARAMS", 2);
    }
    assert_eq!(std::fs::read_dir(scratch.place.join("used")).unwrap().count(), 1);
    std::fs::create_dir(scratch.place.join("empty")).unwrap();
    assert_eq!(play(&scratch, &["demo", "empty"]).exit, Some(0));
}

#[test]
fn demo_is_not_led_astray() {
    // Inside another repository, with settings and hooks that would be in the way.
    let scratch = Scratch::new();
    let config = scratch.around().join("home/.gitconfig");
    std::fs::write(
        &config,
        "[commit]\n\tgpgSign = true\n[gpg]\n\tprogram = /nowhere\n[core]\n\thooksPath = /nowhere\n[proof]\n\tsign = true\n\
         [init]\n\tdefaultBranch = other\n[user]\n\tuseConfigOnly = true\n",
    )
    .unwrap();
    let mut command = scratch.proof(["demo", "play"]);
    command.env_remove("GIT_CONFIG_GLOBAL").env("GIT_AUTHOR_DATE", "no date at all");
    let ran: Ran = command.output().unwrap().into();
    assert!(ran.text().contains("All 3 forgeries were caught"), "{}", ran.out);
    assert!(!scratch.store().exists(), "it recorded in the repository around it");
    let mut command = scratch.proof(["--json", "demo", "other"]);
    let astray: Ran = command.env("GIT_DIR", scratch.place.join(".git")).output().unwrap().into();
    astray.error("INVALID_PARAMS", 2);
    assert!(!scratch.place.join("other").exists());
}

#[test]
fn demo_without_git_or_with_a_closed_pipe_does_not_end_well() {
    let scratch = Scratch::without_repository();
    let mut command = scratch.proof(["--json", "demo", "play"]);
    let ran: Ran = command.env("PATH", scratch.around()).output().unwrap().into();
    ran.error("ERR_REPOSITORY_FAILED", 4);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let ran: Ran = scratch.proof(["demo", "closed"]).stdout(writer).output().unwrap().into();
    assert_eq!(ran.exit, Some(4), "{ran:?}");
}
