//! The secret guard: a record that holds a credential would publish it with the evidence, so it is refused.
//!
//! A guard, and no promise: it knows credentials by their prefix, by their shape, and by what the text calls them. A
//! password of plain words, or a random token that nothing marks as one, is not seen. The tests measure how many kinds of
//! credentials are found and that documentation is let through.

mod alphabet;
mod assigned;
mod commands;
mod context;
mod dotted;
mod encoded;
mod json;
mod keys;
mod marks;
mod names;
mod phrases;
mod placeholder;
mod prefixes;
mod tokens;
mod unknown;
mod urls;
mod value;
mod views;
pub use json::find_in_json;

/// A credential that was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Secret {
    /// What it looks like.
    pub what: &'static str,
    /// Where it begins.
    pub at: usize,
}

/// How often a text may be encoded.
const LAYERS: usize = 2;

/// Finds the first credential in a text.
pub fn find_secret(text: &str) -> Option<Secret> {
    search(text, LAYERS)
}

/// Finds the first credential in a text, as it stands and with its escapes decoded.
fn search(text: &str, layers: usize) -> Option<Secret> {
    let in_plain = views::plain(text).and_then(|view| Some(view.original(look(&view.text, layers)?)));
    look(text, layers).into_iter().chain(in_plain).min_by_key(Secret::order)
}

/// Finds the first credential in a text, in what is encoded in it, and in what is split over lines and strings.
fn look(text: &str, layers: usize) -> Option<Secret> {
    let in_joined = views::joined(text).and_then(|view| {
        let found = scan(&view.text).into_iter().chain(hidden(&view.text, layers)).min_by_key(Secret::order);
        Some(view.original(found?))
    });
    scan(text).into_iter().chain(hidden(text, layers)).chain(in_joined).min_by_key(Secret::order)
}

/// Finds the first credential that stands in a text as it is.
fn scan(text: &str) -> Option<Secret> {
    let finders = [prefixes::find, tokens::find, marks::find, keys::find, context::find, urls::find, phrases::find];
    finders.iter().filter_map(|find| find(text)).min_by_key(Secret::order)
}

/// Finds the first credential that is encoded in a text.
fn hidden(text: &str, layers: usize) -> Option<Secret> {
    let mut found = None;
    if layers > 0 {
        encoded::each(text, |at, inner| {
            if found.is_none() {
                found = search(inner, layers - 1).map(|secret| secret.moved_to(at));
            }
        });
    }
    found
}

impl Secret {
    /// The first comes first, and of two at one place the one that says more.
    fn order(&self) -> (usize, bool) {
        let is_general =
            ["a token", "a password", "a secret key or token", "an authorization header"].contains(&self.what);
        (self.at, is_general)
    }

    fn moved_to(self, at: usize) -> Self {
        Self { at, ..self }
    }
}
