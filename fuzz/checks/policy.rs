//! Policy files.

use git_proof::proof::digest::SealHash;
use git_proof::proof::policy::{Pin, Policy};

/// A policy file.
pub fn policy(data: &[u8]) {
    match Policy::parse(data) {
        Ok(policy) => accepted(data, &policy),
        Err(error) => {
            let lines = data.split(|byte| *byte == b'\n').count();
            assert!(error.line <= lines, "{error} in a file of {lines} lines");
            assert!(!error.message.is_empty());
        }
    }
    if let Ok(text) = std::str::from_utf8(data)
        && let Some(pin) = Pin::parse(text)
    {
        assert_eq!(format!("{}:{}", pin.round, pin.seal), text);
    }
}

fn accepted(data: &[u8], policy: &Policy) {
    assert!(!policy.proof.schemes.is_empty());
    // A rule that is not known is refused wherever it stands.
    for unknown in ["\nunknown = 1\n", "\n[unknown]\n", "\n[proof.unknown]\n", "\n[[proof_grade.unknown]]\n"] {
        assert!(Policy::parse(&[data, unknown.as_bytes()].concat()).is_err(), "{unknown}");
    }
    assert_eq!(Policy::parse(&[data, b"\n# the end\n"].concat()).as_ref(), Ok(policy));
    if let Some(pin) = policy.proof.pin {
        let text = format!("{}:{}", pin.round, pin.seal);
        assert_eq!(Pin::parse(&text), Some(pin));
        assert_eq!(SealHash::parse(&pin.seal.to_string()), Some(pin.seal));
    }
}
