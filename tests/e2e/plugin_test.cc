// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "e2e/daemon.h"

namespace allot::e2e::plugin_test {
namespace {

namespace fs = std::filesystem;
using support::eventually;

// The probe plugin and exec, in a folder that a test may change.
class PluginTest : public testing::Test {
 protected:
  PluginTest() {
    fs::copy_file(probe_folder() + "/probe.so", plugins_ / "probe.so");
    fs::copy_file(exec_plugin(), plugins_ / "exec.so");
  }
  // [plugins.exec.types.NAME] with a shell script.
  static std::string type(const std::string& name, const std::string& script,
                          const std::string& more = {}) {
    return "[plugins.exec.types.\"" + name + "\"]\ncommand = [\"/bin/sh\", \"-c\", '''" + script +
           "''']\n" + more;
  }
  DaemonOptions options(const std::string& types) const {
    return {.workers = 1, .more = types, .plugins = plugins_.path()};
  }
  [[nodiscard]] std::string file(const std::string& name) const {
    return support::read_file(work_ / name);
  }
  // Writes the shell's own number to the file "pid", in one step.
  [[nodiscard]] std::string write_pid() const {
    return "echo $$ > " + (work_ / "new") + "; mv " + (work_ / "new") + " " + (work_ / "pid") +
           "; ";
  }

  support::TempDir plugins_;
  support::TempDir work_;
};

TEST_F(PluginTest, ExecRunsCommandsByTheirExitCodes) {
  Daemon daemon(options(type("x.append", "cat >> " + (work_ / "out") + "; echo $ALLOT_TASK_ID >> " +
                                             (work_ / "ids")) +
                        type("x.bad", "echo what is wrong >&2; exit 65", "fail = [65]\n") +
                        type("x.later", "test -e " + (work_ / "now") + " || { touch " +
                                            (work_ / "now") + "; exit 75; }")));
  const auto id = daemon.submit("x.append", "a payload\n");
  const auto bad = daemon.submit("x.bad", "");
  (void)daemon.submit("x.later", "");
  ASSERT_TRUE(eventually([&] { return daemon.drained(); })) << daemon.log();
  EXPECT_EQ(file("out"), "a payload\n");
  EXPECT_EQ(file("ids"), id + "\n");
  EXPECT_EQ(daemon.count("task_dead"), 1U);
  EXPECT_NE(daemon.allot({"task", "show", bad}).out.find("exit code 65: what is wrong"),
            std::string::npos);
  EXPECT_TRUE(fs::exists(work_ / "now"));
}

// S75
TEST_F(PluginTest, AProgramThatIsBeingReplacedCostsNoAttempt) {
  DaemonOptions once =
      options("[plugins.exec.types.\"x.job\"]\ncommand = [\"" + (work_ / "job") + "\"]\n");
  once.queue_keys = "max_attempts = 1";
  Daemon daemon(once);
  (void)daemon.submit("x.job", "");
  ASSERT_TRUE(eventually([&] { return daemon.times_logged("task.put_off") > 1; })) << daemon.log();
  const std::string made =
      work_.write("new", "#!/bin/sh\necho $ALLOT_TASK_ATTEMPT > " + (work_ / "attempt") + "\n");
  ASSERT_EQ(::chmod(made.c_str(), 0755), 0);
  fs::rename(made, work_ / "job");
  ASSERT_TRUE(eventually([&] { return daemon.drained(); })) << daemon.log();
  EXPECT_EQ(file("attempt"), "1\n");
  EXPECT_EQ(daemon.count("task_dead"), 0U);
}

TEST_F(PluginTest, ACommandDiesWithItsWorkerAndTheTaskStartsAgain) {
  Daemon daemon(options(type("x.hang", "echo $ALLOT_TASK_ATTEMPT >> " + (work_ / "attempts") +
                                           "; " + "test $ALLOT_TASK_ATTEMPT -gt 1 && exit 0; " +
                                           write_pid() + "exec sleep 600")));
  (void)daemon.submit("x.hang", "");
  ASSERT_TRUE(eventually([&] { return !file("pid").empty(); })) << daemon.log();
  support::send_signal(daemon.busy_workers().at(0), SIGKILL);
  ASSERT_TRUE(eventually([&] { return daemon.drained(); })) << daemon.log();
  EXPECT_EQ(file("attempts"), "1\n2\n");
  // The stray is reaped as well: the supervisor adopts orphans.
  const std::string child = "/proc/" + std::to_string(std::stoi(file("pid")));
  EXPECT_TRUE(eventually([&] { return !fs::exists(child); }));
}

TEST_F(PluginTest, AStopReachesTheCommandAndChargesNothing) {
  Daemon daemon(options(type("x.hang", "trap 'touch " + (work_ / "term") + "; exit 0' TERM; " +
                                           write_pid() + "while :; do sleep 0.01; done")));
  const auto id = daemon.submit("x.hang", "");
  ASSERT_TRUE(eventually([&] { return !file("pid").empty(); })) << daemon.log();
  EXPECT_EQ(daemon.stop(), (support::ExitStatus{0, 0})) << daemon.log();
  EXPECT_TRUE(fs::exists(work_ / "term"));
  EXPECT_EQ(daemon.task(id)["attempts"].size(), 0U) << daemon.task(id);
  EXPECT_EQ(daemon.count("task"), 1U) << "its exit code 0 is not a success";
}

TEST_F(PluginTest, AReloadRefusesWhatExecDoesNotAcceptAndTakesWhatItDoes) {
  Daemon daemon(options(type("x.one", "exit 0")));
  (void)daemon.submit("x.one", "");
  ASSERT_TRUE(eventually([&] { return daemon.drained(); })) << daemon.log();
  const std::string good = support::read_file(daemon.config_file());
  std::ofstream(daemon.config_file()) << good << "comand = 1\n";
  daemon.process().signal(SIGHUP);
  ASSERT_TRUE(eventually([&] { return daemon.logged("unknown key 'comand'"); })) << daemon.log();
  (void)daemon.submit("x.one", "");
  ASSERT_TRUE(eventually([&] { return daemon.drained(); })) << daemon.log();

  std::ofstream(daemon.config_file()) << good << type("x.two", "touch " + (work_ / "two"));
  daemon.process().signal(SIGHUP);
  ASSERT_TRUE(eventually([&] { return daemon.logged("worker.stopped"); })) << daemon.log();
  (void)daemon.submit("x.two", "");
  EXPECT_TRUE(eventually([&] { return fs::exists(work_ / "two"); })) << daemon.log();
}

// A submitter opens no plugin: the daemon records the types of its handlers, and again at a reload.
TEST_F(PluginTest, ASubmitterIsWarnedOfATypeWithoutAHandler) {
  Daemon daemon(options(type("x.one", "exit 0")));
  wait_ready(daemon, 1);
  const auto told = [&](const std::string& word) {
    const auto done = daemon.allot({"submit", "default", word});
    EXPECT_EQ(done.status, (support::ExitStatus{0, 0})) << done.err;
    return done.err;
  };
  EXPECT_EQ(told("x.one"), "");
  EXPECT_EQ(told("x.onne"),
            "allot: warning: this host's daemon has no handler for type 'x.onne' (1 task); did "
            "you mean 'x.one'?\n");
  std::ofstream(daemon.config_file(), std::ios::app) << type("x.onne", "exit 0");
  daemon.process().signal(SIGHUP);
  ASSERT_TRUE(eventually([&] { return daemon.logged("worker.stopped"); })) << daemon.log();
  EXPECT_EQ(told("x.onne"), "");
}

// F6
TEST_F(PluginTest, AReloadRefusesAPluginThatAnybodyMayChange) {
  Daemon daemon(options(""));
  (void)daemon.submit("test.ok", "");
  ASSERT_TRUE(eventually([&] { return daemon.drained(); })) << daemon.log();
  ASSERT_EQ(::chmod((plugins_ / "exec.so").c_str(), 0777), 0);
  daemon.process().signal(SIGHUP);
  ASSERT_TRUE(eventually([&] {
    return daemon.logged("plugin " + (plugins_ / "exec.so") + " refused (world-writable file)");
  })) << daemon.log();
  (void)daemon.submit("test.ok", "");
  EXPECT_TRUE(eventually([&] { return daemon.drained(); })) << "the old workers stay";
}

}  // namespace
}  // namespace allot::e2e::plugin_test
