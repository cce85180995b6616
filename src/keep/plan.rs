//! In which zone a session is, and in which it should be. Pure: what is known of it comes in, a decision comes out.

use schemars::JsonSchema;
use serde::Serialize;

use super::settings::Limits;
use crate::proof::schema::names;
use crate::proof::timestamp::Timestamp;
use crate::store::{Kept, StoredZone};

names! {
    /// Where the texts of a session are.
    #[derive(JsonSchema)]
    #[schemars(rename_all = "lowercase")]
    pub enum Zone {
        /// In the store; its round is not sealed.
        Hot = "hot",
        /// In the store; its round is sealed.
        Warm = "warm",
        /// In an archive.
        Cold = "cold",
        /// Nowhere: only hashes are left.
        Frozen = "frozen",
    }
}

/// Why a session moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Because {
    /// As many rounds have been sealed since as `proof.warmRounds` says.
    Rounds,
    /// As many days have passed since as `proof.warmDays` says.
    Days,
    /// Someone asked for it.
    Asked,
}

/// When a session was sealed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sealing {
    pub(super) round: u64,
    pub(super) at: Timestamp,
}

/// The present, as far as it matters.
#[derive(Debug, Clone, Copy)]
pub(super) struct Present {
    pub(super) now: Timestamp,
    pub(super) newest: u64,
    pub(super) limits: Limits,
}

pub(super) fn zone(kept: &Kept, sealing: Option<&Sealing>) -> Zone {
    match kept.zone.as_ref().map(|row| row.zone) {
        Some(StoredZone::Frozen) => Zone::Frozen,
        Some(StoredZone::Cold) => Zone::Cold,
        Some(StoredZone::Warm) => Zone::Warm,
        None if sealing.is_some() => Zone::Warm,
        None => Zone::Hot,
    }
}

impl Present {
    /// Whole days since a time. A time that is still to come is now: a clock that was wrong makes nothing old.
    pub(super) fn days_since(&self, at: &Timestamp) -> u64 {
        u64::try_from(self.now.seconds() - at.seconds()).unwrap_or(0) / 86_400
    }

    /// Why a session that is warm should be cold by now, if it should. Where its texts were read back, both limits count
    /// from then on.
    pub(super) fn due(&self, kept: &Kept, sealing: &Sealing) -> Option<Because> {
        let (round, at) = match &kept.zone {
            Some(row) => (row.round.unwrap_or(self.newest).max(sealing.round), row.since.max(sealing.at)),
            None => (sealing.round, sealing.at),
        };
        if self.newest.saturating_sub(round) >= self.limits.warm_rounds {
            return Some(Because::Rounds);
        }
        (self.days_since(&at) >= self.limits.warm_days).then_some(Because::Days)
    }

    /// Whether a person should decide about the texts of a session that is cold.
    pub(super) fn is_undecided(&self, sealing: &Sealing) -> bool {
        self.days_since(&sealing.at) >= self.limits.warn_days
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proof::record::Id;
    use crate::store::{Held, ZoneRow};

    fn time(text: &str) -> Timestamp {
        Timestamp::parse(&format!("{text}T00:00:00.000Z")).unwrap_or_else(|| panic!("{text} is no day"))
    }

    fn present(now: &str, newest: u64) -> Present {
        Present { now: time(now), newest, limits: Limits { warm_rounds: 3, warm_days: 30, warn_days: 365 } }
    }

    fn kept(back: Option<(&str, Option<u64>)>) -> Kept {
        let session_id = Id::parse("s").unwrap_or_else(|| panic!("it is an id"));
        let zone = back.map(|(since, round)| {
            let archive = Some(Held { hash: crate::proof::digest::ArchiveHash::new([0; 32]), bytes: 1 });
            ZoneRow { zone: StoredZone::Warm, since: time(since), round, archive, settled: true }
        });
        Kept { session_id, root: None, records: 1, text_bytes: 1, zone }
    }

    fn sealed(round: u64, at: &str) -> Sealing {
        Sealing { round, at: time(at) }
    }

    #[test]
    fn the_first_limit_that_is_reached_decides() {
        let sealing = sealed(5, "2026-03-01");
        for (now, newest, due) in [
            ("2026-03-01", 5, None),
            ("2026-03-30", 7, None),
            ("2026-03-02", 8, Some(Because::Rounds)),
            ("2026-03-31", 5, Some(Because::Days)),
            ("2027-03-31", 99, Some(Because::Rounds)),
        ] {
            assert_eq!(present(now, newest).due(&kept(None), &sealing), due, "{now} {newest}");
        }
    }

    #[test]
    fn a_seal_of_the_future_is_of_today() {
        let sealing = sealed(5, "2099-01-01");
        assert_eq!(present("2026-03-01", 5).due(&kept(None), &sealing), None);
        assert!(!present("2026-03-01", 5).is_undecided(&sealing));
        assert_eq!(present("2026-03-01", 8).due(&kept(None), &sealing), Some(Because::Rounds));
    }

    #[test]
    fn what_was_read_back_counts_from_then() {
        let sealing = sealed(1, "2026-01-01");
        for (back, now, newest, due) in [
            (("2026-06-01", None), "2026-06-02", 50, None),
            (("2026-06-01", None), "2026-07-01", 50, Some(Because::Days)),
            (("2026-06-01", Some(50)), "2026-06-02", 52, None),
            (("2026-06-01", Some(50)), "2026-06-02", 53, Some(Because::Rounds)),
            (("2099-06-01", Some(50)), "2026-06-02", 50, None),
        ] {
            assert_eq!(present(now, newest).due(&kept(Some(back)), &sealing), due, "{back:?} {now} {newest}");
        }
    }

    #[test]
    fn a_person_is_asked_after_a_year() {
        let sealing = sealed(1, "2026-01-01");
        assert!(!present("2026-12-31", 1).is_undecided(&sealing));
        assert!(present("2027-01-01", 1).is_undecided(&sealing));
    }
}
