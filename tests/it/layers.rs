//! Every folder of `src/` uses only the folders before it, and no group of files depends on itself in a circle. The sources
//! are read by `syn`, so comments, strings and formatting have no say.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::Visit;

/// The parts of the crate. Each may use those before it and no others.
const ORDER: [&str; 23] = [
    "hint", "proof", "error", "access", "context", "store", "git", "record", "publish", "rounds", "judge", "seal",
    "keep", "recall", "agents", "setup", "flow", "present", "mcp", "hook", "cli", "main", "lib",
];

/// Pairs that the order would allow and that stay apart: git knows nothing of the store, and the doors nothing of each other.
const APART: [(&str, &str); 2] = [("git", "store"), ("hook", "mcp")];

/// Modules of `std` that would let the world into `proof`: files, processes, the network, the clock.
const IMPURE: [&str; 6] = ["fs", "env", "process", "net", "io", "time"];
const IMPURE_NAMES: [&str; 5] = ["rusqlite", "git2", "chrono", "SystemTime", "Instant"];
const PRINTING: [&str; 5] = ["print", "println", "eprint", "eprintln", "dbg"];

/// A comment in the `mod.rs` of a folder that begins like this explains why files of the folder need each other.
const EXPLAINED: &str = "// These files need each other:";

type Module = Vec<String>;

fn module(path: &str) -> Module {
    let path = path.trim_start_matches("src/").trim_end_matches(".rs").trim_end_matches("/mod");
    path.split('/').map(str::to_owned).collect()
}

/// The paths that a file names, each as its segments, and the macros that it calls.
#[derive(Default)]
struct Names {
    paths: Vec<Vec<String>>,
    macros: Vec<String>,
    /// What a `pub use` offers under which name, and where that is.
    offers: Vec<(String, Vec<String>)>,
    renamed_crate: bool,
    /// How many modules inside the file the visitor is in.
    depth: usize,
}

impl Names {
    fn read(text: &str) -> Self {
        let mut names = Self::default();
        names.visit_file(&syn::parse_file(text).unwrap_or_else(|error| panic!("{error}\n{text}")));
        names
    }

    fn import(&mut self, tree: &syn::UseTree, before: &[String], public: bool) {
        let with = |ident: &syn::Ident| [before, &[ident.to_string()]].concat();
        let (name, path) = match tree {
            syn::UseTree::Path(path) => return self.import(&path.tree, &with(&path.ident), public),
            syn::UseTree::Group(group) => return group.items.iter().for_each(|tree| self.import(tree, before, public)),
            syn::UseTree::Glob(_) => return self.name([before, &["*".to_owned()]].concat()),
            syn::UseTree::Name(name) if name.ident == "self" => (String::new(), before.to_vec()),
            syn::UseTree::Name(name) => (name.ident.to_string(), with(&name.ident)),
            syn::UseTree::Rename(rename) => {
                self.renamed_crate |= before.is_empty() && rename.ident == "crate";
                (rename.rename.to_string(), with(&rename.ident))
            }
        };
        if public { self.offers.push((name, path)) } else { self.name(path) }
    }

    /// Takes a path down as it reads at the top of the file; one that stays inside the file is left out.
    fn name(&mut self, mut path: Vec<String>) {
        let climbed = path.iter().take_while(|name| *name == "super").count();
        if climbed > 0 && climbed <= self.depth {
            return;
        }
        path.drain(..climbed.min(self.depth));
        self.paths.push(path);
    }

    /// Paths in the arguments of a macro, which `syn` leaves as tokens.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Punct(punct) if punct.as_char() == ':' => colons += 1,
                TokenTree::Ident(ident) => {
                    if colons != 2 {
                        self.paths.extend((!path.is_empty()).then(|| std::mem::take(&mut path)));
                    }
                    path.push(ident.to_string());
                    colons = 0;
                }
                other => {
                    self.paths.extend((!path.is_empty()).then(|| std::mem::take(&mut path)));
                    colons = 0;
                    match other {
                        TokenTree::Punct(punct) if punct.as_char() == '!' => {
                            let called = self.paths.last().and_then(|path| path.last()).cloned();
                            self.macros.extend(called);
                        }
                        TokenTree::Group(group) => self.tokens(group.stream()),
                        _ => {}
                    }
                }
            }
        }
        self.paths.extend((!path.is_empty()).then_some(path));
    }
}

impl<'ast> Visit<'ast> for Names {
    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        let public = !matches!(item.vis, syn::Visibility::Inherited);
        self.import(&item.tree, &[], public);
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        self.depth += 1;
        syn::visit::visit_item_mod(self, item);
        self.depth -= 1;
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.name(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        syn::visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, called: &'ast syn::Macro) {
        self.macros.extend(called.path.segments.last().map(|segment| segment.ident.to_string()));
        self.tokens(called.tokens.clone());
        syn::visit::visit_macro(self, called);
    }

    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}
}

/// The whole crate: its files, and which of them each file uses.
struct Sources {
    names: BTreeMap<Module, Names>,
}

impl Sources {
    fn new<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        Self { names: files.into_iter().map(|(path, text)| (module(path), Names::read(text))).collect() }
    }

    /// A path as segments from the crate's root; `None` for one that leads out of the crate.
    fn absolute(&self, from: &Module, path: &[String]) -> Option<Vec<String>> {
        match path[0].as_str() {
            "crate" | "git_proof" => Some(path[1..].to_vec()),
            "self" => Some([from, &path[1..]].concat()),
            "super" => {
                let climbed = path.iter().take_while(|name| *name == "super").count();
                let kept = from.len().checked_sub(climbed)?;
                Some([&from[..kept], &path[climbed..]].concat())
            }
            name => {
                let child = [from.as_slice(), &[name.to_owned()]].concat();
                self.names.contains_key(&child).then(|| [from, path].concat())
            }
        }
    }

    /// The file in which an item is defined: what a `mod.rs` offers from its children is theirs.
    fn home(&self, path: &[String], depth: usize) -> Option<Module> {
        let longest = (1..=path.len()).rev().find(|length| self.names.contains_key(&path[..*length]))?;
        let found = path[..longest].to_vec();
        let offered = path.get(longest).and_then(|name| {
            let (_, there) = self.names[&found].offers.iter().find(|(offered, _)| offered == name)?;
            self.absolute(&found, there)
        });
        match offered {
            Some(there) if depth < 8 => self.home(&there, depth + 1).or(Some(found)),
            _ => Some(found),
        }
    }

    /// The files that a file uses.
    fn uses(&self, from: &Module) -> BTreeSet<Module> {
        let absolute = self.names[from].paths.iter().filter_map(|path| self.absolute(from, path));
        absolute.filter_map(|path| self.home(&path, 0)).filter(|home| home != from).collect()
    }

    /// Everything that breaks a rule.
    fn violations(&self) -> Vec<String> {
        let mut found = Vec::new();
        for (from, names) in &self.names {
            let mut report = |what: String| found.push(format!("{}: {what}", from.join("::")));
            let layer = from[0].as_str();
            let Some(place) = ORDER.iter().position(|name| *name == layer) else {
                report("this folder has no place in the order".to_owned());
                continue;
            };
            if names.renamed_crate {
                report("another name for the crate".to_owned());
            }
            for path in names.paths.iter().chain(names.offers.iter().map(|(_, path)| path)) {
                let has = |name: &str| path.iter().any(|segment| segment == name);
                if has("rusqlite") && layer != "store" {
                    report("rusqlite outside of store".to_owned());
                }
                if has("git2") && layer != "git" {
                    report("git2 outside of git".to_owned());
                }
                let unix = has("rustix") || path.starts_with(&["std", "os"].map(str::to_owned));
                if unix && layer != "access" {
                    report("Unix outside of access".to_owned());
                }
                if layer == "proof" {
                    let named = IMPURE_NAMES.into_iter().find(|name| has(name));
                    let module = path.get(1).filter(|module| path[0] == "std" && IMPURE.contains(&module.as_str()));
                    if named.is_some() || module.is_some() {
                        report(format!("{} in proof", path.join("::")));
                    }
                }
                let Some(absolute) = self.absolute(from, path) else { continue };
                match absolute.first().map(String::as_str) {
                    Some("*") => report("a path that names every part of the crate".to_owned()),
                    Some(target) if target != layer => {
                        let Some(at) = ORDER.iter().position(|name| *name == target) else { continue };
                        if at >= place || APART.contains(&(layer, target)) {
                            report(format!("{layer} may not use {target}"));
                        }
                    }
                    _ => {}
                }
            }
            for name in &names.macros {
                if PRINTING.contains(&name.as_str()) && !matches!(layer, "cli" | "main") {
                    report(format!("{name}! outside of cli"));
                }
            }
        }
        found
    }

    /// Groups of folders, or of files, that need each other in a circle. A module and the parts below it are one thing: a
    /// `mod.rs` calls its parts, and they use what it defines.
    fn circles(&self, folders: bool) -> Vec<BTreeSet<Module>> {
        let key = |module: &Module| if folders { module[..1].to_vec() } else { module.clone() };
        let mut edges: BTreeMap<Module, BTreeSet<Module>> = BTreeMap::new();
        for from in self.names.keys() {
            let apart = |to: &Module| folders || !(to.starts_with(from) || from.starts_with(to));
            let targets = self.uses(from).into_iter().filter(apart).map(|to| key(&to)).filter(|to| *to != key(from));
            edges.entry(key(from)).or_default().extend(targets);
        }
        let reaches = |from: &Module| {
            let (mut seen, mut open) = (BTreeSet::new(), vec![from.clone()]);
            while let Some(next) = open.pop() {
                let targets = edges.get(&next).into_iter().flatten();
                open.extend(targets.filter(|to| seen.insert((*to).clone())).cloned());
            }
            seen
        };
        let all: BTreeMap<&Module, BTreeSet<Module>> = edges.keys().map(|from| (from, reaches(from))).collect();
        let mut circles = BTreeSet::new();
        for (from, reached) in &all {
            if reached.contains(*from) {
                let others = reached.iter().filter(|to| all.get(to).is_some_and(|back| back.contains(*from)));
                circles.insert(others.cloned().collect::<BTreeSet<_>>());
            }
        }
        circles.into_iter().collect()
    }
}

fn sources() -> Vec<(String, String)> {
    fn read(directory: &Path, into: &mut Vec<(String, String)>) {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                read(&path, into);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let name = path.strip_prefix(env!("CARGO_MANIFEST_DIR")).unwrap().to_str().unwrap().to_owned();
                into.push((name, std::fs::read_to_string(&path).unwrap()));
            }
        }
    }
    let mut files = Vec::new();
    read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
    assert!(files.len() > 20, "{files:?}");
    files
}

fn crate_sources(files: &[(String, String)]) -> Sources {
    Sources::new(files.iter().map(|(path, text)| (path.as_str(), text.as_str())))
}

fn shown(circles: &[BTreeSet<Module>]) -> String {
    let names =
        |circle: &BTreeSet<Module>| circle.iter().map(|module| module.join("::")).collect::<Vec<_>>().join(", ");
    circles.iter().map(names).collect::<Vec<_>>().join("\n")
}

#[test]
fn every_folder_uses_only_those_before_it() {
    let found = crate_sources(&sources()).violations();
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

#[test]
fn no_folders_need_each_other() {
    let circles = crate_sources(&sources()).circles(true);
    assert!(circles.is_empty(), "\n{}", shown(&circles));
}

#[test]
fn no_more_than_two_files_of_a_folder_need_each_other_without_an_explanation() {
    let files = sources();
    let explained: BTreeSet<Module> =
        files.iter().filter(|(_, text)| text.contains(EXPLAINED)).map(|(path, _)| module(path)).collect();
    let mut circles = crate_sources(&files).circles(false);
    circles.retain(|circle| {
        let parent = |module: &Module| (1..=module.len()).any(|length| explained.contains(&module[..length]));
        circle.len() > 2 && !circle.iter().any(parent)
    });
    assert!(circles.is_empty(), "\n{}", shown(&circles));
}

/// What is reported of one file among a few others.
fn violations(path: &str, text: &str) -> Vec<String> {
    let others = ["proof/mod", "proof/tree", "store/mod", "git/mod", "record/mod", "cli/mod", "error"];
    let others: Vec<String> =
        others.iter().map(|name| format!("src/{name}.rs")).filter(|other| other != path).collect();
    Sources::new(others.iter().map(|other| (other.as_str(), "")).chain([(path, text)])).violations()
}

#[track_caller]
fn assert_reported(path: &str, text: &str) {
    assert!(!violations(path, text).is_empty(), "{path}: {text}");
}

#[track_caller]
fn assert_fine(path: &str, text: &str) {
    assert_eq!(violations(path, text), Vec::<String>::new(), "{path}: {text}");
}

#[test]
fn the_world_in_proof_is_reported() {
    for text in [
        "use rusqlite::Connection;",
        "fn f(r: &git2::Repository) {}",
        "use std::fs;",
        "use std::fs::File;",
        "use std::{fmt, io::{self, Read}};",
        "fn f() { std::process::abort() }",
        "fn f() -> ::std::net::IpAddr {}",
        "use std::time::Duration;",
        "fn f() { let now = Instant::now(); }",
        "use foo::SystemTime;",
        "use chrono::Utc;",
        "fn f() { println!(\"x\") }",
        "fn f() { std::eprintln!(\"x\") }",
        "fn f() { vec![std::fs::read(x)] }",
        "fn f() { vec![dbg!(x)] }",
        "use crate::error::Error;",
        "use crate::{proof::digest, store};",
        "use crate::*;",
        "pub use crate::store::Store;",
        "use super::super::error;",
        "use crate as everything;",
    ] {
        assert_reported("src/proof/tree.rs", text);
    }
}

#[test]
fn proof_may_use_itself_and_the_pure_part_of_the_standard_library() {
    for text in [
        "use std::{borrow::Cow, fmt};\nuse crate::proof::digest::sha256;\nuse super::scheme::Scheme;",
        "/// Like rusqlite, without std::fs.\nfn f() {} // no println!() here",
        "const TEXT: &str = \"crate::store \\\" git2\"; const RAW: &[u8] = br#\"std::fs \"rusqlite\" \"#;",
        "mod tests { use super::*; }",
        "#![doc = include_str!(\"FORMAT.md\")]",
        "pub(crate) fn f() {}\npub(super) fn g() {}",
    ] {
        assert_fine("src/proof/tree.rs", text);
    }
    assert_fine("src/proof/canonical/reader.rs", "use super::super::digest;");
}

#[test]
fn each_library_has_one_folder() {
    for path in ["src/record/start.rs", "src/git/refs.rs", "src/error.rs", "src/cli/mod.rs"] {
        assert_reported(path, "impl From<rusqlite::Error> for Error {}");
    }
    for path in ["src/record/start.rs", "src/store/mod.rs", "src/context.rs", "src/hook/mod.rs"] {
        assert_reported(path, "use git2::Repository;");
    }
    for path in ["src/git/index.rs", "src/store/mod.rs", "src/context.rs"] {
        assert_reported(path, "use std::os::unix::fs::FileExt as _;");
        assert_reported(path, "use rustix::process::umask;");
    }
    assert_fine("src/access.rs", "use std::os::unix::fs::FileExt as _;");
    assert_fine("src/store/mod.rs", "use rusqlite::Connection;");
    assert_fine("src/git/refs.rs", "use git2::Repository;");
}

#[test]
fn a_dependency_against_the_order_is_reported() {
    for (path, text) in [
        ("src/store/mod.rs", "use crate::record;"),
        ("src/store/mod.rs", "use crate::git::Refs;"),
        ("src/git/mod.rs", "use crate::store::Store;"),
        ("src/git/deep/mod.rs", "use super::super::store::Store;"),
        ("src/record/start.rs", "use crate::{error::Result, cli::Ui};"),
        ("src/record/start.rs", "fn f() { crate::mcp::serve() }"),
        ("src/record/start.rs", "fn f() { json!({ \"a\": crate::judge::verify(x) }) }"),
        ("src/publish/anchor.rs", "use crate::judge;"),
        ("src/judge/verify.rs", "use crate::present;"),
        ("src/flow/mod.rs", "use super::hook;"),
        ("src/hook/mod.rs", "use crate::mcp;"),
        ("src/error.rs", "use crate::store;"),
        ("src/helpers/mod.rs", ""),
    ] {
        assert_reported(path, text);
    }
}

#[test]
fn a_dependency_along_the_order_is_fine() {
    for (path, text) in [
        ("src/store/mod.rs", "use crate::{context::Context, error::Result, proof::{chain, tree::{self, Tree}}};"),
        ("src/record/start.rs", "use crate::git::Refs as R;\nuse crate::store::Store;\nuse super::input;"),
        ("src/cli/mod.rs", "use crate::{hook, mcp, record, present};\nfn f() { println!() }"),
        ("src/main.rs", "fn main() -> std::process::ExitCode { git_proof::cli::main() }"),
    ] {
        assert_fine(path, text);
    }
}

#[test]
fn printing_outside_of_the_command_line_is_reported() {
    for path in ["src/record/start.rs", "src/store/mod.rs", "src/hook/mod.rs", "src/present/html.rs", "src/lib.rs"] {
        for text in ["fn f() { println!() }", "fn f() { eprint!(\"x\") }", "fn f() { dbg!(x) }"] {
            assert_reported(path, text);
        }
    }
}

#[test]
fn a_circle_is_found_also_where_a_module_offers_the_items_of_its_children() {
    let circle = Sources::new([
        ("src/judge/mod.rs", "mod a; mod b; mod c; pub use a::A; pub use b::B;"),
        ("src/judge/a.rs", "use super::B; pub struct A;"),
        ("src/judge/b.rs", "use super::c::C; pub struct B;"),
        ("src/judge/c.rs", "pub struct C(crate::judge::A);"),
    ]);
    let found = circle.circles(false);
    assert_eq!(shown(&found), "judge::a, judge::b, judge::c");
    let straight = Sources::new([
        ("src/judge/mod.rs", "mod a; mod b; pub use a::A; pub use b::B;"),
        ("src/judge/a.rs", "use super::B; pub struct A;"),
        ("src/judge/b.rs", "pub struct B;"),
    ]);
    assert_eq!(shown(&straight.circles(false)), "");
}
