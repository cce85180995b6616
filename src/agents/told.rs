//! What an agent is told at the beginning of its session, in at most eighty words, and when it stops, if a setting asks for
//! that.

use crate::proof::record::Id;

/// What is worth recording, and where.
pub(super) fn context(session: &Id) -> String {
    format!(
        "git-proof records this work as session {session}. Your commits are attested by themselves; nothing has to be \
         opened or closed. Worth recording, with the tool thought_record (session_id \"{session}\", or none): each \
         decision with what you rejected and why (type decision), and, when the task is done, what was done and what \
         remains uncertain (type reflection). Leave out secrets: it is published with the commit."
    )
}

/// What is left to do.
pub(super) fn reminder(session: &Id) -> String {
    format!(
        "git-proof session {session} is open and has no reflection of yours. If the task is done, call thought_record with \
         session_id \"{session}\", type \"reflection\" and, as content, what was done, what was rejected and what remains \
         uncertain. On the command line: git proof record --session {session} --type reflection --content \"…\". If the \
         task goes on, go on: this reminder comes once."
    )
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // tests
mod tests {
    use super::*;

    #[test]
    fn context_has_at_most_eighty_words() {
        let session = Id::parse("1c2cb6fe-7bbc-4d85-adfd-d24a66b4a30b").unwrap();
        let words = context(&session).split_whitespace().count();
        assert!(words <= 80, "{words}");
    }
}
