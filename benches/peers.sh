#!/usr/bin/env bash
# Installs the peers that npm and PyPI have into target/peers, and prints where: the tree benchmark measures them too, where
# GIT_PROOF_PEERS names that folder.
#
#   GIT_PROOF_PEERS=$(benches/peers.sh) cargo bench --bench tree
set -euo pipefail
cd "$(dirname "$0")/.."

mkdir -p "${CARGO_TARGET_DIR:-target}/peers"
peers=$(cd "${CARGO_TARGET_DIR:-target}/peers" && pwd)
npm install --silent --no-fund --no-audit --prefix "$peers" merkletreejs@0.6.0 >&2
[[ -x $peers/venv/bin/python ]] || python3 -m venv "$peers/venv" >&2
"$peers/venv/bin/pip" install --quiet --disable-pip-version-check pymerkle==7.0.0 >&2
printf '%s\n' "$peers"
