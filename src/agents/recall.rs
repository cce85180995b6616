//! Earlier decisions about a file, told to the agent in time: with the result of reading it, at a prompt that names it, else with
//! the result of the first edit. Once for each session and file, and only what may be told: see [`recall`].

use std::path::Path;

use super::event::{Call, Event, Seen};
use super::files;
use crate::error::Result;
use crate::git::path_text;
use crate::recall::{self, Allowed, Pace};
use crate::record::{Agent, Workspace};
use crate::store::AgentKey;

/// Tools that read the file that they name, in small letters.
const READS: [&str; 8] =
    ["read", "read_file", "view", "open_file", "readfile", "view_file", "str_replace_editor", "notebookread"];

/// Commands of a shell that print files.
const PRINTS: [&str; 7] = ["cat", "head", "tail", "sed", "nl", "less", "bat"];

/// Files of one event that are looked at.
const MOST_FILES: usize = 8;

/// What an agent is to be told about the files of an event, if anything.
pub(super) fn told(workspace: &mut Workspace, agent: Agent, key: AgentKey<'_>, seen: &Seen) -> Result<Option<String>> {
    let named = match &seen.event {
        // Cursor takes no context with a prompt.
        Event::Prompt(text) if agent != Agent::Cursor => named_in(text),
        Event::After(call) if !call.failed && call.own_tool().is_none() => touched(call),
        _ => Vec::new(),
    };
    if named.is_empty() {
        return Ok(None);
    }
    let git = workspace.git()?;
    if !recall::is_anything_anchored(&git) {
        return Ok(None);
    }
    let Some(allowed) = Allowed::of(&git)?.filter(|allowed| !allowed.is_nothing()) else { return Ok(None) };
    let directory = seen.directory.clone().unwrap_or_else(|| workspace.context.directory.clone());
    for name in named.iter().take(MOST_FILES) {
        // A file elsewhere is nothing to us.
        let Ok(path) = git.path_from(&directory, Path::new(name)) else { continue };
        let text = path_text(&path);
        if !git.has_file(&path) || workspace.store.was_recalled(key, &text)? {
            continue;
        }
        // Where the index cannot be brought up to date, git is asked.
        let _ = allowed.refresh(&git, &mut workspace.store, Pace::InPassing);
        // Not marked as told: once the index is complete, the agent is told when it comes back to the file.
        if !allowed.is_answerable(&workspace.store, &path) {
            continue;
        }
        let (context, store) = (&workspace.context, Some(&workspace.store));
        let decisions = recall::find(context, &git, store, allowed, &[path], recall::MOST_TOLD)?;
        let note = recall::note(&text, &decisions);
        // A file of which there is nothing to tell is not looked up again, either.
        if workspace.store.recall_once(key, &text)?
            && let Some(note) = note
        {
            return Ok(Some(note));
        }
    }
    Ok(None)
}

/// The files that a call read or wrote.
fn touched(call: &Call) -> Vec<String> {
    if let Some(command) = call.command() {
        return printed(command);
    }
    let written = files::written(call);
    if !written.is_empty() {
        return written;
    }
    if !READS.contains(&call.tool.to_ascii_lowercase().as_str()) {
        return Vec::new();
    }
    let names = ["file_path", "filePath", "path", "absolute_path", "notebook_path", "target_file"];
    names.iter().find_map(|name| call.input[*name].as_str()).map(str::to_owned).into_iter().collect()
}

/// The files that a plain command of a shell prints, such as `sed -n 1,80p src/main.rs`. One with quotes or expansions is not
/// read.
fn printed(command: &str) -> Vec<String> {
    if command.contains(['\'', '"', '$', '`', '\\', '*', '?', '<', '>', '(', '{']) {
        return Vec::new();
    }
    let parts = command.split([';', '|', '&', '\n']).map(|part| part.split_whitespace().collect::<Vec<_>>());
    let prints = parts.filter(|words| words.first().is_some_and(|first| PRINTS.contains(first)));
    let files =
        prints.flat_map(|words| words.into_iter().skip(1).filter(|word| is_file_name(word)).collect::<Vec<_>>());
    files.map(str::to_owned).collect()
}

/// The words of a prompt that look like files.
fn named_in(prompt: &str) -> Vec<String> {
    let marks = |character: char| character.is_whitespace() || "\"'`,;:()[]{}<>!?".contains(character);
    let words = prompt.split(marks).map(|word| word.trim_start_matches('@').trim_end_matches('.'));
    let mut names: Vec<String> = Vec::new();
    for word in words.filter(|word| is_file_name(word) && word.contains(['.', '/'])) {
        if !names.iter().any(|known| known == word) {
            names.push(word.to_owned());
        }
        if names.len() == MOST_FILES {
            break;
        }
    }
    names
}

/// What follows the colon of an address begins with two slashes.
fn is_file_name(word: &str) -> bool {
    !word.is_empty() && !word.starts_with('-') && word.len() < 1024 && !word.starts_with("//") && !word.contains("://")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompts_name_files() {
        assert_eq!(named_in("Fix `src/main.rs`, and see @docs/a.md: lib.rs."), ["src/main.rs", "docs/a.md", "lib.rs"]);
        assert_eq!(named_in("make it fast -x https://a.b/c"), Vec::<String>::new());
    }

    #[test]
    fn plain_commands_print_files() {
        assert_eq!(printed("cd x && sed -n 1,80p src/main.rs | head -5"), ["1,80p", "src/main.rs"]);
        assert_eq!(printed("cat a.txt b.txt"), ["a.txt", "b.txt"]);
        assert_eq!(printed("cat \"$FILE\"; rm x"), Vec::<String>::new());
        assert_eq!(printed("grep -r x ."), Vec::<String>::new());
    }
}
