# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Builds, runs tests and keeps what came of each case, for scripts/test. Source it after lib.sh.
# Everything lands in build/results: verdicts, and a log for each build and each run.

results=build/results
root=${root:?source lib.sh first}

begin_results() {
  rm -rf "$results"
  mkdir -p "$results"
  : >"$results/verdicts" # lines: passed|failed|skipped TAB run TAB words
  began=$SECONDS
}

# malloc_context_size: the frames that are kept of each allocation. To keep 30 takes a sixth of the time
# of a program that starts, does one thing and ends, as the command line does.
set_sanitizer_options() {
  export ASAN_OPTIONS=${ASAN_OPTIONS:-strict_string_checks=1:detect_leaks=1:malloc_context_size=8}
  export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1:halt_on_error=1}
  export TSAN_OPTIONS=${TSAN_OPTIONS:-second_deadlock_stack=1}
}

verdict() { printf '%s\t%s\t%s\n' "$1" "$2" "$3" >>"$results/verdicts"; }

# The seconds of processor time that this shell and what it waited for have used; in $busy, because a
# shell of its own would count only itself.
read_busy() {
  local file=$results/busy.$BASHPID
  times >"$file"
  busy=$(awk 'function s(t) { split(t, p, /[ms]/); return p[1] * 60 + p[2] }
    { n += s($1) + s($2) } END { printf "%d", n }' "$file")
  rm "$file"
}

# timed WORDS COMMAND...: notes for the table at the end how long the command took, and how much time
# of processors.
timed() {
  local words=$1 from=$SECONDS status=0 busy busy_before
  shift
  read_busy
  busy_before=$busy
  "$@" || status=$?
  read_busy
  printf '%s\t%s\t%s\n' $((SECONDS - from)) $((busy - busy_before)) "$words" >>"$results/times"
  return $status
}

# prepare RUN PRESET [TARGET...]: configures and builds; a failure is a failed test of that run.
prepare() {
  local run=$1 preset=$2 log="$results/$1-build.log"
  shift 2
  say "$run: building (log: $log)"
  if configure "$preset" -DALLOT_BUILD_TESTS=ON >"$log" 2>&1 && build "$preset" "$@" >>"$log" 2>&1; then
    return 0
  fi
  grep -E -A 6 'error|FAILED|Error' "$log" | head -n 60 || tail -n 30 "$log"
  verdict failed "$run" "the build failed, see $log"
  return 1
}

# One line for each case of a GoogleTest result file.
gtest_cases() {
  awk '
    function value(name,   at) {
      if (!match($0, " " name "=\"[^\"]*\"")) return ""
      at = RSTART + length(name) + 3
      return substr($0, at, RLENGTH - length(name) - 4)
    }
    function flush() { if (open != "") print state "\t" open words; open = "" }
    /^    <testcase name="[^"]*" .*classname="/ {
      flush()
      open = value("classname") "." value("name")
      words = ""
      state = value("status") == "notrun" ? "off" : value("result") == "skipped" ? "skipped" : "passed"
    }
    /^ *<failure / { state = "failed" }
    /^ *<skipped / { words = ": " value("message"); sub(/: .*&#x0A;/, ": ", words); gsub(/&amp;/, "\\&", words) }
    END { flush() }
  ' "$1"
}

# judge RUN NAME STATUS: the verdicts of one ctest entry, from its GoogleTest file if it wrote one.
judge() {
  local run=$1 name=$2 status=$3 file="$results/$1/$2.xml" state words failed=0
  if [ ! -s "$file" ]; then
    if [ "$status" = run ]; then
      verdict passed "$run" "$name"
    else
      verdict failed "$run" "$name: $(last_words "$run" "$name")"
    fi
    return 0
  fi
  while IFS=$'\t' read -r state words; do
    if [ "$state" = off ]; then continue; fi
    if [ "$state" = failed ]; then failed=1; fi
    verdict "$state" "$run" "$name: $words"
  done < <(gtest_cases "$file")
  if [ "$status" != run ] && [ $failed -eq 0 ]; then
    verdict failed "$run" "$name: every case passed, but the program ended with an error"
  fi
}

# What an entry that failed without results was doing: the case that began last.
last_words() {
  awk -v name="$2" '
    $0 ~ "^[0-9]+/[0-9]+ Test(ing)?: " name "$" { mine = 1; next }
    /^[0-9]+\/[0-9]+ Test(ing)?: / { mine = 0 }
    mine && /^\[ RUN      \]/ { running = $4 }
    END { print running == "" ? "failed" : "crashed or timed out in " running }
  ' "$results/$1.log"
}

# What an entry that failed says: of each case that failed the first lines and the last, and of one
# that ended in its middle the last of all. The whole is in the log.
failures() {
  echo "---- $1: $2 (whole: $results/$1.log)"
  awk -v name="$2" '
    function show(   i) {
      for (i = 1; i <= lines; ++i) {
        if (i == 16 && lines > 45) {
          print "    [... " lines - 45 " lines]"
          i = lines - 29
        }
        print "    " substr(line[i], 1, 400)
      }
    }
    $0 ~ "^[0-9]+/[0-9]+ Test(ing)?: " name "$" { mine = 1 }
    !mine { next }
    /^\[ RUN      \]/ { lines = 0 }
    /^<end of output>$/ { exit }
    { line[++lines] = $0 }
    /^\[  FAILED  \] .* \([0-9]+ ms\)$/ { show(); shown = 1 }
    /^\[       OK \]/ { lines = 0 }
    END { if (!shown) show() }
  ' "$results/$1.log"
}

# run_tests RUN PRESET [CTEST-OPTION...]
run_tests() {
  local run=$1 preset=$2 found=0 name status
  shift 2
  mkdir -p "$results/$run"
  say "$run: running the tests (log: $results/$run.log)"
  # Two at a time for each processor: they wait for the time of leases and limits more than they work.
  GTEST_OUTPUT="xml:$root/$results/$run/" ctest --test-dir "build/$preset" -j $((2 * $(nproc))) \
    --output-junit "$root/$results/$run.junit" "$@" 2>&1 || true
  cp "build/$preset/Testing/Temporary/LastTest.log" "$results/$run.log" 2>/dev/null || true
  while IFS=$'\t' read -r name status; do
    found=1
    judge "$run" "$name" "$status"
    if [ "$status" != run ]; then failures "$run" "$name"; fi
  done < <(sed -n 's/.*<testcase name="\([^"]*\)".* status="\([^"]*\)".*/\1\t\2/p' "$results/$run.junit")
  if [ $found -eq 0 ]; then verdict failed "$run" "no test was found"; fi
}

# get_mysql: begins to fetch the MySQL of scripts/mysql, beside what follows.
get_mysql() {
  nice "$root/scripts/mysql" >"$results/mysql.env" 2>"$results/mysql.log" &
  mysql_getter=$!
}

# on_mysql RUN PRESET [CTEST-OPTION...]: run_tests on the MySQL of get_mysql.
on_mysql() {
  if ! wait "$mysql_getter"; then
    verdict failed "$1" "there is no MySQL: $(tail -n 1 "$results/mysql.log")"
    return 0
  fi
  (
    # shellcheck disable=SC1091  # written by get_mysql
    source "$results/mysql.env"
    run_tests "$@"
  )
}

# prepare_entries RUN PRESET CTEST-OPTION...: builds what the entries that ctest selects need, and
# nothing else; an entry and what is built for it have the same name.
prepare_entries() {
  local run=$1 preset=$2 names
  shift 2
  configure "$preset" -DALLOT_BUILD_TESTS=ON >"$results/$run-build.log" 2>&1 || true
  mapfile -t names < <(ctest --test-dir "build/$preset" -N "$@" | sed -n 's/^ *Test *#[0-9]*: *//p')
  if [ ${#names[@]} -eq 0 ]; then
    verdict failed "$run" "no test is selected by $*"
    return 1
  fi
  prepare "$run" "$preset" "${names[@]}"
}

# Prints how long each step took, what was skipped and what failed, and the line that ends a run;
# status 0 only if something passed and nothing failed.
close_results() {
  say ""
  say "seconds  of processors  step"
  awk -F '\t' '{ printf "%7d  %13d  %s\n", $1, $2, $3 }' "$results/times"
  local busy
  read_busy
  printf '%7d  %13d  all of it\n' $((SECONDS - began)) "$busy"
  say ""
  awk -F '\t' '$1 == "skipped" { print "skipped in " $2 ": " $3 }' "$results/verdicts"
  awk -F '\t' '$1 == "failed" { print "FAILED in " $2 ": " $3 }' "$results/verdicts"
  awk -F '\t' '
    { count[$1]++ }
    END {
      printf "%d passed, %d failed\n", count["passed"], count["failed"]
      exit count["failed"] > 0 || !count["passed"]
    }
  ' "$results/verdicts"
}
