#!/bin/sh
# Puts git-proof into the folder that GIT_PROOF_INSTALL names: a binary of a release, whose SHA-256 is checked before it is
# unpacked. It compiles only if it is told to.
#
#   GIT_PROOF_RELEASES   the address of the files of a release: git-proof-TARGET.tar.gz and SHA256SUMS
#   GIT_PROOF_SHA256     the checksum that the archive must have              [that of SHA256SUMS beside it]
#   GIT_PROOF_BUILD      true: build the checkout that this file is in, with cargo
#
# A checksum that comes from the same place as the archive shows that it arrived whole, and not who made it: a pinned
# GIT_PROOF_SHA256 does.
set -eu
export LC_ALL=C

stop() {
  echo "git proof: $*" >&2
  exit 3
}

if [ "${GIT_PROOF_BUILD:-}" = true ]; then
  here=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
  # Cargo obeys a .cargo/config.toml, and rustup a rust-toolchain.toml, of the directory that it is run in. That must not be
  # the one that is judged.
  cd -- "$here"
  exec cargo install --quiet --locked --path . --root "${GIT_PROOF_INSTALL:?}"
fi

[ -n "${GIT_PROOF_RELEASES:-}" ] || stop "no address of a release is given; the input build compiles git-proof instead"
case $(uname -s)-$(uname -m) in
  Linux-x86_64) target=x86_64-unknown-linux-gnu ;;
  Linux-aarch64 | Linux-arm64) target=aarch64-unknown-linux-gnu ;;
  Darwin-arm64) target=aarch64-apple-darwin ;;
  Darwin-x86_64) target=x86_64-apple-darwin ;;
  *) stop "there is no binary for this machine; the input build compiles git-proof instead" ;;
esac
name=git-proof-$target.tar.gz

fetch() {
  if command -v curl >/dev/null; then
    curl --fail --silent --show-error --location --retry 3 --max-time 300 --output "$2" -- "$1"
  else
    wget --quiet --tries=3 --timeout=60 --output-document="$2" -- "$1"
  fi
}

sum_of() {
  if command -v sha256sum >/dev/null; then sha256sum <"$1"; else shasum -a 256 <"$1"; fi | cut -d ' ' -f 1
}

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
wanted=${GIT_PROOF_SHA256:-}
if [ -z "$wanted" ]; then
  fetch "$GIT_PROOF_RELEASES/SHA256SUMS" "$folder/sums" || stop "the checksums of the release cannot be fetched"
  while read -r sum file; do
    if [ "${file#\*}" = "$name" ]; then wanted=$sum; fi
  done <"$folder/sums"
  [ -n "$wanted" ] || stop "the release has no checksum of $name"
fi
fetch "$GIT_PROOF_RELEASES/$name" "$folder/archive" || stop "$name of the release cannot be fetched"
[ "$(sum_of "$folder/archive")" = "$wanted" ] || stop "$name does not have the SHA-256 that it must have"
mkdir -p "${GIT_PROOF_INSTALL:?}"
tar -xzf "$folder/archive" --strip-components=1 -C "$GIT_PROOF_INSTALL" || stop "$name cannot be unpacked"
[ -x "$GIT_PROOF_INSTALL/bin/git-proof" ] || stop "$name has no bin/git-proof"
