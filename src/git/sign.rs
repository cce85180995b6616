//! Signing with the user's git signing key: the settings, the programs and the files are those of `git commit -S` with
//! `gpg.format=ssh`, so agents, hardware tokens and programs that stand in for ssh-keygen work as they do there.
//!
//! `gpg.ssh.program` may come from the repository's own configuration, and is run. That is the trust that git gives to
//! it as well when a person signs a commit there; nothing here runs unless a signature is asked for.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::process::{ask, worktree_root};
use super::scratch::Scratch;
use crate::access::owned_name;
use crate::context::Context;
use crate::error::{Code, Error, Result};
use crate::hint::{Hint, Step, hint};
use crate::proof::note::Signature;
use crate::proof::sshsig::{self, KeyError, NAMESPACE, SignatureError};

/// Signs these bytes, those of an anchor or a seal. What this answers has been checked as a reader would check it.
pub fn sign(context: &Context, bytes: &[u8]) -> Result<Signature> {
    let format = setting(context, "gpg.format", &[]).unwrap_or_else(|| "openpgp".into());
    if format != "ssh" {
        return Err(unset(format!("git signs with {}, and anchors take SSH signatures", format.display())).hint(
            hint!(
                Step::GitConfig("gpg.format".into(), "ssh".into()), " makes git sign with SSH";
                Step::GitConfigKey, " names your key"
            ),
        ));
    }
    let key = signing_key(context)?;
    let folder = Scratch::new(context).map_err(|error| unwritable(&context.temporary_directory(), &error))?;
    let signature = run(context, &folder, &key, bytes)?;
    sshsig::verify(&signature.0, bytes, NAMESPACE).map_err(|error| {
        let hint = match error {
            SignatureError::Key(KeyError::Certificate) => "let user.signingkey name the key, not its certificate",
            SignatureError::Key(_) | SignatureError::Algorithm => "sign with an Ed25519, ECDSA or longer RSA key",
            _ => "check that gpg.ssh.program signs what it is given, or unset it",
        };
        failed("the signature that was made would not be accepted").because(error).hint(hint)
    })?;
    Ok(signature)
}

/// A key as `ssh-keygen -f` wants it.
enum SigningKey {
    /// A file, of a private key or of a public one whose private key is beside it or in the agent.
    File(OsString),
    /// The public key itself; the private one is in the agent.
    Literal(Vec<u8>),
}

/// The key that git would sign with.
fn signing_key(context: &Context) -> Result<SigningKey> {
    // `--type=path` expands `~/`, and leaves a literal key alone.
    if let Some(set) = setting(context, "user.signingkey", &["--type=path"]).filter(|set| !set.is_empty()) {
        return Ok(literal(set.as_encoded_bytes()).map_or(SigningKey::File(set.clone()), SigningKey::Literal));
    }
    let Some(command) = setting(context, "gpg.ssh.defaultKeyCommand", &[]).filter(|command| !command.is_empty()) else {
        return Err(unset("there is no signing key")
            .hint(hint!(Step::GitConfigKey, " names a key of yours; write its path if it is another one")));
    };
    let shown = format!("gpg.ssh.defaultKeyCommand {:?}", command.display());
    let words = command.to_str().and_then(split_words).filter(|words| !words.is_empty());
    let words = words.ok_or_else(|| failed(format!("{shown} is not a command")).hint("correct its quotes"))?;
    let output = program(context, &words[0], &words[1..])?;
    let key = output.stdout.split(|byte| *byte == b'\n').next().and_then(literal).filter(|_| output.status.success());
    let key = key.ok_or_else(|| {
        because(failed(format!("{shown} gives no key")), &output.stderr)
            .hint("it must print a public key, such as one that the SSH agent has")
    })?;
    Ok(SigningKey::Literal(key))
}

/// The key that a setting holds rather than names, as git tells the two apart.
fn literal(set: &[u8]) -> Option<Vec<u8>> {
    let key = set.strip_prefix(b"key::").or_else(|| set.starts_with(b"ssh-").then_some(set))?;
    (!key.trim_ascii().is_empty()).then(|| key.to_vec())
}

/// Has the bytes signed in a file, which is how git calls the program: not all that stand in for it read their input.
fn run(context: &Context, folder: &Scratch, key: &SigningKey, bytes: &[u8]) -> Result<Signature> {
    let message = write(folder, "message", bytes)?;
    let mut arguments: Vec<OsString> = ["-Y", "sign", "-n", NAMESPACE, "-f"].map(OsString::from).to_vec();
    match key {
        SigningKey::File(path) => arguments.push(path.clone()),
        SigningKey::Literal(key) => {
            arguments.push(write(folder, "key.pub", &[key, &b"\n"[..]].concat())?.into());
            arguments.push("-U".into());
        }
    }
    arguments.push(message.clone().into());
    let set = setting(context, "gpg.ssh.program", &["--type=path"]).filter(|set| !set.is_empty());
    let name = set.unwrap_or_else(|| "ssh-keygen".into());
    let output = program(context, &name, &arguments)?;
    let armour = fs::read_to_string(message.with_extension("sig"));
    let signature = armour.ok().filter(|_| output.status.success()).and_then(|text| sshsig::from_armour(&text));
    signature.ok_or_else(|| {
        let said = String::from_utf8_lossy(&output.stderr).to_lowercase();
        because(failed(format!("{} has made no signature", name.display())), &output.stderr).hint(advice(&said))
    })
}

/// The hint for an error message of ssh-keygen.
fn advice(said: &str) -> Hint {
    let says = |words: &[&str]| words.iter().any(|word| said.contains(word));
    if says(&["usage:", "unknown option", "illegal option"]) {
        hint!("signing takes OpenSSH 8.2 or later")
    } else if says(&["passphrase"]) {
        hint!("unlock the key for the SSH agent, then run it again")
    } else if says(&["device not found", "user presence", "requested feature not supported"]) {
        hint!("plug in the hardware token, and touch it when it blinks")
    } else if says(&["no such file"]) {
        hint!(Step::GitConfigShow("user.signingkey".into()), " shows the key that it looked for")
    } else if says(&["agent socket", "key in agent", "agent refused", "no private key found"]) {
        hint!("start the SSH agent, and add the key to it")
    } else {
        hint!(Step::GitConfigSigning, " shows what git signs with")
    }
}

/// Runs a program where git would: at the top of the worktree. Its input is ours to keep, its prompts go to the terminal.
fn program(context: &Context, name: &OsString, arguments: &[OsString]) -> Result<std::process::Output> {
    let directory = worktree_root(context).unwrap_or_else(|| context.directory.clone());
    let output = Command::new(name).args(arguments).current_dir(directory).stdin(Stdio::null()).output();
    output.map_err(|error| {
        let hint = "install OpenSSH, or let gpg.ssh.program name a program that signs as its ssh-keygen does";
        failed(format!("cannot run {}", name.display())).because(error).hint(hint)
    })
}

/// A setting of git; `None` if it is not set.
fn setting(context: &Context, name: &str, kind: &[&str]) -> Option<OsString> {
    let mut value = ask(context, &[&["config", "-z"], kind, &["--get", name]].concat())?;
    value.pop_if(|byte| *byte == 0);
    Some(owned_name(value))
}

/// The words of a command line, as git splits it: quotes and backslashes as in a shell, nothing else.
fn split_words(line: &str) -> Option<Vec<OsString>> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        match (character, quote) {
            (' ' | '\t' | '\n', None) => words.extend(word.take().map(OsString::from)),
            ('\'' | '"', None) => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            (end, Some(open)) if end == open => quote = None,
            ('\\', None | Some('"')) => word.get_or_insert_default().push(characters.next()?),
            _ => word.get_or_insert_default().push(character),
        }
    }
    words.extend(word.map(OsString::from));
    quote.is_none().then_some(words)
}

fn unset(message: impl Into<String>) -> Error {
    Error::new(Code::SigningUnset, message)
}

fn failed(message: impl Into<String>) -> Error {
    Error::new(Code::SigningFailed, message)
}

/// Adds what a program said, on one line and without what could move a terminal's cursor.
fn because(error: Error, stderr: &[u8]) -> Error {
    let said = String::from_utf8_lossy(stderr);
    let said: Vec<&str> =
        said.split(|character: char| character.is_control()).filter(|line| !line.is_empty()).collect();
    if said.is_empty() { error } else { error.because(said.join("; ")) }
}

/// Writes a file that the program reads.
fn write(folder: &Scratch, name: &str, bytes: &[u8]) -> Result<PathBuf> {
    let path = folder.path.join(name);
    fs::write(&path, bytes).map_err(|error| unwritable(&path, &error))?;
    Ok(path)
}

fn unwritable(path: &Path, error: &std::io::Error) -> Error {
    failed(format!("cannot write {}", path.display())).because(error).hint("let TMPDIR name a folder with space in it")
}
