#!/usr/bin/env bash
# The tree benchmark with two more peers, which npm and PyPI have. Installs them into target/peers.
set -euo pipefail
cd "$(dirname "$0")/.."

mkdir -p "${CARGO_TARGET_DIR:-target}/peers"
peers=$(cd "${CARGO_TARGET_DIR:-target}/peers" && pwd)
npm install --silent --no-fund --no-audit --prefix "$peers" merkletreejs@0.6.0
[[ -x $peers/venv/bin/python ]] || python3 -m venv "$peers/venv"
"$peers/venv/bin/pip" install --quiet --disable-pip-version-check pymerkle==7.0.0
GIT_PROOF_PEERS=$peers cargo bench --locked --bench tree
