//! Patterns of paths, as a policy has them. Strict: a pattern that could never match would protect nothing, so it is an
//! error that says what to write.

/// A pattern: `?` is one character and `*` any number, neither of them a slash; `**` is any number of directories. A slash
/// at the end stands for all that is below a directory, and so does `/**`.
#[derive(Debug, Clone)]
pub struct Glob {
    text: String,
    parts: Vec<String>,
}

impl Glob {
    /// Reads a pattern, or says in a sentence why it is none.
    pub fn parse(text: &str) -> Result<Self, String> {
        if let Some(why) = wrong(text) {
            return Err(why);
        }
        let mut parts: Vec<String> = text.split('/').map(str::to_owned).collect();
        if let Some(last) = parts.last_mut().filter(|last| last.is_empty()) {
            "**".clone_into(last);
        }
        // At the end, at least one name must follow: `src/**` is what is below `src`, and not a file of that name.
        if parts.last().is_some_and(|last| last == "**") {
            parts.push("*".to_owned());
        }
        Ok(Self { text: text.to_owned(), parts })
    }

    /// The pattern as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether a file has a path that matches.
    pub fn matches(&self, path: &[u8]) -> bool {
        let names: Vec<&[u8]> = path.split(|byte| *byte == b'/').collect();
        matches(&self.parts, &names, |part| part == "**", |part, name| matches_bytes(part.as_bytes(), name))
    }

    /// Whether some path below a directory could match. The answer may be yes where there is none, never the other way round.
    pub fn reaches(&self, directory: &[u8]) -> bool {
        let mut parts = self.parts.iter();
        for name in directory.split(|byte| *byte == b'/') {
            match parts.next() {
                None => return false,
                Some(part) if part == "**" => return true,
                Some(part) if !matches_bytes(part.as_bytes(), name) => return false,
                Some(_) => {}
            }
        }
        parts.next().is_some()
    }

    /// Whether it has none of `*` and `?`: it can only be the path of one file.
    pub fn is_plain(&self) -> bool {
        !self.text.contains(['*', '?']) && !self.text.ends_with('/')
    }
}

fn wrong(text: &str) -> Option<String> {
    if let Some(rest) = text.strip_prefix('/') {
        return Some(format!("paths begin at the top of the repository, without a slash; write {rest:?}"));
    }
    if text.starts_with('!') {
        return Some("no pattern makes an exception; list the paths that must be anchored, and no others".to_owned());
    }
    if text.contains(['[', ']', '{', '}', '\\', '\0']) {
        return Some("use *, **, ? and plain characters".to_owned());
    }
    let parts: Vec<&str> = text.split('/').collect();
    if parts.contains(&"..") {
        return Some("no path of a repository has \"..\"; write the path from the top of the repository".to_owned());
    }
    // The pattern without parts that no path has (empty or `.`). One slash may stand at the end.
    let kept: Vec<&str> = parts.iter().copied().filter(|part| !matches!(*part, "" | ".")).collect();
    if kept.is_empty() {
        return Some("it names no path; write \"**\" for every file".to_owned());
    }
    let slash = if parts.last() == Some(&"") && kept.last() != Some(&"**") { "/" } else { "" };
    let plain = kept.join("/") + slash;
    if plain != text {
        return Some(format!("no path of a repository is written like this; write {plain:?}"));
    }
    let mixed = kept.iter().find(|part| part.contains("**") && **part != "**")?;
    Some(match mixed.strip_prefix("**") {
        Some(rest) if !rest.contains("**") => {
            let separate =
                kept.iter().map(|part| if part == mixed { format!("**/*{rest}") } else { (*part).to_owned() });
            format!("\"**\" stands for whole directories; write {:?}", separate.collect::<Vec<_>>().join("/"))
        }
        _ => "\"**\" stands for whole directories and has slashes around it; use * within a name".to_owned(),
    })
}

/// Whether a list matches a pattern in which some parts are stars, which match any number of items. Greedy with one step
/// back, which is enough for stars: no pattern takes longer than its length times that of the list.
fn matches<P, I>(pattern: &[P], items: &[I], star: impl Fn(&P) -> bool, same: impl Fn(&P, &I) -> bool) -> bool {
    let (mut at, mut taken, mut back) = (0, 0, None);
    while taken < items.len() {
        match pattern.get(at) {
            Some(part) if star(part) => {
                back = Some((at, taken));
                at += 1;
            }
            Some(part) if same(part, &items[taken]) => {
                at += 1;
                taken += 1;
            }
            _ => match back {
                Some((star_at, from)) => {
                    back = Some((star_at, from + 1));
                    at = star_at + 1;
                    taken = from + 1;
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(star)
}

/// Whether a pattern matches a text: `*` stands for any bytes, slashes too, and `?` for one.
pub(crate) fn matches_bytes(pattern: &[u8], text: &[u8]) -> bool {
    matches(pattern, text, |byte| *byte == b'*', |byte, letter| *byte == b'?' || byte == letter)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // tests
mod tests {
    use super::*;

    #[test]
    fn globs_match_as_people_expect() {
        for (glob, path, expected) in [
            ("src/**", "src/a.rs", true),
            ("src/**", "src/a/b.rs", true),
            ("src/**", "source/a.rs", false),
            ("src/**", "src", false),
            ("**", "a", true),
            ("**", "a/b", true),
            ("src/*.rs", "src/a.rs", true),
            ("src/*.rs", "src/a/b.rs", false),
            ("**/*.sql", "x.sql", true),
            ("**/*.sql", "a/b/x.sql", true),
            ("**/auth/**", "auth/x", true),
            ("**/auth/**", "a/auth/b/c", true),
            ("**/auth/**", "a/auth", false),
            ("a/**/z", "a/z", true),
            ("a/**/z", "a/b/c/z", true),
            ("a/**/z", "a/b/c/y", false),
            ("docs/", "docs/x/y", true),
            ("docs/", "docs", false),
            ("?.c", "a.c", true),
            ("?.c", "ab.c", false),
            ("*a*b*c", "xxaxxbxxc", true),
            ("*a*b*c", "xxaxxbxx", false),
            ("Makefile", "sub/Makefile", false),
        ] {
            assert_eq!(Glob::parse(glob).unwrap().matches(path.as_bytes()), expected, "{glob} {path}");
        }
    }

    /// A pattern that reached nothing would not be looked for below a directory where it matches.
    #[test]
    fn a_pattern_reaches_every_directory_of_a_path_that_it_matches() {
        for (glob, path) in
            [("src/**", "src/a/b.rs"), ("**/*.sql", "a/b/x.sql"), ("a/*/c?/d", "a/b/cc/d"), ("docs/", "docs/x/y")]
        {
            let glob = Glob::parse(glob).unwrap();
            assert!(glob.matches(path.as_bytes()));
            for (at, _) in path.match_indices('/') {
                assert!(glob.reaches(&path.as_bytes()[..at]), "{} {}", glob.as_str(), &path[..at]);
            }
        }
        for (glob, directory) in [("src/**", "docs"), ("src/*.rs", "src/a"), ("Makefile", "src"), ("a/b", "a/b")] {
            assert!(!Glob::parse(glob).unwrap().reaches(directory.as_bytes()), "{glob} {directory}");
        }
    }

    #[test]
    fn many_stars_take_no_longer_than_few() {
        let glob = Glob::parse(&format!("{}z", "**/".repeat(60))).unwrap();
        assert!(!glob.matches("a/".repeat(2000).as_bytes()));
    }
}
