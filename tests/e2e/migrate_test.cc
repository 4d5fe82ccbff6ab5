// SPDX-License-Identifier: Apache-2.0
// A newer version's migration while this version works.
#include "db/migrate.h"

#include <gtest/gtest.h>

#include <csignal>
#include <set>

#include "e2e/daemon.h"

namespace allot::e2e::migrate_test {
namespace {

using support::eventually;
using support::ExitStatus;

class Migrate : public testing::Test {
 protected:
  // Permitted changes of the next version's `allot migrate`: it only adds (sql/README.md).
  static void migrate_on(const Daemon& daemon) {
    db::Connection db = daemon.connect();
    for (const char* table : {"queue", "task", "q_lock_table", "task_moved", "task_attempt",
                              "task_dead", "task_running"}) {
      db.execute("ALTER TABLE " + std::string(table) +
                 " ADD COLUMN later VARBINARY(255) NULL, ALGORITHM=INSTANT");
    }
    db.execute("CREATE TABLE later (a INT) ENGINE=InnoDB");
    db.execute("INSERT INTO allot_schema VALUES (" + std::to_string(db::kMigrations.size() + 1) +
               ", 'later', 0, UTC_TIMESTAMP(6), '9.9.9')");
  }
  // State after the migration of the newer version: this one represents both.
  static void become_newer(const Daemon& daemon) {
    daemon.connect().execute("DELETE FROM allot_schema WHERE version > " +
                             std::to_string(db::kMigrations.size()));
  }
};

const char* const kRefusal = "install the newer Allot on this host too";

TEST_F(Migrate, WorkersOfTheFormerVersionGoOn) {
  constexpr int kTasks = 6000;
  Daemon daemon;
  wait_ready(daemon, 2);
  const auto workers = sorted_workers(daemon);
  // However fast the others are, this one runs during the migration.
  (void)daemon.submit("test.gate", "success " + daemon.gate());
  daemon.submit_many("test.write", numbered(kTasks));
  ASSERT_TRUE(eventually([&] { return daemon.written().size() > 100; })) << daemon.log();
  migrate_on(daemon);
  EXPECT_EQ(daemon.value("SELECT (SELECT COUNT(*) FROM task WHERE type = 'test.gate')"
                         " + (SELECT COUNT(*) FROM task_running)"),
            "1")
      << "the migration comes after the work";
  daemon.open_gate();
  ASSERT_TRUE(daemon.drains()) << daemon.log();

  const auto written = daemon.written();
  EXPECT_EQ(written.size(), kTasks) << "none twice";
  EXPECT_EQ(std::set<std::string>(written.begin(), written.end()).size(), kTasks);
  EXPECT_EQ(daemon.count("task_attempt"), 0U);
  EXPECT_EQ(daemon.count("task_dead"), 0U);
  EXPECT_EQ(sorted_workers(daemon), workers);

  // Also with tasks submitted now.
  daemon.connect().execute(
      "INSERT INTO task (queue_id, partition_no, prio, run_key, type, payload)"
      " SELECT queue_id, 0, 1, 4096, 'test.write', 'after' FROM queue");
  ASSERT_TRUE(eventually([&] { return daemon.written().size() == kTasks + 1; })) << daemon.log();
  EXPECT_EQ(daemon.stop(), (ExitStatus{0, 0}));
}

// A starting program is refused, before anything is stopped.
TEST_F(Migrate, DaemonIsRefusedDuringAMigration) {
  Daemon daemon;
  wait_ready(daemon, 2);
  const auto workers = sorted_workers(daemon);
  migrate_on(daemon);
  const auto submit = daemon.allot({"submit", "default", "test.ok"});
  EXPECT_EQ(submit.status.code, 78);
  EXPECT_NE(submit.err.find(kRefusal), std::string::npos) << submit.err;

  daemon.process().signal(SIGHUP);
  ASSERT_TRUE(eventually([&] { return daemon.logged("reload.refused"); })) << daemon.log();
  EXPECT_TRUE(daemon.logged(kRefusal)) << daemon.log();
  EXPECT_EQ(sorted_workers(daemon), workers);

  DaemonOptions other;
  other.database = daemon.database();
  Daemon second(other);
  const auto ended = second.process().wait();
  ASSERT_TRUE(ended) << second.log();
  EXPECT_EQ(ended->code, 78);
  EXPECT_NE((second.log() + second.process().err()).find(kRefusal), std::string::npos);
  EXPECT_EQ(sorted_workers(daemon), workers);
}

// The settler heals a death as usual; the slot stays empty until the newer version is installed.
TEST_F(Migrate, AWorkerThatDiesIsHealedAndReplacedByTheNewerVersion) {
  Daemon daemon;
  wait_ready(daemon, 2);
  const std::string id = daemon.submit("test.hang_once", "x");
  ASSERT_TRUE(eventually([&] { return daemon.busy_workers().size() == 1; })) << daemon.log();
  const pid_t victim = daemon.busy_workers().front();
  migrate_on(daemon);
  support::send_signal(victim, SIGKILL);
  ASSERT_TRUE(eventually([&] { return daemon.drained(); })) << daemon.log();
  EXPECT_EQ(daemon.count("task_dead"), 0U);
  ASSERT_TRUE(eventually([&] { return daemon.logged(kRefusal); })) << daemon.log();
  become_newer(daemon);
  ASSERT_TRUE(eventually([&] { return daemon.ready_workers().size() == 3; })) << daemon.log();
  EXPECT_EQ(daemon.workers().size(), 2U);
}

}  // namespace
}  // namespace allot::e2e::migrate_test
