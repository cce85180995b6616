//! How many credentials the guard finds. The corpus makes them by rules of its own, from the documentation of those who
//! issue them, and shares nothing with the guard. No credential here is anybody's.

mod draw;
mod lines;
mod named;
mod places;
mod precision;
mod tokens;

use std::collections::BTreeMap;

use git_proof::record::find_secret;

use draw::{Draw, to_base64};

/// A kind of credential.
struct Kind {
    name: &'static str,
    /// The setting that such a credential is given for.
    setting: &'static str,
    form: Form,
    make: fn(&mut Draw) -> String,
}

/// Where a credential can stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Anywhere: it can be told by how it looks.
    Token,
    /// Behind the name of its setting.
    Named,
    /// On lines of its own.
    Line,
}

/// How many credentials of each kind are made.
const DRAWS: usize = 3;

fn kinds() -> impl Iterator<Item = &'static Kind> {
    tokens::TOKENS.iter().chain(named::NAMED).chain(lines::LINES)
}

/// A credential of each kind, several times.
fn credentials() -> Vec<(&'static Kind, String)> {
    let of_kind = |(number, kind): (usize, &'static Kind)| {
        (0..DRAWS).map(move |draw| (kind, (kind.make)(&mut Draw::new((number * DRAWS + draw) as u64))))
    };
    kinds().enumerate().flat_map(of_kind).collect()
}

/// What was found of a number of texts, by the names of their groups.
#[derive(Default)]
struct Recall {
    found: usize,
    all: usize,
    groups: BTreeMap<String, (usize, usize)>,
}

impl Recall {
    fn add(&mut self, group: &str, text: &str) {
        let is_found = find_secret(text).is_some();
        let (found, all) = self.groups.entry(group.to_owned()).or_default();
        (*found, *all) = (*found + usize::from(is_found), *all + 1);
        (self.found, self.all) = (self.found + usize::from(is_found), self.all + 1);
    }

    /// Prints what was missed, and fails if less than so many of a thousand were found.
    #[track_caller]
    #[allow(clippy::print_stdout)] // what the test framework shows of a test that fails, and with --nocapture
    fn at_least(&self, least: usize) {
        for (group, (found, all)) in self.groups.iter().filter(|(_, (found, all))| found < all) {
            println!("{group}: {found} of {all}");
        }
        println!("{} of {} found", self.found, self.all);
        assert!(self.found * 1000 >= self.all * least, "{} of {} found; run with --nocapture", self.found, self.all);
    }
}

#[test]
fn corpus_has_more_than_two_hundred_kinds_and_each_is_another() {
    let names: std::collections::BTreeSet<&str> = kinds().map(|kind| kind.name).collect();
    assert_eq!(names.len(), kinds().count());
    assert!(names.len() > 200, "{}", names.len());
}

#[test]
fn nearly_all_credentials_are_found_wherever_they_stand() {
    let mut recall = Recall::default();
    for (kind, credential) in credentials() {
        for (place, text) in places::places(kind, &credential) {
            recall.add(&format!("{} in {place}", kind.name), &text);
        }
    }
    recall.at_least(980);
}

#[test]
fn nearly_all_places_show_nearly_all_kinds() {
    let mut recall = Recall::default();
    for (kind, credential) in credentials().into_iter().step_by(DRAWS) {
        for (place, text) in places::places(kind, &credential) {
            recall.add(place, &text);
        }
    }
    let least = recall.groups.iter().min_by_key(|(_, (found, all))| found * 1000 / all).unwrap();
    assert!(least.1.0 * 100 >= least.1.1 * 95, "{least:?}");
}

/// What a credential is written as, with the name of its setting if it needs one.
fn written(kind: &Kind, credential: &str) -> String {
    if kind.form == Form::Named {
        format!("{}={credential}", kind.setting.to_uppercase())
    } else {
        credential.to_owned()
    }
}

#[test]
fn credentials_in_base64_are_found() {
    let mut recall = Recall::default();
    for (kind, credential) in credentials() {
        let once = to_base64(written(kind, &credential).as_bytes());
        recall.add(&format!("{} in base64", kind.name), &format!("payload: {once}"));
        recall.add(&format!("{} in base64 twice", kind.name), &to_base64(once.as_bytes()));
        let lines: Vec<&str> = once.as_bytes().chunks(76).map(|line| std::str::from_utf8(line).unwrap()).collect();
        recall.add(&format!("{} in base64 on lines", kind.name), &lines.join("\n"));
    }
    recall.at_least(980);
}

#[test]
fn credentials_that_are_split_are_found() {
    let mut recall = Recall::default();
    for (kind, credential) in credentials().into_iter().filter(|(kind, _)| kind.form != Form::Line) {
        let (left, right) = credential.split_at(credential.len() * 3 / 5);
        let name = if kind.form == Form::Named { kind.setting } else { "value" };
        for (way, text) in [
            ("line", format!("{name}: {left}\n{right}\n")),
            ("indented line", format!("{name}: {left}\n    {right}\n")),
            ("continued line", format!("export {name}={left}\\\n{right}\n")),
            ("sum", format!("{name} = \"{left}\" + \"{right}\"")),
            ("sum on two lines", format!("{name} = \"{left}\" +\n    \"{right}\"")),
            ("strings on two lines", format!("{name} = (\n    \"{left}\"\n    \"{right}\"\n)")),
            ("added lines", format!("+{name}: {left}\n+{right}\n")),
        ] {
            recall.add(&format!("{} split as {way}", kind.name), &text);
        }
    }
    recall.at_least(970);
}

#[test]
fn credentials_with_invisible_characters_are_found() {
    let mut recall = Recall::default();
    for (kind, credential) in credentials() {
        let written = written(kind, &credential);
        for invisible in ['\u{200b}', '\u{2060}', '\u{ad}', '\u{feff}'] {
            let middle = written.floor_char_boundary(written.len() * 2 / 3);
            let text = format!("{}{invisible}{}", &written[..middle], &written[middle..]);
            recall.add(&format!("{} with {}", kind.name, invisible.escape_unicode()), &text);
        }
    }
    recall.at_least(980);
}

#[test]
fn credentials_behind_another_word_are_found() {
    let mut recall = Recall::default();
    for (kind, credential) in credentials().into_iter().filter(|(kind, _)| kind.form != Form::Line) {
        let text = match kind.form {
            Form::Named => format!("{}=TOKEN_{credential}", kind.setting),
            _ => format!("TOKEN_{credential}"),
        };
        recall.add(kind.name, &text);
    }
    recall.at_least(970);
}

#[test]
fn credentials_in_escapes_are_found() {
    let mut recall = Recall::default();
    for (kind, credential) in credentials() {
        let written = written(kind, &credential);
        let json = serde_json::json!({ "log": format!("first\n\t\"{written}\"\nlast") }).to_string();
        recall.add(&format!("{} in JSON", kind.name), &json);
        recall.add(&format!("{} in JSON in JSON", kind.name), &serde_json::json!({ "body": json }).to_string());
        recall.add(&format!("{} in color", kind.name), &format!("\u{1b}[32m{written}\u{1b}[0m"));
        recall.add(&format!("{} in an HTML page", kind.name), &html(&written));
    }
    recall.at_least(980);
}

fn html(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;");
    format!("<pre>{}</pre>", text.replace('\'', "&#39;"))
}
