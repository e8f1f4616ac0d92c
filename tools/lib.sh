# shellcheck shell=bash disable=SC2034,SC2154
# Building blocks of ./dev and .ci/run: steps that are quiet when they work, packages, Python, builds.
# Expects `root` (the repository) to be set; sourced, never run.

log_folder=$root/build/log

die() {
  printf 'dev: %s\n' "$*" >&2
  exit 1
}

say() {
  printf '%s\n' "$*"
}

# quiet NAME COMMAND...: output goes to build/log/NAME.log; a failure shows the command and the end
# of its output.
quiet() {
  local name=$1 log=$log_folder/$1.log status=0
  shift
  mkdir -p "$log_folder"
  printf '$ %s\n' "$*" >>"$log"
  local before
  before=$(wc -l <"$log")
  "$@" >>"$log" 2>&1 </dev/null || status=$?
  [ "$status" = 0 ] && return 0
  {
    printf 'dev: this command failed (exit code %s):\n    %s\nits last words:\n' "$status" "$*"
    tail -n +"$((before + 1))" "$log" | tail -n 30 | sed 's/^/    /'
    printf 'all of its output: %s\n' "build/log/$name.log"
  } >&2
  return "$status"
}

fresh_log() {
  rm -f "$log_folder/$1.log"
}

processors() {
  nproc 2>/dev/null || echo 1
}

# ---- packages --------------------------------------------------------------------------------

# a|b: either will do; what is installed is the first.
system_packages=(
  g++ cmake ninja-build pkg-config ca-certificates python3 python3-venv
  libhwy-dev libfmt-dev nlohmann-json3-dev libcli11-dev libpugixml-dev zlib1g-dev
  'libcurl4-openssl-dev|libcurl4-gnutls-dev'
  libsndfile1-dev libsoxr-dev libavformat-dev libavcodec-dev libavutil-dev
  libgtest-dev libbenchmark-dev
)

package_installed() {
  [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ] ||
    # Several architectures of one package print one word each.
    dpkg-query -W -f='${db:Status-Status}\n' "$1" 2>/dev/null | grep -qx installed
}

as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    printf 'needs root: run ./dev as root or install sudo\n' >&2
    return 1
  fi
}

# install_packages NAME...: apt is touched only when something is missing.
install_packages() {
  command -v dpkg-query >/dev/null ||
    die "needs Debian 12, Ubuntu 24.04 or a system like them (dpkg-query is missing); elsewhere install what README.md lists and use the CMake presets"
  local missing=() choice names name found
  for choice in "$@"; do
    found=
    IFS='|' read -ra names <<<"$choice"
    for name in "${names[@]}"; do
      if package_installed "$name"; then
        found=1
        break
      fi
    done
    [ -n "$found" ] || missing+=("${names[0]}")
  done
  [ ${#missing[@]} = 0 ] && return 0
  say "Installing ${#missing[@]} system packages: ${missing[*]}"
  if [ "$(id -u)" != 0 ] && command -v sudo >/dev/null && ! sudo -n true 2>/dev/null; then
    sudo -v || die "needs sudo to install: ${missing[*]}"
  fi
  fresh_log apt
  local apt=(env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300 -o APT::Update::Error-Mode=any)
  quiet apt as_root "${apt[@]}" update
  quiet apt as_root "${apt[@]}" install -y --no-install-recommends "${missing[@]}"
}

# ---- Python ----------------------------------------------------------------------------------

venv=$root/.venv

find_python() {
  local name
  for name in python3 python3.11 python3.12 python3.13 python3.14; do
    if command -v "$name" >/dev/null &&
      "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      command -v "$name"
      return 0
    fi
  done
  return 1
}

# Makes .venv and puts it first on PATH, so `python3` has a pip for `diarist models pull`.
need_python() {
  if ! "$venv/bin/python" -m pip --version >/dev/null 2>&1; then
    local python
    python=$(find_python) || die "needs Python 3.11 or later (apt-get install python3)"
    fresh_log venv
    rm -rf "$venv"
    quiet venv "$python" -m venv "$venv"
  fi
  export PATH=$venv/bin:$PATH
}

# need_python_packages NAME: what tools/requirements-NAME.txt pins; pip runs only after a change.
need_python_packages() {
  need_python
  local list=$root/tools/requirements-$1.txt stamp
  stamp=$venv/.$1-$(sha256sum "$list" | cut -c1-16)
  [ -e "$stamp" ] && return 0
  say "Installing Python packages for: $1"
  fresh_log "pip-$1"
  quiet "pip-$1" "$venv/bin/python" -m pip install --disable-pip-version-check --no-input -r "$list"
  rm -f "$venv/.$1-"*
  touch "$stamp"
}

# ---- build -----------------------------------------------------------------------------------

# configure PRESET: writes build/PRESET.
configure() {
  if [ -z "${CMAKE_CXX_COMPILER_LAUNCHER:-}" ] && command -v ccache >/dev/null; then
    export CMAKE_CXX_COMPILER_LAUNCHER=ccache
  fi
  fresh_log "cmake-$1"
  quiet "cmake-$1" cmake -S "$root" --preset "$1"
}

# build PRESET [TARGET...]
build() {
  local preset=$1
  shift
  configure "$preset"
  fresh_log "build-$preset"
  quiet "build-$preset" cmake --build "$root/build/$preset" --parallel "$(processors)" \
    ${1:+--target "$@"}
}

# Files of the languages we check, relative to the root.
cpp_files() {
  (cd "$root" && find include src cli python tests bench fuzz examples -type f \
    \( -name '*.cpp' -o -name '*.hpp' -o -name '*.h' -o -name '*.c' \) 2>/dev/null | LC_ALL=C sort)
}

python_files() {
  (cd "$root" && find tools tests bench python examples -type f -name '*.py' 2>/dev/null | LC_ALL=C sort)
}
