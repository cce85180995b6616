//! Links between the documents lead to files and headings that exist.

use std::path::{Path, PathBuf};

/// The Markdown files that people read on the forge.
fn pages() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut pages: Vec<PathBuf> = [root.to_owned(), root.join("docs"), root.join("docs/decisions")]
        .iter()
        .flat_map(|folder| std::fs::read_dir(folder).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .collect();
    pages.sort();
    pages
}

/// The text without fenced blocks.
fn prose(page: &Path) -> String {
    let text = std::fs::read_to_string(page).unwrap();
    text.split("```").step_by(2).collect()
}

/// The anchor that a forge gives to a heading.
fn anchor(heading: &str) -> String {
    let kept = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = kept.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[test]
fn links_between_the_documents_lead_somewhere() {
    let (mut wrong, mut followed) = (Vec::new(), 0);
    for page in pages() {
        let text = prose(&page);
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            if link.starts_with("http") || link.contains(char::is_whitespace) {
                continue;
            }
            followed += 1;
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { page.clone() } else { page.parent().unwrap().join(file) };
            let has_heading = || prose(&target).lines().any(|line| line.starts_with('#') && anchor(line) == heading);
            if !target.exists() || !heading.is_empty() && !has_heading() {
                wrong.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(followed > 60, "{followed}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
