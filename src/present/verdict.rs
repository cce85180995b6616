//! The words of the six verdicts.

use crate::judge::Summary;
use crate::proof::finding::{Severity, Verdict};
use crate::proof::text;

/// The order in which verdicts are counted.
pub const ORDER: [Verdict; 6] =
    [Verdict::Pass, Verdict::Vouched, Verdict::Missing, Verdict::Fail, Verdict::Unchecked, Verdict::Exempt];

/// The words for what a vouched commit has instead of a proof.
pub const WORD_OF_A_PERSON: &str = "a person's word, not a proof";

/// The verdict on one commit.
pub const fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "proven",
        Verdict::Vouched => "vouched",
        Verdict::Missing => "missing",
        Verdict::Fail => "failed",
        Verdict::Unchecked => "could not check",
        Verdict::Exempt => "not required",
    }
}

/// The words after a number of commits with this verdict.
pub const fn counted(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Unchecked => "could not be checked",
        Verdict::Pass | Verdict::Vouched | Verdict::Missing | Verdict::Fail | Verdict::Exempt => word(verdict),
    }
}

/// The verdict on a range that has commits, to stand after a colon; [`capitalized`] makes a headline of it.
pub const fn headline(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "proven",
        Verdict::Vouched => "vouched for, not proven",
        Verdict::Missing => "a required proof is missing",
        Verdict::Fail => "failed",
        Verdict::Unchecked => "could not check",
        Verdict::Exempt => "no proof required",
    }
}

/// The verdict on a range, which may be empty.
pub fn range_headline(verdict: Verdict, summary: &Summary) -> &'static str {
    if total(summary) == 0 { "nothing to judge" } else { headline(verdict) }
}

/// The exit code of every command that judges: `verify`, `show`, `log`, `report`, and `gate` where it is enforced.
pub const fn exit_code(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Pass | Verdict::Vouched | Verdict::Exempt => 0,
        Verdict::Fail | Verdict::Missing => 1,
        Verdict::Unchecked => 3,
    }
}

/// The sign of a verdict. Only a proof has a check mark.
pub const fn sign(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "✔",
        Verdict::Vouched => "~",
        Verdict::Missing | Verdict::Fail => "✘",
        Verdict::Unchecked => "?",
        Verdict::Exempt => "·",
    }
}

/// The sign of a verdict where only ASCII can be shown.
pub const fn plain_sign(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "+",
        Verdict::Vouched => "~",
        Verdict::Missing | Verdict::Fail => "!",
        Verdict::Unchecked => "?",
        Verdict::Exempt => "-",
    }
}

/// How many commits stand how: `18 proven, 2 missing`.
pub fn counts(summary: &Summary) -> String {
    let counted = |verdict: &Verdict| {
        let count = count(summary, *verdict);
        (count > 0).then(|| format!("{count} {}", counted(*verdict)))
    };
    let counts: Vec<String> = ORDER.iter().filter_map(counted).collect();
    if counts.is_empty() { "no commits".to_owned() } else { counts.join(", ") }
}

/// The same as a sentence without its full stop: `20 commits: 18 proven, 2 missing`.
pub fn commits(summary: &Summary) -> String {
    match total(summary) {
        0 => "The range has no commits".to_owned(),
        all => format!("{}: {}", text::counted(all, "commit", "commits"), counts(summary)),
    }
}

/// How a range stands, in a line of numbers: `18 of 20 proven · 2 missing · 4 open questions`.
pub fn standing(summary: &Summary, open_questions: usize) -> String {
    let all = total(summary);
    let mut parts = vec![match (all, summary.pass) {
        (0, _) => "no commits".to_owned(),
        (_, 0) => text::counted(all, "commit", "commits"),
        (_, proven) => format!("{proven} of {all} {}", word(Verdict::Pass)),
    }];
    for verdict in ORDER.into_iter().filter(|verdict| *verdict != Verdict::Pass) {
        let count = count(summary, verdict);
        if count > 0 {
            parts.push(format!("{count} {}", counted(verdict)));
        }
    }
    if open_questions > 0 {
        parts.push(text::counted(open_questions, "open question", "open questions"));
    }
    parts.join(" · ")
}

/// What a finding is called by its severity.
pub const fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Unchecked => "could not check",
        Severity::Warning => "note",
    }
}

/// How the evidence of a session stands, for people. Programs get the word that is given here.
pub fn evidence(word: &str) -> &str {
    match word {
        "verified" => "evidence adds up",
        "missing" => "evidence missing",
        "not_fetched" => "evidence not fetched",
        "broken" => "evidence does not add up",
        "not_checked" => "evidence could not be checked",
        other => other,
    }
}

/// A text with a capital letter at its start.
pub fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

const fn count(summary: &Summary, verdict: Verdict) -> u64 {
    match verdict {
        Verdict::Pass => summary.pass,
        Verdict::Vouched => summary.vouched,
        Verdict::Missing => summary.missing,
        Verdict::Fail => summary.fail,
        Verdict::Unchecked => summary.unchecked,
        Verdict::Exempt => summary.exempt,
    }
}

fn total(summary: &Summary) -> u64 {
    ORDER.iter().map(|verdict| count(summary, *verdict)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_name_what_there_is_and_nothing_else() {
        let summary = Summary { pass: 18, missing: 2, ..Summary::default() };
        assert_eq!(counts(&summary), "18 proven, 2 missing");
        assert_eq!(commits(&summary), "20 commits: 18 proven, 2 missing");
        let all = Summary { pass: 1, vouched: 2, missing: 3, fail: 4, exempt: 5, unchecked: 6 };
        let said = "1 proven, 2 vouched, 3 missing, 4 failed, 6 could not be checked, 5 not required";
        assert_eq!(counts(&all), said);
        let one = Summary { vouched: 1, ..Summary::default() };
        assert_eq!(commits(&one), "1 commit: 1 vouched");
        assert_eq!(commits(&Summary::default()), "The range has no commits");
        assert_eq!(range_headline(Verdict::Exempt, &Summary::default()), "nothing to judge");
        assert_eq!(standing(&summary, 4), "18 of 20 proven · 2 missing · 4 open questions");
        assert_eq!(standing(&one, 1), "1 commit · 1 vouched · 1 open question");
        assert_eq!(
            standing(&Summary { fail: 2, exempt: 1, ..Summary::default() }, 0),
            "3 commits · 2 failed · 1 not required"
        );
        assert_eq!(standing(&Summary::default(), 0), "no commits");
    }

    #[test]
    fn no_two_verdicts_share_a_word_and_only_a_proof_has_a_check_mark() {
        for one in ORDER {
            for other in ORDER.into_iter().filter(|other| *other != one) {
                assert_ne!(word(one), word(other));
                assert_ne!(counted(one), counted(other));
                assert_ne!(headline(one), headline(other));
            }
            assert_eq!(sign(one) == "✔", one == Verdict::Pass);
            assert_eq!(plain_sign(one) == "+", one == Verdict::Pass);
        }
        assert_eq!(capitalized(headline(Verdict::Missing)), "A required proof is missing");
    }
}
