// SPDX-License-Identifier: Apache-2.0
// Named locks under faults: many clients of a few locks with three slots each, whose processes are
// killed and stopped while the database's clock steps by an hour. According to the commands' own
// records there are never more than three holders, and tokens only grow. Without faults locks are
// handed over in the order of arrival. A host that is cut off during a poll of locks frees no lock
// of a living holder.
//   ALLOT_TEST_CUTS=30: number of cuts
//   ALLOT_TEST_CLIENTS=100 ALLOT_TEST_LOCKS=10 ALLOT_TEST_SECONDS=60: the campaign
//   ALLOT_TEST_WAITERS=100: for the hand-overs
//   ALLOT_TEST_SEED=N: another course of faults
// Rule: S39.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "base/clock.h"
#include "e2e/daemon.h"
#include "support/database.h"
#include "support/db_error.h"
#include "support/environment.h"
#include "support/eventually.h"
#include "support/process.h"
#include "support/rewriting_proxy.h"
#include "support/stepped_clock.h"
#include "support/temp_dir.h"

namespace allot::e2e {
namespace {

using support::environment_or;
using support::eventually;
using support::number_of;
using support::Process;

class Lock : public testing::Test {
 protected:
  Lock() : database_(server_.make_database()), observer_(server_.connect(database_)) {
    config_ = configure("allot.toml", server_.socket());
    observer_.execute("SET GLOBAL max_connections = 1000");
  }
  std::string configure(const std::string& file, const std::string& socket) {
    return folder_.write(file, "[database]\nsocket = \"" + socket +
                                   "\"\nuser = \"root\"\nname = \"" + database_ +
                                   "\"\n[daemon]\nruntime_dir = \"" + folder_.path() + "\"\n");
  }
  std::unique_ptr<Process> run(const std::vector<std::string>& words) {
    return run_with(config_, words);
  }
  static std::unique_ptr<Process> run_with(const std::string& config,
                                           std::vector<std::string> words) {
    words.insert(words.begin(), {program("allot"), "--config", config, "lock", "run"});
    return std::make_unique<Process>(std::move(words));
  }
  // Script of a command that writes to `records_` while it has the lock: this number of lines, or
  // without end. Its sleep is its work, which no test waits for: without it a command would write
  // at full speed. It is a child of the command, which waits for it.
  [[nodiscard]] std::string record(const std::string& lock, std::uint64_t lines = 0) const {
    const std::string more = lines == 0 ? ":" : "[ $i -lt " + std::to_string(lines) + " ]";
    return "(i=0; while " + more + "; do read up idle < /proc/uptime; echo " + lock +
           " $ALLOT_LOCK_TOKEN $$ $up >> " + records_ + "; i=$((i + 1)); sleep 0.03; done) & wait";
  }

  support::TempDir folder_;
  support::SteppedClock clock_;
  support::Database server_{{}, support::Network::kNone, clock_.environment()};
  std::string database_;
  db::Connection observer_;
  std::string config_;
  const std::string records_ = folder_ / "records";
};

// Record of one command: /proc/uptime is CLOCK_BOOTTIME, in hundredths of seconds.
struct Holding {
  std::string lock;
  std::uint64_t token = 0;
  double from = 0;
  double until = 0;
};

std::vector<Holding> read_records(const std::string& path) {
  std::map<std::string, Holding> all;
  std::ifstream file(path);
  std::string lock;
  std::uint64_t token = 0;
  std::string pid;
  double at = 0;
  while (file >> lock >> token >> pid >> at) {
    Holding& held = all[lock + "/" + std::to_string(token) + "/" + pid];
    if (held.from == 0) held = {lock, token, at, at};
    held.until = std::max(held.until, at);
  }
  std::vector<Holding> list;
  for (auto& [key, held] : all) list.push_back(std::move(held));
  return list;
}

// Maximum number of concurrent commands of one lock.
std::size_t most_at_once(const std::vector<Holding>& of_one) {
  std::vector<std::pair<double, int>> changes;
  for (const Holding& held : of_one) {
    changes.emplace_back(held.from, 1);
    changes.emplace_back(held.until, -1);  // before one that begins in the same hundredth
  }
  std::sort(changes.begin(), changes.end());
  int now = 0;
  int most = 0;
  for (const auto& [at, change] : changes) most = std::max(most, now += change);
  return static_cast<std::size_t>(most);
}

// Later commands of a slot have larger tokens.
std::size_t tokens_that_fell(const std::vector<Holding>& of_one) {
  std::map<std::uint64_t, std::vector<Holding>> slots;
  for (const Holding& held : of_one) slots[held.token % 1024].push_back(held);
  std::size_t fell = 0;
  for (auto& [slot, list] : slots) {
    std::sort(list.begin(), list.end(),
              [](const Holding& a, const Holding& b) { return a.token < b.token; });
    for (std::size_t i = 1; i < list.size(); ++i) {
      if (list[i].from < list[i - 1].until || list[i].token == list[i - 1].token) ++fell;
    }
  }
  return fell;
}

// Token of a slot that was acquired again later.
std::optional<std::uint64_t> stale_token(const std::vector<Holding>& of_one) {
  for (const Holding& one : of_one) {
    for (const Holding& other : of_one) {
      if (other.token % 1024 == one.token % 1024 && other.token > one.token) return one.token;
    }
  }
  return std::nullopt;
}

class Campaign : public Lock {
 protected:
  struct Client {
    std::unique_ptr<Process> process;
    pid_t stopped = 0;   // one of its processes
    Nanos wakes_ns = 0;  // end of the stop
  };

  // A command that records its run; every other one for longer than its lock lasts.
  std::unique_ptr<Process> begin_client() {
    const std::string lock = "lock-" + std::to_string(random_() % locks_);
    const auto rounds = random_() % 2 == 0 ? 120 + random_() % 100 : 2 + random_() % 10;
    return run({lock, "--slots", "3", "--ttl", "3s", "--wait", "20s", "--", "sh", "-c",
                (random_() % 2 == 0 ? "trap '' TERM; " : "") + record(lock, rounds)});
  }
  // A child of this process, or a child of that.
  static pid_t child_of(pid_t parent) {
    std::ifstream file("/proc/" + std::to_string(parent) + "/task/" + std::to_string(parent) +
                       "/children");
    pid_t child = 0;
    return file >> child ? child : parent;
  }
  void disturb(Client& client) {
    if (client.stopped != 0 || !client.process->running()) return;
    const pid_t allot = client.process->pid();
    const pid_t outer = child_of(allot);
    const pid_t inner = child_of(outer);
    std::vector<pid_t> killed;
    switch (random_() % 12) {
      case 0:
      case 1:
        killed = {allot};
        break;
      case 2:
        killed = {outer};
        break;
      case 3:
        killed = {inner};
        break;
      case 4:
        killed = {allot, outer};
        break;
      case 5:
        killed = {allot, inner};
        break;
      case 6:
        killed = {outer, inner};
        break;
      case 7:
        client.stopped = outer;
        break;
      case 8:
        client.stopped = inner;
        break;
      case 9:
        client.stopped = child_of(inner);  // the command
        break;
      default:
        client.stopped = allot;
        break;
    }
    for (const pid_t pid : killed) support::send_signal(pid, SIGKILL);
    if (client.stopped != 0) {
      support::send_signal(client.stopped, SIGSTOP);
      client.wakes_ns = boot_ns() + (1000 + random_() % 6000) * kMilli;
    }
    ++faults_;
  }
  void go_on(Client& client) {
    if (client.stopped != 0 && boot_ns() >= client.wakes_ns) {
      support::send_signal(client.stopped, SIGCONT);
      client.stopped = 0;
    }
    if (client.process->running()) return;
    client.process = begin_client();
    ++begun_;
  }

  const unsigned locks_ = environment_or("ALLOT_TEST_LOCKS", 2U);
  std::mt19937 random_{environment_or("ALLOT_TEST_SEED", 1U)};
  unsigned faults_ = 0;
  unsigned begun_ = 0;
};

TEST_F(Campaign, NeverMoreThanItsSlotsWhateverIsKilledOrStopped) {
  std::vector<Client> clients(environment_or("ALLOT_TEST_CLIENTS", 12U));
  for (Client& client : clients) client.process = begin_client();
  const Nanos end = boot_ns() + environment_or("ALLOT_TEST_SECONDS", 20U) * kSecond;
  Nanos next_fault = boot_ns() + kSecond;
  Nanos next_step = boot_ns() + 2 * kSecond;
  unsigned steps = 0;
  ASSERT_TRUE(eventually(
      [&] {
        for (Client& client : clients) go_on(client);
        const Nanos now = boot_ns();
        if (now >= next_fault) {
          disturb(clients[random_() % clients.size()]);
          next_fault = now + 2 * kSecond / clients.size();
        }
        if (now >= next_step) {
          clock_.step_to(std::chrono::hours(static_cast<int>(++steps % 3) - 1));
          next_step = now + 1500 * kMilli;
        }
        return now >= end;
      },
      std::chrono::minutes(30)));
  for (Client& client : clients) client.process->kill9();

  std::map<std::string, std::vector<Holding>> locks;
  std::size_t all = 0;
  for (Holding& held : read_records(records_)) {
    locks[held.lock].push_back(std::move(held));
    ++all;
  }
  std::printf(
      "%zu clients, %u locks of 3 slots: %u commands begun, %zu had a lock, %u faults, %u "
      "steps of the clock\n",
      clients.size(), locks_, begun_, all, faults_, steps);
  EXPECT_GT(all, 3 * locks_) << "locks were not taken again";
  for (const auto& one : locks) {
    const std::string& name = one.first;  // a lambda cannot have a binding
    EXPECT_LE(most_at_once(one.second), 3U) << name;
    EXPECT_EQ(tokens_that_fell(one.second), 0U) << name;
    const auto stale = stale_token(one.second);
    if (!stale) continue;
    const auto refused = support::db_error_of([&] {
      observer_.execute("BEGIN; CALL allot_lock_require('" + name + "', " + std::to_string(*stale) +
                        ")");
    });
    EXPECT_TRUE(refused) << "a stale token of " << name;
    observer_.execute("ROLLBACK");
  }
}

// The network of a host. It can be cut off for some time, during which nothing that is sent
// arrives.
class HostNetwork {
 public:
  HostNetwork(std::string socket, const std::string& server)
      : proxy_(std::move(socket), server,
               [this](std::string sql) { return pass(std::move(sql)); }) {}
  [[nodiscard]] const std::string& socket() const { return proxy_.socket(); }

  // Cuts it off when it next sends a statement that contains `words`.
  void cut_at(const std::string& words, Nanos time) {
    const std::lock_guard held(mutex_);
    words_ = words;
    time_ = time;
  }
  // True after a cut, and after enough time to complete its pending action.
  [[nodiscard]] bool is_back() {
    const std::lock_guard held(mutex_);
    return words_.empty() && boot_ns() > until_ + kSecond;
  }

 private:
  Nanos until_of(const std::string& sql) {
    const std::lock_guard held(mutex_);
    if (!words_.empty() && sql.find(words_) != std::string::npos) {
      until_ = boot_ns() + time_;
      words_.clear();
    }
    return until_;
  }
  std::string pass(std::string sql) {
    for (const Nanos until = until_of(sql); boot_ns() < until;) {
      ::poll(nullptr, 0, static_cast<int>((until - boot_ns()) / kMilli) + 1);
    }
    return sql;
  }

  std::mutex mutex_;
  std::string words_;
  Nanos time_ = 0;
  Nanos until_ = 0;
  support::RewritingProxy proxy_;
};

// S38: the steward of that host, and its waiting clients, poll the locks of other hosts.
TEST_F(Lock, AHostThatIsCutOffFreesNoLivingHoldersLock) {
  constexpr Nanos kCut = 4500 * kMilli;  // the TTL and 2.5 s
  const unsigned cuts = environment_or("ALLOT_TEST_CUTS", 2U);
  HostNetwork network(folder_ / "p", server_.socket());
  const std::string cut_off = configure("cut-off.toml", network.socket());
  const Daemon daemon({.migrate = false,
                       .server = &server_,
                       .database_keys = "socket = \"" + network.socket() + "\"\nuser = \"root\"",
                       .database = database_,
                       .call_timeout = "30s"});
  ASSERT_TRUE(eventually([&] { return daemon.logged("duty.taken"); })) << daemon.log();
  const std::vector<std::string> names{"a", "b", "c", "d", "e", "f"};
  std::vector<std::unique_ptr<Process>> holders;
  std::vector<std::unique_ptr<Process>> waiting;
  const auto words = [&](const std::string& name) {
    return std::vector<std::string>{name, "--ttl", "2s", "--wait",    "1h",
                                    "--", "sh",    "-c", record(name)};
  };
  for (const std::string& name : names) holders.push_back(run(words(name)));
  const std::string held = "SELECT COUNT(*) FROM named_lock WHERE state <> 'FREE'";
  ASSERT_TRUE(eventually([&] { return number_of(observer_, held) == names.size(); }));
  for (const std::string& name : names) {
    waiting.push_back(run_with(cut_off, words(name)));
    waiting.push_back(run(words(name)));
  }
  ASSERT_TRUE(eventually(
      [&] { return number_of(observer_, "SELECT COUNT(*) FROM lock_ticket") == waiting.size(); }));
  for (unsigned cut = 0; cut < cuts; ++cut) {
    network.cut_at(cut % 2 == 0 ? "WHERE lock_by > 0" : "AND state <> 'FREE'", kCut);
    ASSERT_TRUE(eventually([&] { return network.is_back(); }, std::chrono::minutes(1)));
  }
  for (const auto& each : {&holders, &waiting}) {
    for (const auto& process : *each) process->kill9();
  }
  // A holder that is slower than its TTL loses the lock, and knows it before another one has it.
  std::size_t slow = 0;
  for (const auto& each : {&holders, &waiting}) {
    slow +=
        static_cast<std::size_t>(std::count_if(each->begin(), each->end(), [](const auto& process) {
          return process->err().find("could not be renewed in time") != std::string::npos;
        }));
  }
  std::map<std::string, std::vector<Holding>> locks;
  for (Holding& each : read_records(records_)) locks[each.lock].push_back(std::move(each));
  std::size_t most = 0;
  std::size_t had = 0;
  for (const auto& [name, of_one] : locks) {
    most = std::max(most, most_at_once(of_one));
    had += of_one.size();
  }
  std::printf(
      "%u cuts, %zu locks with %zu clients: %zu had one, %zu were too slow to keep it, at most "
      "%zu at once\n",
      cuts, names.size(), holders.size() + waiting.size(), had, slow, most);
  EXPECT_EQ(locks.size(), names.size());
  EXPECT_EQ(most, 1U);
}

TEST_F(Lock, IsHandedOverInTheOrderOfArrival) {
  const unsigned count = environment_or("ALLOT_TEST_WAITERS", 20U);
  const std::string order = folder_ / "order";
  const std::string go = folder_ / "go";
  ASSERT_EQ(mkfifo(go.c_str(), 0600), 0);
  const auto first =
      run({"x", "--", "sh", "-c", "echo > " + (folder_ / "runs") + "; read line < " + go});
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(folder_ / "runs"); }));
  std::vector<std::unique_ptr<Process>> waiting;
  for (unsigned i = 0; i < count; ++i) {
    waiting.push_back(run(
        {"x", "--wait", "10m", "--", "sh", "-c", "echo " + std::to_string(i) + " >> " + order}));
    ASSERT_TRUE(eventually(
        [&] { return number_of(observer_, "SELECT COUNT(*) FROM lock_ticket") == i + 1; }));
  }
  std::ofstream(go) << "go\n";
  for (const auto& process : waiting) {
    EXPECT_EQ(process->wait(std::chrono::minutes(2)), (support::ExitStatus{0, 0}))
        << process->err();
  }
  std::ifstream file(order);
  std::vector<unsigned> got;
  for (unsigned number = 0; file >> number;) got.push_back(number);
  ASSERT_EQ(got.size(), count);
  unsigned late = 0;  // were served after a later arrival
  for (std::size_t i = 1; i < got.size(); ++i) late += got[i] < got[i - 1] ? 1U : 0U;
  std::printf("%u hand-overs, %u out of order\n", count, late);
  EXPECT_LE(late, count / 100);
}

}  // namespace
}  // namespace allot::e2e
