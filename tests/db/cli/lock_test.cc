// SPDX-License-Identifier: Apache-2.0
// allot lock run|list|show|break|resize. A command never outlives its lock, whichever of the
// processes around it is killed or stopped (S39).
#include <sys/stat.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/exit_codes.h"
#include "db/cli/fixture.h"
#include "peer/lock_bell.h"
#include "queue/locks/lock_store.h"
#include "queue/locks/lock_wait.h"

namespace allot::cli {
namespace {

using nlohmann::json;
using support::eventually;
using support::ExitStatus;
using support::Process;

class LockCommandTest : public CliTest {
 protected:
  LockCommandTest() { must({"migrate"}); }
  // A failed test leaves no process behind.
  void TearDown() override {
    for (const pid_t pid : read_pids()) {
      if (has(line_of(pid), folder_.path())) support::send_signal(pid, SIGKILL);
    }
  }

  [[nodiscard]] std::unique_ptr<Process> begin(const Words& words) const {
    Words all{ALLOT_PROGRAM, "--config", config(), "lock", "run"};
    all.insert(all.end(), words.begin(), words.end());
    return std::make_unique<Process>(all);
  }
  // A command that writes its pid and its child's pid to `file`, ignores TERM, and runs for a long
  // time. The numbers are there once both ignore it.
  [[nodiscard]] Words stubborn(const std::string& file) const {
    const std::string path = folder_ / file;
    return {"sh", "-c",
            "trap '' TERM; sh -c 'trap \"\" TERM; echo $$ $PPID > " + path + ".new; mv " + path +
                ".new " + path + "; while :; do sleep 0.1; done' & wait; sleep 600"};
  }
  // An allot that runs such a command under the lock "x", and the pids of the started processes.
  struct Running {
    std::unique_ptr<Process> allot;
    std::vector<pid_t> pids;
    pid_t inner = -1;  // the guardian that is the parent of the command
    pid_t outer = -1;  // the guardian between it and allot
  };
  [[nodiscard]] Running run_stubborn(const std::string& ttl = "4s") const {
    Running running;
    Words words{"x", "--ttl", ttl, "--"};
    for (const std::string& word : stubborn("pids")) words.push_back(word);
    running.allot = begin(words);
    EXPECT_TRUE(eventually([&] { return !read_pids().empty(); })) << running.allot->err();
    running.pids = read_pids();
    if (running.pids.size() == 2) running.inner = parent_of(running.pids[1]);
    if (running.inner > 1) running.outer = parent_of(running.inner);
    EXPECT_EQ(parent_of(running.outer), running.allot->pid());
    return running;
  }
  [[nodiscard]] std::vector<pid_t> read_pids() const {
    std::ifstream file(folder_ / "pids");
    std::vector<pid_t> pids;
    for (pid_t pid = 0; file >> pid;) pids.push_back(pid);
    return pids;
  }
  static pid_t parent_of(pid_t pid) {
    std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
    std::string text;
    std::getline(stat, text);
    pid_t parent = -1;
    std::sscanf(text.c_str() + text.rfind(')') + 1, " %*c %d", &parent);
    return parent;
  }
  // Process names seen by `pkill`, without and with `-f`.
  static std::string name_of(pid_t pid) {
    return support::read_file("/proc/" + std::to_string(pid) + "/comm");
  }
  static std::string line_of(pid_t pid) {
    return support::read_file("/proc/" + std::to_string(pid) + "/cmdline");
  }
  // True if every process of the command has ended, whether it is reaped or not.
  static bool all_dead(const std::vector<pid_t>& pids) {
    return std::all_of(pids.begin(), pids.end(), [](pid_t pid) {
      std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
      std::string text;
      if (!std::getline(stat, text)) return true;
      return text.compare(text.rfind(')'), 3, ") Z") == 0;
    });
  }
  static void stop(pid_t pid) {
    support::send_signal(pid, SIGSTOP);
    const std::string stat = "/proc/" + std::to_string(pid) + "/stat";
    EXPECT_TRUE(eventually([&] { return has(support::read_file(stat), ") T "); }));
  }
  std::string state() { return value("SELECT state FROM named_lock WHERE name = 'x'"); }
  // Waits for the end of the command, and checks that it came before another client could get the
  // lock, as seen by an observer from now on.
  [[nodiscard]] bool ends_before_the_lock(const Running& running) {
    queue::TokenFloor floor;
    queue::LockWait next({.name = "x", .ttl = std::chrono::seconds(1)}, queue::make_holder("", ""),
                         floor);
    bool taken = false;
    bool dead_then = false;
    EXPECT_TRUE(eventually([&] {
      if (boot_ns() < next.next_ns()) return false;
      taken = next.poll(observer_, 1).has_value();
      if (taken) dead_then = all_dead(running.pids);
      return taken;
    }));
    return taken && dead_then;
  }
};

TEST_F(LockCommandTest, TheExitCodeIsPassedOnAndTheLockGivenBack) {
  const auto done = allot({"lock", "run", "x", "--", "sh", "-c", "echo $ALLOT_LOCK_TOKEN; exit 7"});
  EXPECT_EQ(done.status, (ExitStatus{7, 0})) << done.err;
  EXPECT_EQ(done.err, "");
  EXPECT_EQ(state(), "FREE");
  const auto token = std::stoull(done.out);
  EXPECT_EQ(token, support::number_of(observer_, "SELECT epoch - 1024 FROM named_lock"));
  EXPECT_EQ(allot({"lock", "run", "x", "--", "sh", "-c", "kill -KILL $$"}).status,
            (ExitStatus{137, 0}));
  EXPECT_EQ(allot({"lock", "run", "x", "--", "true"}).status, (ExitStatus{0, 0}));
  const auto missing = allot({"lock", "run", "x", "--", "/no/such/program"});
  EXPECT_EQ(missing.status, (ExitStatus{127, 0}));
  EXPECT_TRUE(has(missing.err, "/no/such/program"));
  EXPECT_EQ(allot({"lock", "run", "x", "--", "/"}).status, (ExitStatus{126, 0}));
  EXPECT_EQ(state(), "FREE");
}

TEST_F(LockCommandTest, ItsStreamsAreThoseOfTheCommand) {
  const auto done = allot_with({"lock", "run", "x", "--", "cat"}, "from here\n");
  EXPECT_EQ(done.out, "from here\n");
  EXPECT_EQ(done.status, (ExitStatus{0, 0})) << done.err;
}

TEST_F(LockCommandTest, HeldLockIsNotObtained) {
  queue::ensure_lock(observer_, "x", 1);
  const Running running = run_stubborn("30s");
  const auto done = allot({"lock", "run", "x", "--json", "--", "echo", "never"});
  EXPECT_EQ(done.status, (ExitStatus{kExitOutcomeUnknown, 0}));
  EXPECT_EQ(done.out, "");
  EXPECT_TRUE(has(done.err, "lock 'x' was not obtained: held by "));
  EXPECT_TRUE(has(done.err, "\"acquired\":false"));
  EXPECT_EQ(allot({"lock", "run", "x", "--wait", "200ms", "--", "echo", "never"}).status,
            (ExitStatus{kExitOutcomeUnknown, 0}));
  EXPECT_EQ(count("lock_ticket"), 0U);
  EXPECT_EQ(allot({"lock", "run", "x", "--slots", "2", "--", "true"}).status,
            (ExitStatus{kExitBadInput, 0}));
  running.allot->signal(SIGKILL);
}

// S48.
TEST_F(LockCommandTest, AfterAChangeOfServerItSaysWhyItWasNotGot) {
  EXPECT_EQ(allot({"lock", "run", "x", "--", "true"}).status, (ExitStatus{0, 0}));
  observer_.execute("UPDATE server_identity SET identity = 'another one'");
  const auto done = allot({"lock", "run", "x", "--", "echo", "never"});
  EXPECT_EQ(done.status, (ExitStatus{kExitOutcomeUnknown, 0}));
  EXPECT_EQ(done.out, "");
  EXPECT_TRUE(has(done.err, "lock 'x' was not obtained: the database server changed ")) << done.err;
  observer_.execute("UPDATE server_identity SET since = UTC_TIMESTAMP(6) - INTERVAL 29 SECOND");
  EXPECT_EQ(allot({"lock", "run", "x", "--wait", "1m", "--", "true"}).status, (ExitStatus{0, 0}));
}

// A waiting client on this host sleeps on the bell between two polls.
TEST_F(LockCommandTest, TakingReleasingOrBreakingALockRings) {
  std::filesystem::create_directories(folder_ / "run");
  const peer::LockBell bell(folder_ / "run", "x");
  std::uint32_t seen = bell.seen();
  const auto rung = [&] {
    const std::uint32_t before = std::exchange(seen, bell.seen());
    return seen - before;
  };
  EXPECT_EQ(allot({"lock", "run", "x", "--", "true"}).status, (ExitStatus{0, 0}));
  EXPECT_EQ(rung(), 2U);
  observer_.execute("UPDATE named_lock SET state = 'LOCKED', lock_by = 1");
  EXPECT_EQ(allot({"lock", "run", "x", "--", "true"}).status, (ExitStatus{kExitOutcomeUnknown, 0}));
  EXPECT_EQ(rung(), 1U) << "it has left the line";
  must({"lock", "break", "x", "--yes"});
  EXPECT_EQ(rung(), 1U);
}

TEST_F(LockCommandTest, WaiterGetsTheLockOnceItIsReleased) {
  Words first{"x", "--", "sh", "-c",
              "echo > " + (folder_ / "runs") + "; read line < " + (folder_ / "go")};
  ASSERT_EQ(mkfifo((folder_ / "go").c_str(), 0600), 0);
  const auto held = begin(first);
  ASSERT_TRUE(eventually([&] { return std::ifstream(folder_ / "runs").good(); })) << held->err();
  const auto waits = begin({"x", "--wait", "1m", "--", "echo", "mine"});
  ASSERT_TRUE(eventually([&] { return count("lock_ticket") == 1; }));
  EXPECT_TRUE(waits->running());
  std::ofstream(folder_ / "go") << "go\n";
  EXPECT_EQ(held->wait(), (ExitStatus{0, 0}));
  EXPECT_EQ(waits->wait(), (ExitStatus{0, 0})) << waits->err();
  EXPECT_EQ(waits->out(), "mine\n");
  EXPECT_EQ(state(), "FREE");
}

TEST_F(LockCommandTest, ASignalIsPassedOnOrEndsTheWait) {
  const auto command =
      begin({"x", "--", "sh", "-c",
             "trap 'exit 3' TERM; echo > " + (folder_ / "runs") + "; while :; do sleep 0.1; done"});
  ASSERT_TRUE(eventually([&] { return std::ifstream(folder_ / "runs").good(); }));
  const auto waits = begin({"x", "--wait", "1m", "--", "true"});
  ASSERT_TRUE(eventually([&] { return count("lock_ticket") == 1; }));
  waits->signal(SIGINT);
  EXPECT_EQ(waits->wait(), (ExitStatus{128 + SIGINT, 0})) << waits->err();
  EXPECT_EQ(count("lock_ticket"), 0U);
  command->signal(SIGTERM);
  EXPECT_EQ(command->wait(), (ExitStatus{3, 0}));
  EXPECT_EQ(state(), "FREE");
}

// Processes left by a command do not continue without the lock.
TEST_F(LockCommandTest, TheWholeGroupEndsWithTheCommand) {
  const auto done =
      allot({"lock", "run", "x", "--", "sh", "-c",
             "sh -c 'trap \"\" TERM HUP; echo $$ > " + (folder_ / "new") + "; mv " +
                 (folder_ / "new") + " " + (folder_ / "pids") +
                 "; while :; do sleep 0.1; done' > /dev/null 2>&1 & while ! test -e " +
                 (folder_ / "pids") + "; do sleep 0.05; done; exit 0"});
  EXPECT_EQ(done.status, (ExitStatus{0, 0})) << done.err;
  ASSERT_EQ(read_pids().size(), 1U);
  EXPECT_TRUE(all_dead(read_pids())) << "when the lock is given back";
}

// S39, with the processes around the command killed or stopped one after the other.
TEST_F(LockCommandTest, AKilledAllotTakesTheCommandAlong) {
  const Running running = run_stubborn();
  running.allot->signal(SIGKILL);
  EXPECT_TRUE(ends_before_the_lock(running));
}

TEST_F(LockCommandTest, AStoppedAllotTakesTheCommandAlong) {
  const Running running = run_stubborn();
  running.allot->signal(SIGSTOP);
  EXPECT_TRUE(ends_before_the_lock(running));
  running.allot->signal(SIGCONT);
  EXPECT_EQ(running.allot->wait(), (ExitStatus{128 + SIGKILL, 0}));
  EXPECT_TRUE(has(running.allot->err(), "lock 'x' is lost"));
}

TEST_F(LockCommandTest, AKilledGuardianTakesTheCommandAlong) {
  const Running running = run_stubborn();
  ASSERT_GT(running.outer, 1);
  support::send_signal(running.outer, SIGKILL);
  EXPECT_EQ(running.allot->wait(), (ExitStatus{128 + SIGKILL, 0}));
  EXPECT_TRUE(all_dead(running.pids));
  EXPECT_EQ(state(), "FREE");
}

TEST_F(LockCommandTest, AKilledInnerGuardianTakesTheCommandAlong) {
  const Running running = run_stubborn();
  support::send_signal(running.inner, SIGKILL);
  EXPECT_EQ(running.allot->wait(), (ExitStatus{128 + SIGKILL, 0}));
  EXPECT_TRUE(all_dead(running.pids));
  EXPECT_EQ(state(), "FREE");
}

// `pkill -9 allot`, for the processes of this test.
TEST_F(LockCommandTest, KillingAllProcessesNamedAllotTakesTheCommandAlong) {
  const Running running = run_stubborn();
  std::vector<pid_t> named;
  for (const pid_t pid : {running.allot->pid(), running.outer, running.inner}) {
    if (has(name_of(pid), "allot")) named.push_back(pid);
  }
  for (const pid_t pid : named) support::send_signal(pid, SIGKILL);
  EXPECT_TRUE(ends_before_the_lock(running));
  EXPECT_EQ(named.size(), 1U);
}

TEST_F(LockCommandTest, TheGuardiansHaveANameOfTheirOwn) {
  const Running running = run_stubborn();
  for (const pid_t pid : {running.outer, running.inner}) {
    EXPECT_EQ(name_of(pid), "lock-guardian\n");
    EXPECT_EQ(line_of(pid).c_str(), std::string("lock-guardian"));
    EXPECT_FALSE(has(line_of(pid), "allot"));
  }
  running.allot->signal(SIGKILL);
}

// One of the three is enough.
TEST_F(LockCommandTest, AllotAndItsOuterGuardianKilledTogetherTakeTheCommandAlong) {
  const Running running = run_stubborn();
  for (const pid_t pid : {running.allot->pid(), running.outer}) support::send_signal(pid, SIGKILL);
  EXPECT_TRUE(ends_before_the_lock(running));
}

TEST_F(LockCommandTest, AllotAndItsInnerGuardianKilledTogetherTakeTheCommandAlong) {
  const Running running = run_stubborn();
  for (const pid_t pid : {running.allot->pid(), running.inner}) support::send_signal(pid, SIGKILL);
  EXPECT_TRUE(ends_before_the_lock(running));
}

TEST_F(LockCommandTest, BothGuardiansKilledTogetherTakeTheCommandAlong) {
  const Running running = run_stubborn();
  for (const pid_t pid : {running.outer, running.inner}) support::send_signal(pid, SIGKILL);
  EXPECT_EQ(running.allot->wait(), (ExitStatus{128 + SIGKILL, 0}));
  EXPECT_TRUE(all_dead(running.pids));
  EXPECT_EQ(state(), "FREE");
}

// A process in a separate session becomes a child of a guardian when its parent dies.
TEST_F(LockCommandTest, ProcessOutsideTheGroupEndsWithTheCommand) {
  const std::string loop = "sh -c 'trap \"\" TERM HUP; echo $$ > " + (folder_ / "new") + "; mv " +
                           (folder_ / "new") + " " + (folder_ / "pids") +
                           "; while :; do sleep 0.1; done' > /dev/null 2>&1 &";
  const std::string until_it_runs =
      " while ! test -e " + (folder_ / "pids") + "; do sleep 0.05; done; ";
  const auto done =
      allot({"lock", "run", "x", "--", "sh", "-c", "setsid " + loop + until_it_runs + "exit 3"});
  EXPECT_EQ(done.status, (ExitStatus{3, 0})) << done.err;
  ASSERT_EQ(read_pids().size(), 1U);
  EXPECT_TRUE(all_dead(read_pids())) << "when the lock is given back";

  std::filesystem::remove(folder_ / "pids");
  Running running;
  running.allot =
      begin({"x", "--ttl", "4s", "--", "sh", "-c", "setsid " + loop + until_it_runs + "sleep 600"});
  ASSERT_TRUE(eventually([&] { return !read_pids().empty(); })) << running.allot->err();
  running.pids = read_pids();
  running.allot->signal(SIGKILL);
  EXPECT_TRUE(ends_before_the_lock(running));
}

TEST_F(LockCommandTest, AStoppedInnerGuardianIsWokenWhenTheOthersAreKilled) {
  const Running running = run_stubborn();
  stop(running.inner);
  for (const pid_t pid : {running.allot->pid(), running.outer}) support::send_signal(pid, SIGKILL);
  EXPECT_TRUE(ends_before_the_lock(running));
}

TEST_F(LockCommandTest, AStoppedGuardianOfAKilledAllotIsWoken) {
  const Running running = run_stubborn();
  ASSERT_GT(running.outer, 1);
  stop(running.outer);
  running.allot->signal(SIGKILL);
  EXPECT_TRUE(ends_before_the_lock(running));
}

// The lock is broken while its guardian is stopped.
TEST_F(LockCommandTest, AllotReplacesAStoppedGuardian) {
  const Running running = run_stubborn();
  ASSERT_GT(running.outer, 1);
  stop(running.outer);
  must({"lock", "break", "x", "--yes"});
  EXPECT_EQ(running.allot->wait(), (ExitStatus{128 + SIGKILL, 0}));
  EXPECT_TRUE(all_dead(running.pids));
}

TEST_F(LockCommandTest, ABrokenLockEndsTheCommand) {
  const Running running = run_stubborn();
  EXPECT_TRUE(has(must({"lock", "break", "x", "--yes"}), "1 slots broken"));
  EXPECT_EQ(running.allot->wait(), (ExitStatus{128 + SIGKILL, 0}));
  EXPECT_TRUE(has(running.allot->err(), "lock 'x' is lost: it was taken away"));
  EXPECT_TRUE(all_dead(running.pids));
}

TEST_F(LockCommandTest, ListAndShow) {
  EXPECT_EQ(must({"lock", "list", "--json"}), "[]\n");
  queue::ensure_lock(observer_, "pool", 3);
  const Running running = run_stubborn("30s");
  const queue::Holder waiting = queue::make_holder("", "");
  queue::draw_ticket(observer_, "x", waiting);
  const auto list = json::parse(must({"lock", "list", "--json"}));
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[0], json({{"name", "pool"}, {"slots", 3}, {"held", 0}, {"waiting", 0}}));
  EXPECT_EQ(list[1], json({{"name", "x"}, {"slots", 1}, {"held", 1}, {"waiting", 1}}));
  EXPECT_TRUE(has(must({"lock", "list"}), "NAME  SLOTS  HELD  WAITING"));
  const auto shown = json::parse(must({"lock", "show", "x", "--json"}));
  EXPECT_EQ(shown.at("held").at(0).at("pid"), running.allot->pid());
  EXPECT_EQ(shown.at("held").at(0).at("ttl_ms"), 30'000);
  EXPECT_EQ(shown.at("waiting").at(0).at("pid"), waiting.pid);
  EXPECT_TRUE(has(must({"lock", "show", "x"}), "1 of 1 slots held"));
  EXPECT_TRUE(has(must({"lock", "resize", "x", "2"}), "lock x has 2 slots"));
  EXPECT_EQ(json::parse(must({"lock", "show", "x", "--json"})).at("slots"), 2);
  running.allot->signal(SIGKILL);
}

TEST_F(LockCommandTest, BadInputIsRefusedByTheNameOfItsFieldAndChangesNothing) {
  queue::ensure_lock(observer_, "x", 1);
  const std::string before = everything();
  const auto refused = [&](const Words& words, const std::string& field) {
    const auto done = allot(words);
    EXPECT_EQ(done.status, (ExitStatus{kExitBadInput, 0})) << testing::PrintToString(words);
    EXPECT_TRUE(has(done.err, "allot: " + field));
    EXPECT_EQ(std::count(done.err.begin(), done.err.end(), '\n'), 1) << done.err;
  };
  refused({"lock", "run", "y", "--slots", "0", "--", "true"}, "slots 0");
  refused({"lock", "run", "y", "--slots", "1025", "--", "true"}, "slots 1025");
  refused({"lock", "run", "y", "--ttl", "999ms", "--", "true"}, "ttl 999ms");
  refused({"lock", "run", "y", "--ttl", "soon", "--", "true"}, "'ttl' is");
  refused({"lock", "run", "y", "--wait", "soon", "--", "true"}, "'wait' is");
  refused({"lock", "run", std::string(256, 'y'), "--", "true"}, "name of 256 bytes");
  refused({"lock", "run", "", "--", "true"}, "name of 0 bytes");
  refused({"lock", "run", "x", "--slots", "2", "--", "true"}, "slots 2: the lock 'x' has 1");
  refused({"lock", "show", "z"}, "unknown lock 'z'");
  refused({"lock", "break", "z", "--yes"}, "unknown lock 'z'");
  refused({"lock", "resize", "x", "0"}, "slots 0");
  refused({"lock", "resize", "z", "2"}, "unknown lock 'z'");
  EXPECT_EQ(allot({"lock", "run", "x"}).status, (ExitStatus{kExitUsage, 0}));
  EXPECT_EQ(everything(), before);
}

}  // namespace
}  // namespace allot::cli
