//! The allowed-signers file against `ssh-keygen -Y verify` and `find-principals`: a line lets someone in here exactly if it
//! does there, but for the cases that are listed as stricter.

use std::fmt::Write as _;

use git_proof::proof::note::Signature;
use git_proof::proof::policy::FileError;
use git_proof::proof::signers::{Signers, Standing};
use git_proof::proof::sshsig::{NAMESPACE, PublicKey, to_armour};

use super::{Keys, MESSAGE, at, key_blob, string};
use crate::common::{command, run_with_input};

/// A file, who signs by it when, and whether we refuse what ssh-keygen accepts.
struct Case {
    file: Vec<u8>,
    identity: &'static str,
    time: &'static str,
    stricter: bool,
}

/// The same time in our spelling and in that of `-O verify-time`.
const NOON: &str = "2026-03-01T12:00:00.000Z";

fn ssh_time(time: &str) -> String {
    let digits: String = time[..19].chars().filter(char::is_ascii_digit).collect();
    format!("{digits}Z")
}

struct World {
    keys: Keys,
    line: String,
    other: String,
    key: PublicKey,
}

impl World {
    fn new() -> Self {
        let keys = Keys::new();
        let line = keys.make("key", &["ed25519"]);
        let other = keys.make("other", &["ecdsa"]);
        let signature = keys.sign("key");
        keys.write("signature", to_armour(&Signature(signature)));
        let key = PublicKey::parse(&key_blob(&line)).unwrap();
        Self { keys, line, other, key }
    }

    fn ssh(&self, case: &Case, action: &[&str]) -> Option<String> {
        self.keys.write("allowed", &case.file);
        let time = format!("verify-time={}", ssh_time(case.time));
        let common = ["-f", "allowed", "-s", "signature", "-O", &time];
        let mut ssh = command("ssh-keygen", self.keys.0.path());
        let answer = run_with_input(ssh.arg("-Y").args(action).args(common), MESSAGE);
        (answer.code == Some(0)).then_some(answer.stdout)
    }

    /// Whether the signer is let in; an error where ssh-keygen says otherwise.
    fn check(&self, case: &Case) -> Result<bool, String> {
        let shown = String::from_utf8_lossy(&case.file).replace(&self.line, "KEY").replace(&self.other, "OTHER");
        let shown = format!("{shown:?} as {:?} at {}", case.identity, case.time);
        let theirs = self.ssh(case, &["verify", "-I", case.identity, "-n", NAMESPACE]).is_some();
        let signers = Signers::parse(&case.file);
        let standing = signers.as_ref().map(|signers| signers.who(&self.key, NAMESPACE, at(case.time)));
        let ours = matches!(&standing, Ok(Standing::Signer(signer)) if signer.answers_to(case.identity));
        if (ours, theirs) != (theirs && !case.stricter, theirs || case.stricter) {
            return Err(format!("{shown}: ssh-keygen says {theirs}, we {ours}: {standing:?}"));
        }
        if let Ok(Standing::Signer(signer)) = &standing
            && ours
        {
            let found = self.ssh(case, &["find-principals"]).unwrap_or_else(|| panic!("{shown}: no principals"));
            let wanted = found.lines().next().unwrap().split(',').filter(|principal| !principal.starts_with('!'));
            assert!(wanted.clone().all(|wanted| signer.principals().any(|ours| ours == wanted)), "{shown}: {found}");
        }
        Ok(ours)
    }

    /// How many of these let the signer in.
    #[track_caller]
    fn check_all(&self, cases: &[Case]) -> usize {
        let (checked, wrong): (Vec<_>, Vec<_>) = cases.iter().map(|case| self.check(case)).partition(Result::is_ok);
        assert!(wrong.is_empty(), "{wrong:#?}");
        checked.into_iter().filter(|checked| *checked == Ok(true)).count()
    }
}

const ADA: &str = "ada@example.com";

/// Lists of principals, each with whether ADA is let in by ssh-keygen only.
const PRINCIPALS: [(&str, bool); 40] = [
    ("ada@example.com", false),
    ("ADA@example.com", false),
    ("bob@example.com", false),
    ("ada@example.com,bob@example.com", false),
    ("bob@example.com,ada@example.com", false),
    ("*", false),
    ("**", false),
    ("?", false),
    ("*@example.com", false),
    ("*@example.org", false),
    ("ada@*", false),
    ("ad?@example.com", false),
    ("ad??@example.com", false),
    ("*a*@*.com", false),
    ("*a@e*e.com", false),
    ("a*z", false),
    ("?????????????*", false),
    ("???????????????", false),
    ("????????????????", false),
    ("*,!ada@example.com", false),
    ("!ada@example.com,*", false),
    ("*,!bob@example.com", false),
    ("!bob@example.com,ada@example.com", false),
    ("!bob@example.com", false),
    ("!ada@example.com", false),
    ("ada@example.com,!*", false),
    ("ada@example.com,!*.org", false),
    ("!", false),
    ("!*", false),
    ("ada@example.com!", false),
    ("ada@example.co", false),
    ("ada@example.comm", false),
    ("[ada]@example.com", false),
    ("ada@example\\.com", false),
    ("ada@example.com,", true),
    (",ada@example.com", true),
    ("ada@example.com,,bob", true),
    ("ada@example.com,!", true),
    ("\"ada@example.com\"", true),
    ("\"ada@example.com,bob jones\"", true),
];

/// Options in the same way, for a signature at noon on the first of March 2026.
const OPTIONS: [(&str, bool); 76] = [
    ("", false),
    ("namespaces=\"git-proof\"", false),
    ("namespaces=\"git\"", false),
    ("namespaces=\"git,git-proof\"", false),
    ("namespaces=\"git-*\"", false),
    ("namespaces=\"git*,!git-proof\"", false),
    ("namespaces=\"!git,*\"", false),
    ("namespaces=\"!git\"", false),
    ("namespaces=\"*\"", false),
    ("namespaces=\"\"", false),
    ("namespaces=\"git-proof \"", false),
    ("namespaces=\"file, git-proof\"", false),
    ("namespaces=git-proof", false),
    ("namespaces='git-proof'", false),
    ("namespaces=\"git-proof", false),
    ("namespaces=git-proof\"", false),
    ("namespaces", false),
    ("namespaces=", false),
    ("namespaces =\"git-proof\"", false),
    ("namespace=\"git-proof\"", false),
    ("NAMESPACES=\"git-proof\"", false),
    ("Namespaces=\"git-proof\"", false),
    ("namespaces=\"GIT-PROOF\"", false),
    ("namespaces=\"git-proof\",namespaces=\"git\"", false),
    ("namespaces=\"git\\\"proof\"", false),
    ("namespaces=\"git?proof\\\"\"", false),
    ("namespaces=\"git,,git-proof\"", true),
    ("namespaces=\"git-proof,\"", true),
    ("namespaces=\"a b,git-proof\"", true),
    ("valid-after=\"20260101Z\"", false),
    ("valid-after=\"20260301Z\"", false),
    ("valid-after=\"20260302Z\"", false),
    ("valid-after=\"202603011200Z\"", false),
    ("valid-after=\"20260301120000Z\"", false),
    ("valid-after=\"20260301120001Z\"", false),
    ("valid-after=\"202603011201Z\"", false),
    ("valid-before=\"20260302Z\"", false),
    ("valid-before=\"20260301Z\"", false),
    ("valid-before=\"202603011200Z\"", false),
    ("valid-before=\"20260301115959Z\"", false),
    ("valid-before=\"20260301120000Z\"", false),
    ("valid-before=\"20240229Z\"", false),
    ("valid-before=\"99991231Z\"", false),
    ("valid-after=\"20260101Z\",valid-before=\"20270101Z\"", false),
    ("valid-before=\"20270101Z\",valid-after=\"20260101Z\"", false),
    ("valid-after=\"20270101Z\",valid-before=\"20260101Z\"", false),
    ("valid-after=\"20260301Z\",valid-before=\"20260301Z\"", false),
    ("valid-after=\"20260101Z\",valid-after=\"20260101Z\"", false),
    ("valid-before=\"20270101Z\",valid-before=\"20270101Z\"", false),
    ("namespaces=\"git-proof\",valid-before=\"20270101Z\"", false),
    ("namespaces=\"git-proof\", valid-before=\"20270101Z\"", false),
    ("namespaces=\"git-proof\" valid-before=\"20270101Z\"", false),
    (",namespaces=\"git-proof\"", true),
    ("namespaces=\"git-proof\",", false),
    ("valid-before=20270101Z", false),
    ("valid-before=\"2027\"", false),
    ("valid-before=\"2027-01-01\"", false),
    ("valid-before=\"20271301Z\"", false),
    ("valid-before=\"2027010125Z\"", false),
    ("valid-before=\"202701012500Z\"", false),
    ("valid-before=\"20270101 Z\"", false),
    ("valid-before=\"20270101z\"", true),
    ("valid-before=\"\"", false),
    ("valid-before=\"Z\"", false),
    ("valid-before=\"19700101Z\"", false),
    ("valid-after=\"19700101Z\"", false),
    ("valid-after=\"19690101Z\"", false),
    ("valid-after=\"20250231Z\"", true),
    ("valid-after=\"20260101\"", true),
    ("valid-before=\"20270101\"", true),
    ("valid-before=\"202701011200\"", true),
    ("verify-required", false),
    ("no-touch-required", false),
    ("restrict", false),
    ("cert-authority", false),
    ("cert-authority,namespaces=\"git-proof\"", false),
];

fn case(file: impl Into<Vec<u8>>, stricter: bool) -> Case {
    Case { file: file.into(), identity: ADA, time: NOON, stricter }
}

#[test]
fn lines_let_in_whom_ssh_keygen_lets_in() {
    let world = World::new();
    let key = &world.line;
    let mut cases = Vec::new();
    for (principals, stricter) in PRINCIPALS {
        cases.push(case(format!("{principals} {key}\n"), stricter));
    }
    for (options, stricter) in OPTIONS {
        cases.push(case(format!("ada@example.com {options} {key}\n"), stricter));
        cases.push(case(format!("*@example.com\t{options}\t{key} a comment\n"), stricter));
    }
    // Together: what both let in, and what either turns away.
    for (principals, one) in PRINCIPALS.iter().step_by(3) {
        for (options, other) in OPTIONS.iter().step_by(7) {
            let alone = |file: String| world.ssh(&case(file, false), &["verify", "-I", ADA, "-n", NAMESPACE]).is_some();
            let stricter = (*one && alone(format!("{ADA} {options} {key}\n")))
                || (*other && alone(format!("{principals} {key}\n")));
            cases.push(case(format!("{principals} {options} {key}\n"), stricter));
        }
    }
    assert!(cases.len() >= 250, "{}", cases.len());
    let accepted = world.check_all(&cases);
    assert!(accepted > 60, "{accepted}");
}

#[test]
fn white_space_and_comments_are_those_of_ssh_keygen() {
    let world = World::new();
    let (key, other) = (&world.line, &world.other);
    let base64 = key.split(' ').nth(1).unwrap();
    let (start, end) = base64.split_at(20);
    let lines = [
        (format!("{ADA} {key}"), false),
        (format!("{ADA} {key}\r\n"), false),
        (format!("  {ADA} {key}\n"), false),
        (format!("\t{ADA}\t{key}\t\n"), false),
        (format!("{ADA}    {key}\n"), false),
        (format!("{ADA} ssh-ed25519 \t {base64} \t comment # more\n"), false),
        (format!("# comment\n\n   \n\t\n  # more\n{ADA} {key}\n"), false),
        (format!("#{ADA} {key}\n"), false),
        (format!("{ADA}#x {key}\n"), false),
        (format!("{ADA} # {key}\n"), false),
        (format!("{ADA}\n{key}\n"), false),
        (format!("{ADA},\\\n{key}\n"), false),
        (format!("{ADA} {other}\n"), false),
        (format!("{ADA} {other}\n{ADA} {key}\n"), false),
        (format!("bob@example.com {key}\n{ADA} {key}\n"), false),
        (format!("{ADA} namespaces=\"git\" {key}\n{ADA} namespaces=\"git-proof\" {key}\n"), false),
        (format!("{ADA} valid-before=\"20250101Z\" {key}\n{ADA} {key}\n"), false),
        (String::new(), false),
        ("\n".to_owned(), false),
        (ADA.to_owned(), false),
        (format!("{ADA} "), false),
        (format!("{ADA} ssh-ed25519"), false),
        (format!("{ADA} ssh-ed25519 "), false),
        (format!("{ADA} ssh-ed25519{base64}\n"), false),
        (format!("{ADA} {base64}\n"), false),
        (format!("{ADA} ssh-rsa {base64}\n"), false),
        (format!("{ADA} SSH-ED25519 {base64}\n"), false),
        (format!("{ADA} ecdsa-sha2-nistp256 {base64}\n"), false),
        (format!("{ADA} ssh-ed25519 {end}\n"), false),
        (format!("{ADA} ssh-ed25519 {start}\n"), false),
        (format!("{ADA} ssh-ed25519 {start} {end}\n"), false),
        (format!("{ADA} ssh-ed25519 {base64}=\n"), false),
        (format!("{ADA} ssh-ed25519 {base64}AAAA\n"), false),
        (format!("{ADA} ssh-ed25519 {start}-{end}\n"), false),
        (format!("{ADA} ssh-ed25519 {}\n", base64.to_lowercase()), false),
        (format!("{ADA} \"ssh-ed25519\" {base64}\n"), false),
        // A line that ssh-keygen passes over is a mistake that somebody should hear of.
        (format!("{ADA} {key}\nnonsense\n"), true),
        (format!("nonsense and more\n{ADA} {key}\n"), true),
        (format!("bob verify-required {key}\n{ADA} {key}\n"), true),
        (format!("bob cert-authority {other}\n{ADA} {key}\n"), false),
        (format!("{ADA} {key} \x1b[2J\n"), true),
        (format!("{ADA}\r{key}\n"), true),
        (format!("{ADA} ssh-ed25519 {start}\r{end}\n"), true),
    ];
    let mut cases: Vec<Case> = lines.into_iter().map(|(file, stricter)| case(file, stricter)).collect();
    cases.push(case([ADA.as_bytes(), b" ", key.as_bytes(), b" \xff\n"].concat(), true));
    assert!(world.check_all(&cases) > 10);
}

#[test]
fn times_are_judged_as_ssh_keygen_judges_them() {
    let world = World::new();
    let file = format!("{ADA} valid-after=\"20260301Z\",valid-before=\"202603311200Z\" {}\n", world.line);
    let signers = Signers::parse(file.as_bytes()).unwrap();
    for (time, expected) in [
        ("2026-02-28T23:59:59.000Z", Some(Standing::NotYetValid)),
        ("2026-03-01T00:00:00.000Z", None),
        ("2026-03-31T12:00:00.000Z", None),
        ("2026-03-31T12:00:01.000Z", Some(Standing::Expired)),
        ("1999-01-01T00:00:00.000Z", Some(Standing::NotYetValid)),
        ("2999-01-01T00:00:00.000Z", Some(Standing::Expired)),
    ] {
        let accepted = world.check(&Case { file: file.clone().into(), identity: ADA, time, stricter: false });
        assert_eq!(accepted, Ok(expected.is_none()), "{time}");
        let standing = signers.who(&world.key, NAMESPACE, at(time));
        assert_eq!((!matches!(standing, Standing::Signer(_))).then_some(standing), expected, "{time}");
    }
}

#[test]
fn what_is_not_a_signer_has_its_own_standing() {
    let world = World::new();
    let who = |file: &str| {
        let signers = Signers::parse(file.as_bytes()).unwrap();
        format!("{:?}", signers.who(&world.key, NAMESPACE, at(NOON))).split('(').next().unwrap().to_owned()
    };
    let (key, other) = (&world.line, &world.other);
    let wrong = format!("a namespaces=\"git\" {key}\n");
    let late = format!("a valid-before=\"20250101Z\" {key}\n");
    assert_eq!(who(&format!("a {other}\n")), "Unknown");
    assert_eq!(who(&wrong), "WrongNamespace");
    assert_eq!(who(&late), "Expired");
    assert_eq!(who(&(wrong.clone() + &late)), "Expired");
    assert_eq!(who(&(late.clone() + &wrong)), "Expired");
    assert_eq!(who(&format!("{wrong}{late}a {key}\n")), "Signer");
}

#[test]
fn revoked_key_is_no_signer_whatever_the_file_says() {
    let world = World::new();
    let (key, other) = (&world.line, &world.other);
    let file = format!("{ADA} {key}\nbob {other}\n");
    world.keys.write("allowed", &file);
    for (list, revoked) in [
        (String::new(), false),
        (format!("# gone\n\n{other}\n"), false),
        (format!("{other}\n  {key} lost in March\n"), true),
        (format!("{key}\r\n"), true),
    ] {
        let mut signers = Signers::parse(file.as_bytes()).unwrap();
        signers.revoke(list.as_bytes()).unwrap();
        let standing = signers.who(&world.key, NAMESPACE, at(NOON));
        assert_eq!(matches!(standing, Standing::Revoked), revoked, "{list:?}: {standing:?}");
        world.keys.write("revoked", &list);
        let arguments =
            ["-Y", "verify", "-f", "allowed", "-s", "signature", "-r", "revoked", "-n", NAMESPACE, "-I", ADA];
        let theirs = run_with_input(command("ssh-keygen", world.keys.0.path()).args(arguments), MESSAGE);
        assert_eq!(theirs.code == Some(0), !revoked, "{list:?}: {}", theirs.stderr);
    }
    let mut signers = Signers::parse(file.as_bytes()).unwrap();
    assert_eq!(signers.revoke(b"\nnonsense\n").unwrap_err().line, 2);
    assert_eq!(world.keys.keygen(&["-q", "-k", "-f", "krl", "key.pub"]).code, Some(0));
    let binary = std::fs::read(world.keys.path("krl")).unwrap();
    let error = signers.revoke(&binary).unwrap_err();
    assert!(error.message.contains("binary revocation list"), "{error}");
}

#[test]
fn line_that_is_not_supported_is_skipped_and_its_key_may_sign_nothing() {
    let world = World::new();
    let (key, other) = (&world.line, &world.other);
    let now = at("2026-06-01T12:00:00.000Z");
    let read =
        |text: &str| PublicKey::parse(&Signature::from_base64(text.split(' ').nth(1).unwrap()).unwrap().0).unwrap();
    for (line, why) in [
        (format!("bob cert-authority {key}"), "cert-authority is not supported"),
        (format!("bob cert-authority,namespaces=\"git-proof\" {key}"), "cert-authority is not supported"),
        (format!("bob namespaces=\"git-proof\",cert-authority {key}"), "cert-authority is not supported"),
        (format!("\"bob,rob\" {key}"), "a quoted principal is not supported"),
        (format!("bob valid-after=\"20260101\" {key}"), "add a Z for UTC"),
        (format!("bob valid-before=\"203001011200\" {key}"), "add a Z for UTC"),
    ] {
        let signers = Signers::parse(format!("# first\n{line}\ncarol {other}\n").as_bytes()).unwrap();
        let [(number, said)] = signers.skipped() else { panic!("{line}: {:?}", signers.skipped()) };
        assert!(*number == 2 && said.contains(why), "{line}: {said}");
        assert_eq!(signers.who(&read(key), NAMESPACE, now), Standing::Unknown, "{line}");
        assert!(matches!(signers.who(&read(other), NAMESPACE, now), Standing::Signer(_)), "{line}");
    }
}

#[test]
fn skipped_line_still_ties_two_names_to_one_person() {
    let world = World::new();
    let (key, other) = (&world.line, &world.other);
    let third = key; // the key of a skipped line is tied as well, so it is one that is listed anyway
    let now = at("2026-06-01T12:00:00.000Z");
    let read =
        |text: &str| PublicKey::parse(&Signature::from_base64(text.split(' ').nth(1).unwrap()).unwrap().0).unwrap();
    let people = |file: String| {
        let signers = Signers::parse(file.as_bytes()).unwrap();
        let who = |key: &str| match signers.who(&read(key), NAMESPACE, now) {
            Standing::Signer(signer) => signer,
            other => panic!("{other:?}"),
        };
        signers.count_people(&[who(key), who(other)])
    };
    let two = format!("ada@x {key}\nada@y {other}\n");
    assert_eq!(people(two.clone()), 2);
    assert_eq!(people(format!("{two}ada@x,ada@y cert-authority {third}\n")), 1);
    assert_eq!(people(format!("{two}\"ada@x,ada@y\" {third}\n")), 1);
}

#[test]
fn file_that_cannot_be_read_says_where_and_why() {
    let world = World::new();
    let key = &world.line;
    let base64 = key.split(' ').nth(1).unwrap();
    let dss = Signature([string("ssh-dss"), string("x")].concat()).to_base64();
    for (line, why) in [
        (format!("! {key}"), "names no one"),
        (format!("a\"b {key}"), "a quote inside of a principal"),
        (format!("a restrict {key}"), "\"restrict\" is neither an option nor a key"),
        (format!("a namespaces=x {key}"), "namespaces has no value in quotes"),
        (format!("a namespaces=\"x\",namespaces=\"y\" {key}"), "namespaces is there twice"),
        (format!("a valid-after=\"20260231Z\" {key}"), "not a time such as"),
        (format!("a valid-after=\"20260102Z\",valid-before=\"20260101Z\" {key}"), "valid-before is not after"),
        (format!("a namespaces=\"x\"{key}"), "no white space"),
        ("a".to_owned(), "neither an option nor a key"),
        ("a ssh-ed25519".to_owned(), "no key"),
        (format!("a ssh-ed25519 {}", &base64[1..]), "not base64"),
        (format!("a ssh-rsa {base64}"), "the key is of type ssh-ed25519, not \"ssh-rsa\""),
        (format!("a ssh-ed25519 {}", &base64[..40]), "malformed key"),
        (format!("a ssh-dss {dss}"), "keys of type \"ssh-dss\" are not supported"),
        (format!("a {key} \x07"), "control character"),
    ] {
        let error = Signers::parse(format!("# first\n\n{line}\nb {key}\n").as_bytes()).unwrap_err();
        assert!(error.line == 3 && error.message.contains(why), "{line}: {error}");
    }
    assert_eq!(Signers::parse(b"\xff").unwrap_err(), FileError { line: 0, message: "not UTF-8".to_owned() });
    let mut large = String::new();
    while large.len() <= 1 << 20 {
        writeln!(large, "# and so on").unwrap();
    }
    assert_eq!(Signers::parse(large.as_bytes()).unwrap_err().message, "larger than 1 MiB");
}
