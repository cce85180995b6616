//! How git stores objects, written down here once more: ids, deltas, the entries of a pack and its index.

use git_proof::proof::digest::{ObjectId, sha256};

/// Bytes of an id.
pub(super) const ID: usize = 32;

/// An object of a pack, as it is and as it is stored.
pub(super) struct Object {
    pub(super) id: ObjectId,
    /// `None` if it cannot be told what it is.
    pub(super) content: Option<Vec<u8>>,
    pub(super) kind: &'static str,
    pub(super) place: usize,
}

pub(super) fn id_of(kind: &str, content: &[u8]) -> ObjectId {
    let whole = [format!("{kind} {}\0", content.len()).as_bytes(), content].concat();
    ObjectId::from_bytes(&sha256(&whole)).expect("an id")
}

/// What a delta without its sizes makes of its base: git's own description, step by step.
pub(super) fn apply(base: &[u8], mut delta: &[u8]) -> Option<Vec<u8>> {
    let mut made = Vec::new();
    while let Some((order, rest)) = delta.split_first() {
        delta = rest;
        if order & 0x80 == 0 {
            let (new, rest) = delta.split_at_checked(usize::from(*order)).filter(|_| *order != 0)?;
            made.extend_from_slice(new);
            delta = rest;
            continue;
        }
        let mut numbers = [0_u8; 8];
        for (bit, number) in numbers[..7].iter_mut().enumerate() {
            if order & 1 << bit != 0 {
                let (next, rest) = delta.split_first()?;
                (*number, delta) = (*next, rest);
            }
        }
        let both = u64::from_le_bytes(numbers);
        let from = usize::try_from(both & 0xffff_ffff).ok()?;
        let length = usize::try_from(both >> 32).ok().filter(|length| *length > 0).unwrap_or(0x10000);
        made.extend_from_slice(base.get(from..from + length)?);
        // Enough for whoever looks for mistakes.
        if made.len() > 1 << 20 {
            return None;
        }
    }
    Some(made)
}

/// The lowest bits of a number.
fn bits(number: usize, mask: u8) -> u8 {
    u8::try_from(number & usize::from(mask)).expect("a few bits")
}

/// A number in groups of seven bits, the lowest first.
pub(super) fn varint(bytes: &mut Vec<u8>, mut number: usize) {
    while number > 0x7f {
        bytes.push(bits(number, 0x7f) | 0x80);
        number >>= 7;
    }
    bytes.push(bits(number, 0x7f));
}

/// What comes before an entry of a pack.
pub(super) fn head(bytes: &mut Vec<u8>, kind: u8, size: usize) {
    let more = size >> 4;
    bytes.push(kind << 4 | bits(size, 15) | u8::from(more > 0) << 7);
    if more > 0 {
        varint(bytes, more);
    }
}

/// How far back something is, as packs have it: each further byte adds one to what comes before it.
pub(super) fn distance(bytes: &mut Vec<u8>, mut back: usize) {
    let mut digits = vec![bits(back, 0x7f)];
    back >>= 7;
    while back > 0 {
        back -= 1;
        digits.push(bits(back, 0x7f) | 0x80);
        back >>= 7;
    }
    bytes.extend(digits.iter().rev());
}

/// A zlib stream that compresses nothing.
pub(super) fn stored(content: &[u8]) -> Vec<u8> {
    let mut stream = vec![0x78, 0x01];
    let mut parts = content.chunks(0xffff).peekable();
    if parts.peek().is_none() {
        stream.extend([1, 0, 0, 0xff, 0xff]);
    }
    while let Some(part) = parts.next() {
        let length = u16::try_from(part.len()).expect("a part");
        stream.push(u8::from(parts.peek().is_none()));
        stream.extend(length.to_le_bytes());
        stream.extend((!length).to_le_bytes());
        stream.extend_from_slice(part);
    }
    let (mut one, mut two) = (1_u32, 0_u32);
    for byte in content {
        one = (one + u32::from(*byte)) % 65521;
        two = (two + one) % 65521;
    }
    stream.extend((two << 16 | one).to_be_bytes());
    stream
}

/// The index, version 2, of objects that are sorted by their ids.
pub(super) fn index(objects: &[Object], sum: &[u8]) -> Vec<u8> {
    let number = |number: usize| u32::try_from(number).expect("a small pack").to_be_bytes();
    let mut index = b"\xfftOc\0\0\0\x02".to_vec();
    for first in 0..=255_u8 {
        index.extend(number(objects.iter().filter(|object| object.id.as_bytes()[0] <= first).count()));
    }
    for object in objects {
        index.extend_from_slice(object.id.as_bytes());
    }
    index.extend(vec![0; 4 * objects.len()]);
    for object in objects {
        index.extend(number(object.place));
    }
    index.extend_from_slice(sum);
    let own = sha256(&index);
    index.extend_from_slice(&own);
    index
}
