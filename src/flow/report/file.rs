//! A report in its file: all of it or what was there before.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::Path;

use crate::context::Context;
use crate::error::{Code, Error, Result};
use crate::setup::{Staged, unwritable};

/// Writes a report to a file, in the place of what was there. A pipe or a device is written to, not replaced.
pub fn write_report(context: &Context, given: &Path, text: &[u8]) -> Result<()> {
    let path = context.path(given);
    let found = fs::metadata(&path);
    if found.as_ref().is_ok_and(fs::Metadata::is_dir) || path.file_name().is_none() {
        return Err(Error::new(Code::InvalidParams, format!("{} is a directory", given.display()))
            .hint("name a file, such as report.html"));
    }
    if found.as_ref().is_ok_and(|found| !found.is_file()) {
        let written = OpenOptions::new().write(true).open(&path).and_then(|mut file| file.write_all(text));
        return written.map_err(|error| unwritable(given, &error));
    }
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !directory.is_dir() {
        return Err(Error::new(Code::InvalidParams, format!("{} is in no directory that exists", given.display()))
            .hint("make the directory first, or name another file"));
    }
    // A link stays one, and what it leads to is replaced.
    let real = if found.is_ok() { fs::canonicalize(&path).map_err(|error| unwritable(given, &error))? } else { path };
    Staged::write(context, &real, text, 0o666)?.replace()
}
