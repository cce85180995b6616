#!/usr/bin/env bash
# npm.sh TREE VERSION INTO: two npm packages. One is the launcher, the other has the binary for the TRIPLE that build.sh exports.
# The launcher depends on the binaries of all platforms, and npm installs the one that fits: `npx git-proof mcp` fetches both.
set -euo pipefail
tree=$(realpath "$1") version=$2 into=$(realpath "$3")
cd "$(dirname "$0")/npm"
case $TRIPLE in
  x86_64-*-linux-*) platform=linux-x64 ;;
  aarch64-*-linux-*) platform=linux-arm64 ;;
  x86_64-apple-darwin) platform=darwin-x64 ;;
  aarch64-apple-darwin) platform=darwin-arm64 ;;
  *) echo "error: the launcher knows no package for $TRIPLE" >&2; exit 2 ;;
esac
doc=$tree/share/doc/git-proof
work=$into/npm
mkdir -p "$work/launcher/bin" "$work/platform/bin"

# Versions are filled in here, so that there is one place to change them.
fill() { # FILE INTO
  sed "s/@VERSION@/$version/g; s/@PLATFORM@/$platform/g; s/@OS@/${platform%-*}/g; s/@CPU@/${platform#*-}/g" "$1" >"$2"
}
fill launcher.json "$work/launcher/package.json"
fill platform.json "$work/platform/package.json"
# npm must not install a binary that is linked to glibc where the C library is another one.
if [[ $LINKED == glibc ]]; then
  sed -i 's/^  "preferUnplugged"/  "libc": ["glibc"],\n&/' "$work/platform/package.json"
fi
install -m 755 launcher.js "$work/launcher/bin/git-proof.js"
install -m 755 "$tree/bin/git-proof" "$work/platform/bin/git-proof"
cp "$doc/README.md" "$work/launcher/"
cp "$doc"/LICENSE-* "$work/launcher/"
cp "$doc"/LICENSE-* "$work/platform/"
npm pack --silent --pack-destination "$into" "$work/launcher" "$work/platform" >/dev/null
rm -r "$work"
