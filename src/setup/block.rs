//! A hook's script, edited as bytes: our block goes in after the shebang, so that an early `exit` of what follows does
//! not skip it, and comes out again without a trace.

use super::json::Problem;
use super::script::{BEGIN, END, SHEBANG};

/// How the first line of a block ends in a file that was there before us: such a file is never removed.
const ADDED: &str = " added to a hook that was here before";

const SHELLS: [&[u8]; 7] = [b"sh", b"bash", b"dash", b"ash", b"ksh", b"mksh", b"zsh"];

/// Where a block is: from its first byte to the one after its last line.
#[derive(Debug, Clone, Copy)]
struct Place {
    start: usize,
    end: usize,
}

/// Whether a script is one for a shell that understands our line.
pub(super) fn is_shell(text: &[u8]) -> bool {
    let first = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let Some(command) = first.strip_prefix(b"#!") else { return false };
    let mut words = command.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let name = |word: &[u8]| word.rsplit(|byte| *byte == b'/').next().unwrap_or_default().to_vec();
    let mut program = words.next().map(name);
    if matches!(program.as_deref(), Some(b"env" | b"busybox")) {
        program = words.find(|word| !word.starts_with(b"-") && !word.contains(&b'=')).map(name);
    }
    !first.ends_with(b"\r") && program.is_some_and(|program| SHELLS.contains(&&program[..]))
}

/// Whether our block is in a script.
pub(super) fn is_in(text: &[u8]) -> bool {
    find(text, 0).map_or(true, |place| place.is_some())
}

/// The script with our block in it: in its place if it is there, whatever its text, else after the shebang.
pub(super) fn add(text: Option<&[u8]>, line: &[u8]) -> Result<Vec<u8>, Problem> {
    let block = |begin: &[u8]| [begin, b"\n", line, b"\n", END.as_bytes()].concat();
    let Some(text) = text else {
        return Ok([SHEBANG.as_bytes(), &block(BEGIN.as_bytes()), b"\n"].concat());
    };
    if let Some(place) = find(text, 0)? {
        let begin = text[place.start..].split(|byte| *byte == b'\n').next().unwrap_or_default();
        let newline: &[u8] = if text[..place.end].ends_with(b"\n") { b"\n" } else { b"" };
        let rest = strip(&text[place.end..])?; // of a second block, should there be one
        return Ok([&text[..place.start], &block(begin), newline, &rest].concat());
    }
    let block = block(format!("{BEGIN}{ADDED}").as_bytes());
    Ok(match text.iter().position(|byte| *byte == b'\n') {
        Some(at) => [&text[..=at], &block, b"\n", &text[at + 1..]].concat(),
        None => [text, b"\n", &block].concat(),
    })
}

/// The script without our block; `None` if nothing is left that was not ours.
pub(super) fn take_out(text: &[u8]) -> Result<Option<Vec<u8>>, Problem> {
    let Some(place) = find(text, 0)? else { return Ok(Some(text.to_vec())) };
    let was_there = text[place.start..place.end].starts_with(format!("{BEGIN}{ADDED}").as_bytes());
    let rest = strip(text)?;
    Ok((was_there || rest != SHEBANG.as_bytes()).then_some(rest))
}

fn strip(text: &[u8]) -> Result<Vec<u8>, Problem> {
    let mut rest = text.to_vec();
    while let Some(mut place) = find(&rest, 0)? {
        // A script without a final newline got one before the block, and has to lose it again.
        if !rest[..place.end].ends_with(b"\n") {
            place.start = place.start.saturating_sub(1);
        }
        rest.drain(place.start..place.end);
    }
    Ok(rest)
}

fn find(text: &[u8], from: usize) -> Result<Option<Place>, Problem> {
    let mut begun = None;
    let mut at = from;
    for line in text[from..].split_inclusive(|byte| *byte == b'\n') {
        let next = at + line.len();
        match begun {
            None if line.starts_with(BEGIN.as_bytes()) => begun = Some(at),
            Some(start) if line.trim_ascii_end() == END.as_bytes() => return Ok(Some(Place { start, end: next })),
            _ => {}
        }
        at = next;
    }
    if begun.is_some() { Err(format!("the line {BEGIN:?} has no {END:?} after it")) } else { Ok(None) }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // tests
mod tests {
    use super::*;

    #[test]
    fn what_is_put_in_comes_out_without_a_trace() {
        for text in
            ["#!/bin/sh\n", "#!/bin/sh", "#!/bin/sh\nexit 0", "#!/usr/bin/env bash\n\nx\n", "#!/bin/sh -e\n\u{e9}\n"]
        {
            let text = text.as_bytes();
            let added = add(Some(text), b"run it").unwrap();
            assert!(is_in(&added) && !is_in(text));
            assert_eq!(add(Some(&added), b"run it").unwrap(), added);
            let other = add(Some(&added), b"run another").unwrap();
            assert_eq!(add(Some(&other), b"run it").unwrap(), added);
            assert_eq!(take_out(&added).unwrap().as_deref(), Some(text));
            assert_eq!(take_out(text).unwrap().as_deref(), Some(text));
        }
        assert_eq!(take_out(&add(None, b"run it").unwrap()).unwrap(), None);
    }

    #[test]
    fn what_somebody_adds_to_our_file_stays() {
        let text = [&add(None, b"run it").unwrap()[..], b"theirs\n"].concat();
        assert_eq!(take_out(&text).unwrap().unwrap(), b"#!/bin/sh\ntheirs\n");
    }

    #[test]
    fn second_block_goes_with_the_first() {
        let one = add(None, b"run it").unwrap();
        let two = [&one[..], &one[SHEBANG.len()..]].concat();
        assert_eq!(add(Some(&two), b"run it").unwrap(), one);
        assert_eq!(take_out(&two).unwrap(), None);
    }

    #[test]
    fn block_without_an_end_is_refused() {
        let text = format!("{SHEBANG}{BEGIN}\nrun it\n");
        assert!(add(Some(text.as_bytes()), b"x").is_err() && take_out(text.as_bytes()).is_err());
    }

    #[test]
    fn shells_are_told_from_other_interpreters() {
        for text in ["#!/bin/sh", "#! /bin/bash -e\n", "#!/usr/bin/env zsh\n", "#!/usr/bin/env -S A=1 dash -e\n"] {
            assert!(is_shell(text.as_bytes()), "{text}");
        }
        for text in ["", "echo", "#!/usr/bin/python3", "#!/usr/bin/env fish", "#!/bin/sh\r\n", "\u{7f}ELF", "#!"] {
            assert!(!is_shell(text.as_bytes()), "{text}");
        }
    }
}
