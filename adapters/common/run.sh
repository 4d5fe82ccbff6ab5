# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154  # root and build are set by the script that sources this
# The daemon and the server of one run of an adapter's tests. Source it after scripts/lib.sh.
#
# The server is an embedded MariaDB or, with ALLOT_SERVER=mysql, the MySQL of scripts/mysql. Its socket is
# $work/db/data/sock and its pid is in $work/db/pid; after a kill it is started again.

# begin_run NAME: creates the folder $work, which is removed at the end of the script together with
# all processes. After a failure its logs are copied to build/NAME.
begin_run() {
  run_name=$1
  export PATH=$PATH:/usr/sbin:/sbin # folder of mariadbd, missing in an ordinary user's path
  work=$(mktemp -d "/tmp/allot-$run_name-XXXXXX")
  allotd='' mysql=''
  trap end_run EXIT
  trap 'exit 130' INT TERM
  mkdir -p "$work/plugins" "$work/runtime"
  chmod 700 "$work/runtime"
  cp "$build/plugins/pipe.so" "$work/plugins/"
}

end_run() {
  local status=$? process
  trap - EXIT INT TERM
  for process in $allotd $mysql; do
    kill -TERM "$process" 2>/dev/null || true
    wait "$process" || true
  done
  if [ $status -ne 0 ]; then
    mkdir -p "$root/build/$run_name"
    cp "$work"/*log "$root/build/$run_name/" 2>/dev/null || true
  fi
  if [ -z "${ALLOT_KEEP:-}" ]; then rm -rf "$work"; fi
  exit $status
}

# database_section: prints the lines of [database] in the configuration.
database_section() {
  case ${ALLOT_SERVER:-mariadb} in
    mariadb) printf 'embedded = "%s"\n' "$work/db" ;;
    mysql) printf 'socket = "%s"\nuser = "root"\n' "$work/db/data/sock" ;;
    *) die "ALLOT_SERVER is mariadb or mysql, not '$ALLOT_SERVER'" ;;
  esac
}

# gateway_section: prints [gateway.database], which the gateway needs on a server that is not embedded.
gateway_section() {
  if [ "${ALLOT_SERVER:-mariadb}" = mariadb ]; then return; fi
  printf '[gateway.database]\nuser = "gateway"\npassword_file = "%s"\n' "$work/password"
}

# make_gateway_account: its account has the rights of a reader, a client and an operator.
make_gateway_account() {
  {
    echo "CREATE USER 'gateway'@'localhost' IDENTIFIED BY 'change-me';"
    (cd "$root/sql/grants" && cat reader.sql submit.sql operator.sql) |
      sed "/^CREATE USER/d; s/'allot_[a-z]*'@'%'/'gateway'@'localhost'/"
  } | as_root
}

# wait_until WORDS COMMAND...: waits up to three minutes.
wait_until() {
  local words=$1 deadline=$((SECONDS + 180))
  shift
  until "$@" 2>/dev/null; do
    [ $SECONDS -lt $deadline ] || die "$words"
    sleep 0.1
  done
}

as_root() { mariadb --no-defaults --socket="$work/db/data/sock" --user=root "$@"; }

keep_mysql_running() {
  local server='' user=()
  if [ "$(id -u)" -eq 0 ]; then user=(--user=root); fi
  trap 'kill -TERM $server; wait $server; exit' TERM
  while true; do
    "$ALLOT_TEST_MYSQLD" --no-defaults "${user[@]}" --datadir="$work/db/data" --tmpdir="$work/db" \
      --socket="$work/db/data/sock" --pid-file="$work/db/pid" --skip-networking --mysqlx=OFF --secure-file-priv=NULL --server-id=1 \
      --innodb-redo-log-capacity=64M --innodb-buffer-pool-size=128M >>"$work/mysql.log" 2>&1 &
    server=$!
    wait $server || true
  done
}

start_mysql() {
  use_server mysql
  mkdir -p "$work/db"
  (umask 077 && echo change-me >"$work/password")
  cp -r "$ALLOT_TEST_MYSQL_DATA" "$work/db/data"
  keep_mysql_running &
  mysql=$!
  wait_until "MySQL does not start, see $work/mysql.log" as_root -e 'CREATE DATABASE allot'
  "$build/bin/allot" migrate >>"$work/log"
  make_gateway_account
}

# start_allotd EVENT: starts the server if it is MySQL, then allotd with $ALLOT_CONFIG, and waits for
# this event in its log.
start_allotd() {
  if [ "${ALLOT_SERVER:-mariadb}" = mysql ]; then start_mysql; fi
  "$build/bin/allotd" 2>>"$work/log" &
  allotd=$!
  export APP_ALLOTD=$allotd
  wait_until "allotd is not ready" has_logged_or_ended "$1"
  kill -0 "$allotd" 2>/dev/null || {
    tail -n 20 "$work/log" >&2
    die "allotd has ended"
  }
}

has_logged_or_ended() {
  grep -q " ${1/./\\.} " "$work/log" || ! kill -0 "$allotd"
}
