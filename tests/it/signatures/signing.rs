//! Signing with the key that git signs with: files, agents, and whatever can be wrong with them.

use std::process::{Child, Command, Stdio};

use git_proof::context::Context;
use git_proof::git;
use git_proof::proof::note::Signature;
use git_proof::proof::sshsig::{NAMESPACE, to_armour, verify};
use serde_json::Value;

use super::{Keys, MESSAGE, read};
use crate::common::{command, run, run_with_input};

/// What [`Signing::ask`] has run, with the repository as its directory and nothing of the machine in its environment. By
/// itself it asks for a signature where no key is set.
#[test]
fn in_a_process_of_its_own() {
    let Some(place) = std::env::var_os("ANSWER") else {
        assert_eq!(Signing::new().ask(|_| ())["code"], "ERR_SIGNING_UNSET");
        return;
    };
    let answer = match git::sign(&Context::new(".".into()), MESSAGE) {
        Ok(signature) => serde_json::json!({ "signature": signature.to_base64() }),
        Err(error) => serde_json::json!({ "error": error, "code": error.code.as_str() }),
    };
    std::fs::write(place, answer.to_string()).unwrap();
}

/// A repository whose git signs with SSH, in the folder `work`, with the keys above it.
struct Signing(Keys);

impl Signing {
    fn new() -> Self {
        let keys = Keys::new();
        std::fs::create_dir(keys.path("tmp")).unwrap();
        std::fs::create_dir_all(keys.path("work/deep")).unwrap();
        let signing = Self(keys);
        signing.git(&["init", "-q"]);
        signing.set("gpg.format", "ssh");
        signing
    }

    fn git(&self, arguments: &[&str]) {
        let done = run(command("git", &self.0.path("work")).args(arguments));
        assert_eq!(done.code, Some(0), "{}", done.stderr);
    }

    fn set(&self, name: &str, value: &str) {
        self.git(&["config", name, value]);
    }

    /// A program in the place of ssh-keygen.
    fn program(&self, script: &str) {
        use std::os::unix::fs::PermissionsExt as _;
        let path = self.0.write("program", format!("#!/bin/sh\n{script}\n"));
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        self.set("gpg.ssh.program", path.to_str().unwrap());
    }

    fn ask(&self, adjust: impl FnOnce(&mut Command)) -> Value {
        let mut child = command(std::env::current_exe().unwrap(), &self.0.path("work"));
        child.args(["--exact", "signatures::signing::in_a_process_of_its_own", "--quiet"]);
        // Nobody is there to type a passphrase.
        child.env("SSH_ASKPASS", "false").env("SSH_ASKPASS_REQUIRE", "force");
        child.env("GIT_CEILING_DIRECTORIES", self.0.0.path());
        child.env("HOME", self.0.path(".")).env("TMPDIR", self.0.path("tmp")).env("ANSWER", self.0.path("answer"));
        adjust(&mut child);
        let ran = run(&mut child);
        assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
        assert_eq!(std::fs::read_dir(self.0.path("tmp")).unwrap().count(), 0, "files are left behind");
        serde_json::from_str(&read(&self.0.path("answer"))).unwrap()
    }

    /// Signs, and has both of us check the signature.
    #[track_caller]
    fn signs(&self, line: &str, adjust: impl FnOnce(&mut Command)) {
        let answer = self.ask(adjust);
        let signature = answer["signature"].as_str().unwrap_or_else(|| panic!("{answer}"));
        let signature = Signature::from_base64(signature).unwrap();
        assert_eq!(verify(&signature.0, MESSAGE, NAMESPACE).unwrap().to_string(), line);
        self.0.write("allowed", format!("ada@example.com {line}\n"));
        self.0.write("signature", to_armour(&signature));
        let arguments = ["-Y", "verify", "-f", "allowed", "-s", "signature", "-n", NAMESPACE, "-I", "ada@example.com"];
        let theirs = run_with_input(command("ssh-keygen", self.0.0.path()).args(arguments), MESSAGE);
        assert_eq!(theirs.code, Some(0), "{}", theirs.stderr);
    }

    /// Does not sign, and says so with these words in message and hint.
    #[track_caller]
    fn refuses(&self, message: &str, hint: &str) {
        let answer = self.ask(|child| _ = child.env_remove("SSH_AUTH_SOCK"));
        let is_unset = ["there is no signing key", "git signs with"].iter().any(|said| message.starts_with(said));
        let code = if is_unset { "ERR_SIGNING_UNSET" } else { "ERR_SIGNING_FAILED" };
        assert_eq!(answer["code"], code, "{answer}");
        let said = |field: &str| answer["error"][field].as_str().unwrap_or_default().to_owned();
        assert!(said("message").contains(message), "{answer}");
        assert!(said("hint").contains(hint), "{answer}");
        assert!(!said("message").contains(char::is_control), "{answer}");
    }
}

#[test]
fn key_file_signs_whether_public_or_private_and_wherever_one_is() {
    let signing = Signing::new();
    for (name, kind) in [("ed", &["ed25519"][..]), ("ec", &["ecdsa", "-b", "521"]), ("rsa", &["rsa", "-b", "2048"])] {
        let line = signing.0.make(name, kind);
        for path in [signing.0.path(name).to_str().unwrap(), &format!("~/{name}.pub"), &format!("../{name}.pub")] {
            signing.set("user.signingkey", path);
            signing.signs(&line, |_| {});
            // A relative path starts at the top of the worktree, as for `git commit`.
            signing.signs(&line, |child| _ = child.current_dir(signing.0.path("work/deep")));
        }
    }
}

/// An agent with a key in it, ended after the test.
struct Agent(Child);

impl Drop for Agent {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

#[test]
fn literal_key_signs_through_the_agent() {
    let signing = Signing::new();
    let line = signing.0.make("key", &["ed25519"]);
    let other = signing.0.make("other", &["ecdsa"]);
    let socket = signing.0.path("agent");
    let mut start = command("ssh-agent", signing.0.0.path());
    let agent = Agent(start.args(["-D", "-a"]).arg(&socket).stdout(Stdio::null()).spawn().unwrap());
    let add = |name: &str| run(command("ssh-add", signing.0.0.path()).args(["-q", name]).env("SSH_AUTH_SOCK", &socket));
    // The agent is there once it answers.
    while add("key").code != Some(0) {
        std::thread::yield_now();
    }
    assert_eq!(add("other").code, Some(0));
    for name in ["key", "other"] {
        std::fs::rename(signing.0.path(name), signing.0.path(&format!("{name}-elsewhere"))).unwrap();
    }
    let with_agent = |child: &mut Command| _ = child.env("SSH_AUTH_SOCK", &socket);
    for (set, line) in [
        (format!("key::{line}"), &line),
        (line.clone(), &line),
        (format!("{line} a comment"), &line),
        (format!("key::{other}"), &other),
        ("~/key.pub".to_owned(), &line),
        ("~/other.pub".to_owned(), &other),
    ] {
        signing.set("user.signingkey", &set);
        signing.signs(line, with_agent);
    }
    signing.git(&["config", "--unset", "user.signingkey"]);
    signing.set("gpg.ssh.defaultKeyCommand", "ssh-add -L");
    signing.signs(&line, with_agent);
    signing.set("gpg.ssh.defaultKeyCommand", "sh -c \"echo 'key::'\\\"$(ssh-add -L | tail -1)\\\"\" 'a b'");
    signing.signs(&other, with_agent);

    drop(agent);
    signing.refuses("gives no key", "SSH agent");
    signing.set("user.signingkey", &line);
    signing.refuses("ssh-keygen has made no signature", "SSH agent");
}

#[test]
fn settings_that_do_not_make_an_ssh_signature_are_named() {
    let signing = Signing::new();
    signing.refuses("there is no signing key", "git config user.signingkey");
    signing.set("user.signingkey", "");
    signing.refuses("there is no signing key", "git config user.signingkey");
    signing.set("gpg.ssh.defaultKeyCommand", "echo 'a");
    signing.refuses("is not a command", "quotes");
    signing.set("gpg.ssh.defaultKeyCommand", "echo fingerprint");
    signing.refuses("gives no key", "public key");
    signing.set("gpg.ssh.defaultKeyCommand", "no-such-program-here");
    signing.refuses("cannot run no-such-program-here", "");
    signing.set("user.signingkey", "~/nowhere.pub");
    signing.refuses("No such file", "git config --get user.signingkey");
    signing.set("gpg.ssh.program", "/nowhere/ssh-keygen");
    signing.refuses("cannot run /nowhere/ssh-keygen", "gpg.ssh.program");
    for format in ["openpgp", "x509"] {
        signing.set("gpg.format", format);
        signing.refuses(&format!("git signs with {format}"), "git config gpg.format ssh");
    }
    signing.git(&["config", "--unset", "gpg.format"]);
    signing.refuses("git signs with openpgp", "git config gpg.format ssh");
}

#[test]
fn locked_key_without_anyone_to_unlock_it_is_an_error() {
    let signing = Signing::new();
    let made = signing.0.keygen(&["-q", "-t", "ed25519", "-N", "passphrase", "-f", "locked"]);
    assert_eq!(made.code, Some(0), "{}", made.stderr);
    signing.set("user.signingkey", "~/locked");
    signing.refuses("passphrase", "unlock the key");
}

#[test]
fn key_whose_signatures_would_not_be_accepted_signs_nothing() {
    let signing = Signing::new();
    signing.0.make("short", &["rsa", "-b", "1024"]);
    signing.set("user.signingkey", "~/short.pub");
    signing.refuses("would not be accepted: an RSA key of 1024 bits is too short", "longer RSA key");

    signing.0.make("authority", &["ed25519"]);
    signing.0.make("key", &["ed25519"]);
    assert_eq!(signing.0.keygen(&["-q", "-s", "authority", "-I", "id", "key.pub"]).code, Some(0));
    std::fs::copy(signing.0.path("key"), signing.0.path("key-cert")).unwrap();
    signing.set("user.signingkey", "~/key-cert.pub");
    signing.refuses("would not be accepted: certificates", "not its certificate");
}

#[test]
fn program_that_signs_nothing_or_something_else_is_found_out() {
    let signing = Signing::new();
    signing.0.make("key", &["ed25519"]);
    signing.set("user.signingkey", "~/key");
    for (script, message, hint) in [
        ("exit 0", "has made no signature", "git config"),
        ("exit 1", "has made no signature", "git config"),
        ("printf 'device not found\\033[2J' >&2; exit 255", "signature: device not found; [2J", "touch it"),
        ("echo 'usage: ssh-keygen' >&2; exit 1", "usage", "OpenSSH 8.2"),
        // $7 is the message: git gives the arguments in this order, and so do we.
        ("echo nonsense > \"$7.sig\"", "has made no signature", "git config"),
        (
            "echo more >> \"$7\"; exec ssh-keygen \"$@\"",
            "not made by its key over these bytes",
            "signs what it is given",
        ),
        ("shift 4; exec ssh-keygen -Y sign -n git \"$@\"", "made for the namespace \"git\"", "signs what it is given"),
        ("ssh-keygen \"$@\"; exit 1", "has made no signature", "git config"),
    ] {
        signing.program(script);
        signing.refuses(message, hint);
    }
    signing.program("exec ssh-keygen \"$@\"");
    let line = read(&signing.0.path("key.pub")).trim().to_owned();
    signing.signs(&line, |_| {});
}
