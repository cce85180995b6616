#!/usr/bin/env bash
# Clones this repository into a place that knows nothing of the machine (an empty home, no settings of git, no built crates), and
# runs the two commands of the README there: the one that installs, or the one to try it where there is one, and the one that
# tests. Takes minutes. `fresh.sh --build-only` builds the tests and does not run them.
set -euo pipefail
repository=$(git -C "$(dirname "$0")" rev-parse --show-toplevel)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cargo=$(command -v cargo)
toolchain=$(dirname "$(rustup which cargo 2>/dev/null || echo "$cargo")")

mkdir "$scratch/home" "$scratch/cargo"
# What was downloaded may be used again, so that a machine without network can do this; nothing that was built.
from=${CARGO_HOME:-$HOME/.cargo}
for part in registry config.toml; do
  if [[ -e $from/$part ]]; then cp -a "$from/$part" "$scratch/cargo/"; fi
done

fresh() {
  env -i HOME="$scratch/home" CARGO_HOME="$scratch/cargo" PATH="$toolchain:/usr/local/bin:/usr/bin:/bin" "$@"
}
fresh git clone --quiet --no-local "$repository" "$scratch/clone"
cd "$scratch/clone"

if [[ ${1:-} == --build-only ]]; then
  fresh cargo test --locked --no-run
  exit
fi
if grep -q 'cargo run --release -- demo' README.md; then
  fresh cargo run --release -- demo
fi
fresh cargo install --path . --root "$scratch/installed"
[[ $(fresh "$scratch/installed/bin/git-proof" --version) == git-proof\ * ]]
fresh cargo test
