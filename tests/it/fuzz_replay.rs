//! Every file of the fuzz corpus through the check of its target, without a fuzzer.

use std::fs;
use std::path::Path;

use git_proof::proof::trailer::trailers;

use crate::common;

#[path = "../../fuzz/checks/mod.rs"]
mod checks;

#[test]
fn every_corpus_file_passes_the_check_of_its_target() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus");
    for (target, check) in checks::ALL {
        let files: Vec<_> = fs::read_dir(corpus.join(target)).unwrap().map(|file| file.unwrap().path()).collect();
        assert!(!files.is_empty(), "no corpus for {target}");
        for file in files {
            // A panic inside the check does not say which file it was about.
            eprintln!("{target}: {}", file.display());
            check(&fs::read(file).unwrap());
        }
    }
}

#[test]
fn every_corpus_folder_belongs_to_a_target() {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz");
    let mut folders: Vec<_> =
        fs::read_dir(fuzz.join("corpus")).unwrap().map(|folder| folder.unwrap().file_name()).collect();
    folders.sort_unstable();
    assert_eq!(folders, checks::ALL.map(|(target, _)| target));
    for (target, _) in checks::ALL {
        assert!(fuzz.join(format!("fuzz_targets/{target}.rs")).is_file(), "no fuzz target for {target}");
    }
}

#[test]
fn every_message_of_the_corpus_has_the_trailers_that_git_finds() {
    let scratch = tempfile::tempdir().unwrap();
    let message = scratch.path().join("message");
    for file in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus/trailer_block")).unwrap() {
        let mut bytes = fs::read(file.unwrap().path()).unwrap();
        // Our own keys mark a block as one of trailers, which git knows nothing of. Others must do.
        for at in 0..bytes.len().saturating_sub(5) {
            if bytes[at..at + 6].eq_ignore_ascii_case(b"proof-") {
                bytes[at] = b'X';
            }
        }
        fs::write(&message, &bytes).unwrap();
        let git = common::command("git", scratch.path())
            .args(["interpret-trailers", "--parse", "--no-divider"])
            .arg(&message)
            .output()
            .unwrap();
        assert!(git.status.success(), "{git:?}");
        let ours: Vec<_> = trailers(&bytes).map(|trailer| format!("{}: {}\n", trailer.key, trailer.value)).collect();
        assert_eq!(ours.concat(), String::from_utf8_lossy(&git.stdout), "{:?}", String::from_utf8_lossy(&bytes));
    }
}
