//! The hook on a server, as `docs/forgejo.md` installs it: beside the forge's own, which runs all files of a folder.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use super::Project;
use crate::store::scratch::Ran;

/// What Forgejo and Gitea write as a repository's pre-receive hook, as far as it matters here.
const DELEGATE: &str = r#"#!/bin/sh
data=$(cat)
exitcodes=""
hookname=$(basename "$0")
GIT_DIR=${GIT_DIR:-$(dirname "$0")/..}
for hook in "$GIT_DIR/hooks/$hookname.d/"*; do
  test -x "$hook" && test -f "$hook" || continue
  echo "$data" | "$hook"
  exitcodes="$exitcodes $?"
done
for i in $exitcodes; do
  [ "$i" -eq 0 ] || exit "$i"
done
"#;

fn install(file: &Path, text: &str) {
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, text).unwrap();
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_push_is_let_in_once_its_proofs_are_there() {
    let project = Project::new();
    let server = project.scratch.around().join("server.git");
    project.git(&["init", "--quiet", "--bare", "--initial-branch=main", server.to_str().unwrap()]);
    project.git(&["remote", "add", "origin", server.to_str().unwrap()]);
    let page = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/forgejo.md")).unwrap();
    let hook = "#!/bin/sh\nexec git-proof hook pre-receive\n";
    assert!(page.contains(&hook.replace("#!", "   #!").replace("exec", "   exec")), "the page has another hook");
    install(&server.join("hooks/pre-receive"), DELEGATE);
    install(&server.join("hooks/pre-receive.d/git-proof"), hook);
    let push = |refs: &[&str]| -> Ran {
        let mut command: Command = project.command(&["push", "--quiet", "origin"]);
        let programs = Path::new(env!("CARGO_BIN_EXE_git-proof")).parent().unwrap();
        let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
        command.args(refs).env("PATH", path).output().unwrap().into()
    };
    assert_eq!(push(&["main"]).exit, Some(0));
    project.proven("s1", "a");
    let ran = push(&["main"]);
    assert_eq!(ran.exit, Some(1), "{}", ran.err);
    assert!(
        ran.err.contains("remote: git proof: refs/heads/main is not let in: a required proof is missing"),
        "{}",
        ran.err
    );
    let ran = push(&["refs/notes/proof", "refs/proof/evidence"]);
    assert_eq!(ran.exit, Some(0), "{}", ran.err);
    assert_eq!(push(&["main"]).exit, Some(0));
    project.unproven("b");
    let ran = push(&["main"]);
    assert_eq!(ran.exit, Some(1));
    assert!(ran.err.contains("ANCHOR_MISSING a proof is required, and there is none"), "{}", ran.err);
}
