#!/usr/bin/env bash
# build.sh [TARGET]: builds a release for one target and packs it into target/packages: a tarball for cargo-binstall, a Debian
# package, two npm packages and a Python wheel. TARGET is a Rust triple; without one it is that of this machine. The machine must
# be able to run what it builds, because the program itself writes its man pages and completions.
# BINARY=PATH packs a git-proof that was built before. The same commit and the same binary give the same bytes.
# On macOS the GNU versions of coreutils, sed, tar and find must come first on the PATH.
set -euo pipefail
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-target}
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)
TRIPLE=${1:-$(rustc -vV | sed -n 's/^host: //p')}
fail() { echo "error: $*" >&2; exit 2; }

if [[ -z ${BINARY:-} ]]; then
  # A Linux binary carries its C library and zlib: it runs on any distribution, and it starts 0.4 ms sooner than one that is
  # linked at run time. The flag must not reach build scripts and procedural macros, which cargo only guarantees for a named target.
  if [[ $TRIPLE == *-linux-* ]]; then
    export LIBZ_SYS_STATIC=1 RUSTFLAGS="${RUSTFLAGS:-} -C target-feature=+crt-static"
  fi
  cargo build --locked --release --target "$TRIPLE"
  BINARY=$target/$TRIPLE/release/git-proof
  if [[ $TRIPLE == *-linux-* ]] && readelf --program-headers --wide "$BINARY" | grep -q INTERP; then
    fail "$BINARY is not linked statically"
  fi
fi
built=$("$BINARY" --version)
[[ $built == *" $version" ]] || fail "$BINARY is of $built, Cargo.toml of $version"

# What the packages say about where the binary runs: static and macos need nothing else, glibc is linked at run time.
case $TRIPLE in
  *-apple-darwin) LINKED=macos ;;
  *) if readelf --program-headers --wide "$BINARY" | grep -q INTERP; then LINKED=glibc; else LINKED=static; fi ;;
esac
# The time that goes into archives: that of the commit, or none.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 0)}
export TRIPLE LINKED SOURCE_DATE_EPOCH TZ=UTC LC_ALL=C
umask 022

# What all packages carry, laid out as below /usr.
packages=$target/packages
tree=$packages/tree
rm -rf "$packages"
mkdir -p "$tree"/{bin,share/man/man1,share/bash-completion/completions,share/zsh/site-functions}
mkdir -p "$tree"/share/{fish/vendor_completions.d,fish/vendor_conf.d,doc/git-proof}
install -m 755 "$BINARY" "$tree/bin/git-proof"
# A release build is stripped already; the binary of the tests is not.
if command -v strip >/dev/null; then strip "$tree/bin/git-proof"; fi
proof=$tree/bin/git-proof
"$proof" man --dir "$tree/share/man/man1" >/dev/null
"$proof" completions bash >"$tree/share/bash-completion/completions/git-proof"
"$proof" completions zsh >"$tree/share/zsh/site-functions/_git-proof"
"$proof" completions fish >"$tree/share/fish/vendor_completions.d/git-proof.fish"
# Fish reads the file above for `git-proof` alone, and needs what completes `git proof` when it starts.
sed -n '/^# As a command of git/,$p' "$tree/share/fish/vendor_completions.d/git-proof.fish" \
  >"$tree/share/fish/vendor_conf.d/git-proof.fish"
install -m 644 README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE "$tree/share/doc/git-proof/"
find "$tree" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +

# `cargo binstall` takes this one; Cargo.toml names it.
tar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner \
  --transform "s,^\.,git-proof-$TRIPLE," -C "$tree" -cf - . | gzip -9n >"$packages/git-proof-$TRIPLE.tar.gz"

if [[ $LINKED != macos ]] && command -v dpkg-deb >/dev/null; then packaging/deb.sh "$tree" "$version" "$packages"; fi
if command -v npm >/dev/null; then packaging/npm.sh "$tree" "$version" "$packages"; fi
python3 packaging/wheel.py "$tree" "$version" "$packages"
rm -r "$tree"
(cd "$packages" && sha256sum -- * >SHA256SUMS && cat SHA256SUMS)
