//! The text in which ssh-keygen writes a signature to a file: base64 between two marks. Notes hold the base64 alone.

use crate::proof::note::Signature;

const BEGIN: &str = "-----BEGIN SSH SIGNATURE-----";
const END: &str = "-----END SSH SIGNATURE-----";

/// Characters on a line of base64.
const WIDTH: usize = 70;

/// The text that `ssh-keygen -Y verify -s` reads.
pub fn to_armour(signature: &Signature) -> String {
    let base64 = signature.to_base64();
    let mut text = format!("{BEGIN}\n");
    let mut rest = base64.as_str();
    while !rest.is_empty() {
        let (line, after) = rest.split_at(rest.len().min(WIDTH));
        text.push_str(line);
        text.push('\n');
        rest = after;
    }
    text + END + "\n"
}

/// Reads that text. Lines may have any length and end in CRLF: programs that stand in for ssh-keygen differ in that.
pub fn from_armour(text: &str) -> Option<Signature> {
    let mut lines = text.trim_ascii().lines();
    if lines.next() != Some(BEGIN) || lines.next_back() != Some(END) {
        return None;
    }
    Signature::from_base64(&lines.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn armour_is_read_back() {
        for length in [1, 51, 52, 53, 54, 105, 300] {
            let signature = Signature((0..=u8::MAX).cycle().take(length).collect());
            let text = to_armour(&signature);
            assert!(text.lines().all(|line| line.len() <= WIDTH));
            assert_eq!(from_armour(&text), Some(signature.clone()));
            assert_eq!(from_armour(&text.replace('\n', "\r\n")), Some(signature));
        }
        for bad in ["", BEGIN, "-----BEGIN SSH SIGNATURE-----\n-----END SSH SIGNATURE-----\n", "TWFu"] {
            assert_eq!(from_armour(bad), None, "{bad}");
        }
    }
}
