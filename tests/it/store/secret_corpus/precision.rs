//! The guard lets documentation through: that of every dependency, and our own.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use git_proof::record::find_secret;

/// Documents that really have a credential in them. Each is a private key that was made for the document.
const PRIVATE_KEYS: &[(&str, &str)] = &[("p256", "README.md"), ("p384", "README.md"), ("p521", "README.md")];

/// A document: where it is from, and its text.
struct Document {
    package: String,
    file: PathBuf,
    text: String,
}

#[test]
#[allow(clippy::print_stdout)] // how much was read, with --nocapture
fn documentation_of_every_dependency_is_let_through() {
    let documents: Vec<Document> = packages().iter().flat_map(|(name, folder)| documents(name, folder)).collect();
    let packages: BTreeSet<&str> = documents.iter().map(|document| &document.package[..]).collect();
    let bytes: usize = documents.iter().map(|document| document.text.len()).sum();
    println!("{} documents of {} packages, {bytes} bytes", documents.len(), packages.len());
    assert!(packages.len() > 100 && bytes > 5_000_000, "the sources of the dependencies were not found");
    let caught = caught(&documents);
    let is_expected = |(package, file, what): &(String, PathBuf, &str)| {
        *what == "a private key" && PRIVATE_KEYS.iter().any(|(name, path)| package == name && file == Path::new(path))
    };
    let (expected, wrong): (Vec<_>, Vec<_>) = caught.into_iter().partition(is_expected);
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(expected.len(), PRIVATE_KEYS.len(), "{expected:#?}");
}

#[test]
fn own_documentation_is_let_through() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut documents: Vec<Document> = documents("git-proof", &root.join("src"));
    documents.extend(
        ["README.md", "CHANGELOG.md", "CONTRIBUTING.md"].map(|file| document("git-proof", root, Path::new(file))),
    );
    documents.extend(self::documents("git-proof", &root.join("docs")));
    assert!(documents.len() > 100, "{}", documents.len());
    let caught = caught(&documents);
    assert!(caught.is_empty(), "{caught:#?}");
}

/// The packages of the lock file that are on disk, with their folders.
fn packages() -> Vec<(String, PathBuf)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let read = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--locked", "--offline", "--filter-platform", &host()])
        .current_dir(root)
        .output()
        .unwrap();
    assert!(read.status.success(), "{}", String::from_utf8_lossy(&read.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&read.stdout).unwrap();
    let is_dependency = |package: &&serde_json::Value| !package["source"].is_null();
    let packages = metadata["packages"].as_array().unwrap().iter().filter(is_dependency);
    packages
        .map(|package| {
            let manifest = Path::new(package["manifest_path"].as_str().unwrap());
            (package["name"].as_str().unwrap().to_owned(), manifest.parent().unwrap().to_owned())
        })
        .collect()
}

/// The platform that the compiler runs on. Packages for others are not on disk.
fn host() -> String {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = Command::new(rustc).arg("-vV").output().unwrap();
    let version = String::from_utf8(version.stdout).unwrap();
    version.lines().find_map(|line| line.strip_prefix("host: ")).unwrap().to_owned()
}

/// The documents in a folder: files in Markdown, and the documentation in source files.
fn documents(package: &str, folder: &Path) -> Vec<Document> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(inner) = folders.pop() {
        for entry in std::fs::read_dir(&inner).unwrap() {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            } else if entry.path().extension().is_some_and(|ending| ending == "md" || ending == "rs") {
                found.push(document(package, folder, entry.path().strip_prefix(folder).unwrap()));
            }
        }
    }
    found
}

/// Reads a document. Of a source file only what rustdoc shows counts.
fn document(package: &str, folder: &Path, file: &Path) -> Document {
    let text = String::from_utf8_lossy(&std::fs::read(folder.join(file)).unwrap()).into_owned();
    let is_source = file.extension().is_some_and(|ending| ending == "rs");
    let shown = |line: &str| {
        let line = line.trim_start();
        let line = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"))?;
        Some(format!("{line}\n"))
    };
    let text = if is_source { text.lines().filter_map(shown).collect() } else { text };
    Document { package: package.to_owned(), file: file.to_owned(), text }
}

/// The documents that are not let through. Two threads search, so that the tests take less long.
fn caught(documents: &[Document]) -> Vec<(String, PathBuf, &'static str)> {
    let search = |documents: &[Document]| -> Vec<_> {
        let caught = documents.iter().filter_map(|document| Some((document, find_secret(&document.text)?.what)));
        caught.map(|(document, what)| (document.package.clone(), document.file.clone(), what)).collect()
    };
    let (left, right) = documents.split_at(documents.len() / 2);
    std::thread::scope(|scope| {
        let left = scope.spawn(|| search(left));
        let right = search(right);
        [left.join().unwrap(), right].concat()
    })
}
