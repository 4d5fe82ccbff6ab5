// SPDX-License-Identifier: Apache-2.0
// Tasks submitted by SQL: they run although no bell is rung for them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "e2e/daemon.h"

namespace allot::e2e::sql_test {
namespace {

using support::eventually;

class Sql : public testing::Test {
 protected:
  // Waits until workers poll no more often than once a second.
  void let_it_idle() {
    const auto looks = [this] { return support::server_counter(db_, "Com_select"); };
    ASSERT_TRUE(eventually([&] {
      const std::uint64_t before = looks();
      return !eventually([&] { return looks() > before; }, std::chrono::milliseconds(600));
    })) << daemon_.log();
  }
  void call(const std::string& payload) {
    db_.execute("CALL allot_submit('default', 'test.write', " + db::Statement::quoted(payload) +
                ", NULL, @id, @existed)");
  }

  // Its queue is made when the daemon starts.
  void SetUp() override {
    ASSERT_TRUE(eventually([&] { return daemon_.times_logged("worker worker.ready") == 2; }))
        << daemon_.log();
  }

  Daemon daemon_{{.workers = 2}};
  db::Connection db_ = daemon_.connect();
};

// The regular poll is every second; the rest is for the machine, which may stop in one round.
TEST_F(Sql, ATaskStartsWithinThePollingFloor) {
  std::vector<std::chrono::milliseconds> took;
  for (int i = 0; i < 3; ++i) {
    let_it_idle();
    const auto start = std::chrono::steady_clock::now();
    call(std::to_string(i));
    ASSERT_TRUE(eventually([&] { return daemon_.written().size() > static_cast<std::size_t>(i); }))
        << daemon_.log();
    took.push_back(std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::steady_clock::now() - start));
    std::printf("started after %d ms\n", static_cast<int>(took.back().count()));
  }
  std::sort(took.begin(), took.end());
  EXPECT_LT(took[1], std::chrono::milliseconds(2000));
}

TEST_F(Sql, OneThatWasRolledBackNeverRuns) {
  db_.execute("BEGIN");
  call("never");
  db_.execute("ROLLBACK; BEGIN");
  call("yes");
  db_.execute(R"(CALL allot_submit_many('[{"queue": "default", "type": "test.write", "payload":)"
              R"( "and yes", "delay": "1ms", "unique_key": "k"}]', @made); COMMIT)");
  ASSERT_TRUE(eventually([&] { return daemon_.written().size() == 2; })) << daemon_.log();
  ASSERT_TRUE(eventually([&] { return daemon_.drained(); })) << daemon_.log();
  auto written = daemon_.written();
  std::sort(written.begin(), written.end());
  EXPECT_EQ(written, (std::vector<std::string>{"and yes", "yes"}));
  ASSERT_TRUE(eventually([&] {
    return db_.execute("SELECT 1 FROM task_unique WHERE free_at IS NOT NULL").front().row_count() ==
           1;
  })) << "its key was not stamped";
}

}  // namespace
}  // namespace allot::e2e::sql_test
