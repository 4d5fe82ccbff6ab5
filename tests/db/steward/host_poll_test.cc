// SPDX-License-Identifier: Apache-2.0
// Observations of the steward for its workers, and takeovers based on them.
#include "steward/host_poll.h"

#include <memory>
#include <optional>

#include "db/stores.h"
#include "db/worker/fixture.h"
#include "peer/doorbell.h"
#include "support/eventually.h"
#include "support/temp_dir.h"
#include "worker/lease/holder_watch.h"

namespace allot::steward {
namespace {

using std::chrono::milliseconds;
using support::eventually;
using Watch = worker::HolderWatch<queue::Partition, queue::Observation>;

constexpr milliseconds kTtl{1200};

class HostPollTest : public worker::WorkerTest {
 protected:
  HostPollTest()
      : lost_(kTtl, queue::make_holder("test", "/gone")),
        stores_(kTtl),
        file_(peer::poll_page_in(folder_.path())),
        page_(file_),
        session_(options(), slot_, milliseconds(500)),
        watch_(session_, static_cast<Nanos>(milliseconds(kTtl).count()) * kMilli) {
    peer::serve(board_->pools[0], {&queue_.queue_id, 1});
    session_.use(page_);
    session_.call([](db::Connection&) { return true; });
  }

  std::unique_ptr<HostPoll> steward() {
    return std::make_unique<HostPoll>(options(), steward_slot_, *board_, kTtl, milliseconds(500),
                                      HostPoll::Queues{{queue_.queue_id}, false}, file_);
  }
  queue::Lease lease(const queue::Stores& by) {
    put(partition(0), {1, 1});
    return by.leases.lease(db_, partition(0), {})->lease;
  }
  // Leases that this worker may take over now.
  std::optional<Watch::Still> still() {
    watch_.poll(
        [](const peer::StandingLease& one) {
          return std::optional(queue::Partition{one.queue_id, one.partition_no});
        },
        [](queue::Partition) { return true; },
        [this] {
          ++reads_;
          return session_.call([this](db::Connection& db) {
            const std::uint32_t ids[] = {queue_.queue_id};
            return queue::LeaseStore::watch(db, ids);
          });
        });
    return watch_.take();
  }
  [[nodiscard]] bool uses_page() { return session_.steward_poll().has_value(); }
  // One poll, whose page is not changed afterwards.
  peer::Poll last_poll() {
    const auto poll = steward();
    EXPECT_TRUE(eventually([this] { return uses_page(); }));
    return *session_.steward_poll();
  }

  support::TempDir folder_;
  queue::Stores lost_;
  queue::Stores stores_;
  std::string file_;
  std::unique_ptr<ipc::Board> board_ = std::make_unique<ipc::Board>();
  std::unique_ptr<ipc::Slot> raw_steward_slot_ = std::make_unique<ipc::Slot>();
  process::SlotWriter steward_slot_{*raw_steward_slot_, -1};
  peer::PollReader page_;
  process::Session session_;
  Watch watch_;
  int reads_ = 0;
};

TEST_F(HostPollTest, AWorkerTakesOverWhatTheStewardSawStandingStill) {
  const queue::Lease held = lease(lost_);
  const auto poll = steward();
  ASSERT_TRUE(eventually([this] { return uses_page(); }));
  std::optional<Watch::Still> found;
  reads_ = 0;
  ASSERT_TRUE(eventually([&] {
    found = still();
    return found.has_value();
  }));
  EXPECT_EQ(found->observed.epoch, held.epoch);
  EXPECT_EQ(reads_, 1) << "for the row that does not change, and none before";
  EXPECT_GE(board_->pools[0].bell.rings.load(), 1U);
  EXPECT_TRUE(stores_.leases.take_over(db_, found->observed, found->stale, {}).has_value());
}

TEST_F(HostPollTest, RenewedLeaseIsNotOnThePage) {
  const queue::Lease held = lease(lost_);
  const auto poll = steward();
  ASSERT_TRUE(eventually([this] { return uses_page(); }));
  EXPECT_FALSE(eventually(
      [&] {
        EXPECT_TRUE(lost_.leases.renew(db_, held));
        return still().has_value();
      },
      2 * kTtl));
}

// S77: without an observer a worker believes only its own observations, from then on.
TEST_F(HostPollTest, WithoutThePageAWorkerLooksItself) {
  lease(lost_);
  db_.execute("UPDATE q_lock_table SET ttl_us = 12000000 WHERE state <> 'FREE'");
  Nanos begin = 0;
  {
    const auto poll = steward();
    ASSERT_TRUE(eventually([this] { return uses_page(); }));
    ASSERT_FALSE(eventually([this] { return still().has_value(); }, milliseconds(500)));
    begin = boot_ns();
  }
  EXPECT_FALSE(uses_page()) << "a steward that leaves takes its page back";
  ASSERT_TRUE(eventually([this] { return still().has_value(); }));
  EXPECT_GE(boot_ns() - begin, 6 * kSecond);
}

TEST_F(HostPollTest, APageThatIsOldIsNotUsed) {
  peer::Poll old;
  {
    const auto poll = steward();
    ASSERT_TRUE(eventually([this] { return uses_page(); }));
    old = *session_.steward_poll();
  }
  peer::PollWriter writer(file_);
  ASSERT_TRUE(writer.publish(old));
  EXPECT_TRUE(eventually([this] { return !uses_page(); }));
}

TEST_F(HostPollTest, APageOfAnotherServerIsNotUsed) {
  peer::Poll poll = last_poll();
  peer::PollWriter writer(file_);
  const auto used = [&](peer::Poll changed) {
    changed.polled_ns = boot_ns();
    EXPECT_TRUE(writer.publish(changed));
    return uses_page();
  };
  EXPECT_TRUE(used(poll));
  ++poll.source.server_id;
  EXPECT_FALSE(used(poll));
  --poll.source.server_id;
  ++poll.source.term;
  EXPECT_FALSE(used(poll));
  --poll.source.term;
  EXPECT_TRUE(used(poll));
}

// S4: observations from before an outage do not count after it. The holder had the same outage.
TEST_F(HostPollTest, AReconnectedStewardStartsFromZero) {
  const queue::Lease held = lease(lost_);
  db_.execute("UPDATE q_lock_table SET ttl_us = 12000000 WHERE state <> 'FREE'");
  const auto poll = steward();
  ASSERT_TRUE(eventually([this] { return uses_page(); }));
  ASSERT_FALSE(eventually([this] { return still().has_value(); }, milliseconds(500)));
  const Nanos cut = boot_ns();
  db_.execute("KILL " + std::to_string(raw_steward_slot_->connection_ids[1].load()));
  ASSERT_TRUE(eventually([this] { return still().has_value(); }));
  EXPECT_GE(boot_ns() - cut, 6 * kSecond);
  EXPECT_NE(held.epoch, 0U);
}

// Otherwise an idle worker would notice only with a task in hand that its own connection is dead,
// too.
TEST_F(HostPollTest, AReconnectedStewardMakesWorkersTryTheirs) {
  const auto poll = steward();
  ASSERT_TRUE(eventually([this] { return uses_page(); }));
  db_.execute("KILL " + std::to_string(raw_slot_->connection_ids[0].load()));
  db_.execute("KILL " + std::to_string(raw_steward_slot_->connection_ids[1].load()));
  EXPECT_TRUE(eventually([this] {
    static_cast<void>(session_.steward_poll());
    return session_.generation() == 1;
  }));
  EXPECT_TRUE(eventually([this] { return uses_page(); }));
}

// S2: a poll of the steward counts for each worker.
TEST_F(HostPollTest, TheStewardLooksWhetherTheServerIsTheWriter) {
  const auto poll = steward();
  ASSERT_TRUE(eventually([this] { return uses_page(); }));
  db_.execute("SET GLOBAL read_only = 1");
  EXPECT_TRUE(eventually([this] { return !uses_page(); }, std::chrono::seconds(12)));
  db_.execute("SET GLOBAL read_only = 0");
  EXPECT_TRUE(eventually([this] { return uses_page(); }));
}

}  // namespace
}  // namespace allot::steward
