//! How it looks: 80 columns and 200, with and without Unicode and colours, and with text that means harm.

use unicode_width::UnicodeWidthStr as _;

use super::{Explained, redacted};
use crate::store::scratch::Ran;

#[test]
fn show_reads_like_this_in_80_columns() {
    insta::assert_snapshot!(redacted(&Explained::new().shown(80, &["show"])), @r"
    ✔ [--commit--] Cut the redirect loop after sign-in
      proven: exact, rooted, not signed, sealed in round 1
      by         Ada Tester <ada@example.org>, [ago]
      note       EVIDENCE_WITHHELD: 1 of 6 entries of session t-89 are withheld

      intent     People who sign in are sent back to the sign-in page: find out why,
                 and end it
      session    t-89 · 6 entries · by agent 2.1

    ┌─◆ decision   Keep the session in local storage
    │   because    it has no path
    │   uncertain  any script can read it.
    │
    └─◆ decision   Set the cookie with Path=/.
        rejected   to move the sign-in page below /home, which breaks every bookmark
                   and the manuals of three customers
        rejected   a second cookie, two truths about who is signed in.
        confidence 0.9

      ■ reflection The loop is gone, and a test follows the redirect. 日本語の文章も
                   端末の幅に合わせて折り返されるので、長い行は二つの行に分かれま
                   す。
        uncertain  Safari was not tried.

      also       1 plan, 1 attested operation, 1 entry that was not published
                 git proof show --full [--commit--]
    ");
}

#[test]
fn show_reads_like_this_in_200_columns() {
    insta::assert_snapshot!(redacted(&Explained::new().shown(200, &["show", "HEAD"])), @r"
    ✔ [--commit--] Cut the redirect loop after sign-in · proven: exact, rooted, not signed, sealed in round 1
      by         Ada Tester <ada@example.org>, [ago]
      note       EVIDENCE_WITHHELD: 1 of 6 entries of session t-89 are withheld

      intent     People who sign in are sent back to the sign-in page: find out why, and end it
      session    t-89 · 6 entries · by agent 2.1

    ┌─◆ decision   Keep the session in local storage
    │   because    it has no path
    │   uncertain  any script can read it.
    │
    └─◆ decision   Set the cookie with Path=/.
        rejected   to move the sign-in page below /home, which breaks every bookmark and the manuals of
                   three customers
        rejected   a second cookie, two truths about who is signed in.
        confidence 0.9

      ■ reflection The loop is gone, and a test follows the redirect. 日本語の文章も端末の幅に合わせて折
                   り返されるので、長い行は二つの行に分かれます。
        uncertain  Safari was not tried.

      also       1 plan, 1 attested operation, 1 entry that was not published
                 git proof show --full [--commit--]
    ");
}

#[test]
fn show_reads_like_this_without_unicode() {
    let explained = Explained::new();
    let ran: Ran = explained.proof(80, &["show"]).env("LC_ALL", "C").output().unwrap().into();
    insta::assert_snapshot!(redacted(ran.text()), @r"
    + [--commit--] Cut the redirect loop after sign-in
      proven: exact, rooted, not signed, sealed in round 1
      by         Ada Tester <ada@example.org>, [ago]
      note       EVIDENCE_WITHHELD: 1 of 6 entries of session t-89 are withheld

      intent     People who sign in are sent back to the sign-in page: find out why,
                 and end it
      session    t-89 - 6 entries - by agent 2.1

    ,-* decision   Keep the session in local storage
    |   because    it has no path
    |   uncertain  any script can read it.
    |
    `-* decision   Set the cookie with Path=/.
        rejected   to move the sign-in page below /home, which breaks every bookmark
                   and the manuals of three customers
        rejected   a second cookie, two truths about who is signed in.
        confidence 0.9

      = reflection The loop is gone, and a test follows the redirect. 日本語の文章も
                   端末の幅に合わせて折り返されるので、長い行は二つの行に分かれま
                   す。
        uncertain  Safari was not tried.

      also       1 plan, 1 attested operation, 1 entry that was not published
                 git proof show --full [--commit--]
    ");
}

#[test]
fn show_in_full_reads_like_this() {
    insta::assert_snapshot!(redacted(&Explained::new().shown(80, &["show", "--full"])), @r#"
    ✔ [--a-commit-or-a-tree-of-forty-digits--] Cut the redirect loop after sign-in
      proven: exact, rooted, not signed, sealed in round 1
      by         Ada Tester <ada@example.org>, [ago]
      note       EVIDENCE_WITHHELD: 1 of 6 entries of session t-89 are withheld

      intent     People who sign in are sent back to the sign-in page: find out why,
                 and end it
      session    t-89 · 6 entries · by agent 2.1 · v1
      root       [digest]
      genesis    [digest]
      anchor     [digest]

    ● plan       Reproduce the loop, find who drops the cookie, fix that one place.
    │ recorded   [time]
    │ id         [id]
    │ content    [digest]
    │ chain      [digest]
    │
    ├─◆ decision   Keep the session in local storage
    │   because    it has no path
    │   uncertain  any script can read it.
    │   recorded   [time]
    │   id         [id]
    │   content    [digest]
    │   chain      [digest]
    │
    └─◆ decision   Set the cookie with Path=/.
        rejected   to move the sign-in page below /home, which breaks every bookmark
                   and the manuals of three customers
        rejected   a second cookie, two truths about who is signed in.
        confidence 0.9
        metadata   {"confidence":0.9}
        recorded   [time]
        id         [id]
        content    [digest]
        chain      [digest]

      ○ withheld   not published; its hashes are part of the proof
        content    [digest]
        chain      [digest]

      · attest     commit [--a-commit-or-a-tree-of-forty-digits--]
        change     [digest]
        tree       [--a-commit-or-a-tree-of-forty-digits--]
        recorded   [time]
        id         [id]
        content    [digest]
        chain      [digest]

      ■ reflection The loop is gone, and a test follows the redirect. 日本語の文章も
                   端末の幅に合わせて折り返されるので、長い行は二つの行に分かれま
                   す。
        uncertain  Safari was not tried.
        recorded   [time]
        id         [id]
        content    [digest]
        chain      [digest]
    "#);
}

#[test]
fn log_reads_like_this_in_80_columns() {
    let explained = Explained::new();
    insta::assert_snapshot!(redacted(&explained.shown(80, &["log", "HEAD"])), @r"
      intent     People who sign in are sent back to the sign-in page: find out why,
                 and end it
      session    t-89 · 6 entries · by agent 2.1
    ┌─◆ decision   Keep the session in local storage
    │   because    it has no path
    │   uncertain  any script can read it.
    └─◆ decision   Set the cookie with Path=/.
        rejected   to move the sign-in page below /home, which breaks every bookmark
                   and the manuals of three customers
        rejected   a second cookie, two truths about who is signed in.
        confidence 0.9
      ■ reflection The loop is gone, and a test follows the redirect. 日本語の文章も
                   端末の幅に合わせて折り返されるので、長い行は二つの行に分かれま…
        uncertain  Safari was not tried.
    ✔ [--commit--] Cut the redirect loop after sign-in
      proven: exact, rooted, not signed, sealed in round 1
      note       EVIDENCE_WITHHELD: 1 of 6 entries of session t-89 are withheld

    · [--commit--] Begin · not required

    Proven: 1 proven, 1 not required.
    ");
}

#[test]
fn log_reads_like_this_in_200_columns() {
    let explained = Explained::new();
    insta::assert_snapshot!(redacted(&explained.shown(200, &["log", "HEAD~1..HEAD"])), @r"
      intent     People who sign in are sent back to the sign-in page: find out why, and end it
      session    t-89 · 6 entries · by agent 2.1
    ┌─◆ decision   Keep the session in local storage
    │   because    it has no path
    │   uncertain  any script can read it.
    └─◆ decision   Set the cookie with Path=/.
        rejected   to move the sign-in page below /home, which breaks every bookmark and the manuals of
                   three customers
        rejected   a second cookie, two truths about who is signed in.
        confidence 0.9
      ■ reflection The loop is gone, and a test follows the redirect. 日本語の文章も端末の幅に合わせて折
                   り返されるので、長い行は二つの行に分かれます。
        uncertain  Safari was not tried.
    ✔ [--commit--] Cut the redirect loop after sign-in · proven: exact, rooted, not signed, sealed in round 1
      note       EVIDENCE_WITHHELD: 1 of 6 entries of session t-89 are withheld

    Proven: 1 proven.
    ");
}

#[test]
fn show_with_colours_reads_like_this() {
    let explained = Explained::new();
    let text = explained.shown(80, &["show", "--color=always"]).replace(&explained.tip("HEAD")[..12], "[--commit--]");
    insta::assert_snapshot!(redacted(&text).replace('\u{1b}', "^"), @r"
    ^[32m✔^[0m ^[1m[--commit--]^[0m Cut the redirect loop after sign-in
      ^[32mproven^[0m: exact, rooted, not signed, sealed in round 1
      ^[2mby        ^[0m Ada Tester <ada@example.org>, [ago]
      ^[2mnote      ^[0m EVIDENCE_WITHHELD: 1 of 6 entries of session t-89 are withheld

      ^[1mintent    ^[0m People who sign in are sent back to the sign-in page: find out why,
                 and end it
      ^[2msession   ^[0m t-89 · 6 entries · by agent 2.1

    ^[2m┌─^[0m^[1;33m◆^[0m ^[1;33mdecision  ^[0m Keep the session in local storage
    ^[2m│   ^[0m^[2mbecause   ^[0m it has no path
    ^[2m│   ^[0m^[2muncertain ^[0m any script can read it.
    ^[2m│^[0m
    ^[2m└─^[0m^[1;33m◆^[0m ^[1;33mdecision  ^[0m Set the cookie with Path=/.
        ^[31mrejected  ^[0m to move the sign-in page below /home, which breaks every bookmark
                   and the manuals of three customers
        ^[31mrejected  ^[0m a second cookie, two truths about who is signed in.
        ^[2mconfidence^[0m 0.9

      ^[35m■^[0m ^[35mreflection^[0m The loop is gone, and a test follows the redirect. 日本語の文章も
                   端末の幅に合わせて折り返されるので、長い行は二つの行に分かれま
                   す。
        ^[2muncertain ^[0m Safari was not tried.

      ^[2malso      ^[0m 1 plan, 1 attested operation, 1 entry that was not published
                 git proof show --full [--commit--]
    ");
}

#[test]
fn locale_decides_about_drawing_characters_as_the_c_library_has_it() {
    let explained = Explained::new();
    for (variables, unicode) in [
        (&[("LANG", "de_DE.UTF-8")][..], true),
        (&[("LANG", "de_DE.UTF-8"), ("LC_CTYPE", "C")], false),
        (&[("LANG", "C"), ("LC_CTYPE", "en_US.utf8")], true),
        (&[("LANG", "en_US.UTF-8"), ("LC_ALL", "POSIX")], false),
        (&[("LANG", "en_US.ISO-8859-1")], false),
        (&[], false),
    ] {
        let mut command = explained.scratch.proof(["show"]);
        command.env_remove("LC_ALL").envs(variables.iter().copied());
        let ran: Ran = command.output().unwrap().into();
        assert_eq!(ran.text().contains('◆'), unicode, "{variables:?}");
        // What was recorded is shown as it is, whatever the locale.
        assert!(ran.text().contains("日本語"), "{variables:?}");
    }
}

#[test]
fn colours_are_those_that_were_asked_for() {
    let explained = Explained::new();
    let painted = |arguments: &[&str], variables: &[(&str, &str)]| {
        let mut command = explained.proof(80, arguments);
        // Git takes a terminal without a name for a dumb one.
        command.env_remove("NO_COLOR").env("TERM", "xterm").envs(variables.iter().copied());
        Ran::from(command.output().unwrap()).text().contains('\u{1b}')
    };
    assert!(!painted(&["show"], &[]));
    assert!(painted(&["show"], &[("GIT_PAGER_IN_USE", "1")]));
    assert!(!painted(&["show"], &[("GIT_PAGER_IN_USE", "1"), ("NO_COLOR", "1")]));
    assert!(!painted(&["show"], &[("GIT_PAGER_IN_USE", "1"), ("TERM", "dumb")]));
    assert!(painted(&["log", "HEAD", "--color=always"], &[("NO_COLOR", "1")]));
    assert!(!painted(&["log", "HEAD", "--color=never"], &[("GIT_PAGER_IN_USE", "1")]));
    explained.scratch.git(["config", "color.ui", "always"]);
    assert!(painted(&["show"], &[]));
    assert!(!painted(&["show", "--color", "never"], &[]));
    assert!(!painted(&["show"], &[("NO_COLOR", "1")]));
    assert!(!painted(&["show", "--json"], &[]));
    explained.scratch.git(["config", "color.ui", "never"]);
    assert!(!painted(&["show"], &[("GIT_PAGER_IN_USE", "1")]));
}

/// Moves the cursor, paints, sets the title, turns the text around, hides, breaks lines, runs a command in CI.
const HOSTILE: &str = "a\u{1b}[2J\u{1b}]0;owned\u{7}b\u{202e}c\u{9b}31m\u{200b}\u{2066}\rd\u{8}\u{feff}\u{2028}e \
                       ##[error]f\nrejected: \u{1b}[31mg\u{202e}\n::error::h";

#[track_caller]
fn is_inert(text: &str) {
    let active = |c: char| {
        (c.is_control() && c != '\n')
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
    };
    assert_eq!(text.chars().find(|c| active(*c)), None, "{text:?}");
    assert!(!text.contains("##["), "{text}");
    assert!(!text.lines().any(|line| line.trim_start().starts_with("::")), "{text}");
}

#[test]
fn hostile_text_reads_like_this() {
    let task = HOSTILE.replace('\n', " ");
    let explained = Explained::with(HOSTILE, &["--task", &task]);
    explained.scratch.git(["commit", "--quiet", "--amend", "-m", "\u{1b}[2J\u{202e}evil"]);
    let text = explained.shown(80, &["show"]);
    is_inert(&text);
    insta::assert_snapshot!(redacted(&text), @r"
    ✔ [--commit--] \u{1b}[2J\u{202e}evil
      proven: reworded, rooted, not signed, sealed in round 1
      by         Ada Tester <ada@example.org>, [ago]
      note       EVIDENCE_WITHHELD: 1 of 6 entries of session t-89 are withheld

      intent     People who sign in are sent back to the sign-in page: find out why,
                 and end it
      session    t-89 · 6 entries · by agent 2.1 · task
                 a\u{1b}[2J\u{1b}]0;owned\u{7}b\u{202e}c\u{9b}31m\u{200b}\u{2066}
                 d\u{8}\u{feff} e ##\u{5b}error]f rejected: \u{1b}[31mg\u{202e}
                 \u{3a}:error::h

    ┌─◆ decision   Keep the session in local storage
    │   because    it has no path
    │   uncertain  any script can read it.
    │
    └─◆ decision   a\u{1b}[2J\u{1b}]0;owned\u{7}b\u{202e}c\u{9b}31m\u{200b}\u{2066}\u{d}d\u{8}\u{feff}\u{2028}e
                   ##\u{5b}error]f
        rejected   \u{1b}[31mg\u{202e}
                   \u{3a}:error::h
        confidence 0.9

      ■ reflection The loop is gone, and a test follows the redirect. 日本語の文章も
                   端末の幅に合わせて折り返されるので、長い行は二つの行に分かれま
                   す。
        uncertain  Safari was not tried.

      also       1 plan, 1 attested operation, 1 entry that was not published
                 git proof show --full [--commit--]
    ");
    for arguments in [&["show", "--full"][..], &["log", "HEAD"], &["log", "--full", "HEAD"], &["verify"]] {
        is_inert(&explained.shown(80, arguments));
    }
}

#[test]
fn hostile_names_are_inert_in_errors() {
    let explained = Explained::new();
    for arguments in [["show", "x\u{1b}[2J~1"], ["log", "x\u{1b}[2J\u{202e}"], ["log", "x\u{1b}[2J..y"]] {
        let ran: Ran = explained.proof(80, &arguments).output().unwrap().into();
        assert_eq!(ran.exit, Some(2), "{ran:?}");
        is_inert(&ran.err);
    }
}

#[test]
fn no_line_is_wider_than_the_terminal_unless_it_is_one_word() {
    let long = format!("{CHOSEN} {} and more. ", "日本語".repeat(40), CHOSEN = super::CHOSEN).repeat(3);
    let explained = Explained::with(&long, &["--task", &"a long task ".repeat(9)]);
    explained.scratch.git(["commit", "--quiet", "--amend", "-m", &"a long subject ".repeat(20)]);
    for columns in [40, 57, 80, 132, 200] {
        for arguments in
            [&["show"][..], &["show", "--full"], &["log", "HEAD"], &["log", "-n1", "--full", "HEAD"], &["verify"]]
        {
            for line in explained.shown(columns, arguments).lines() {
                // A digest with what is left of it.
                let words = line.split_whitespace().filter(|word| word.len() < 30).count();
                let unbreakable = line.split_whitespace().any(|word| word.len() >= 36 && word.is_ascii()) && words <= 4;
                assert!(line.width() <= columns || unbreakable, "{columns} {arguments:?}: {line}");
            }
        }
    }
}

#[test]
fn verify_tells_a_session_once_with_its_commits_below_it_and_the_summary_last() {
    let explained = Explained::new();
    explained.scratch.git(["commit", "--quiet", "--allow-empty", "-m", "By hand"]);
    let text = explained.shown(80, &["verify", "HEAD~2..HEAD"]);
    let log = explained.shown(80, &["log", "HEAD~2..HEAD"]);
    let (told, last) = text.trim_end().rsplit_once('\n').unwrap();
    assert_eq!(last, log.lines().last().unwrap());
    assert!(log.starts_with(told.split("Rules: ").next().unwrap().trim_end()), "{text}\n{log}");
    for (columns, colour, locale) in [(40, "xterm", "C"), (80, "dumb", "C.UTF-8"), (200, "dumb", "C")] {
        let mut command = explained.proof(columns, &["verify", "HEAD~1"]);
        let ran: Ran = command.env("TERM", colour).env("LC_ALL", locale).env("NO_COLOR", "1").output().unwrap().into();
        assert!(ran.text().contains("proven: exact, rooted"), "the state is in words: {}", ran.out);
        assert!(!ran.text().contains('\u{1b}'));
    }
}

#[test]
fn attestations_of_the_tool_are_told_in_words_wherever_they_are_shown() {
    let explained = Explained::new();
    let scratch = &explained.scratch;
    scratch.json(&["start", "--intent", "look again", "--session-id", "t-90"]);
    scratch.json(&["memory", "put", "--text", "a note"]);
    scratch.json(&["memory", "pack"]);
    scratch.git(["commit", "--quiet", "--allow-empty", "--message", "Again"]);
    assert_eq!(scratch.run(["hook", "post-commit"]).exit, Some(0));
    let entries = scratch.json(&["log", "--session", "t-90"])["entries"].clone();
    let attested = entries.as_array().unwrap().iter().filter(|entry| entry["attest"].is_string());
    let ids: Vec<&str> = attested.map(|entry| entry["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), 2, "{entries}");
    let mut shown =
        vec![vec!["log", "--session", "t-90"], vec!["tree", "--session", "t-90"], vec!["show", "--full", "HEAD~1"]];
    for id in &ids {
        shown.extend([vec!["show", id], vec!["trail", id]]);
    }
    for arguments in shown {
        let text = explained.shown(80, &arguments);
        for key in ["{\"git\"", "{\"note\"", "{\"observed\""] {
            assert!(!text.contains(key), "{arguments:?}: {text}");
        }
        assert!(text.contains("note of working memory") || text.contains("commit "), "{arguments:?}: {text}");
    }
}

#[test]
fn log_of_a_session_tells_apart_what_was_rejected_and_what_is_uncertain() {
    let explained = Explained::new();
    let text = explained.shown(80, &["log", "--session", "t-89"]);
    for line in
        ["  rejected   a second cookie, two truths about who is signed in.", "  uncertain  Safari was not tried."]
    {
        assert!(text.contains(line), "{line}: {text}");
    }
}

#[test]
fn what_is_wrong_with_the_clone_is_said_once_and_not_for_every_commit() {
    let explained = Explained::new();
    let scratch = &explained.scratch;
    scratch.git(["commit", "--quiet", "--allow-empty", "-m", "One more\n\nProof-Grade: true"]);
    scratch.git(["commit", "--quiet", "--allow-empty", "-m", "And another\n\nProof-Grade: true"]);
    scratch.git(["clone", "--quiet", ".", "../clone"]);
    let ran: Ran = explained.proof(80, &["-C", "../clone", "verify", "HEAD~2..HEAD"]).output().unwrap().into();
    assert_eq!(ran.out.matches("could not check: REF_NOT_FETCHED").count(), 2, "{}", ran.out);
    assert_eq!(ran.out.matches("hint: git proof sync --fetch-only").count(), 1, "{}", ran.out);
}
