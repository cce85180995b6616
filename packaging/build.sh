#!/usr/bin/env bash
# Builds every package for this machine into target/packages: a tarball for cargo-binstall, a Debian package, two npm packages,
# a Python wheel. BINARY names a git-proof that is there already; without it a release is built. The same commit and the same
# binary give the same bytes.
set -euo pipefail
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-target}
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)

if [[ -z ${BINARY:-} ]]; then
  cargo build --locked --release
  BINARY=$target/release/git-proof
fi
built=$("$BINARY" --version)
[[ $built == *" $version" ]] || { echo "error: $BINARY is of $built, Cargo.toml of $version" >&2; exit 2; }

# The time that goes into archives: that of the commit, or none.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 0)}
export SOURCE_DATE_EPOCH TZ=UTC LC_ALL=C
umask 022

# What all packages carry, laid out as below /usr.
packages=$target/packages
tree=$packages/tree
rm -rf "$packages"
mkdir -p "$tree"/{bin,share/man/man1,share/bash-completion/completions,share/zsh/site-functions}
mkdir -p "$tree"/share/{fish/vendor_completions.d,fish/vendor_conf.d,doc/git-proof}
install -m 755 "$BINARY" "$tree/bin/git-proof"
# A release is stripped already; this is for what tests are run with.
if command -v strip >/dev/null; then strip "$tree/bin/git-proof"; fi
proof=$tree/bin/git-proof
"$proof" man --dir "$tree/share/man/man1" >/dev/null
"$proof" completions bash >"$tree/share/bash-completion/completions/git-proof"
"$proof" completions zsh >"$tree/share/zsh/site-functions/_git-proof"
"$proof" completions fish >"$tree/share/fish/vendor_completions.d/git-proof.fish"
# Fish reads the file above for git-proof alone; what completes `git proof` must be known before.
sed -n '/^# As a command of git/,$p' "$tree/share/fish/vendor_completions.d/git-proof.fish" \
  >"$tree/share/fish/vendor_conf.d/git-proof.fish"
install -m 644 README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE "$tree/share/doc/git-proof/"
find "$tree" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +

# For cargo-binstall, and for whoever wants a folder; Cargo.toml names it.
triple=$(rustc -vV | sed -n 's/^host: //p')
tar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner \
  --transform "s,^\.,git-proof-$triple," -C "$tree" -cf - . | gzip -9n >"$packages/git-proof-$triple.tar.gz"

if command -v dpkg-deb >/dev/null; then packaging/deb.sh "$tree" "$version" "$packages"; fi
if command -v npm >/dev/null; then packaging/npm.sh "$tree" "$version" "$packages"; fi
python3 packaging/wheel.py "$tree" "$version" "$packages"
rm -r "$tree"
(cd "$packages" && sha256sum -- * >SHA256SUMS && cat SHA256SUMS)
