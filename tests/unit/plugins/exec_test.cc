// SPDX-License-Identifier: Apache-2.0
// Input of a command, and the meaning of its end.
// Rule: S80.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "unit/plugins/exec_fixture.h"

namespace allot {
namespace {

TEST_F(ExecTest, ThePayloadIsItsStandardInput) {
  const std::string payload("a\0b\n'; rm -rf $HOME `x`", 22);
  EXPECT_EQ(run("cat > " + (folder_ / "in"), {}, {.payload = payload}).outcome, success());
  EXPECT_EQ(file("in"), payload);
  const std::string large(3'000'000, 'x');
  EXPECT_EQ(run("cat > " + (folder_ / "in"), {}, {.payload = large}).outcome, success());
  EXPECT_EQ(file("in"), large);
}

TEST_F(ExecTest, ItNeedsNotReadIt) {
  EXPECT_EQ(run("exec 0<&-; exit 0", {}, {.payload = std::string(3'000'000, 'x')}).outcome,
            success());
}

TEST_F(ExecTest, AnEmptyPayloadIsAnEmptyInput) {
  EXPECT_EQ(run("test -z \"$(cat)\"").outcome, success());
}

// Payloads and tasks never reach a shell: the words come from the configuration.
TEST_F(ExecTest, TheWordsOfTheCommandAreTakenAsTheyAre) {
  const auto ran = test::Handler("t", {{"types.t.command", "/usr/bin/printf"},
                                       {"types.t.command", "%s|"},
                                       {"types.t.command", "a b"},
                                       {"types.t.command", ""},
                                       {"types.t.command", "$(id)"},
                                       {"types.t.stdout", "error"}})
                       .run("");
  EXPECT_EQ(ran.log, "info a b||$(id)|\n");
}

TEST_F(ExecTest, TheTaskIsInItsEnvironmentAndOfOursNothing) {
  ::setenv("ALLOT_TEST_SECRET", "secret", 1);
  ::setenv("ALLOT_TEST_WANTED", "wanted", 1);
  const auto ran = run("env | sort > " + (folder_ / "env"),
                       {{"inherit", "ALLOT_TEST_WANTED"},
                        {"inherit", "ALLOT_TEST_NOT_SET"},
                        {"environment.LANG", "C.UTF-8"}},
                       {.id = "id-1", .queue = "q", .attempt = 2, .max_attempts = 3});
  EXPECT_EQ(ran.outcome, success());
  std::string seen = file("env");
  for (const char* of_the_shell : {"PWD=/\n", "SHLVL=0\n", "SHLVL=1\n", "_=/usr/bin/env\n"}) {
    const auto at = seen.find(of_the_shell);
    if (at != std::string::npos) seen.erase(at, std::string(of_the_shell).size());
  }
  EXPECT_EQ(seen,
            "ALLOT_TASK_ATTEMPT=2\nALLOT_TASK_ID=id-1\nALLOT_TASK_MAX_ATTEMPTS=3\n"
            "ALLOT_TASK_QUEUE=q\nALLOT_TASK_TYPE=t\nALLOT_TEST_WANTED=wanted\nLANG=C.UTF-8\n"
            "PATH=/usr/local/bin:/usr/bin:/bin\n");
}

TEST_F(ExecTest, TheTraceOfTheTaskIsInItsEnvironment) {
  EXPECT_EQ(run("echo \"$TRACEPARENT $TRACESTATE\" >&2", {},
                {.traceparent = "00-1-2-01", .tracestate = "a=1"})
                .log,
            "info 00-1-2-01 a=1\n");
  EXPECT_EQ(run("echo ${TRACEPARENT-none} ${TRACESTATE-none} >&2").log, "info none none\n");
}

TEST_F(ExecTest, TheTimeThatIsLeftIsSaid) {
  const auto ran = run("echo $ALLOT_TASK_TIME_LEFT_MS >&2; exit 1", {},
                       {.time_left = std::chrono::milliseconds(60'000)});
  const int left = std::stoi(ran.outcome.detail);
  EXPECT_LE(left, 60'000);
  EXPECT_GT(left, 30'000);
}

TEST_F(ExecTest, PathMayBeSet) {
  EXPECT_EQ(run("echo $PATH >&2", {{"environment.PATH", "/opt"}}).log, "info /opt\n");
}

TEST_F(ExecTest, ItRunsInItsFolder) {
  EXPECT_EQ(run("pwd >&2").log, "info /\n");
  EXPECT_EQ(run("pwd >&2", {{"directory", folder_.path()}}).log, "info " + folder_.path() + "\n");
}

// Any more means that the process opened a descriptor without close-on-exec.
TEST_F(ExecTest, ItHasThreeDescriptors) {
  const int leak = ::open("/dev/zero", O_RDONLY);
  const int high = ::fcntl(leak, F_DUPFD, 200);
  const auto ran = run("exec ls /proc/self/fd >&2");
  ::close(leak);
  ::close(high);
  EXPECT_EQ(ran.log, "info 0\n1\n2\n3\n") << "3 is the folder that ls reads";
}

TEST_F(ExecTest, ItHasNoBlockedOrIgnoredSignal) {
  sigset_t block;
  sigset_t before;
  ::sigfillset(&block);
  ::pthread_sigmask(SIG_BLOCK, &block, &before);
  const auto old = ::signal(SIGPIPE, SIG_IGN);
  // Without a shell in between, because some shells unblock all signals.
  const auto ran = test::Handler("t", {{"types.t.command", "/bin/grep"},
                                       {"types.t.command", "-E"},
                                       {"types.t.command", "^Sig(Blk|Ign)"},
                                       {"types.t.command", "/proc/self/status"},
                                       {"types.t.stdout", "error"}})
                       .run("");
  ::signal(SIGPIPE, old);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  EXPECT_EQ(ran.log, "info SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
}

TEST_F(ExecTest, ItWorksInAProcessWithoutStandardStreams) {
  const int kept[3] = {::dup(0), ::dup(1), ::dup(2)};
  for (int fd = 0; fd < 3; ++fd) ::close(fd);
  const auto ran =
      run("cat; echo out; echo err >&2; exit 1", {{"stdout", "error"}}, {.payload = "in "});
  for (int fd = 0; fd < 3; ++fd) {
    ::dup2(kept[fd], fd);
    ::close(kept[fd]);
  }
  EXPECT_EQ(ran.outcome, (Outcome{ALLOT_RETRY, {}, "exit code 1", "in out\nerr"}));
}

struct End {
  const char* script;
  int kind;
  const char* reason;
  const char* detail = "";
};

class ExecEndTest : public ExecTest, public testing::WithParamInterface<End> {};

TEST_P(ExecEndTest, MeansThis) {
  const auto outcome = run(GetParam().script).outcome;
  EXPECT_EQ(outcome.kind, GetParam().kind);
  EXPECT_EQ(outcome.reason, GetParam().reason);
  EXPECT_EQ(outcome.detail, GetParam().detail);
  EXPECT_EQ(outcome.delay, std::nullopt) << "the queue's policy decides";
}

INSTANTIATE_TEST_SUITE_P(
    Table, ExecEndTest,
    testing::Values(End{"exit 0", ALLOT_SUCCESS, ""}, End{"exit 1", ALLOT_RETRY, "exit code 1"},
                    End{"exit 75", ALLOT_RETRY, "exit code 75"},
                    End{"exit 255", ALLOT_RETRY, "exit code 255"},
                    End{"kill -SEGV $$", ALLOT_RETRY, "signal 11 (Segmentation fault)"},
                    End{"kill -TERM $$", ALLOT_RETRY, "signal 15 (Terminated)"},
                    End{"echo why >&2; exit 3", ALLOT_RETRY, "exit code 3", "why"},
                    End{"echo 'a\nb\n' >&2; exit 3", ALLOT_RETRY, "exit code 3", "a\nb"},
                    End{"echo out; exit 3", ALLOT_RETRY, "exit code 3"}));

TEST_F(ExecTest, TheTableIsConfigured) {
  const test::Settings table = {
      {"success", "10"}, {"retry", "0"}, {"fail", "65"}, {"fail", "75"}, {"otherwise", "fail"}};
  EXPECT_EQ(run("exit 10", table).outcome, success());
  EXPECT_EQ(run("exit 0", table).outcome, retry("exit code 0"));
  EXPECT_EQ(run("exit 65", table).outcome, fail("exit code 65"));
  EXPECT_EQ(run("exit 75", table).outcome, fail("exit code 75"));
  EXPECT_EQ(run("exit 1", table).outcome, fail("exit code 1"));
  EXPECT_EQ(run("kill -KILL $$", table).outcome.kind, ALLOT_RETRY) << "a signal is a retry";
}

TEST_F(ExecTest, UnstartableProgramIsNotCharged) {
  const auto start = [](const std::string& program, const test::Settings& more = {}) {
    test::Settings settings = {{"types.t.command", program}};
    settings.insert(more.begin(), more.end());
    return test::Handler("t", settings).run("").outcome;
  };
  EXPECT_EQ(start("/nonexistent/x"),
            not_started("cannot start /nonexistent/x: No such file or directory"));
  const std::string plain = folder_.write("plain", "#!/bin/sh\n");
  EXPECT_EQ(start(plain), not_started("cannot start " + plain + ": Permission denied"));
  ::chmod(plain.c_str(), 0755);
  EXPECT_EQ(start(plain), success());
  EXPECT_EQ(start(plain, {{"types.t.directory", "/nonexistent"}}),
            not_started("cannot go to /nonexistent: No such file or directory"));
}

TEST_F(ExecTest, EachTypeHasItsCommandAndOneHandlerServesAll) {
  const test::Settings settings = {{"types.a.command", "/bin/true"},
                                   {"types.\"b.c\".command", "/bin/false"}};
  EXPECT_EQ(test::Handler("a", settings).run("").outcome, success());
  EXPECT_EQ(test::Handler("b.c", settings).run("").outcome, retry("exit code 1"));
  EXPECT_THROW(test::Handler("c", settings), std::invalid_argument);
}

struct Mistake {
  test::Settings settings;
  const char* says;
};

class ExecConfigTest : public testing::TestWithParam<Mistake> {};

TEST_P(ExecConfigTest, IsRefused) {
  try {
    const test::Handler handler("t", GetParam().settings);
    FAIL() << "taken";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find(GetParam().says), std::string::npos) << error.what();
    EXPECT_EQ(std::string(error.what()).rfind("[plugins.exec", 0), 0U) << error.what();
  }
}

Mistake mistake(const char* key, const char* value, const char* says) {
  return {{{"types.t.command", "/bin/true"}, {std::string("types.t.") + key, value}}, says};
}

INSTANTIATE_TEST_SUITE_P(
    Mistakes, ExecConfigTest,
    testing::Values(Mistake{{{"command", "/bin/true"}},
                            "has no key 'command'; write [plugins.exec.types."},
                    Mistake{{{"types.t.directory", "/"}}, "[plugins.exec.types.\"t\"] command ="},
                    Mistake{{{"types.t.command", "true"}}, "with an absolute path"},
                    Mistake{{{"types.t.command", "./true"}}, "with an absolute path"},
                    Mistake{{{"types.t.command", std::string("/bin/a\0b", 8)}}, "a NUL"},
                    mistake("comand", "x", "unknown key 'comand'; did you mean 'command'?"),
                    mistake("shell", "x", "unknown key 'shell'; known: command, "),
                    mistake("now.at_once.command", "x",
                            "a type with a dot needs quotes, as in "
                            "[plugins.exec.types.\"t.now.at_once\"]"),
                    mistake("enviroment.A", "x", "did you mean 'environment'?"),
                    mistake("directory", "var", "directory must be an absolute path"),
                    mistake("environment.ALLOT_TASK_ID", "x", "ALLOT_TASK_ID is set from the task"),
                    mistake("environment.a=b", "x", "environment: no name: 'a=b'"),
                    mistake("otherwise", "maybe", "\"success\", \"retry\" or \"fail\""),
                    mistake("fail", "256", "fail: '256' is not an exit code"),
                    mistake("fail", "-1", "fail: '-1' is not an exit code"),
                    mistake("timeout", "30", "timeout = \"30\" is not a time"),
                    mistake("timeout", "s", "is not a time"),
                    mistake("kill_after", "5 s", "is not a time"),
                    mistake("stdout", "log", "stdout must be")));

TEST(ExecConfig, ATypeGoesByItsExactSectionThenByTheLongestPrefix) {
  test::Settings all;
  for (const auto& [type, code] : {std::pair{"a.*", "1"}, {"a.b.*", "2"}, {"a.b.c", "3"}}) {
    const std::string key = "types.\"" + std::string(type) + "\".command";
    for (const char* word : {"/bin/sh", "-c"}) all.emplace(key, word);
    all.emplace(key, "exit " + std::string(code));
  }
  EXPECT_EQ(test::Handler("a.x", all).run("").outcome.reason, "exit code 1");
  EXPECT_EQ(test::Handler("a.b.x", all).run("").outcome.reason, "exit code 2");
  EXPECT_EQ(test::Handler("a.b.c", all).run("").outcome.reason, "exit code 3");
}

TEST(ExecConfig, ACodeStandsInOneList) {
  EXPECT_THROW(
      test::Handler(
          "t", {{"types.t.command", "/bin/true"}, {"types.t.fail", "3"}, {"types.t.retry", "3"}}),
      std::runtime_error);
}

}  // namespace
}  // namespace allot
