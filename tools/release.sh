#!/usr/bin/env bash
# Everything that is given out for a version, into dist/: sources, Debian packages, a wheel where
# ./dev can make one, what they are made of, and checksums. Called by `./dev release`.
#
# usage: tools/release.sh [OUT]
# DIARIST_RELEASE_BUILD  a build folder to take instead of a fresh one
# DIARIST_RELEASE_DIRTY  1: although files are changed that are not committed (for trying)
set -euo pipefail
root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)
. "$root/tools/lib.sh"
out=$(realpath -m "${1:-$root/dist}")
cd "$root"

version=$(sed -nE 's/^project\(diarist VERSION ([0-9.]+).*/\1/p' CMakeLists.txt)
[ -n "$version" ] || die 'CMakeLists.txt names no version'
grep -q "^## $version\$" CHANGELOG.md || die "CHANGELOG.md has no section '## $version'; write it"
tag=$(git describe --exact-match --tags --match 'v*' 2>/dev/null || true)
[ -z "$tag" ] || [ "$tag" = "v$version" ] || die "the tag is $tag, the version $version"
if [ "${DIARIST_RELEASE_DIRTY:-}" != 1 ] && [ -n "$(git status --porcelain)" ]; then
  die 'there are changes that are not committed; commit or remove them'
fi

# Every time in what is made is that of the last commit.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
rm -rf "$out"
mkdir -p "$out"

say "Sources of $version"
git archive --format=tar --prefix="diarist-$version/" HEAD | gzip -9n >"$out/diarist-$version.tar.gz"

made=${DIARIST_RELEASE_BUILD:-}
if [ -z "$made" ]; then
  install_packages "${system_packages[@]}" dpkg-dev file
  made=$root/build/package
  say 'Building'
  # Without absolute paths of this machine in the program.
  quiet package cmake -S "$root" -B "$made" -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DDIARIST_TESTS=OFF "-DCMAKE_CXX_FLAGS=-ffile-prefix-map=$root=."
  quiet package cmake --build "$made" --parallel "$(processors)"
fi
say 'Debian packages'
(cd "$made" && quiet cpack cpack -G DEB -B "$out")
rm -rf "$out/_CPack_Packages"

say 'What it is made of'
python3 tools/make_sbom.py --program "$made/bin/diarist" --version "$version" \
  --sbom "$out/sbom.spdx.json" --notices "$out/THIRD-PARTY-NOTICES.txt"

if ./dev | grep -q '^  wheel '; then
  say 'Wheel'
  ./dev wheel "$out"
fi

(cd "$out" && sha256sum -- * >SHA256SUMS)
say "Made in $out:"
cat "$out/SHA256SUMS"
