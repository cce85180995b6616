//! Times as they are hashed: RFC 3339, UTC, milliseconds, `Z`. Reading the clock is someone else's work.

use std::fmt;

use super::schema::text_schema;

/// A time such as `2026-03-01T00:00:40.196Z`: 24 bytes whose order is the order of time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp([u8; 24]);

impl Timestamp {
    /// Reads the one accepted spelling of a time that exists.
    pub fn parse(text: &str) -> Option<Self> {
        let bytes: [u8; 24] = text.as_bytes().try_into().ok()?;
        let number = |from: usize, to: usize| {
            bytes[from..to]
                .iter()
                .try_fold(0u32, |sum, digit| digit.is_ascii_digit().then(|| sum * 10 + u32::from(digit - b'0')))
        };
        let marks = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':'), (19, b'.'), (23, b'Z')];
        let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
        let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
        number(20, 23)?;
        let exists = marks.iter().all(|&(at, mark)| bytes[at] == mark)
            && (1..=days_in_month(year, month)).contains(&day)
            && hour < 24
            && minute < 60
            && second < 60;
        exists.then_some(Self(bytes))
    }

    /// Seconds since the beginning of 1970, by the calendar.
    pub fn seconds(&self) -> i64 {
        let number =
            |from: usize, to: usize| self.0[from..to].iter().fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0'));
        // Counting years from March puts the leap day last.
        let (year, month) = match (number(0, 4), number(5, 7)) {
            (year, month @ 3..) => (year, month - 3),
            (year, month) => (year - 1, month + 9),
        };
        let days = year * 365 + year.div_euclid(4) - year.div_euclid(100)
            + year.div_euclid(400)
            + (month * 153 + 2) / 5
            + number(8, 10)
            - 719_469;
        days * 86_400 + number(11, 13) * 3600 + number(14, 16) * 60 + number(17, 19)
    }

    /// The 24 characters.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

fn days_in_month(year: u32, month: u32) -> u32 {
    match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => 29,
        2 => 28,
        _ => 0,
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Timestamp({self})")
    }
}

impl serde::Serialize for Timestamp {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

text_schema!(Timestamp: "Time", r"^\d{4}(-\d\d){2}T\d\d(:\d\d){2}\.\d{3}Z$");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_count_from_1970() {
        for (time, seconds) in [
            ("1970-01-01T00:00:00.000Z", 0),
            ("1969-12-31T23:59:59.999Z", -1),
            ("2000-02-29T12:00:00.000Z", 951_825_600),
            ("2026-03-01T00:00:40.196Z", 1_772_323_240),
            ("0000-01-01T00:00:00.000Z", -62_167_219_200),
        ] {
            assert_eq!(Timestamp::parse(time).map(|time| time.seconds()), Some(seconds), "{time}");
        }
    }

    #[test]
    fn one_spelling_of_a_time_that_exists_is_accepted() {
        for good in ["2026-03-01T00:00:40.196Z", "2024-02-29T23:59:59.999Z", "0000-01-01T00:00:00.000Z"] {
            assert_eq!(Timestamp::parse(good).map(|time| time.to_string()).as_deref(), Some(good));
        }
        for bad in [
            "",
            "2026-03-01T00:00:40Z",
            "2026-03-01T00:00:40.196+00:00",
            "2026-03-01 00:00:40.196Z",
            "2026-03-01t00:00:40.196z",
            "2026-02-29T00:00:40.196Z",
            "2100-02-29T00:00:40.196Z",
            "2026-13-01T00:00:40.196Z",
            "2026-00-01T00:00:40.196Z",
            "2026-04-31T00:00:40.196Z",
            "2026-03-00T00:00:40.196Z",
            "2026-03-01T24:00:00.000Z",
            "2026-03-01T00:00:60.000Z",
            "2026-03-01T00:00:40.1965Z",
            "+026-03-01T00:00:40.196Z",
        ] {
            assert_eq!(Timestamp::parse(bad), None, "{bad}");
        }
    }
}
