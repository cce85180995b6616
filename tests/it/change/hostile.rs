//! Settings, attributes and replacements that change what git prints must not change what a change is.

use std::fs;

use git_proof::proof::digest::CommitId;

use super::scratch::{Entry, FILE, SUBMODULE, SYMLINK, Scratch, diff, judge, judging, output};

const ATTRIBUTES: &[u8] = b"*.no -diff\n*.bin binary\n*.auto text=auto eol=crlf\n*.conv diff=conv\n*.ext diff=ext\n\
    *.c diff=cpp\n*.enc working-tree-encoding=UTF-16\n*.ident ident\n*.filter filter=twist\n*.ws whitespace=trailing-space\n";

const SETTINGS: [(&str, &str); 38] = [
    ("diff.noprefix", "true"),
    ("diff.mnemonicPrefix", "true"),
    ("diff.srcPrefix", "x/"),
    ("diff.dstPrefix", "y/"),
    ("diff.algorithm", "histogram"),
    ("diff.context", "10"),
    ("diff.interHunkContext", "20"),
    ("diff.indentHeuristic", "false"),
    ("diff.renames", "copies"),
    ("diff.suppressBlankEmpty", "true"),
    ("diff.external", "false"),
    ("diff.submodule", "log"),
    ("diff.ignoreSubmodules", "all"),
    ("submodule.s.ignore", "all"),
    ("diff.orderFile", ".git/order"),
    ("diff.wsErrorHighlight", "all"),
    ("diff.relative", "true"),
    ("diff.colorMoved", "zebra"),
    ("diff.wordRegex", "."),
    ("diff.dirstat", "lines"),
    ("diff.conv.textconv", "tr a-z A-Z <"),
    ("diff.conv.cachetextconv", "true"),
    ("diff.ext.command", "echo"),
    ("diff.ext.binary", "true"),
    ("diff.cpp.xfuncname", "^x"),
    ("diff.cpp.algorithm", "patience"),
    ("filter.twist.smudge", "rev"),
    ("filter.twist.clean", "rev"),
    ("core.quotePath", "false"),
    ("core.bigFileThreshold", "1"),
    ("core.attributesFile", ".git/info/attributes"),
    ("core.autocrlf", "true"),
    ("core.fileMode", "false"),
    ("core.symlinks", "false"),
    ("core.whitespace", "tab-in-indent"),
    ("core.ignoreCase", "true"),
    ("color.ui", "always"),
    ("color.diff", "always"),
];

/// One file for each attribute and two for the rest, with a change that every setting would print otherwise.
fn snapshots() -> [Vec<Entry<'static>>; 2] {
    let old = b"int f()\n{\n\n    a;\n}\n\n\nx \n1\n2\n3\n4\n5\n6\n7\n8\n9\n$Id$\n";
    let new = b"int f()\n{\n\n    b;\n}\n\nint g()\n{\n    a;\n}\n\n\nx\n1\n2\n3\n4\n5\n6\n7\n8 \r\n9\n$Id$\n";
    let names: [&[u8]; 12] = [
        b"a.no",
        b"b.bin",
        b"c.auto",
        b"d.conv",
        b"e.ext",
        b"f.c",
        b"g.enc",
        b"h.ident",
        b"i.filter",
        b"j.ws",
        b"plain/old",
        "ä b".as_bytes(),
    ];
    let entries = |content: &'static [u8], commit: &'static [u8], target: &'static [u8]| {
        let mut entries: Vec<Entry<'static>> = names.iter().map(|name| (*name, FILE, content)).collect();
        entries.push((b".gitattributes", FILE, ATTRIBUTES));
        entries.push((b".gitmodules", FILE, b"[submodule \"s\"]\n\tpath = s\n\turl = ./s\n\tignore = all\n"));
        entries.push((b"s", SUBMODULE, commit));
        entries.push((b"link", SYMLINK, target));
        entries
    };
    let mut after = entries(new, &[b'2'; 40], b"there");
    after.retain(|(name, _, _)| *name != b"plain/old");
    after.push((b"plain/new", FILE, old));
    [entries(old, &[b'1'; 40], b"here"), after]
}

/// The change id that git gives where it sees neither the repository's settings nor its attributes.
fn judged_elsewhere(scratch: &Scratch, id: &CommitId) -> Option<String> {
    let elsewhere = tempfile::tempdir().unwrap();
    let bare = elsewhere.path().join("bare");
    scratch.git(["clone", "-q", "--bare", ".", bare.to_str().unwrap()]);
    let empty = scratch.git_line(["hash-object", "-t", "tree", "/dev/null"]);
    let parent = format!("{id}^");
    let mut git = judging(&bare);
    git.env("GIT_ATTR_SOURCE", empty).env("GIT_NO_REPLACE_OBJECTS", "1");
    let printed = output(git.args(super::scratch::OPTIONS).args([&parent, &id.to_string()]), b"");
    judge(&printed)
}

fn ours(scratch: &Scratch, id: &CommitId) -> Option<String> {
    let git = scratch.open();
    git.change_id(&git.commit(id).unwrap()).unwrap().map(|id| id.to_string())
}

#[test]
fn no_setting_and_no_attribute_changes_a_change() {
    let scratch = Scratch::new();
    let id = scratch.commits(&snapshots())[1];
    let judged = judged_elsewhere(&scratch, &id);
    assert_eq!(ours(&scratch, &id), judged);
    scratch.git(["reset", "-q", "--hard"]);
    fs::write(scratch.git_dir().join("order"), "s\nlink\nf.c\n").unwrap();
    for (key, value) in SETTINGS {
        scratch.git(["config", key, value]);
        assert_eq!(ours(&scratch, &id), judged, "{key}");
    }
    fs::write(scratch.git_dir().join("info/attributes"), "* binary\n").unwrap();
    assert_eq!(ours(&scratch, &id), judged, "with attributes of the clone's own");
    // Git itself is moved by them: else this would prove nothing.
    let parent = format!("{id}^");
    assert_ne!(judge(&diff(scratch.path(), Some(&parent), &id.to_string())), judged);
}

#[test]
fn replaced_object_changes_nothing() {
    let scratch = Scratch::new();
    let id = scratch.commits(&snapshots())[1];
    let judged = judged_elsewhere(&scratch, &id);
    let [old, new] = ["main^:f.c", "main:f.c"].map(|name| scratch.git_line(["rev-parse", name]));
    scratch.git(["replace", &new, &old]);
    scratch.git(["replace", "main^{tree}", "main^^{tree}"]);
    assert_eq!(judge(&diff(scratch.path(), Some("main^"), "main")), None);
    assert_eq!(ours(&scratch, &id), judged);
}
