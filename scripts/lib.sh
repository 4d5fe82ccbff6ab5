# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Functions shared by the scripts. Source it from a script of this folder after: set -euo pipefail

# The only list of packages. "a|b": either will do, the first is installed.
# shellcheck disable=SC2034  # used by the scripts that source this
{
  build_packages=(
    g++ cmake ninja-build pkg-config
    libboost-dev libpoco-dev "default-libmysqlclient-dev|libmysqlclient-dev"
    libssl-dev libzstd-dev zlib1g-dev libspdlog-dev libfmt-dev libtomlplusplus-dev libcli11-dev nlohmann-json3-dev
    prometheus-cpp-dev
  )
  # the embedded database, which starts no service, and the time zones for schedules
  run_packages=(mariadb-server-core mariadb-client-core tzdata)
  demo_packages=(jq)
  # systemd: for systemd-analyze; starts nothing. supervisor: starts without any program.
  test_packages=(libgtest-dev lld openssl systemd logrotate supervisor dpkg-dev file man-db mandoc zsh
    python3-pymysql python3-croniter php-cli php-mysql curl nodejs perl ruby)
  night_packages=(chromium) # too large for each change
  service_packages=(haproxy) # for tests, installed by without_services
  lint_packages=(clang-format clang-tidy codespell shellcheck)
  fresh_packages=(debootstrap systemd-container)
  package_packages=(dpkg-dev file lintian jq)
}

# Build results must not be world-writable: a world-writable plugin would be refused.
umask o-w

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

say() { printf '%s\n' "$*"; }
die() {
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 1
}

is_installed() {
  [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# install_packages NAME...: does not need apt or root if nothing is missing (S31). Never removes a
# package.
install_packages() {
  local wanted missing=() name found
  command -v dpkg-query >/dev/null || {
    say "This is not Debian; these packages must be there under their names here: ${*%%|*}"
    return 0
  }
  for wanted in "$@"; do
    found=no
    for name in ${wanted//|/ }; do
      if is_installed "$name"; then found=yes; fi
    done
    if [ $found = no ]; then missing+=("${wanted%%|*}"); fi
  done
  if [ ${#missing[@]} -eq 0 ]; then return 0; fi
  if [ "$(id -u)" -ne 0 ]; then
    die "packages are missing and only root may install them. Run this, then $0 again:
  sudo apt-get install --no-install-recommends --no-remove ${missing[*]}"
  fi
  apt_install "${missing[@]}"
}

# without_services COMMAND...: runs an installation without starting the services of packages.
without_services() {
  local policy=/usr/sbin/policy-rc.d
  if [ "$(id -u)" -ne 0 ] || [ -e $policy ]; then
    "$@"
    return
  fi
  printf '#!/bin/sh\nexit 101\n' >$policy
  chmod 755 $policy
  ("$@") || {
    rm $policy
    exit 1
  }
  rm $policy
}

apt_install() {
  local log status=0 in_the_way
  say "Installing: $*"
  log=$(mktemp)
  export DEBIAN_FRONTEND=noninteractive
  # Outdated lists may be sufficient; otherwise apt-get install reports the failure.
  apt-get -q update >"$log" 2>&1 || say "apt-get update failed; using the existing lists"
  apt-get -q install -y --no-install-recommends --no-remove "$@" >>"$log" 2>&1 || status=$?
  if [ $status -eq 0 ]; then
    rm -f "$log"
    return 0
  fi
  tail -n 20 "$log" >&2
  rm -f "$log"
  in_the_way=$(apt-get -s install --no-install-recommends "$@" 2>/dev/null |
    awk '$1 == "Remv" { print $2 }' | tr '\n' ' ') || true  # reported above
  if [ -n "$in_the_way" ]; then
    die "cannot install $*: these installed packages conflict: ${in_the_way% }
Nothing was removed. Remove them yourself, or use a container (tests/nightly/fresh shows how)."
  fi
  die "cannot install $*: apt-get says why above. Nothing was removed."
}

# The mirror of this machine for a Debian suite, so that the created system uses the same mirror.
# All suites of Debian are on the same mirror, so the mirror of another suite is used if apt has no
# entry for this one.
debian_mirror() {
  local url
  # shellcheck disable=SC2016  # apt expands it
  url=$(apt-get indextargets --format '$(RELEASE) $(REPO_URI) $(ORIGIN)/$(LABEL)' \
    'Created-By: Packages' 2>/dev/null |
    awk -v suite="$1" '
      $3 != "Debian/Debian" { next }
      $1 == suite && !exact { exact = $2 }
      !other { other = $2 }
      END { print exact ? exact : other }') || true
  [ -n "$url" ] || die "apt on this machine knows no mirror of Debian (for its suite $1): add one to its sources, and run apt-get update"
  printf '%s\n' "$url"
}

# own_apt FOLDER SUITE: creates a separate apt in the folder for that suite of Debian; it does not
# change this machine. Sets the array own_apt to the options of apt-get for it.
own_apt() {
  local apt=$1 suite=$2 mirror option
  local settings=(
    "Dir::State=$apt/state" "Dir::State::status=$apt/status" "Dir::Cache=$apt/cache"
    "Dir::Etc::sourcelist=$apt/sources.list" Dir::Etc::sourceparts=/dev/null
    Dir::Etc::preferences=/dev/null Dir::Etc::preferencesparts=/dev/null
    APT::Default-Release= APT::Sandbox::User= Acquire::Languages=none Acquire::Retries=3
  )
  mirror=$(debian_mirror "$suite") || return 1
  mkdir -p "$apt/state/lists/partial" "$apt/cache/archives/partial"
  : >"$apt/status"
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $suite main" \
    >"$apt/sources.list"
  own_apt=()
  for option in "${settings[@]}"; do own_apt+=(-o "$option"); done
  apt-get -q "${own_apt[@]}" -o APT::Update::Error-Mode=any update
}

# make_debian SUITE FOLDER LOG [PACKAGE,...]: creates a minimal Debian that uses apt as this machine
# does.
make_debian() {
  local suite=$1 folder=$2 log=$3 include=${4:-} proxy mirror
  proxy=$(apt-config dump Acquire::http::Proxy | sed -n 's/.* "\(..*\)";$/\1/p')
  if [ -n "$proxy" ]; then export http_proxy=$proxy; fi
  mirror=$(debian_mirror "$suite")
  debootstrap --variant=minbase ${include:+--include=$include} "$suite" "$folder" "$mirror" \
    >"$log" 2>&1 || {
    tail -n 20 "$log" >&2
    die "debootstrap of $suite failed, see $log"
  }
  apt-config dump | grep -E '^Acquire::(https?::Proxy|Check-Valid-Until|Check-Date|Retries) ' \
    >"$folder/etc/apt/apt.conf.d/90host" || true
  # Like an installer; otherwise localhost has no name entry.
  printf '127.0.0.1\tlocalhost\n::1\tlocalhost\n' >"$folder/etc/hosts"
}

# inside_debian FOLDER WORK-FOLDER COMMAND...: uses /tmp on disk, because the /tmp of nspawn is
# limited memory.
inside_debian() {
  local folder=$1 work=$2
  shift 2
  SYSTEMD_NSPAWN_TMPFS_TMP=0 systemd-nspawn --register=no --keep-unit --quiet --console=pipe \
    --directory="$folder" --machine="allot-$$" --resolv-conf=copy-host --setenv=LANG=C.UTF-8 \
    --chdir="$work" "$@"
}

# configure PRESET [CMAKE-OPTION...]: uses Ninja and ccache if available; leaves an existing tree
# unchanged.
configure() {
  local preset=$1
  shift
  if command -v ccache >/dev/null; then
    set -- "$@" -DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache
  fi
  (cd "$root" && CMAKE_GENERATOR=${CMAKE_GENERATOR:-Ninja} cmake --preset "$preset" "$@")
}

# build PRESET [TARGET...]
build() {
  local preset=$1 arguments=()
  shift
  if [ $# -gt 0 ]; then arguments=(--target "$@"); fi
  cmake --build "$root/build/$preset" --parallel "$(nproc)" "${arguments[@]}"
}

# build_release: builds the release of users in build/release; keeps the tests of an existing tree.
build_release() {
  local log=$root/build/release-build.log
  mkdir -p "$root/build"
  say "Building (log: build/release-build.log)"
  { configure release -DALLOT_BUILD_TESTS=OFF && build release; } >"$log" 2>&1 || {
    tail -n 30 "$log" >&2
    die "the build failed"
  }
}

# use_server mariadb|mysql: selects the server that the test programs start.
use_server() {
  local exports
  case $1 in
    mariadb) unset ALLOT_TEST_MYSQLD ALLOT_TEST_MYSQL_DATA ;;
    mysql)
      exports=$("$root/scripts/mysql")
      eval "$exports"
      ;;
    *) die "--server is mariadb or mysql, not '$1'" ;;
  esac
}

# Test folders, each with a temporary database, are placed in memory if there is enough of it and
# programs may run from there: creating and syncing files took a quarter of the processor time. A
# killed server leaves the same state behind.
place_test_folders() {
  local least=$((8 * 1024 * 1024)) probe free # KiB
  if [ -n "${TMPDIR:-}" ]; then return 0; fi
  free=$({ df --output=avail -k /dev/shm | tail -n 1; awk '/^MemAvailable:/ { print $2 }' /proc/meminfo; } \
    2>/dev/null | sort -n | head -n 1)
  if [ "${free:-0}" -lt $least ]; then return 0; fi
  probe=$(mktemp /dev/shm/allot-XXXXXX 2>/dev/null) || return 0
  if printf '#!/bin/sh\n' >"$probe" && chmod u+x "$probe" && "$probe"; then export TMPDIR=/dev/shm; fi
  rm -f "$probe"
}
