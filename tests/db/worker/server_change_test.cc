// SPDX-License-Identifier: Apache-2.0
// S48: another server with another clock replaces the one that wrote the leases. The servers, the
// worker that takes over and its clock are real.
#include "queue/model/server_change.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "db/worker/taker.h"
#include "queue/locks/lock_wait.h"
#include "queue/model/catalog.h"
#include "support/database.h"
#include "support/eventually.h"
#include "support/stepped_clock.h"

namespace allot::worker {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr seconds kTtl(3);

class ServerChangeTest : public testing::Test {
 protected:
  ServerChangeTest() {
    db::Connection db = connect();
    ServedQueue queue;
    queue.info = queue::ensure_queue(db, "q", {1});
    queue.settings = &config_;
    queues_.push_back(queue);
    queue::put_row(db, {queue.info.queue_id, 0}, {1, 5}, "x");
  }
  db::Connection connect() { return server_.connect(name_); }
  std::unique_ptr<Taker> taker() {
    return std::make_unique<Taker>(server_.options(name_), *board_, queues_, config::Pool(), 0,
                                   kTtl);
  }
  std::uint64_t number(const std::string& sql) {
    db::Connection db = connect();
    return support::number_of(db, sql);
  }
  // By the clock of the present server: from the change until the present lease began.
  std::uint64_t taken_after_us() {
    // The rehearsal of a server has its own rows.
    return number(
        "SELECT TIMESTAMPDIFF(MICROSECOND, since, expire_at - INTERVAL ttl_us MICROSECOND)"
        " FROM q_lock_table JOIN server_identity WHERE state <> 'FREE' AND queue_id = " +
        std::to_string(queues_[0].info.queue_id));
  }

  support::SteppedClock clock_;
  support::Database server_{{}, support::Network::kNone, clock_.environment()};
  std::string name_ = server_.make_database();
  config::Queue config_;
  std::vector<ServedQueue> queues_;
  std::unique_ptr<ipc::Board> board_ = std::make_unique<ipc::Board>();
};

constexpr std::uint64_t kWaitUs = (kTtl + seconds(1)) / std::chrono::microseconds(1);

// The new server's clock is ahead: by it the lease was over before it could be renewed.
TEST_F(ServerChangeTest, ALeaseThatLooksExpiredIsNotTakenBeforeItsTimeIsOver) {
  const queue::Stores holder(kTtl);
  const auto watcher = taker();
  db::Connection before = connect();
  ASSERT_TRUE(holder.leases.lease(before, {queues_[0].info.queue_id, 0}, {}));
  const Nanos leased = boot_ns();
  EXPECT_EQ(watcher->take(), 0U);
  clock_.step_to(hours(1));
  server_.replace();
  ASSERT_TRUE(support::eventually([&] { return watcher->take() != 0; }, minutes(1)));
  EXPECT_GT(boot_ns() - leased, std::chrono::nanoseconds(kTtl).count());
  EXPECT_GE(taken_after_us(), kWaitUs);
  EXPECT_EQ(number("SELECT term FROM server_identity"), 2U);
}

// A process that starts after the change learns of it from the row.
TEST_F(ServerChangeTest, AWorkerThatHasJustStartedWaitsToo) {
  const queue::Stores holder(kTtl);
  {
    db::Connection before = connect();
    queue::note_server(before);
    ASSERT_TRUE(holder.leases.lease(before, {queues_[0].info.queue_id, 0}, {}));
  }
  clock_.step_to(hours(1));
  server_.replace();
  db::Connection first = connect();
  EXPECT_TRUE(queue::note_server(first));
  const auto watcher = taker();
  ASSERT_TRUE(support::eventually([&] { return watcher->take() != 0; }, minutes(1)));
  EXPECT_GE(taken_after_us(), kWaitUs);
  EXPECT_EQ(number("SELECT term FROM server_identity"), 2U);
}

// The new server's clock is behind: by it the lease ends in an hour. The process's own observation
// decides (S4), and the wait is over by then.
TEST_F(ServerChangeTest, ALeaseThatSeemsToLastForAnHourIsTakenAllTheSame) {
  const queue::Stores holder(kTtl);
  const auto watcher = taker();
  db::Connection before = connect();
  ASSERT_TRUE(holder.leases.lease(before, {queues_[0].info.queue_id, 0}, {}));
  clock_.step_to(-hours(1));
  server_.replace();
  ASSERT_TRUE(support::eventually([&] { return watcher->take() != 0; }, minutes(1)));
  EXPECT_GE(taken_after_us(), kWaitUs);
}

TEST_F(ServerChangeTest, AHolderThatComesBackKeepsItsLease) {
  const auto holder = taker();
  const auto watcher = taker();
  ASSERT_NE(holder->take(), 0U);
  EXPECT_EQ(watcher->take(), 0U);
  clock_.step_to(hours(1));
  const Nanos away = boot_ns();
  server_.replace();
  if (boot_ns() - away > kSecond) GTEST_SKIP() << "the server was away for too long";
  const auto over = [&] {
    return number("SELECT UTC_TIMESTAMP(6) > since + INTERVAL 6 SECOND FROM server_identity") == 1;
  };
  EXPECT_TRUE(support::eventually(
      [&] {
        EXPECT_EQ(watcher->take(), 0U);
        return over();
      },
      minutes(1)));
  EXPECT_TRUE(holder->valid());
}

// S40: the new server has lost the commit of one lock and shows it as free; by its clock the other
// lock was over before its holder could renew it.
TEST_F(ServerChangeTest, ANamedLockIsNotTakenBeforeItsTimeIsOver) {
  queue::TokenFloor floor;
  std::vector<std::unique_ptr<queue::LockWait>> waiting;
  const auto wish = [&](const std::string& name) -> queue::LockWait& {
    return *waiting.emplace_back(std::make_unique<queue::LockWait>(
        queue::LockSpec{.name = name, .ttl = kTtl}, queue::make_holder("", ""), floor));
  };
  const std::vector<std::string> names{"lost", "kept"};
  Nanos over = 0;
  {
    db::Connection before = connect();
    for (const std::string& name : names) {
      const auto held = wish(name).poll(before, 1);
      ASSERT_TRUE(held);
      over = std::max(over, queue::ends_ns(*held));
    }
    before.execute("UPDATE named_lock SET state = 'FREE', lock_by = NULL WHERE name = 'lost'");
  }
  clock_.step_to(hours(1));
  server_.replace();
  db::Connection after = connect();
  for (const std::string& name : names) {
    queue::LockWait& next = wish(name);
    ASSERT_TRUE(support::eventually(
        [&] { return boot_ns() >= next.next_ns() && next.poll(after, 1).has_value(); },
        minutes(1)));
    EXPECT_GT(boot_ns(), over);
    EXPECT_GE(number("SELECT TIMESTAMPDIFF(MICROSECOND, since, taken_at)"
                     " FROM named_lock JOIN server_identity WHERE name = '" +
                     name + "'"),
              kWaitUs);
  }
  EXPECT_EQ(number("SELECT term FROM server_identity"), 2U);
}

// The same server is not a change, however often it restarts.
TEST_F(ServerChangeTest, ARestartIsNotAFailover) {
  {
    db::Connection db = connect();
    EXPECT_FALSE(queue::note_server(db)) << "the first one of all";
    EXPECT_FALSE(queue::note_server(db));
  }
  server_.restart();
  db::Connection db = connect();
  EXPECT_FALSE(queue::note_server(db));
  EXPECT_EQ(number("SELECT term FROM server_identity"), 1U);
}

}  // namespace
}  // namespace allot::worker
