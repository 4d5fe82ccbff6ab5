// SPDX-License-Identifier: Apache-2.0
// Persistent programs under real workers.
// Rule: S80.
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <set>

#include "e2e/daemon.h"
#include "support/environment.h"

namespace allot::e2e::pipe_test {
namespace {

namespace fs = std::filesystem;
using support::eventually;

const std::string kHelpers = ALLOT_SOURCE_DIR "/plugins/pipe/helpers";

constexpr const char* kAppend = R"py(
def append(*words):
    with open(os.environ["WORK"] + "/lines", "a") as lines:
        lines.write(" ".join(str(word) for word in words) + "\n")
)py";

class PipeTest : public testing::Test {
 protected:
  PipeTest() { fs::copy_file(ALLOT_PIPE_PLUGIN, plugins_ / "pipe.so"); }
  // [plugins.pipe.types.NAME] with a script in Python.
  std::string type(const std::string& name, const std::string& script,
                   const std::string& keys = {}) const {
    const std::string file =
        work_.write(name + ".py", "import allot_pipe, os, time\n" + std::string(kAppend) + script);
    return "[plugins.pipe.types.\"" + name + "\"]\ncommand = [\"/usr/bin/python3\", \"" + file +
           "\"]\nenvironment = { PYTHONPATH = \"" + kHelpers + "\", WORK = \"" + work_.path() +
           "\", PYTHONDONTWRITEBYTECODE = \"1\" }\n" + keys;
  }
  [[nodiscard]] DaemonOptions options(const std::string& types, unsigned workers = 1) const {
    return {.workers = workers, .more = types, .plugins = plugins_.path()};
  }
  [[nodiscard]] std::string file(const std::string& name) const {
    return support::read_file(work_ / name);
  }

  // SIGKILLs the last started program, if a task was done since. 1: it existed.
  [[nodiscard]] std::size_t kill_last() const {
    std::string last;
    bool did = false;
    for (const std::string& line : support::read_lines(work_ / "lines")) {
      did = !line.starts_with("pid ");
      if (!did) last = line.substr(4);
    }
    // The number may be reused, and a dead process has no command line.
    const std::string words = support::read_file("/proc/" + last + "/cmdline");
    if (!did || words.find(work_.path()) == std::string::npos) return 0;
    return support::send_signal(std::stoi(last), SIGKILL) == 0 ? 1 : 0;
  }

  support::TempDir plugins_;
  support::TempDir work_;
};

TEST_F(PipeTest, OneProgramServesManyTasksByItsVerdicts) {
  Daemon daemon(options(type("p.word", R"py(
def handle(task):
    append(os.getpid(), task.payload)
    if task.payload == "bad":
        return allot_pipe.fail("what is wrong")
    if task.payload == "later" and task.attempt == 1:
        return allot_pipe.retry("not yet", delay=0)
allot_pipe.run(handle)
)py")));
  const auto bad = daemon.submit("p.word", "bad");
  (void)daemon.submit("p.word", "later");
  (void)daemon.submit("p.word", "good");
  ASSERT_TRUE(daemon.drains()) << daemon.log();
  const auto lines = support::read_lines(work_ / "lines");
  ASSERT_EQ(lines.size(), 4U);
  for (const std::string& line : lines) EXPECT_EQ(std::stoi(line), std::stoi(lines[0]));
  EXPECT_EQ(daemon.count("task_dead"), 1U);
  EXPECT_NE(daemon.allot({"task", "show", bad}).out.find("what is wrong"), std::string::npos);
}

// A second run continues where the first one crashed; the worker stays.
TEST_F(PipeTest, ACrashCostsAnAttemptAndACheckpointStands) {
  Daemon daemon(options(type("p.steps", R"py(
def handle(task):
    append(task.attempt, task.payload)
    if task.payload == "one":
        task.checkpoint("two")
        os.kill(os.getpid(), 11)
    task.submit("p.steps.next", "after " + task.payload)
allot_pipe.run(handle)
)py") + type("p.steps.next", R"py(
allot_pipe.run(lambda task: append(task.attempt, task.payload))
)py")));
  const auto id = daemon.submit("p.steps", "one");
  wait_ready(daemon, 1);
  const auto workers = daemon.workers();
  ASSERT_TRUE(daemon.drains()) << daemon.log();
  EXPECT_EQ(file("lines"), "1 one\n2 two\n1 after two\n");
  EXPECT_EQ(daemon.workers(), workers) << daemon.log();
}

TEST_F(PipeTest, AHangCostsAnAttemptAndTheWorkerStays) {
  Daemon daemon(options(type("p.hang", R"py(
def handle(task):
    append(task.attempt)
    if task.attempt == 1:
        time.sleep(600)
allot_pipe.run(handle)
)py",
                             "timeout = \"4s\"\nkill_after = \"100ms\"\n")));
  (void)daemon.submit("p.hang", "");
  wait_ready(daemon, 1);
  const auto workers = daemon.workers();
  ASSERT_TRUE(daemon.drains()) << daemon.log();
  EXPECT_EQ(file("lines"), "1\n2\n");
  EXPECT_EQ(daemon.workers(), workers);
}

TEST_F(PipeTest, AProgramDiesWithItsWorkerAndTheTaskStartsAgain) {
  Daemon daemon(options(type("p.hang", R"py(
def handle(task):
    append(os.getpid())
    if task.attempt == 1:
        time.sleep(600)
allot_pipe.run(handle)
)py")));
  (void)daemon.submit("p.hang", "");
  ASSERT_TRUE(eventually([&] { return !file("lines").empty(); })) << daemon.log();
  support::send_signal(daemon.busy_workers().at(0), SIGKILL);
  ASSERT_TRUE(daemon.drains()) << daemon.log();
  const std::string first = "/proc/" + std::to_string(std::stoi(file("lines")));
  EXPECT_TRUE(eventually([&] { return !fs::exists(first); }));
}

TEST_F(PipeTest, AStopReachesTheProgramAndChargesNothing) {
  Daemon daemon(options(type("p.wait", R"py(
def handle(task):
    append("begins")
    while not task.stop_requested():
        time.sleep(0.01)
    append("stops", task.stop_reason)
    return allot_pipe.retry("stopped")
allot_pipe.run(handle)
)py")));
  const auto id = daemon.submit("p.wait", "");
  ASSERT_TRUE(eventually([&] { return !file("lines").empty(); })) << daemon.log();
  EXPECT_EQ(daemon.stop(), (support::ExitStatus{0, 0})) << daemon.log();
  EXPECT_EQ(file("lines"), "begins\nstops worker_leaves\n");
  EXPECT_EQ(daemon.task(id)["attempts"].size(), 0U) << daemon.task(id);
}

TEST_F(PipeTest, AProgramLearnsThatItsTaskIsCancelled) {
  Daemon daemon(options(type("p.wait", R"py(
def handle(task):
    append("begins")
    while not task.stop_requested():
        time.sleep(0.01)
    append(task.stop_reason)
    return allot_pipe.retry("stopped")
allot_pipe.run(handle)
)py")));
  const auto id = daemon.submit("p.wait", "");
  ASSERT_TRUE(eventually([&] { return !file("lines").empty(); })) << daemon.log();
  (void)daemon.allot({"task", "cancel", id});
  ASSERT_TRUE(daemon.drains()) << daemon.log();
  EXPECT_EQ(file("lines"), "begins\ncancelled\n");
}

// S81
TEST_F(PipeTest, AFailedAttemptKeepsItsLastLines) {
  Daemon daemon(options(type("p.log", R"py(
def handle(task):
    for i in range(100):
        task.log("line %d of %s" % (i, task.payload), "warn")
    if task.payload == "bad":
        return allot_pipe.fail("no")
allot_pipe.run(handle)
)py")));
  const auto bad = daemon.submit("p.log", "bad");
  (void)daemon.submit("p.log", "good");
  ASSERT_TRUE(daemon.drains()) << daemon.log();
  const std::string log = daemon.task(bad)["attempts"][0]["log"];
  EXPECT_TRUE(log.starts_with("warn line 36 of bad\n")) << log;
  EXPECT_TRUE(log.ends_with("warn line 99 of bad\n")) << log;
  EXPECT_NE(daemon.allot({"task", "show", bad}).out.find("log of attempt 1\nwarn line 36 of bad\n"),
            std::string::npos);
  EXPECT_EQ(daemon.count("task_attempt"), 1U) << "a success writes nothing";
}

TEST_F(PipeTest, ProgressIsShownWhileATaskRuns) {
  DaemonOptions all = options(type("p.import", R"py(
def handle(task):
    task.progress(40, "importing")
    while not os.path.exists(os.environ["WORK"] + "/go"):
        time.sleep(0.01)
allot_pipe.run(handle)
)py"));
  all.queue_keys = "detach_after = \"200ms\"\n";
  Daemon daemon(all);
  const auto id = daemon.submit("p.import", "");
  ASSERT_TRUE(eventually([&] { return daemon.task(id)["progress"] == 40; })) << daemon.task(id);
  EXPECT_EQ(daemon.task(id)["progress_text"], "importing");
  EXPECT_NE(daemon.allot({"task", "show", id}).out.find("progress   40 % importing"),
            std::string::npos);
  EXPECT_NE(daemon.allot({"top", "--once"}).out.find("40 % importing"), std::string::npos);
  EXPECT_NE(daemon.allot({"metrics"})
                .out.find("allot_worker_progress_percent{pool=\"default\",slot=\"0\"} 40"),
            std::string::npos)
      << daemon.allot({"metrics"}).out;
  (void)work_.write("go", "");
  ASSERT_TRUE(daemon.drains()) << daemon.log();
}

// In a pool with `concurrency` each thread has its own process, which exists before the first task.
// A thread ends before the worker does, and its process exits before that by itself.
TEST_F(PipeTest, EachThreadHasAProcessThatStartsWithTheWorker) {
  DaemonOptions all = options(type("p.many", R"py(
append("began", os.getpid())
def handle(task):
    append("did", os.getpid(), task.payload)
    time.sleep(0.01)
try:
    allot_pipe.run(handle)
finally:
    append("left", os.getpid())
)py"));
  all.pool_keys = "concurrency = 4\n";
  Daemon daemon(all);
  const auto pids = [&](const std::string& word) {
    std::set<std::string> found;
    for (const std::string& line : support::read_lines(work_ / "lines")) {
      if (!line.starts_with(word + " ")) continue;
      found.insert(line.substr(word.size() + 1, line.find(' ', word.size() + 1) - word.size() - 1));
    }
    return found;
  };
  ASSERT_TRUE(eventually([&] { return pids("began").size() == 4; })) << daemon.log();
  daemon.submit_many("p.many", numbered(40));
  ASSERT_TRUE(daemon.drains()) << daemon.log();
  EXPECT_EQ(daemon.stop(), (support::ExitStatus{0, 0})) << daemon.log();
  EXPECT_EQ(pids("began").size(), 4U) << file("lines");
  EXPECT_EQ(pids("left"), pids("began"));
  EXPECT_GT(pids("did").size(), 1U) << "tasks ran side by side";
}

TEST_F(PipeTest, OneProgramRunsTheTypesOfAPrefix) {
  const std::string script =
      work_.write("shop.py", "import allot_pipe, os\n" + std::string(kAppend) +
                                 "allot_pipe.run(lambda task: append(task.type, task.payload))\n");
  Daemon daemon(options("[plugins.pipe.programs.shop]\ncommand = [\"/usr/bin/python3\", \"" +
                        script + "\"]\ntypes = [\"shop.*\"]\nenvironment = { PYTHONPATH = \"" +
                        kHelpers + "\", WORK = \"" + work_.path() +
                        "\", PYTHONDONTWRITEBYTECODE = \"1\" }\n"));
  (void)daemon.submit("shop.order", "1");
  ASSERT_TRUE(daemon.drains()) << daemon.log();
  const auto other = daemon.submit("shopping.order", "2");
  (void)daemon.submit("shop.mail.send", "3");
  ASSERT_TRUE(eventually([&] { return file("lines").find('3') != std::string::npos; }))
      << daemon.log();
  EXPECT_EQ(file("lines"), "shop.order 1\nshop.mail.send 3\n");
  EXPECT_EQ(daemon.task(other)["attempts"].size(), 0U) << "no handler here has its type";
}

TEST_F(PipeTest, AReloadStartsTheNewProgram) {
  Daemon daemon(options(type("p.old", "allot_pipe.run(lambda task: append('old'))\n")));
  (void)daemon.submit("p.old", "");
  ASSERT_TRUE(daemon.drains()) << daemon.log();
  (void)type("p.old", "allot_pipe.run(lambda task: append('new'))\n");
  (void)daemon.submit("p.old", "");
  ASSERT_TRUE(daemon.drains()) << daemon.log();
  EXPECT_EQ(file("lines"), "old\nold\n") << "a program stays";
  daemon.process().signal(SIGHUP);
  ASSERT_TRUE(eventually([&] { return daemon.logged("worker.stopped"); })) << daemon.log();
  (void)daemon.submit("p.old", "");
  ASSERT_TRUE(daemon.drains()) << daemon.log();
  EXPECT_EQ(file("lines"), "old\nold\nnew\n");
}

// ALLOT_TEST_PIPE_KILLS makes it long. Programs are killed at any moment, each kill costs at most
// an attempt, and each task is done.
TEST_F(PipeTest, KilledProgramsLoseNoTask) {
  const auto enough = support::environment_or<std::size_t>("ALLOT_TEST_PIPE_KILLS", 20);
  DaemonOptions all = options(type("p.many", R"py(
append("pid", os.getpid())
allot_pipe.run(lambda task: append("did", task.payload))
)py"),
                              2);
  all.queue_keys = "max_attempts = 1000\nretry_delays = [\"0s\"]\n";
  Daemon daemon(all);
  wait_ready(daemon, 2);
  const auto workers = daemon.workers();
  std::size_t kills = 0;
  std::set<std::string> done;
  for (int round = 0; kills < enough; ++round) {
    std::vector<std::string> payloads;
    for (int i = 0; i < 200; ++i) payloads.push_back(std::to_string(round * 200 + i));
    daemon.submit_many("p.many", payloads);
    const bool drained = eventually(
        [&] {
          kills += kill_last();
          return daemon.drained();
        },
        std::chrono::seconds(60));
    ASSERT_TRUE(drained) << daemon.log();
    done.insert(payloads.begin(), payloads.end());
  }
  for (const std::string& line : support::read_lines(work_ / "lines")) {
    if (line.starts_with("did ")) done.erase(line.substr(4));
  }
  EXPECT_TRUE(done.empty()) << *done.begin();
  EXPECT_EQ(daemon.count("task_dead"), 0U);
  EXPECT_EQ(daemon.workers(), workers) << "no worker died of it";
}

}  // namespace
}  // namespace allot::e2e::pipe_test
