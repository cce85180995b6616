//! Errors: what happened, why, and what to do about it. Every error has a stable code, and the code an exit code.

use std::fmt;

/// What a failed command answers with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// The stable name of what went wrong.
    pub code: Code,
    /// One line: what happened.
    pub message: String,
    /// Why, outermost first.
    pub causes: Vec<String>,
    /// What to do: a command where there is one.
    pub hint: Option<String>,
    /// More, for programs.
    pub details: Option<serde_json::Value>,
}

/// The answer of everything that can fail in a way that a person must act on.
pub type Result<T> = std::result::Result<T, Error>;

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
    /// An inclusion proof does not hold.
    ProofInvalid "ERR_PROOF_INVALID" 1
    /// An evidence file does not hold.
    EvidenceInvalid "ERR_EVIDENCE_INVALID" 1
    /// A proof was given without a root and count to check it against.
    NoTrustedRoot "ERR_NO_TRUSTED_ROOT" 3
    /// A file cannot be read.
    Unreadable "ERR_UNREADABLE" 3
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
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
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
