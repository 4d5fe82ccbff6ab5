// SPDX-License-Identifier: Apache-2.0
// A route of an ordered queue changes during submissions through all interfaces: tasks of a type
// are never in two queues.
// Rule: S45.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <functional>
#include <memory>
#include <thread>

#include "db/sqlapi/fixture.h"
#include "queue/operate/route.h"
#include "queue/submit/address.h"
#include "support/environment.h"
#include "support/eventually.h"

namespace allot::sqlapi {
namespace {

constexpr const char* kOptions = R"({"partition_key": "k"})";

class RouteRaceTest : public SqlApiTest {
 protected:
  RouteRaceTest() {
    for (const char* name : {"o1", "o2"}) {
      queue::ensure_queue(observer_, name, {4, queue::Placement::kOrdered});
    }
  }
  void TearDown() override {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
    SqlApiTest::TearDown();
  }

  queue::QueueInfo queue(const std::string& name) {
    return queue::find_queue(observer_, name).value();
  }

  // Submits through an interface as often as allowed. A deadlock's victim submits again, like any
  // application.
  void submit_by(std::function<void(db::Connection&)> submit, db::Connection db) {
    std::atomic<int>& made = made_.at(threads_.size());
    threads_.emplace_back([this, &made, submit = std::move(submit), db = std::move(db)]() mutable {
      while (!stop_) {
        if (made >= allowed_) {
          std::this_thread::yield();
          continue;
        }
        const auto error = support::db_error_of([&] { submit(db); });
        if (!error) {
          ++made;
          continue;
        }
        EXPECT_EQ(error->error_class(), db::ErrorClass::kRetryable) << error->what();
        db.execute("ROLLBACK");
      }
    });
  }
  static queue::Submission task(queue::QueueInfo queue) {
    queue::Submission task{std::move(queue), "t", "x", {}};
    task.options.partition_key = "k";
    return task;
  }
  void submit_through_all_interfaces();

  // True if all interfaces have submitted as often as allowed.
  bool all_are_through() {
    return std::all_of(made_.begin(), made_.begin() + static_cast<long>(threads_.size()),
                       [&](const std::atomic<int>& made) { return made >= allowed_; });
  }

  std::atomic<bool> stop_{false};
  std::atomic<int> allowed_{0};
  std::array<std::atomic<int>, 8> made_{};
  std::vector<std::thread> threads_;
};

void RouteRaceTest::submit_through_all_interfaces() {
  // A stream keeps its look-up for half a second.
  auto stream = std::make_shared<queue::Addresses>([](db::Connection& db, const std::string& name) {
    return queue::find_queue(db, name).value();
  });
  submit_by(
      [stream](db::Connection& db) {
        const queue::Submission one = task(stream->find(db, "o1", "t"));
        queue::submit(db, {&one, 1});
      },
      connect());
  // Replacement task of a handler.
  submit_by(
      [stream = std::make_shared<queue::Addresses>(*stream)](db::Connection& db) {
        const queue::Submission one = task(stream->find(db, "o1", "t"));
        db.execute("BEGIN");
        for (const db::Statement& part : queue::submit_statements(db, {&one, 1})) db.run({part});
        db.execute("COMMIT");
      },
      connect());
  // The client in a transaction of the application, whose view began before.
  submit_by(
      [this, look = std::make_shared<db::Connection>(connect())](db::Connection& db) {
        const queue::Submission one = task(queue::address(*look, "o1", "t").value());
        db.execute("BEGIN; SELECT COUNT(*) FROM queue JOIN route");
        queue::submit_within(db, queue::Placer(*look, {&one, 1}), {&one, 1});
        db.execute("COMMIT");
      },
      connect_application());
  submit_by([](db::Connection& db) { call_submit(db, "o1", "t", "x", kOptions); },
            connect_application());
  submit_by(
      [](db::Connection& db) {
        db.execute("BEGIN; SELECT COUNT(*) FROM queue JOIN route");
        call_submit(db, "o1", "t", "x", kOptions);
        db.execute("COMMIT");
      },
      connect_application());
}

// $ALLOT_TEST_ROUTE_CHANGES sets the number of changes. Each change is tried during submissions
// through all interfaces: the queue is emptied, and a change that finds a task is refused and tried
// again.
TEST_F(RouteRaceTest, TasksOfATypeAreNeverInTwoQueues) {
  const int changes = support::environment_or("ALLOT_TEST_ROUTE_CHANGES", 10);
  submit_through_all_interfaces();
  int refused = 0;
  int amid = 0;
  for (int i = 0; i < changes; ++i) {
    const auto change = [&] {
      observer_.execute("DELETE FROM task");
      try {
        if (i % 2 == 0) {
          queue::set_route(observer_, queue("o1"), queue::pattern_of("t"), queue("o2"));
        } else {
          queue::remove_route(observer_, queue("o1"), queue::pattern_of("t"));
        }
        return true;
      } catch (const Error&) {
        ++refused;
        return false;
      }
    };
    allowed_ += 20;
    ASSERT_TRUE(support::eventually(change)) << i;
    amid += all_are_through() ? 0 : 1;
    allowed_ += 5;
    ASSERT_TRUE(support::eventually([&] { return all_are_through(); })) << i;
    EXPECT_EQ(value("SELECT GROUP_CONCAT(DISTINCT name) FROM task JOIN queue USING (queue_id)"),
              i % 2 == 0 ? "o2" : "o1");
  }
  std::printf("%d changes, %d of them while tasks came, %d refused\n", changes, amid, refused);
}

}  // namespace
}  // namespace allot::sqlapi
