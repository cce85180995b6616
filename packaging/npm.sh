#!/usr/bin/env bash
# npm.sh TREE VERSION INTO: two npm packages, the launcher and the binary of this machine, which the launcher depends on where
# it fits. `npx git-proof mcp` fetches both.
set -euo pipefail
tree=$(realpath "$1") version=$2 into=$(realpath "$3")
cd "$(dirname "$0")/npm"
platform=$(node -p 'process.platform + "-" + process.arch')
doc=$tree/share/doc/git-proof
work=$into/npm
mkdir -p "$work/launcher/bin" "$work/platform/bin"

# Versions are filled in here, so that there is one place to change them.
fill() { # FILE INTO
  sed "s/@VERSION@/$version/g; s/@PLATFORM@/$platform/g; s/@OS@/${platform%-*}/g; s/@CPU@/${platform#*-}/g" "$1" >"$2"
}
fill launcher.json "$work/launcher/package.json"
fill platform.json "$work/platform/package.json"
install -m 755 launcher.js "$work/launcher/bin/git-proof.js"
install -m 755 "$tree/bin/git-proof" "$work/platform/bin/git-proof"
cp "$doc/README.md" "$work/launcher/"
cp "$doc"/LICENSE-* "$work/launcher/"
cp "$doc"/LICENSE-* "$work/platform/"
npm pack --silent --pack-destination "$into" "$work/launcher" "$work/platform" >/dev/null
rm -r "$work"
