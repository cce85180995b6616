#!/bin/sh
# Builds git-proof from the checkout that this file is in, into the folder that GIT_PROOF_INSTALL names.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
# Cargo obeys a .cargo/config.toml, and rustup a rust-toolchain.toml, of the directory that it is run in. That must not be
# the one that is judged.
cd -- "$here"
cargo install --quiet --locked --path . --root "${GIT_PROOF_INSTALL:?}"
