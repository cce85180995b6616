//! The policy file that is offered: the defaults, but it only advises until a team lets it refuse.

use crate::proof::marks;

/// Where it is, from the top of the worktree.
pub(crate) const POLICY: &str = ".proof/policy.toml";

/// The text that `init --policy` writes.
pub(super) fn offered() -> String {
    format!("{BEFORE}{}{AFTER}", marks::toml())
}

const BEFORE: &str = r#"# What git-proof asks of a change. The gate reads it from the tip of the base branch, so commit it there.

[proof_grade]            # which commits must be anchored
require = "marked"       # "marked": those with a Proof- trailer, or that a rule below names; "all"; "none"
# Regular expressions, each of which must match a whole line of the message: the marks that AI tools leave.
"#;

const AFTER: &str = r#"authors = []             # regular expressions on `name <email>`
paths = []               # globs such as "src/**": a commit that touches one
merges = false           # true: merges that git made by itself count as well

[gate]
mode = "advisory"        # everything is judged and shown; "enforce" also refuses: git proof policy enforce
branches = ["**"]        # what pre-receive guards

[proof]                  # what an anchor must show
schemes = ["v1", "v1-rfc9162"]
binding = "squashed"     # the weakest accepted: "squashed", "moved", "reworded", "exact"
evidence = "required"    # "optional": checked where it is there
rooted = true            # the evidence must attest the very change: no root can be lent to another one
reflection = "observed"  # or "stated": the agent or a person wrote the closing reflection, the tool did not observe it
signatures = 0           # how many people must have signed; .proof/allowed_signers lists their keys
sealed = false           # true: a seal that one of the sealers signed must list the anchor
sealers = []             # principals in .proof/allowed_signers
vouchers = []            # principals whose word (git proof vouch) is taken for a commit that no anchor fits
pin = ""                 # "12:<seal hash>": a seal that the chain of rounds must contain
"#;

#[cfg(test)]
#[allow(clippy::unwrap_used)] // tests
mod tests {
    use super::*;
    use crate::proof::policy::{GateMode, Policy};

    #[test]
    fn offered_policy_is_the_default_and_only_advises() {
        let mut advisory = Policy::default();
        advisory.gate.mode = GateMode::Advisory;
        assert_eq!(Policy::parse(offered().as_bytes()).unwrap(), advisory);
    }
}
