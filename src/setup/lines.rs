//! Files to which whole lines are added at the end: TOML tables, and the marked block of a text.

use toml_edit::{Document, DocumentMut, InlineTable, Item, Table};

use super::json::Problem;

/// The name by which the server is known.
pub(super) const SERVER: &str = "git-proof";

const TABLE: &str =
    "[mcp_servers.git-proof]\ncommand = \"git\"\nargs = [\"proof\", \"mcp\", \"--profile\", \"core\"]\n";

pub(super) const BLOCK: &str = "\
<!-- git-proof:begin -->
## Recording decisions (git-proof)

While you work on a task, record why, in this order, with the tools of the git-proof MCP server (or `git proof …`):

1. `audit_session_start` with the intent of the task, unless a session is open.
2. `thought_record` with type `plan`, `analysis` or `decision`, whenever you choose or learn something: what was
   rejected, and why. Never a credential.
3. `thought_record` with type `reflection` before you finish: what was done, what remains uncertain.
4. `audit_verify_chain`, then `merkle_finalize`.
<!-- git-proof:end -->
";

/// Adds the server's table.
pub(super) fn add_server(text: &str) -> Result<String, Problem> {
    let mut document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| error.to_string())?;
    let servers = document.get("mcp_servers");
    if servers.is_some_and(|servers| !servers.is_table_like()) {
        return Err("\"mcp_servers\" is not a table".to_owned());
    }
    if servers.and_then(|servers| servers.get(SERVER)).is_some() {
        return Ok(text.to_owned());
    }
    let appended = append(text, TABLE);
    if appended.parse::<DocumentMut>().is_ok() {
        return Ok(appended);
    }
    // The servers are in an inline table, to which no table can be added from outside.
    let mut server = InlineTable::new();
    server.insert("command", "git".into());
    server.insert("args", toml_edit::Array::from_iter(["proof", "mcp", "--profile", "core"]).into());
    if let Some(servers) = document.get_mut("mcp_servers").and_then(Item::as_table_like_mut) {
        servers.insert(SERVER, Item::Value(server.into()));
    }
    Ok(document.to_string())
}

/// Takes the server's table out.
pub(super) fn remove_server(text: &str) -> Result<String, Problem> {
    let mut document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| error.to_string())?;
    let Some(servers) = document.get_mut("mcp_servers").and_then(Item::as_table_like_mut) else {
        return Ok(text.to_owned());
    };
    let command = servers.get(SERVER).and_then(|server| server.get("command")).and_then(Item::as_str);
    if command != Some("git") {
        return Ok(text.to_owned());
    }
    servers.remove(SERVER);
    let is_ours = |servers: &Table| servers.is_empty() && servers.is_implicit();
    if document.get("mcp_servers").and_then(Item::as_table).is_some_and(is_ours) {
        document.remove("mcp_servers");
    }
    // Printed anew, the comments above the table would go with it, and returns at the ends of lines.
    let printed = document.to_string();
    let values = |text: &str| text.parse::<toml::Table>().ok();
    let shorter = [cut(text, TABLE), without_lines_of_server(text)];
    Ok(shorter.into_iter().flatten().find(|shorter| values(shorter) == values(&printed)).unwrap_or(printed))
}

/// The text without the lines from the header of the server's table to its last value, and an empty line above them.
fn without_lines_of_server(text: &str) -> Option<String> {
    let document = Document::parse(text).ok()?;
    let server = document.get("mcp_servers")?.get(SERVER)?.as_table()?;
    let header = text[..server.span()?.start].rfind('\n').map_or(0, |newline| newline + 1);
    let end = last_end(server)?;
    let end = text[end..].find('\n').map_or(text.len(), |newline| end + newline + 1);
    let above = &text[..header];
    let above = above.strip_suffix('\n').map(|above| above.strip_suffix('\r').unwrap_or(above));
    let above = above.filter(|above| above.ends_with('\n')).unwrap_or(&text[..header]);
    Some(format!("{above}{}", &text[end..]))
}

/// The end of the last item in a table, subtables included.
fn last_end(table: &Table) -> Option<usize> {
    let inside = table.iter().map(|(_, item)| item.as_table().map_or_else(|| Some(item.span()?.end), last_end));
    inside.chain([Some(table.span()?.end)]).max()?
}

/// Adds the marked block.
pub(super) fn add_block(text: &str) -> String {
    if marks(text).is_some() { text.to_owned() } else { append(text, BLOCK) }
}

/// Takes the marked block out, whatever is in it by now.
pub(super) fn remove_block(text: &str) -> String {
    if let Some(cut) = cut(text, BLOCK) {
        return cut;
    }
    match marks(text) {
        Some((start, end)) => format!("{}{}", &text[..start], &text[end..]),
        None => text.to_owned(),
    }
}

/// Where the marked block begins, and where the line of its end ends.
fn marks(text: &str) -> Option<(usize, usize)> {
    let start = text.find("<!-- git-proof:begin -->")?;
    let mark = "<!-- git-proof:end -->";
    let end = start + text[start..].find(mark)? + mark.len();
    let line_end = text[end..].find('\n').map_or(text.len(), |newline| end + newline + 1);
    Some((start, line_end))
}

/// Adds lines at the end, after an empty one. A text without a final newline stays without.
fn append(text: &str, lines: &str) -> String {
    let lines = in_style_of(text, lines);
    let newline = newline(text);
    match text {
        "" => lines,
        text if text.ends_with('\n') => format!("{text}{newline}{lines}"),
        text => format!("{text}{newline}{newline}{}", lines.trim_end()),
    }
}

/// Takes out what [`append`] has added; `None` if it is not there as it was added.
fn cut(text: &str, lines: &str) -> Option<String> {
    let lines = in_style_of(text, lines);
    let newline = newline(text);
    if text == lines {
        return Some(String::new());
    }
    if let Some(before) = text.strip_suffix(&format!("{newline}{newline}{}", lines.trim_end())) {
        return Some(before.to_owned());
    }
    // The line before it may end in another way than most.
    let added = format!("{newline}{lines}");
    let at = text.match_indices(&added).map(|(at, _)| at).find(|at| text[..*at].ends_with('\n'))?;
    Some(format!("{}{}", &text[..at], &text[at + added.len()..]))
}

fn newline(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

fn in_style_of(text: &str, lines: &str) -> String {
    lines.replace('\n', newline(text))
}
