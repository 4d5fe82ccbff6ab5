// SPDX-License-Identifier: Apache-2.0
// A keeper that is always busy, because many tasks run long and the database is far away.
#include <poll.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "db/worker/lease_keeper_fixture.h"
#include "queue/operate/cancel.h"
#include "support/eventually.h"
#include "support/rewriting_proxy.h"
#include "support/temp_dir.h"
#include "support/text.h"

namespace allot::worker {
namespace {

using std::chrono::milliseconds;
using support::eventually;

// Connection to the server of the test, on which each packet is delayed.
struct FarAway {
  support::TempDir folder;
  std::atomic<int> ms{0};
  std::atomic<std::size_t> trips{0};
  std::atomic<std::size_t> trips_with_looks{0};  // for cancels
  std::atomic<std::size_t> looks{0};
  support::RewritingProxy proxy{
      folder / "p", support::Database::shared().socket(), [this](std::string sql) {
        ++trips;
        const std::size_t found = support::times_in(sql, "FROM task_cancel");
        trips_with_looks += found > 0 ? 1 : 0;
        looks += found;
        ::poll(nullptr, 0, ms);
        return sql;
      }};
};

class FarServerTest : protected FarAway, public LeaseKeeperTest {
 protected:
  FarServerTest() : LeaseKeeperTest(proxy.socket()) {}
  void TearDown() override {
    for (const auto& run : runs_) keeper_.end(*run);
  }

  // This number of tasks of partition 0 run long, and have left it.
  void detach(std::size_t count) {
    lease_ = take(0);
    tasks_.reserve(count);
    std::vector<worker::Run*> all;
    for (std::size_t i = 0; i < count; ++i) {
      tasks_.push_back(task_at(i + 1));
      runs_.push_back(
          run_of(lease_, tasks_[i], milliseconds(10), {.most = 10, .entry = i, .sole = false}));
      all.push_back(runs_.back().get());
    }
    // At the same time: different times of checks would stay different.
    ASSERT_TRUE(eventually([&] { return keeper_.begin(all); }));
    ASSERT_TRUE(eventually([&] { return running() == std::to_string(count); }));
  }

  queue::Lease lease_;
  std::vector<queue::Task> tasks_;
  std::vector<std::unique_ptr<worker::Run>> runs_;
};

// Threads that occupy every processor, so that waiting for a mutex takes longer.
class BusyProcessors {
 public:
  BusyProcessors() {
    for (unsigned i = 0; i < 4 * std::thread::hardware_concurrency(); ++i) {
      threads_.emplace_back([this] {
        while (!over_) {
        }
      });
    }
  }
  BusyProcessors(const BusyProcessors&) = delete;
  BusyProcessors& operator=(const BusyProcessors&) = delete;
  ~BusyProcessors() {
    over_ = true;
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  std::atomic<bool> over_{false};
  std::vector<std::thread> threads_;
};

// All of them must be renewed every 400 ms, which takes longer than that.
TEST_F(FarServerTest, BeginAndEndOfATaskTakeOneTrip) {
  detach(12);
  ms = 80;
  const BusyProcessors busy;
  queue::Task task;
  int quick = 0;
  for (int round = 0; round < 8; ++round) {
    const std::size_t last = trips;
    if (!eventually([&] { return trips > last; }, std::chrono::seconds(5))) break;
    const auto run =
        run_of(lease_, task, milliseconds(0), {.most = 10, .entry = 40, .sole = false});
    const std::size_t before = trips;
    ASSERT_TRUE(eventually([&] { return begin(*run); }));
    const std::size_t begun = trips;
    EXPECT_EQ(keeper_.end(*run), Place::kPartition);
    quick += std::max(begun - before, trips - begun) <= 2 ? 1 : 0;
  }
  EXPECT_GE(quick, 5) << "or this thread stalled";
}

TEST_F(FarServerTest, OneTripLooksForTheCancelsOfAll) {
  detach(8);
  ms = 20;
  ASSERT_TRUE(eventually([&] { return looks >= 24; }));
  EXPECT_LE(trips_with_looks, looks / 4);
  const worker::Run& last = *runs_.back();
  EXPECT_FALSE(last.cancelled());
  EXPECT_TRUE(queue::cancel_task(db_, queue::fence(lease_, tasks_.back()).id, "why").requested);
  EXPECT_TRUE(eventually([&] { return last.cancelled(); }));
  EXPECT_FALSE(runs_.front()->cancelled());
}

}  // namespace
}  // namespace allot::worker
