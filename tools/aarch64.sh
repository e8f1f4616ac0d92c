#!/usr/bin/env bash
# Builds for 64-bit Arm on a machine of another kind, and runs the tests of its kernels there by
# QEMU: the instruction sets that this machine lacks must compile, link and compute the same.
#   tools/aarch64.sh             build and run the tests that CI runs
#   tools/aarch64.sh TARGET...   build targets of CMake, e.g. diarist_cli, into build/aarch64
set -euo pipefail
root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)
. "$root/tools/lib.sh"

libraries=$root/.cache/aarch64
wanted=(
  libhwy-dev libfmt-dev nlohmann-json3-dev libcli11-dev libpugixml-dev zlib1g-dev
  libcurl4-openssl-dev libsndfile1-dev libsoxr-dev libgtest-dev libstdc++6 libc6
)

# The packages of the other architecture with all they need, unpacked into a folder: this system's
# own list of packages and architectures stays as it is.
fetch_libraries() {
  local stamp
  stamp=$libraries/.$(printf '%s\n' "${wanted[@]}" | sha256sum | cut -c1-16)
  [ -e "$stamp" ] && return 0
  say "Fetching ${#wanted[@]} packages for aarch64, and what they need (20 MB, once)"
  rm -rf "$libraries" "$libraries.apt"
  mkdir -p "$libraries.apt/lists/partial" "$libraries.apt/archives/partial" "$libraries"
  : >"$libraries.apt/status"
  local apt=(apt-get -q -o APT::Architecture=arm64 -o APT::Architectures=arm64
    -o "Dir::State::Lists=$libraries.apt/lists" -o "Dir::State::status=$libraries.apt/status"
    -o "Dir::Cache::archives=$libraries.apt/archives" -o Dir::Cache::pkgcache=
    -o Dir::Cache::srcpkgcache= -o Acquire::Languages=none -o Debug::NoLocking=1
    -o "APT::Sandbox::User=$(id -un)" -o APT::Update::Error-Mode=any)
  fresh_log aarch64-packages
  quiet aarch64-packages "${apt[@]}" update
  quiet aarch64-packages "${apt[@]}" install --download-only -y --no-install-recommends \
    "${wanted[@]}"
  local package
  for package in "$libraries.apt"/archives/*.deb; do
    case $(basename "$package") in
      libc6-dev_* | libc-dev-bin_* | linux-libc-dev_*) ;; # the compiler brings its own
      *) quiet aarch64-packages dpkg-deb -x "$package" "$libraries" ;;
    esac
  done
  rm -rf "$libraries.apt"
  touch "$stamp"
}

# build_in FOLDER SOURCE OPTIONS...: what CMake is told for this kind of machine, and the build.
build_in() {
  local folder=$root/build/$1 source=$2
  shift 2
  if [ -z "${CMAKE_CXX_COMPILER_LAUNCHER:-}" ] && command -v ccache >/dev/null; then
    export CMAKE_CXX_COMPILER_LAUNCHER=ccache
  fi
  fresh_log aarch64-build
  quiet aarch64-build cmake -S "$source" -B "$folder" -G Ninja \
    -DCMAKE_TOOLCHAIN_FILE="$root/cmake/aarch64.cmake" -DDIARIST_AARCH64_ROOT="$libraries" "$@"
  quiet aarch64-build cmake --build "$folder" --parallel "$(processors)" \
    ${targets[0]:+--target "${targets[@]}"}
}

# Small shapes of every block and kernel; whole networks would take QEMU many minutes, and what bits
# depend on is not for the processor to say.
run_tests() {
  local log=$log_folder/aarch64-tests.log
  if ! qemu-aarch64-static -L "$libraries" "$root/build/aarch64-kernels/kernels_test" \
    --gtest_filter='-*BitsDependOnNothing*' >"$log" 2>&1 </dev/null; then
    tail -n 60 "$log" >&2
    die 'tests fail on aarch64: build/log/aarch64-tests.log'
  fi
  # Not to be taken for granted: with another list of sets the tests would run nothing.
  grep -q 'OK.*EqualsTheReference/NEON' "$log" || die 'no NEON kernel was run'
  say "aarch64: $(grep -c '^\[       OK' "$log") tests passed, kernels on NEON"
}

targets=("$@")
install_packages "${system_packages[@]}" g++-aarch64-linux-gnu qemu-user-static
fetch_libraries
if [ $# -gt 0 ]; then
  build_in aarch64 "$root" -DCMAKE_BUILD_TYPE=Release -DDIARIST_CUDA=OFF -DDIARIST_FFMPEG=OFF
else
  build_in aarch64-kernels "$root/cmake/kernels"
  run_tests
fi
