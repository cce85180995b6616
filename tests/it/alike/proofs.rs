//! Sessions, anchors, signatures and words that nobody recorded: made of the formats alone.

use std::borrow::Cow;

use ed25519_dalek::{Signer as _, SigningKey};
use git_proof::proof::anchor::Anchor;
use git_proof::proof::change::GitAttestation;
use git_proof::proof::digest::sha256;
use git_proof::proof::evidence::{self, Summary};
use git_proof::proof::note::{NoteLine, Signature};
use git_proof::proof::record::{Body, Entry, Id, Opening, RecordType, Withheld};
use git_proof::proof::scheme::Scheme;
use git_proof::proof::sshsig::NAMESPACE;
use git_proof::proof::word::{NamedSession, Word};

use super::place::{Made, now};

/// How a session is recorded.
#[derive(Debug, Clone, Copy)]
pub(super) struct Recorded {
    pub(super) scheme: Scheme,
    /// Whether a reflection closes it.
    pub(super) closed: bool,
    /// Whether its decision is withheld.
    pub(super) withheld: bool,
}

/// A session with its evidence.
#[derive(Debug, Clone)]
pub(super) struct Session {
    pub(super) text: String,
    pub(super) sum: Summary,
}

impl Session {
    /// A session that attests these changes.
    pub(super) fn new(id: &str, attested: &[GitAttestation], how: Recorded) -> Self {
        let opening = Opening {
            caller: "Ada".to_owned(),
            intent: "try it".to_owned(),
            proof_grade: how.closed,
            scheme: how.scheme,
            session_id: Id::parse(id).unwrap(),
            started_at: now(),
            task_id: None,
        };
        let line = opening.to_line();
        let mut prev_hash = how.scheme.genesis(line.as_bytes());
        let mut text = format!("{line}\n");
        let thought = |kind, content: &'static str| Body::Thought { kind, content: content.into(), task_id: None };
        let mut bodies = vec![thought(RecordType::Decision, "so and not otherwise")];
        bodies.extend(attested.iter().map(|said| Body::Attest { attest: Cow::Owned(said.to_text()) }));
        bodies.extend(how.closed.then(|| thought(RecordType::Reflection, "it is done")));
        for (at, body) in bodies.into_iter().enumerate() {
            let id = Id::parse(&format!("{id}.{at}")).unwrap();
            let entry = Entry { id, prev_hash, timestamp: now(), metadata: None, body };
            let line = entry.to_line();
            let content_hash = how.scheme.content_hash(line.as_bytes(), entry.body.text());
            text += &if how.withheld && at == 0 { Withheld { prev_hash, content_hash }.to_line() } else { line };
            text.push('\n');
            prev_hash = how.scheme.chain_hash(&content_hash, &prev_hash);
        }
        let sum = evidence::verify(text.as_bytes()).unwrap();
        Self { text, sum }
    }

    /// The anchor on a commit.
    pub(super) fn anchor(&self, on: &Made) -> Anchor {
        Anchor {
            anchored_at: now(),
            change_id: on.change.map(|ids| ids.wide),
            commit: on.id,
            count: self.sum.count,
            genesis: self.sum.genesis,
            head: self.sum.head,
            root: self.sum.root,
            scheme: self.sum.opening.scheme,
            session_id: self.sum.opening.session_id.clone(),
            task_id: None,
            tree: on.tree,
        }
    }

    /// The trailer that names it.
    pub(super) fn trailer(&self) -> String {
        let Summary { opening, root, count, .. } = &self.sum;
        format!("Proof-Root: {}:{}:{root}:{count}", opening.session_id, opening.scheme)
    }
}

/// The line of a note.
pub(super) fn line(anchor: &Anchor, signature: Option<Signature>) -> String {
    NoteLine::Anchor { anchor: Box::new(anchor.clone()), signature }.to_line().unwrap()
}

/// What a person says of a commit, signed.
pub(super) fn word(person: &Person, about: &Made, sessions: Vec<NamedSession>) -> String {
    let reason = "looked at it".to_owned();
    let word = Word { base: None, commit: about.id, head: None, reason, said_at: now(), sessions, tree: about.tree };
    let signature = person.sign(word.to_text().as_bytes());
    NoteLine::Word { word: Box::new(word), signature }.to_line().unwrap()
}

/// Somebody with a key.
pub(super) struct Person {
    name: &'static str,
    key: SigningKey,
}

impl Person {
    pub(super) fn named(name: &'static str) -> Self {
        Self { name, key: SigningKey::from_bytes(&sha256(name.as_bytes())) }
    }

    fn public(&self) -> Vec<u8> {
        [string("ssh-ed25519"), string(self.key.verifying_key().as_bytes())].concat()
    }

    /// A line of `allowed_signers`.
    pub(super) fn listed(&self, options: &str) -> String {
        format!("{}@x {options}ssh-ed25519 {}\n", self.name, Signature(self.public()).to_base64())
    }

    pub(super) fn sign(&self, text: &[u8]) -> Signature {
        let told = [string(NAMESPACE), string(""), string("sha256")].concat();
        let signed = self.key.sign(&[b"SSHSIG", &told[..], &string(sha256(text))].concat()).to_bytes();
        let signature = [string("ssh-ed25519"), string(signed)].concat();
        let version = 1_u32.to_be_bytes();
        Signature([b"SSHSIG", &version[..], &string(self.public()), &told, &string(signature)].concat())
    }
}

/// A string of SSH, with its length.
fn string(bytes: impl AsRef<[u8]>) -> Vec<u8> {
    let bytes = bytes.as_ref();
    [&u32::try_from(bytes.len()).unwrap().to_be_bytes()[..], bytes].concat()
}
