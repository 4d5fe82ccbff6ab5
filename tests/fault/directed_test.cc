// SPDX-License-Identifier: Apache-2.0
// Cases that a random schedule meets too rarely: a packet delayed by the right time, a worker that
// dies or is stopped at the right point. Each case is for one rule of the lease protocol and always
// fails without it (scripts/mutants).
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <optional>
#include <ostream>

#include "e2e/daemon.h"
#include "fault/proxy.h"
#include "support/commit_stop.h"

namespace allot::fault {
namespace {

using e2e::Daemon;
using e2e::DaemonOptions;
using support::eventually;
using support::value_of;

// One worker, connected through a proxy, in the handler of the first task of a block. The database
// shows when another worker takes its partition.
class Directed : public testing::Test {
 protected:
  explicit Directed(Wire wire = Wire::kPlain)
      : proxy_(folder_ / "p", support::Database::shared().socket(), wire) {}

  [[nodiscard]] DaemonOptions options(const std::string& queue_keys,
                                      const std::string& daemon_keys = {}) const {
    return {.workers = 1,
            .queue_keys = "partitions = 1\nmax_attempts = 10\n" + queue_keys,
            .daemon_keys = daemon_keys,
            .database_keys = proxy_.database_keys() + "\nuser = \"root\""};
  }
  // The steward has rehearsed its statements, too: its packets are not confused with a worker's.
  void wait_until_fit() {
    e2e::wait_ready(*daemon_, 1);
    ASSERT_TRUE(eventually([&] { return daemon_->logged("steward.ready"); })) << daemon_->log();
  }
  static bool busy(const Daemon& daemon) {
    return eventually([&] { return daemon.busy_workers().size() == 1; });
  }
  void begin(const std::string& verdict, const std::string& queue_keys = {},
             const std::string& daemon_keys = {}, const std::string& before = {}) {
    daemon_ = std::make_unique<Daemon>(options(queue_keys, daemon_keys));
    wait_until_fit();
    if (!before.empty()) daemon_->connect().execute(before);
    daemon_->submit_all({{{"type", "test.gate"}, {"payload", verdict + " " + gate()}},
                         {{"type", "unknown.type"}, {"payload", "neighbour"}}});
    ASSERT_TRUE(busy(*daemon_)) << daemon_->log();
  }

  [[nodiscard]] std::string gate() const { return folder_ / "gate"; }
  void open_gate() { ASSERT_TRUE(std::ofstream(gate()).good()); }

  bool held() {
    return eventually([&] { return proxy_.holds(); });
  }
  // The held packet reaches the server, which executes all of it.
  void land() {
    auto db = daemon_->connect();
    const std::string id = std::to_string(proxy_.let_go());
    ASSERT_NE(id, "0") << "the server ended its connection";
    ASSERT_TRUE(eventually([&] {
      return proxy_.delivered() &&
             value_of(db,
                      "SELECT COUNT(*) FROM information_schema.processlist WHERE command <> "
                      "'Sleep' AND id = " +
                          id) == "0";
    }));
  }
  // Simulates another host that saw the worker standing still, and charges attempts.
  void steal(int attempts = 2) {
    auto db = daemon_->connect();
    db.execute(
        "UPDATE q_lock_table SET epoch = epoch + 1, lock_by = 4711, lock_origin = 4711,"
        " lock_host = 'thief', lock_instance = 'x', lock_pid = 1, state = 'LOCKED',"
        " expire_at = UTC_TIMESTAMP(6) + INTERVAL 600 SECOND WHERE queue_id = 1;"
        "UPDATE task_running SET epoch = epoch + 1, lock_by = 4711, lock_origin = 4711,"
        " expire_at = UTC_TIMESTAMP(6) + INTERVAL 600 SECOND;"
        "UPDATE task SET attempt = " +
        std::to_string(attempts) + " WHERE type = 'test.gate' LIMIT 1");
  }
  [[nodiscard]] std::string lease() const {
    auto db = daemon_->connect();
    return value_of(db,
                    "SELECT CONCAT_WS(' ', epoch, COALESCE(lock_by, '-'), state, expire_at,"
                    " COALESCE(suspect_to, '-'), suspect_n) FROM q_lock_table");
  }
  // Rows that a late worker must not change: tasks, their places, their attempts.
  [[nodiscard]] std::string tasks() const {
    auto db = daemon_->connect();
    return value_of(
        db,
        "SELECT CONCAT_WS(' | ',"
        " (SELECT GROUP_CONCAT(run_key, ' ', attempt, ' ', COALESCE(first_key, '-'), ' ',"
        "   flags & 1, ' ', payload ORDER BY run_key) FROM task),"
        " (SELECT CONCAT_WS(' ', 'running', epoch, lock_by, expire_at, payload)"
        "   FROM task_running), (SELECT COUNT(*) FROM task_moved),"
        " (SELECT COUNT(*) FROM task_attempt), (SELECT COUNT(*) FROM task_dead))");
  }

  support::TempDir folder_;
  Proxy proxy_;
  std::unique_ptr<Daemon> daemon_;
};

// Cases in which a client gives up its connection or dies.
class OverEachWire : public Directed, public testing::WithParamInterface<Wire> {
 protected:
  OverEachWire() : Directed(GetParam()) {}
};
std::string name_of_wire(const testing::TestParamInfo<Wire>& wire) {
  return wire.param == Wire::kTls ? "Tls" : "Plain";
}

// S6: a statement sent under a lease that has since changed has no effect.
struct Verb {
  const char* name;
  const char* text;            // text in its packet
  const char* verdict;         // result of the handler
  bool opens = true;           // sent when the handler returns
  const char* detach = "10s";  // delay until then
  bool detached = false;       // sent by the detached task
  bool suspect = false;        // a former holder was lost (S7)
  const char* daemon_keys = "";
};
void PrintTo(const Verb& verb, std::ostream* out) {
  *out << verb.name;
}

class LateVerb : public Directed, public testing::WithParamInterface<Verb> {};

TEST_P(LateVerb, ChangesNothing) {
  const Verb& verb = GetParam();
  begin(verb.verdict, "detach_after = \"" + std::string(verb.detach) + "\"", verb.daemon_keys,
        verb.suspect ? "UPDATE q_lock_table SET suspect_to = 1 << 62, suspect_n = 1" : "");
  if (verb.detached) {
    ASSERT_TRUE(eventually([&] { return daemon_->count("task_running") == 1; }));
  }
  proxy_.hold_back(verb.text);  // not earlier: the check of the account's rights contains it, too
  if (verb.opens) open_gate();
  ASSERT_TRUE(held()) << daemon_->log();
  steal();
  const std::string lease_before = lease();
  const std::string tasks_before = tasks();
  land();
  EXPECT_EQ(lease(), lease_before) << "the lease of another holder\n" << daemon_->log();
  // A finished task may be acknowledged at any time.
  if (std::string(verb.verdict) != "ok") {
    EXPECT_EQ(tasks(), tasks_before) << daemon_->log();
  }
}

constexpr Verb kVerbs[] = {
    {.name = "Retry", .text = "INSERT INTO task_moved", .verdict = "retry"},
    {.name = "Bury", .text = "INSERT INTO task_dead", .verdict = "fail"},
    {.name = "Release", .text = "SET state = 'FREE'", .verdict = "ok"},
    {.name = "Defer", .text = "FIELD(run_key", .verdict = "release"},
    {.name = "Renew",
     .text = "SET state = 'EXTENDED'",
     .verdict = "wait",
     .opens = false,
     .daemon_keys = "lease_ttl = \"6s\""},
    {.name = "Detach",
     .text = "INSERT INTO task_running",
     .verdict = "wait",
     .opens = false,
     .detach = "5s"},
    {.name = "SnoozeOfASuspect",
     .text = "INSERT INTO task_moved",
     .verdict = "snooze",
     .suspect = true},
    {.name = "RetryOfADetachedTask",
     .text = "INSERT INTO task_moved",
     .verdict = "retry",
     .detach = "1ms",
     .detached = true},
    {.name = "SnoozeOfADetachedSuspect",
     .text = "INSERT INTO task_moved",
     .verdict = "snooze",
     .detach = "1ms",
     .detached = true,
     .suspect = true},
    {.name = "BuryOfADetachedTask",
     .text = "INSERT INTO task_dead",
     .verdict = "fail",
     .detach = "1ms",
     .detached = true},
    {.name = "Checkpoint", .text = "SET payload", .verdict = "checkpoint"},
    {.name = "CheckpointOfADetachedTask",
     .text = "UPDATE task_running\n   SET payload",
     .verdict = "checkpoint",
     .detach = "1ms",
     .detached = true},
    {.name = "Replacement", .text = "SELECT ~0 +", .verdict = "replace"},
    {.name = "ReplacementOfADetachedTask",
     .text = "SELECT ~0 +",
     .verdict = "replace",
     .detach = "1ms",
     .detached = true},
    {.name = "Effect", .text = "SELECT ~0 +", .verdict = "effect"},
    {.name = "EffectOfADetachedTask",
     .text = "SELECT ~0 +",
     .verdict = "effect",
     .detach = "1ms",
     .detached = true},
    {.name = "RenewOfADetachedTask",
     .text = "UPDATE task_running\n   SET expire_at",
     .verdict = "wait",
     .opens = false,
     .detach = "1ms",
     .detached = true,
     .daemon_keys = "lease_ttl = \"6s\""},
};
INSTANTIATE_TEST_SUITE_P(Verbs, LateVerb, testing::ValuesIn(kVerbs),
                         [](const auto& test) { return test.param.name; });

// S6, S7: it would end careful mode too early. Nothing has started yet.
TEST_F(Directed, ALateMarkOfSuspectsChangesNothing) {
  daemon_ = std::make_unique<Daemon>(options({}));
  wait_until_fit();
  daemon_->connect().execute("UPDATE q_lock_table SET suspect_to = 1 << 62, suspect_n = 1");
  proxy_.hold_back("SET suspect_to = NULL");
  (void)daemon_->submit("test.gate", "ok " + gate());
  ASSERT_TRUE(held()) << daemon_->log();
  steal();
  const std::string before = lease() + " | " + tasks();
  land();
  EXPECT_EQ(lease() + " | " + tasks(), before) << daemon_->log();
}

// S6, S8: the settler's charge is one of them.
TEST_F(Directed, ASettlersLateChargeChangesNothing) {
  begin("wait");
  proxy_.hold_back("UPDATE task\n   SET attempt");
  support::send_signal(daemon_->busy_workers().at(0), SIGKILL);
  ASSERT_TRUE(held()) << daemon_->log();
  steal(0);
  const std::string before = lease() + " | " + tasks();
  land();
  EXPECT_EQ(lease() + " | " + tasks(), before) << daemon_->log();
}

TEST_F(Directed, ASettlersLateChargeOfADetachedTaskChangesNothing) {
  begin("wait", "detach_after = \"1ms\"");
  ASSERT_TRUE(eventually([&] { return daemon_->count("task_running") == 1; }));
  proxy_.hold_back("INSERT INTO task (");
  support::send_signal(daemon_->busy_workers().at(0), SIGKILL);
  ASSERT_TRUE(held()) << daemon_->log();
  steal();
  const std::string before = lease() + " | " + tasks();
  land();
  EXPECT_EQ(lease() + " | " + tasks(), before) << daemon_->log();
}

// S1. The keeper gives up the renewal without a reply; when it arrives the task is done and the
// lease released.
TEST_P(OverEachWire, ARenewalBehindTheReleaseLocksNothing) {
  daemon_ = std::make_unique<Daemon>(options({}, "lease_ttl = \"3s\""));
  (void)daemon_->submit("test.gate", "ok " + gate());
  proxy_.hold_back("SET state = 'EXTENDED'");
  ASSERT_TRUE(held()) << daemon_->log();
  open_gate();
  ASSERT_TRUE(eventually([&] { return daemon_->drained(); })) << daemon_->log();
  const std::string before = lease();
  land();
  EXPECT_EQ(lease(), before) << "not leased\n" << daemon_->log();
}

INSTANTIATE_TEST_SUITE_P(Wires, OverEachWire, testing::Values(Wire::kPlain, Wire::kTls),
                         name_of_wire);

// S9: the last call of a dead worker may still be in the server.
class LastCall : public OverEachWire {
 protected:
  // The only worker is stopped, with a pending task.
  void begin_idle() {
    daemon_ = std::make_unique<Daemon>(options({}, "lease_ttl = \"1h\""));
    wait_until_fit();
    worker_ = daemon_->workers().at(0);
    support::send_signal(worker_, SIGSTOP);
    (void)daemon_->submit("test.write", "done");
  }
  [[nodiscard]] bool settled() const { return daemon_->logged("worker.settled"); }
  void expect_drained() {
    EXPECT_TRUE(eventually([&] { return daemon_->drained(); })) << lease() << "\n"
                                                                << daemon_->log();
  }

  pid_t worker_ = 0;
};

// The call is on its way, and the settler ends its connection first; otherwise it would take the
// partition for a dead holder after the settler's check.
TEST_P(LastCall, IsEndedBeforeItTakesTheLease) {
  begin_idle();
  proxy_.hold_back("UPDATE q_lock_table\n   SET detail_epoch");
  support::send_signal(worker_, SIGCONT);
  ASSERT_TRUE(held()) << daemon_->log();
  support::send_signal(worker_, SIGKILL);
  expect_drained();
  EXPECT_TRUE(eventually([&] { return settled(); })) << daemon_->log();
  EXPECT_TRUE(eventually([&] {
    const auto clients = proxy_.clients();
    return std::none_of(clients.begin(), clients.end(),
                        [&](const auto& client) { return client.pid == worker_; });
  })) << "its connection is open";
  EXPECT_EQ(proxy_.let_go(), 0U) << "its call arrives";
}

// The lease is invisible before it is committed. A server may end the connection that commits
// (MariaDB does), or commit anyway (MySQL does): then the settler waits for the lease.
TEST_P(LastCall, IsWaitedForWhenItCommits) {
  begin_idle();
  auto db = daemon_->connect();
  std::optional<support::CommitStop> stop(db);
  support::send_signal(worker_, SIGCONT);
  auto look = daemon_->connect();
  const auto free_rows = [&] {
    auto results = look.execute(
        "BEGIN; SELECT 1 FROM q_lock_table WHERE queue_id < 4294967295 FOR UPDATE SKIP LOCKED;"
        " ROLLBACK");
    return results.at(1).row_count();
  };
  const std::uint64_t rows =
      support::number_of(look, "SELECT COUNT(*) FROM q_lock_table WHERE queue_id < 4294967295");
  ASSERT_TRUE(eventually([&] { return free_rows() < rows && stop->waiting("COMMIT") > 0; }))
      << daemon_->log();
  support::send_signal(worker_, SIGKILL);
  ASSERT_TRUE(eventually([&] {
    return settled() || support::server_counter(db, "Innodb_row_lock_current_waits") > 0;
  })) << daemon_->log();
  stop.reset();
  expect_drained();
}

INSTANTIATE_TEST_SUITE_P(Wires, LastCall, testing::Values(Wire::kPlain, Wire::kTls), name_of_wire);

// Two hosts; the first is stopped in the middle of a block.
class TwoHosts : public Directed {
 protected:
  void begin_both(const std::string& daemon_keys, const std::vector<nlohmann::json>& tasks) {
    begin_both(daemon_keys, daemon_keys, tasks);
  }
  void begin_both(const std::string& daemon_keys, const std::string& other_keys,
                  const std::vector<nlohmann::json>& tasks,
                  const std::string& detach_after = "0s") {
    const std::string keys = "block_seconds = \"60s\"\ndetach_after = \"" + detach_after + "\"";
    daemon_ = std::make_unique<Daemon>(options(keys, daemon_keys));
    auto other = options(keys, other_keys + "instance = \"other\"\n");
    other.database = daemon_->database();
    other.start = false;
    other_ = std::make_unique<Daemon>(other);
    daemon_->submit_all(tasks);
    ASSERT_TRUE(busy(*daemon_)) << daemon_->log();
  }
  bool taken_over() {
    return eventually([&] { return other_->logged("lease.takeover"); });
  }

  std::unique_ptr<Daemon> other_;
};

// S5: the worker checks the deadline of its lease right before each handler.
TEST_F(TwoHosts, AWorkerThatStoodStillStartsNothing) {
  begin_both("lease_ttl = \"4s\"\nfrozen_after = \"3500ms\"\n",
             {{{"type", "test.gate"}, {"payload", "ok " + gate()}},
              {{"type", "test.write"}, {"payload", "once"}}});
  const pid_t worker = daemon_->busy_workers().at(0);
  daemon_->process().signal(SIGSTOP);
  support::send_signal(worker, SIGSTOP);
  other_->start();
  ASSERT_TRUE(taken_over()) << other_->log();
  open_gate();
  ASSERT_TRUE(eventually([&] { return other_->drained(); })) << other_->log();
  EXPECT_EQ(other_->written().size(), 1U);
  support::send_signal(worker, SIGCONT);
  ASSERT_TRUE(eventually([&] { return daemon_->logged("lease_held=false"); })) << daemon_->log();
  EXPECT_TRUE(daemon_->written().empty()) << "its neighbour ran again\n" << daemon_->log();
  daemon_->process().signal(SIGCONT);
}

// S4: a healthy lease is judged by its own TTL, not by the TTL of the observing host.
TEST_F(TwoHosts, AShorterLeaseTtlTakesNoLongerLease) {
  begin_both("lease_ttl = \"30s\"\n", "lease_ttl = \"1s\"\n",
             {{{"type", "test.gate"}, {"payload", "ok " + gate()}}});
  other_->start();
  EXPECT_FALSE(
      eventually([&] { return other_->logged("lease.takeover"); }, std::chrono::milliseconds(4000)))
      << other_->log();
  open_gate();
  ASSERT_TRUE(eventually([&] { return daemon_->drained(); })) << daemon_->log();
}

// The same for a task that left its partition.
TEST_F(TwoHosts, AShorterLeaseTtlRecoversNoTaskOfALongerOne) {
  begin_both("lease_ttl = \"30s\"\n", "lease_ttl = \"1s\"\n",
             {{{"type", "test.gate"}, {"payload", "ok " + gate()}}}, "100ms");
  ASSERT_TRUE(eventually([&] { return daemon_->logged("task.detached"); })) << daemon_->log();
  other_->start();
  EXPECT_FALSE(
      eventually([&] { return other_->logged("task.recovered"); }, std::chrono::milliseconds(4000)))
      << other_->log();
  open_gate();
  ASSERT_TRUE(eventually([&] { return daemon_->drained(); })) << daemon_->log();
}

// A worker renews its lease for a task that may still run, not for one beyond its time limit: a
// handler that hangs and cannot be killed does not keep its partition.
TEST_F(TwoHosts, AHungTaskIsNotRenewedFor) {
  begin_both("lease_ttl = \"1s\"\ntask_timeout = \"4s\"\n",
             {{{"type", "test.gate"}, {"payload", "ok " + gate()}}});
  daemon_->process().signal(SIGSTOP);
  other_->start();
  EXPECT_TRUE(taken_over()) << daemon_->log();
  open_gate();
  daemon_->process().signal(SIGCONT);
}

}  // namespace
}  // namespace allot::fault
