//! Draws credentials: the same in every run, and nobody's.

const DIGITS: &str = "0123456789";
const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// A xorshift generator.
pub(super) struct Draw(u64);

impl Draw {
    pub(super) fn new(seed: u64) -> Self {
        let mut draw = Self(seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        for _ in 0..8 {
            draw.next();
        }
        draw
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below a limit.
    pub(super) fn below(&mut self, limit: usize) -> usize {
        usize::try_from((self.next() >> 16) % limit as u64).unwrap()
    }

    /// One of these.
    pub(super) fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }

    /// So many characters of these alphabets.
    pub(super) fn of(&mut self, length: usize, alphabets: &[&str]) -> String {
        let all: Vec<char> = alphabets.concat().chars().collect();
        (0..length).map(|_| all[self.below(all.len())]).collect()
    }

    pub(super) fn digits(&mut self, length: usize) -> String {
        self.of(length, &[DIGITS])
    }

    pub(super) fn hex(&mut self, length: usize) -> String {
        self.of(length, &[DIGITS, "abcdef"])
    }

    pub(super) fn lower(&mut self, length: usize) -> String {
        self.of(length, &[DIGITS, LOWER])
    }

    pub(super) fn upper(&mut self, length: usize) -> String {
        self.of(length, &[DIGITS, UPPER])
    }

    pub(super) fn letters(&mut self, length: usize) -> String {
        self.of(length, &[LOWER, UPPER])
    }

    /// Letters and digits.
    pub(super) fn word(&mut self, length: usize) -> String {
        self.of(length, &[DIGITS, LOWER, UPPER])
    }

    /// The alphabet of base64 for URLs.
    pub(super) fn safe(&mut self, length: usize) -> String {
        self.of(length, &[DIGITS, LOWER, UPPER, "-_"])
    }

    pub(super) fn base64(&mut self, length: usize) -> String {
        self.of(length, &[DIGITS, LOWER, UPPER, "+/"])
    }

    /// The alphabet of base32.
    pub(super) fn base32(&mut self, length: usize) -> String {
        self.of(length, &[UPPER, "234567"])
    }

    pub(super) fn uuid(&mut self) -> String {
        [self.hex(8), self.hex(4), format!("4{}", self.hex(3)), format!("a{}", self.hex(3)), self.hex(12)].join("-")
    }

    /// A password as a generator of passwords makes it: all classes of characters, without quotation marks.
    pub(super) fn password(&mut self) -> String {
        let mut parts =
            [self.of(3, &[UPPER]), self.of(5, &[LOWER]), self.of(3, &[DIGITS]), self.of(2, &["!@#*^+?"])].concat();
        for at in (1..parts.len()).rev() {
            let other = self.below(at + 1);
            let mut bytes = parts.into_bytes();
            bytes.swap(at, other);
            parts = String::from_utf8(bytes).unwrap();
        }
        parts
    }

    /// A password as a person makes it: a word with other letters in it, a year, a mark.
    pub(super) fn chosen(&mut self) -> String {
        let word = self
            .one(&["Tr0mbone", "V1olin", "Sn0wdrop", "Gl4cier", "Lant3rn", "B1cycle", "Harbour", "Orch1d", "Pelican"]);
        format!("{word}{}{}", 2016 + self.below(10), self.one(&["!", "#", "?", "*"]))
    }

    /// A password of letters and digits, as it can be in a URL.
    pub(super) fn url_password(&mut self) -> String {
        let length = 12 + self.below(9);
        self.word(length)
    }

    /// A PEM block of this label.
    pub(super) fn pem(&mut self, label: &str, lines: usize) -> String {
        let dashes = "-".repeat(5);
        let mut body: Vec<String> = (0..lines).map(|_| self.base64(64)).collect();
        body.push(format!("{}==", self.base64(30)));
        format!("{dashes}BEGIN {label}{dashes}\n{}\n{dashes}END {label}{dashes}\n", body.join("\n"))
    }
}

/// Encodes bytes in base64.
pub(super) fn to_base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let bits = chunk.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for at in 0..4 {
            let letter = ALPHABET[usize::try_from(bits >> (18 - 6 * at) & 63).unwrap()];
            text.push(if at <= chunk.len() { char::from(letter) } else { '=' });
        }
    }
    text
}
