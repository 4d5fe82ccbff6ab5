# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A Debian root under its own systemd, and checks that are counted. Source it after lib.sh.

leader= # process id here of the booted root's systemd
nspawn=
passed=0
failed=0

check() {
  local words=$1
  shift
  if "$@"; then
    passed=$((passed + 1))
    say "passed: $words"
  else
    failed=$((failed + 1))
    say "FAILED: $words"
  fi
}

# The last line; the exit code says whether all passed.
close_checks() {
  say "$passed passed, $failed failed"
  [ $failed -eq 0 ]
}

# within SECONDS COMMAND...: repeats the command until it succeeds.
within() {
  local deadline=$((SECONDS + $1))
  shift
  until "$@"; do
    [ $SECONDS -lt $deadline ] || return 1
    sleep 0.2
  done
}

# boot ROOT LOG
boot() {
  systemd-nspawn --register=no --keep-unit --quiet --boot --directory="$1" --resolv-conf=copy-host \
    --machine="allot-$$" --console=read-only </dev/null >"$2" 2>&1 &
  nspawn=$!
  within 30 leader_is_there || die "systemd did not start, see $2"
  within 60 is_up || die "systemd did not come up, see $2"
}
leader_is_there() { leader=$(pgrep -P "$nspawn" -x systemd || pgrep -P "$nspawn" -x init); }
is_up() {
  case "$(on systemctl is-system-running 2>/dev/null)" in
    running | degraded) true ;;
    *) false ;;
  esac
}

power_off() {
  if [ -n "$leader" ]; then kill -s RTMIN+4 "$leader" 2>/dev/null || true; fi
  if [ -n "$nspawn" ]; then
    within 30 gone "$nspawn" || kill -9 "$nspawn" 2>/dev/null || true
  fi
  leader=
  nspawn=
}
gone() { ! kill -0 "$1" 2>/dev/null; }

# on COMMAND...: runs it in the booted root.
on() { nsenter --target "$leader" --all -- "$@"; }
