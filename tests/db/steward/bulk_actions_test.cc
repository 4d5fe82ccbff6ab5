// SPDX-License-Identifier: Apache-2.0
// The chore of bulk actions: it alternates between actions, observes rates, rings, and does not
// delay other chores.
#include "db/steward/steward_host.h"
#include "db/worker/loop_fixture.h"
#include "peer/doorbell.h"
#include "queue/operate/bulk_work.h"
#include "steward/chores.h"
#include "support/eventually.h"

namespace allot::steward {
namespace {

using queue::BulkKind;
using queue::BulkState;
using support::eventually;

class BulkActionsTest : public worker::LoopTest {
 protected:
  BulkActionsTest()
      : one_(worker()),
        host_(one_->session(), slot_),
        other_(queue::ensure_queue(db_, "other", {1})) {
    host_.loop.add(bulk_actions(one_->session(), *board_, host_.leadership));
  }

  std::uint64_t begin(const queue::QueueInfo& queue, unsigned tasks, std::uint32_t rate = 0) {
    db_.execute(
        "INSERT INTO task_dead (queue_id, partition_no, prio, first_key, attempt, type,"
        " payload, cause, error, died_at) SELECT " +
        std::to_string(queue.queue_id) +
        ", 0, 1, seq, 1, 't', 'x', 'fail', '', UTC_TIMESTAMP(6) FROM " +
        support::numbers(1, tasks));
    const auto count = queue::count_bulk(db_, BulkKind::kRetryDead, queue, {}, 100'000);
    EXPECT_EQ(count.tasks, tasks);
    return queue::begin_bulk(db_, queue, {BulkKind::kRetryDead, {}, count.token, rate, "anna"});
  }
  queue::BulkAction found(std::uint64_t action_id) {
    return queue::find_bulk(db_, action_id).value();
  }
  void ring() { peer::wake(board_->steward.bell, 1); }
  void poll() { host_.loop.round(); }
  bool done(std::uint64_t action_id) {
    return eventually([&] {
      poll();
      return found(action_id).state == BulkState::kDone;
    });
  }

  std::unique_ptr<worker::LoopWorker> one_;
  StewardHost host_;
  queue::QueueInfo other_;
};

TEST_F(BulkActionsTest, ActionsTakeTurns) {
  const std::uint64_t long_one = begin(queue_, 4'000);
  const std::uint64_t short_one = begin(other_, 200);
  ASSERT_TRUE(done(short_one));
  EXPECT_LT(found(long_one).done, 4'000U) << "its turns alternated with the other's";
  EXPECT_GE(found(long_one).done, 200U);
  ASSERT_TRUE(done(long_one));
  EXPECT_EQ(support::number_of(db_, "SELECT COUNT(*) FROM task"), 4'200U);
}

// Nothing is queried until it is time, except after a ring.
TEST_F(BulkActionsTest, ABellIsHeard) {
  poll();
  ASSERT_GT(host_.next_ns(), boot_ns());
  const std::uint64_t action_id = begin(queue_, 5);
  while (host_.next_ns() > boot_ns() + kSecond && found(action_id).state == BulkState::kWaiting) {
    ring();
    poll();
  }
  EXPECT_EQ(found(action_id).state, BulkState::kDone);
}

TEST_F(BulkActionsTest, ItsWorkersAreRung) {
  ipc::PoolBoard& pool = board_->pools[0];
  const std::uint32_t before = pool.bell.rings.load();
  ASSERT_TRUE(done(begin(queue_, 5)));
  EXPECT_NE(pool.bell.rings.load(), before);
}

TEST_F(BulkActionsTest, ARateIsKept) {
  const std::uint64_t action_id = begin(queue_, 6, 5);
  const Nanos began = boot_ns();
  ASSERT_TRUE(done(action_id));
  EXPECT_GE(boot_ns() - began, kSecond) << "the first at once, five more in a second";
}

// Another one leads: it does nothing.
TEST_F(BulkActionsTest, OnlyWhoLeadsWorks) {
  const auto two = worker();
  Leadership first(two->session(), queue::make_holder("first", "/run/allot/first"));
  first.want(queue::bulk_duty());
  first.round();
  ASSERT_TRUE(first.leads(queue::bulk_duty()));
  const std::uint64_t action_id = begin(queue_, 5);
  ring();
  poll();
  EXPECT_EQ(found(action_id).state, BulkState::kWaiting);
  first.leave();
  EXPECT_TRUE(done(action_id)) << "it leads now";
}

TEST_F(BulkActionsTest, AnErrorThatStaysHoldsUpNoOther) {
  db_.execute("RENAME TABLE bulk_action TO bulk_action_away");
  poll();
  db_.execute("RENAME TABLE bulk_action_away TO bulk_action");
  EXPECT_GT(host_.next_ns(), boot_ns());
  host_.leadership.leave();
  EXPECT_NE(support::value_of(db_, "SELECT last_error FROM queue_duty WHERE duty = 'bulk'")
                .find("bulk_action"),
            std::string::npos);
}

}  // namespace
}  // namespace allot::steward
