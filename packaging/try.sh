#!/usr/bin/env bash
# Installs each package that build.sh has made, without the network, in a directory that is gone afterwards, and uses it as its
# users would: its version, a server for an agent, exit codes, signals, man page and completions.
set -euo pipefail
cd "$(dirname "$0")/.."
packages=$(realpath "${CARGO_TARGET_DIR:-target}/packages")
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# Nothing of the user's: no settings, no caches, no other git-proof.
export HOME=$scratch/home GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null XDG_CONFIG_HOME=$scratch/config
unset XDG_DATA_DIRS MANPATH
mkdir "$HOME"
git init --quiet "$scratch/repository"
cd "$scratch/repository"

fail() { echo "error: $*" >&2; exit 1; }
ends_with() { # CODE COMMAND…
  local wanted=$1 code=0
  shift
  "$@" >"$scratch/out" 2>&1 </dev/null || code=$?
  [[ $code == "$wanted" ]] || fail "$* ended with $code, not $wanted: $(cat "$scratch/out")"
}
initialize='{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"try","version":"1"}}}'

# Uses a git-proof that is installed in some way.
try() { # NAME PROGRAM…
  local name=$1 answer
  shift
  [[ $("$@" --version) == "git-proof $version" ]] || fail "$name: $("$@" --version)"
  ends_with 2 "$@" no-such-command
  ends_with 3 "$@" log                       # nothing is recorded here
  answer=$(timeout 60 "$@" mcp <<<"$initialize")
  [[ $answer == *'"serverInfo"'*'"git-proof"'* ]] || fail "$name: mcp answered $answer"

  # A server that is told to stop does, and all of it: nobody holds the pipe to the agent any more.
  mkfifo "$scratch/in"
  "$@" mcp <"$scratch/in" >"$scratch/answer" &
  local server=$!
  exec 9>"$scratch/in"
  printf '%s\n' "$initialize" >&9
  for _ in $(seq 600); do [[ -s $scratch/answer ]] && break; sleep 0.1; done
  [[ -s $scratch/answer ]] || fail "$name: no answer from the server"
  kill -TERM "$server"
  local code=0
  wait "$server" || code=$?
  [[ $code == 143 ]] || fail "$name: SIGTERM ended the server with $code"
  # With its reader gone the pipe is broken.
  if (trap '' PIPE; printf 'x\n' >&9) 2>/dev/null; then fail "$name: the server still reads after SIGTERM"; fi
  exec 9>&-
  rm "$scratch/in" "$scratch/answer"
  echo "ok: $name"
}

tar -C "$scratch" -xzf "$packages"/git-proof-*-*-*.tar.gz
try tarball "$scratch"/git-proof-*/bin/git-proof

if [[ -n $(find "$packages" -name "git-proof_*.deb") ]]; then
  root=$scratch/root
  mkdir -p "$root"/var/lib/dpkg/{updates,info}
  touch "$root/var/lib/dpkg/status"
  # The packages that it depends on are those of this machine, which an empty root does not have.
  dpkg --root="$root" --force-not-root --force-depends --log=/dev/null --install "$packages"/git-proof_*.deb \
    >"$scratch/dpkg" 2>&1 || fail "dpkg: $(cat "$scratch/dpkg")"
  try 'Debian package' "$root/usr/bin/git-proof"
  (
    export PATH=$root/usr/bin:$PATH MANPATH=$root/usr/share/man MANPAGER=cat PAGER=cat
    [[ $(git proof --version) == "git-proof $version" ]] || fail "git does not find it"
    if command -v man >/dev/null; then
      git proof --help >"$scratch/out" 2>&1 || fail "git proof --help: $(cat "$scratch/out")"
      grep -q 'EXIT STATUS' "$scratch/out" || fail "git proof --help shows no page"
    fi
    loader=/usr/share/bash-completion/bash_completion
    if [[ -e $loader ]]; then
      offered=$(XDG_DATA_DIRS=$root/usr/share:/usr/share bash --norc -c ". $loader; . /usr/share/bash-completion/completions/git
        COMP_WORDS=(git proof rec) COMP_CWORD=2 COMP_LINE='git proof rec' COMP_POINT=13
        __git_wrap__git_main git rec proof; echo \"\${COMPREPLY[@]}\"")
      [[ $offered == 'record ' ]] || fail "bash offers '$offered' for git proof rec"
    fi
    if command -v fish >/dev/null; then
      offered=$(XDG_DATA_DIRS=$root/usr/share:/usr/share fish -c "complete -C 'git proof rec'" | cut -f1)
      [[ $offered == record ]] || fail "fish offers '$offered' for git proof rec"
    fi
  )
  dpkg --root="$root" --force-not-root --force-depends --log=/dev/null --remove git-proof >"$scratch/dpkg" 2>&1 ||
    fail "dpkg: $(cat "$scratch/dpkg")"
  left=$(find "$root/usr" -type f 2>/dev/null || true)
  [[ -z $left ]] || fail "removing leaves $left"
fi

if command -v npm >/dev/null; then
  mkdir "$scratch/node"
  (
    cd "$scratch/node"
    # A registry that is not there: everything comes out of the two packages.
    npm_config_cache=$scratch/npm-cache npm install --silent --offline --no-audit --no-fund \
      "$packages"/git-proof-[0-9]*.tgz "$packages"/git-proof-[a-z]*.tgz >"$scratch/out" 2>&1 ||
      fail "npm: $(cat "$scratch/out")"
  )
  try 'npm package' "$scratch/node/node_modules/.bin/git-proof"
  # Where the binary was left out it says so.
  rm -r "$scratch/node/node_modules/@git-proof"
  ends_with 3 "$scratch/node/node_modules/.bin/git-proof" --version
  grep -q 'hint:' "$scratch/out" || fail "npm: no hint in $(cat "$scratch/out")"
fi

python3 -m venv "$scratch/venv"
"$scratch/venv/bin/pip" install --quiet --disable-pip-version-check --no-index "$packages"/git_proof-*.whl
"$scratch/venv/bin/pip" check --disable-pip-version-check >/dev/null
try 'Python wheel' "$scratch/venv/bin/git-proof"
"$scratch/venv/bin/pip" uninstall --quiet --yes git-proof
[[ ! -e $scratch/venv/bin/git-proof ]] || fail "uninstalling leaves the binary"
