//! Errors: what happened, why, and what to do about it. Every error has a stable code, and the code an exit code.

use std::fmt;

use crate::hint::Hint;

/// The error of a failed command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// The stable name of what went wrong.
    pub code: Code,
    /// One line: what happened.
    pub message: String,
    /// Why, outermost first.
    pub causes: Vec<String>,
    /// What to do: a step where there is one.
    pub hint: Option<Hint>,
    /// More, for programs.
    pub details: Option<serde_json::Value>,
}

/// The answer of everything that can fail in a way that a person must act on.
pub type Result<T, E = Error> = std::result::Result<T, E>;

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident $text:literal $exit:literal)*) => {
        /// The stable names of what can go wrong.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Code {
            $($(#[$doc])* $name,)*
        }

        impl Code {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// The name that is printed.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)*
                }
            }

            /// The exit code of a command that ends with it.
            pub const fn exit_code(self) -> u8 {
                match self {
                    $(Self::$name => $exit,)*
                }
            }
        }
    };
}

codes! {
    /// An argument is missing or not what it should be.
    InvalidParams "INVALID_PARAMS" 2
    /// A session with this id exists.
    SessionExists "ERR_SESSION_EXISTS" 2
    /// There is no such session.
    SessionNotFound "ERR_SESSION_NOT_FOUND" 2
    /// The session is finalized: its tree is closed.
    AlreadyFinalized "ERR_ALREADY_FINALIZED" 1
    /// The session has no entries.
    NoRecords "ERR_NO_RECORDS" 1
    /// The session is not finalized yet.
    NotFinalized "ERR_NOT_FINALIZED" 1
    /// A proof-grade session must end in a reflection.
    ReflectionRequired "ERR_REFLECTION_REQUIRED" 1
    /// The session's chain or tree does not verify.
    ChainBroken "ERR_CHAIN_BROKEN" 1
    /// The session has been ended.
    SessionEnded "ERR_SESSION_ENDED" 1
    /// There is no such record.
    RecordNotFound "ERR_RECORD_NOT_FOUND" 2
    /// The parent of a record does not exist in its session.
    ParentNotFound "ERR_PARENT_NOT_FOUND" 2
    /// A text is larger than its limit.
    TooLarge "ERR_TOO_LARGE" 2
    /// A text holds a credential.
    SecretDetected "ERR_SECRET_DETECTED" 2
    /// There is nothing in a session's working memory to pack.
    NothingToPack "ERR_NOTHING_TO_PACK" 1
    /// Sessions of the round are still open.
    OpenSessions "ERR_OPEN_SESSIONS" 1
    /// There is no session that a round could seal.
    NothingToSeal "ERR_NOTHING_TO_SEAL" 1
    /// The chain of rounds does not hold.
    SealBroken "ERR_SEAL_BROKEN" 1
    /// The chain of rounds lacks a round that was there before.
    RoundsRolledBack "ERR_ROUNDS_ROLLED_BACK" 1
    /// There is no such round.
    RoundNotFound "ERR_ROUND_NOT_FOUND" 2
    /// The archive of a session is missing or is not what was archived.
    ArchiveDamaged "ERR_ARCHIVE_DAMAGED" 4
    /// A backup has sessions that are in the store with other content.
    ImportConflict "ERR_IMPORT_CONFLICT" 1
    /// Another writer held the store for too long.
    StoreBusy "ERR_STORE_BUSY" 4
    /// The store was written by a later version.
    StoreTooNew "ERR_STORE_TOO_NEW" 4
    /// The store cannot be read or written.
    StoreFailed "ERR_STORE_FAILED" 4
    /// Nothing has been recorded in the repository.
    NoStore "ERR_NO_STORE" 3
    /// The directory is in no git repository.
    NoRepository "ERR_NO_REPOSITORY" 3
    /// The repository is of a kind that cannot be opened, or may not be.
    RepositoryRefused "ERR_REPOSITORY_REFUSED" 3
    /// The repository cannot be read or written.
    RepositoryFailed "ERR_REPOSITORY_FAILED" 4
    /// There is no such commit.
    CommitNotFound "ERR_COMMIT_NOT_FOUND" 2
    /// An object is not in this clone.
    ObjectMissing "OBJECT_MISSING" 3
    /// An object is not what its id says, or not what git would write.
    ObjectDamaged "ERR_OBJECT_DAMAGED" 4
    /// An object, or what it leads to, is larger than this program reads.
    LimitReached "LIMIT_REACHED" 3
    /// A name means two things, such as a branch and a tag.
    NameAmbiguous "NAME_AMBIGUOUS" 2
    /// A remote cannot be reached, or does not take what it is given.
    RemoteFailed "ERR_REMOTE_FAILED" 4
    /// A policy cannot be read.
    PolicyUnreadable "POLICY_UNREADABLE" 3
    /// An inclusion proof does not hold.
    ProofInvalid "ERR_PROOF_INVALID" 1
    /// Commits that a person was to vouch for are not proven.
    NotProven "ERR_NOT_PROVEN" 1
    /// An evidence file does not hold.
    EvidenceInvalid "ERR_EVIDENCE_INVALID" 1
    /// A proof was given without a root and count to check it against.
    NoTrustedRoot "ERR_NO_TRUSTED_ROOT" 3
    /// A file cannot be read.
    Unreadable "ERR_UNREADABLE" 3
    /// A configuration file is not what its format asks for.
    ConfigInvalid "ERR_CONFIG_INVALID" 2
    /// A signature was asked for, and git is not set up to make one.
    SigningUnset "ERR_SIGNING_UNSET" 2
    /// No signature could be made.
    SigningFailed "ERR_SIGNING_FAILED" 4
    /// The answer could not be written.
    OutputFailed "ERR_OUTPUT_FAILED" 4
}

impl Error {
    /// An error without causes or hint.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), causes: Vec::new(), hint: None, details: None }
    }

    /// Adds why.
    #[must_use]
    pub fn because(mut self, cause: impl fmt::Display) -> Self {
        self.causes.push(cause.to_string());
        self
    }

    /// Says what to do.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<Hint>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds more for programs.
    #[must_use]
    pub fn details(mut self, details: serde_json::Value) -> Self {
        self.details = Some(details);
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        for cause in &self.causes {
            write!(f, ": {cause}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {}

/// The shape in which programs get it.
impl serde::Serialize for Error {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct as _;
        let mut object = serializer.serialize_struct("Error", 4)?;
        object.serialize_field("code", self.code.as_str())?;
        object.serialize_field("message", &self.to_string())?;
        object.serialize_field("hint", &self.hint)?;
        object.serialize_field("details", &self.details)?;
        object.end()
    }
}
