//! What `verify` says of one commit, read from its JSON.

use serde_json::Value;

use crate::store::scratch::Ran;

/// What one commit came to.
#[derive(Debug)]
pub(crate) struct Judged {
    pub(crate) verdict: String,
    /// Empty without one.
    pub(crate) binding: String,
    /// The sessions that hold, in order of their names.
    pub(crate) sessions: Vec<String>,
    /// Whether every session that holds attests the change.
    pub(crate) rooted: bool,
    pub(crate) findings: Vec<Value>,
}

impl Judged {
    /// Whether a finding has this code.
    pub(crate) fn says(&self, code: &str) -> bool {
        self.findings.iter().any(|finding| finding["code"] == code)
    }

    /// It is proven by these sessions, bound like this.
    #[track_caller]
    pub(crate) fn is(&self, binding: &str, sessions: &[&str]) {
        assert_eq!((self.verdict.as_str(), self.binding.as_str()), ("pass", binding), "{self:#?}");
        assert_eq!(self.sessions, sessions, "{self:#?}");
        assert!(self.rooted, "{self:#?}");
    }

    /// No anchor is taken for its own, and a finding of this code tells so in words.
    #[track_caller]
    pub(crate) fn is_another_change(&self, code: &str) {
        assert_ne!(self.verdict, "pass", "{self:#?}");
        assert_eq!(self.binding, "", "{self:#?}");
        assert_eq!(self.sessions, [""; 0], "{self:#?}");
        assert!(self.says(code), "{self:#?}");
        assert!(self.findings.iter().all(|finding| finding["message"].as_str().is_some_and(|said| !said.is_empty())));
    }

    /// It asks for no proof and has none.
    #[track_caller]
    pub(crate) fn is_nobodys(&self) {
        assert_eq!((self.verdict.as_str(), self.binding.as_str()), ("exempt", ""), "{self:#?}");
        assert_eq!(self.sessions, [""; 0], "{self:#?}");
    }
}

#[track_caller]
pub(crate) fn judged(ran: &Ran) -> Judged {
    let outcome: Value = serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
    let commit = &outcome["commits"][0];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let verdict = text(&commit["verdict"]);
    let exit = match verdict.as_str() {
        "fail" | "missing" => 1,
        "unchecked" => 3,
        _ => 0,
    };
    assert_eq!(ran.exit, Some(exit), "{ran:?}");
    let holding: Vec<&Value> =
        commit["sessions"].as_array().unwrap().iter().filter(|session| session["holds"] == true).collect();
    let mut sessions: Vec<String> = holding.iter().map(|session| text(&session["session_id"])).collect();
    sessions.sort();
    sessions.dedup(); // one anchor for each commit
    Judged {
        verdict,
        binding: text(&commit["binding"]),
        sessions,
        rooted: holding.iter().all(|session| session["rooted"] == true),
        findings: commit["findings"].as_array().unwrap().clone(),
    }
}
