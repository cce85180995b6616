//! Which files an edit tool wrote. Writes through a shell are not seen, and nothing claims that they were not made.

use std::path::Path;

use serde_json::Value;

use super::event::Call;
use crate::git::Git;
use crate::proof::digest::ObjectId;
use crate::proof::observed::{MAX_BLOBS, Observed};

/// Tools that write the file that they name, in small letters.
const EDITS: [&str; 14] = [
    "write",
    "edit",
    "multiedit",
    "notebookedit",
    "write_file",
    "replace",
    "create",
    "create_file",
    "str_replace",
    "str_replace_editor",
    "insert_edit_into_file",
    "replace_string_in_file",
    "multi_replace_string_in_file",
    "search_replace",
];

/// Files that one call may have written one by one. More are attested together.
const ONE_BY_ONE: usize = 16;

/// The paths that a call names as written, as the agent gives them.
pub(super) fn written(call: &Call) -> Vec<String> {
    let tool = call.tool.to_ascii_lowercase();
    if matches!(tool.as_str(), "apply_patch" | "patch" | "applypatch") {
        return patched(&call.input);
    }
    if !EDITS.contains(&tool.as_str()) || call.input["command"].as_str() == Some("view") {
        return Vec::new();
    }
    let names = ["file_path", "filePath", "path", "notebook_path", "absolute_path"];
    names.iter().find_map(|name| call.input[*name].as_str()).map(str::to_owned).into_iter().collect()
}

/// The paths that a patch names. Its text is the input, or somewhere in it.
pub(super) fn patched(input: &Value) -> Vec<String> {
    let names = ["command", "input", "patch", "patchText", "patch_text"];
    let text = input.as_str().or_else(|| names.iter().find_map(|name| input[*name].as_str())).unwrap_or_default();
    paths_of_patch(text)
}

/// The paths that the text of a patch names.
pub(super) fn paths_of_patch(text: &str) -> Vec<String> {
    if !text.contains("*** Begin Patch") {
        return Vec::new();
    }
    let marks = ["*** Add File: ", "*** Update File: ", "*** Move to: "];
    let named = |line: &str| marks.iter().find_map(|mark| line.trim_end().strip_prefix(mark).map(str::to_owned));
    text.lines().filter_map(named).take(MAX_BLOBS).collect()
}

/// What the files hold now, as observations. One that git would not take is left out.
pub(super) fn observe(git: &Git, directory: &Path, paths: &[String]) -> Vec<Observed> {
    let mut blobs: Vec<ObjectId> = paths.iter().filter_map(|path| git.written_blob(directory, path)).collect();
    blobs.sort_unstable();
    blobs.dedup();
    // A line is published only if all of its blobs are, so that few files are better told apart.
    let size = if blobs.len() <= ONE_BY_ONE { 1 } else { MAX_BLOBS };
    blobs.chunks(size).map(|blobs| Observed::Wrote(blobs.to_vec())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_names_what_it_adds_and_changes() {
        let text = "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: a.txt\n+x\n*** Delete File: b\n*** Update File: c d\n*** End Patch\nEOF";
        assert_eq!(paths_of_patch(text), ["a.txt", "c d"]);
        assert_eq!(paths_of_patch("*** Add File: a"), Vec::<String>::new());
    }
}
