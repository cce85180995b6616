//! No text of a hint names a command, also where the text is made of pieces when the program runs: the sources are read.

use std::path::Path;

use git_proof::hint::is_plain;
use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// The texts in the arguments of hints; those that belong to a step are left out.
fn texts(tokens: TokenStream, in_hint: bool, found: &mut Vec<String>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let is =
        |at: Option<usize>, text: &str| at.and_then(|at| tokens.get(at)).is_some_and(|one| one.to_string() == text);
    for (at, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Literal(literal) if in_hint => found.push(literal.to_string()),
            TokenTree::Group(group) => {
                let is_step = is(at.checked_sub(4), "Step");
                let is_hint = is(at.checked_sub(1), "hint") && is(at.checked_sub(2), ".")
                    || is(at.checked_sub(1), "!") && is(at.checked_sub(2), "hint");
                let is_hint = is_hint && group.delimiter() == Delimiter::Parenthesis;
                texts(group.stream(), (in_hint || is_hint) && !is_step, found);
            }
            _ => {}
        }
    }
}

fn read(folder: &Path, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            read(&path, found);
        } else if path.extension().is_some_and(|end| end == "rs") {
            texts(std::fs::read_to_string(&path).unwrap().parse().unwrap(), false, found);
        }
    }
}

#[test]
fn no_text_of_a_hint_names_a_command() {
    let mut found = Vec::new();
    read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut found);
    assert!(found.len() > 200, "only {} texts were found", found.len());
    let commands: Vec<&String> = found.iter().filter(|text| !is_plain(text)).collect();
    assert!(commands.is_empty(), "these belong into steps: {commands:#?}");
}

#[test]
fn commands_are_found_in_texts_around_steps_and_in_formats() {
    let source = r#"
        error.hint("try git fetch");
        error.hint(format!("git proof log {name}"));
        error.hint(hint!("see ", Step::Why("git proof why".into()), ", or --all"; "enough"));
        let message = "git proof sync";
    "#;
    let mut found = Vec::new();
    texts(source.parse().unwrap(), false, &mut found);
    let commands: Vec<&String> = found.iter().filter(|text| !is_plain(text)).collect();
    assert_eq!(commands, ["\"try git fetch\"", "\"git proof log {name}\"", "\", or --all\""]);
}
