#!/usr/bin/env bash
# deb.sh TREE VERSION INTO: a Debian package of what build.sh has laid out, for the TRIPLE and LINKED that it exports.
set -euo pipefail
tree=$1 version=$2 into=$3
case $TRIPLE in
  x86_64-*) architecture=amd64 ;;
  aarch64-*) architecture=arm64 ;;
  *) echo "error: no Debian architecture is known for $TRIPLE" >&2; exit 2 ;;
esac
root=$into/deb
doc=$root/usr/share/doc/git-proof
mkdir -p "$root/DEBIAN" "$root/usr"
cp -a "$tree/." "$root/usr/"

# Debian has its own places and names.
mv "$root/usr/share/zsh/site-functions" "$root/usr/share/zsh/vendor-completions"
gzip -9n "$root"/usr/share/man/man1/*.1
maintainer='the git-proof contributors <git-proof@users.noreply.github.com>'
printf 'git-proof (%s) unstable; urgency=medium\n\n  * What is new: /usr/share/doc/git-proof/CHANGELOG.md.\n\n -- %s  %s\n' \
  "$version" "$maintainer" "$(date -R --date="@$SOURCE_DATE_EPOCH")" | gzip -9n >"$doc/changelog.gz"
{
  printf 'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: git-proof\n\n'
  printf 'Files: *\nCopyright: 2026 the git-proof contributors\nLicense: Expat or Apache-2.0\n\nLicense: Expat\n'
  sed '1,/^Copyright/d; s/^$/./; s/^/ /' "$doc/LICENSE-MIT" | sed '1{/^ \.$/d}'
  printf '\nLicense: Apache-2.0\n The text is in /usr/share/common-licenses/Apache-2.0.\n'
} >"$doc/copyright"
rm "$doc/LICENSE-MIT" "$doc/LICENSE-APACHE"

# A static binary needs no library. Any other needs the C library that it was linked with, or a later one.
libraries=
if [[ $LINKED == glibc ]]; then
  glibc=$(grep -aoE 'GLIBC_2\.[0-9]+' "$root/usr/bin/git-proof" | sort -Vu | tail -1 | cut -d_ -f2)
  libraries="libc6 (>= $glibc), libgcc-s1, zlib1g, "
fi
cat >"$root/DEBIAN/control" <<CONTROL
Package: git-proof
Version: $version
Architecture: $architecture
Section: vcs
Priority: optional
Maintainer: $maintainer
Installed-Size: $(du -ks --apparent-size "$root/usr" | cut -f1)
Depends: ${libraries}git (>= 1:2.39)
Suggests: openssh-client
Description: reasoning behind a change, anchored to its commit
 Records an agent's decisions while it works as a hash chain, closes the
 chain to one Merkle root, anchors the root on the commit that it explains,
 and lets anyone with a plain clone check all of it.
CONTROL
(cd "$root" && find usr -type f -print0 | sort -z | xargs -0 md5sum >DEBIAN/md5sums)
find "$root" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
dpkg-deb --root-owner-group -Zxz --build "$root" "$into/git-proof_${version}_$architecture.deb" >/dev/null
rm -r "$root"
