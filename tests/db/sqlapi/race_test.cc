// SPDX-License-Identifier: Apache-2.0
// Many concurrent callers.
#include <cstdio>
#include <future>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "db/sqlapi/fixture.h"
#include "support/environment.h"

namespace allot::sqlapi {
namespace {

using RaceTest = SqlApiTest;

constexpr int kCallers = 32;
constexpr int kKeys = 250;

// The victim of a deadlock submits again, like any application.
template <typename Submit>
void submit_again(Submit&& submit) {
  for (;;) {
    try {
      return submit();
    } catch (const db::DbError& error) {
      if (error.error_class() != db::ErrorClass::kRetryable) throw;
    }
  }
}

// Each caller takes the keys in a different order.
int key_of(int caller, int at) {
  return (at * 37 + caller * 211) % kKeys;
}

TEST_F(RaceTest, EveryTaskIsThereOnce) {
  std::vector<std::future<std::set<std::string>>> callers;
  for (int c = 0; c < kCallers; ++c) {
    callers.push_back(std::async(std::launch::async, [&] {
      db::Connection own = connect();
      std::set<std::string> ids;
      for (int i = 0; i < 50; ++i) ids.insert(call_submit(own, "narrow", "t", "x").id);
      return ids;
    }));
  }
  std::set<std::string> ids;
  for (auto& caller : callers) ids.merge(caller.get());
  EXPECT_EQ(ids.size(), std::size_t{50} * kCallers);
  EXPECT_EQ(tasks(), std::uint64_t{50} * kCallers);
}

// Exactly one task of each key is created, and every loser gets its id.
TEST_F(RaceTest, OneCallerWinsEachKey) {
  std::vector<std::future<std::vector<Made>>> callers;
  for (int c = 0; c < kCallers; ++c) {
    callers.push_back(std::async(std::launch::async, [&, c] {
      db::Connection own = connect_application();
      std::vector<Made> made(std::size_t{kKeys});
      for (int i = 0; i < kKeys; ++i) {
        const int key = key_of(c, i);
        made.at(static_cast<std::size_t>(key)) =
            call_submit(own, "default", "t", std::to_string(key), unique(std::to_string(key)));
      }
      return made;
    }));
  }
  std::vector<int> winners(kKeys, 0);
  std::vector<std::set<std::string>> ids(kKeys);
  for (auto& caller : callers) {
    const std::vector<Made> made = caller.get();
    for (std::size_t key = 0; key < kKeys; ++key) {
      winners[key] += made[key].existed ? 0 : 1;
      ids[key].insert(made[key].id);
    }
  }
  for (std::size_t key = 0; key < kKeys; ++key) {
    EXPECT_EQ(winners[key], 1) << key;
    ASSERT_EQ(ids[key].size(), 1U) << key;
    const auto view = task({*ids[key].begin(), false});
    ASSERT_TRUE(view) << key;
    EXPECT_EQ(view->payload, std::to_string(key));
  }
  EXPECT_EQ(tasks(), static_cast<std::uint64_t>(kKeys));
}

// Lists lock in one order, so none of them becomes a deadlock victim.
TEST_F(RaceTest, ListsOfTheSameKeys) {
  std::vector<std::future<nlohmann::json>> callers;
  for (int c = 0; c < 8; ++c) {
    callers.push_back(std::async(std::launch::async, [&, c] {
      db::Connection own = connect();
      nlohmann::json list = nlohmann::json::array();
      for (int i = 0; i < 100; ++i) {
        list.push_back({{"queue", "default"},
                        {"type", "t"},
                        {"unique_key", std::to_string((i * 37 + c * 11) % 100)}});
      }
      return call_submit_many(own, list.dump());
    }));
  }
  std::set<std::string> ids;
  std::size_t winners = 0;
  for (auto& caller : callers) {
    for (const auto& made : caller.get()) {
      ids.insert(made.at("id").get<std::string>());
      winners += made.at("existed").get<bool>() ? 0U : 1U;
    }
  }
  EXPECT_EQ(ids.size(), 100U);
  EXPECT_EQ(winners, 100U);
  EXPECT_EQ(tasks(), 100U);
}

// Each new key takes the partition of a quiet one, which another caller takes at the same moment.
TEST_F(RaceTest, KeysOfAFairQueueThatTakeEachOthersPartitions) {
  queue::ensure_queue(observer_, "fair", {2, queue::Placement::kFair});
  std::vector<std::future<void>> callers;
  for (int c = 0; c < 8; ++c) {
    callers.push_back(std::async(std::launch::async, [&, c] {
      db::Connection own = connect();
      for (int i = 0; i < 150; ++i) {
        const std::string key = std::to_string(c) + "." + std::to_string(i);
        submit_again([&] {
          const Made made =
              call_submit(own, "fair", "t", "", R"({"partition_key": ")" + key + "\"}");
          own.execute("DELETE FROM task WHERE queue_id = " +
                      std::to_string(queue::TaskId::parse(made.id)->partition.queue_id) +
                      " AND run_key = " + std::to_string(queue::TaskId::parse(made.id)->first_key));
        });
      }
    }));
  }
  for (auto& caller : callers) EXPECT_NO_THROW(caller.get());
}

// Counts how often a list makes another one a deadlock victim: docs/promises.md. The procedure
// submits a victim again, so callers do not see it; the server counts it.
TEST_F(RaceTest, DeadlocksOfListsAreCounted) {
  const unsigned lists = support::environment_or("ALLOT_TEST_LISTS", 5U);  // of each caller
  constexpr unsigned kTasks = 100;
  queue::ensure_queue(observer_, "ordered", {8, queue::Placement::kOrdered});
  queue::ensure_queue(observer_, "fair", {8, queue::Placement::kFair});
  const std::uint64_t before = support::server_counter(observer_, "Innodb_deadlocks");
  std::vector<std::future<void>> callers;
  for (unsigned c = 0; c < 8; ++c) {
    callers.push_back(std::async(std::launch::async, [&, c] {
      db::Connection own = connect();
      for (unsigned n = 0; n < lists; ++n) {
        nlohmann::json list = nlohmann::json::array();
        for (unsigned i = 0; i < kTasks; ++i) {
          const std::string key = std::to_string((i * 37 + c * 11 + n) % 50);
          nlohmann::json task{{"queue", "default"}, {"type", "t"}};
          if (i % 4 == 1) task["unique_key"] = key + "." + std::to_string(n);
          if (i % 4 == 2) task.update({{"queue", "ordered"}, {"partition_key", key}});
          if (i % 4 == 3) task.update({{"queue", "fair"}, {"partition_key", key}});
          list.push_back(std::move(task));
        }
        call_submit_many(own, list.dump());
      }
    }));
  }
  for (auto& caller : callers) EXPECT_NO_THROW(caller.get());
  const std::uint64_t deadlocks = support::server_counter(observer_, "Innodb_deadlocks") - before;
  const double submitted = 8.0 * lists * kTasks;
  std::printf("%llu deadlocks of %.0f tasks in lists of %u, 8 callers: %.0f per million\n",
              static_cast<unsigned long long>(deadlocks), submitted, kTasks,
              static_cast<double>(deadlocks) * 1e6 / submitted);
}

// Outside of a transaction the caller loses nothing by it, so the procedure tries again.
TEST_F(RaceTest, AListThatWaitedForAKeyOfALaterViewIsSubmittedAgain) {
  app_.execute("BEGIN");
  const Made b = call_submit(app_, "default", "t", "x", unique("b"));
  auto list = std::async(std::launch::async, [&] {
    db::Connection own = connect_application();
    return call_submit_many(own, R"([{"queue": "default", "type": "t", "unique_key": "a"},)"
                                 R"( {"queue": "default", "type": "t", "unique_key": "b"}])");
  });
  ASSERT_TRUE(support::wait_for_lock_waits(observer_, 1));
  app_.execute("COMMIT");
  const nlohmann::json made = list.get();
  EXPECT_EQ(made.at(0).at("existed"), false);
  EXPECT_EQ(made.at(1).at("existed"), true);
  EXPECT_EQ(made.at(1).at("id"), b.id);
  EXPECT_EQ(tasks(), 2U);
}

TEST_F(RaceTest, AListThatIsADeadlocksVictimIsSubmittedAgain) {
  app_.execute("BEGIN");
  for (int i = 0; i < 100; ++i) call_submit(app_, "default", "t", "weight");
  const Made b = call_submit(app_, "default", "t", "x", unique("b"));
  auto list = std::async(std::launch::async, [&] {
    db::Connection own = connect();
    return call_submit_many(own, R"([{"queue": "default", "type": "t", "unique_key": "a"},)"
                                 R"( {"queue": "default", "type": "t", "unique_key": "b"}])");
  });
  ASSERT_TRUE(support::wait_for_lock_waits(observer_, 1));
  const Made a = call_submit(app_, "default", "t", "x", unique("a"));
  EXPECT_FALSE(a.existed);
  app_.execute("COMMIT");
  const nlohmann::json made = list.get();
  EXPECT_EQ(made, nlohmann::json::parse(R"([{"id": ")" + a.id + R"(", "existed": true}, {"id": ")" +
                                        b.id + R"(", "existed": true}])"));
  EXPECT_EQ(tasks(), 102U);
}

// An ordered queue puts a task after the present ones, whatever the clock says.
TEST_F(SqlApiTest, TheTasksOfAKeyStayInOrderUnderAClockThatIsSetBack) {
  queue::ensure_queue(observer_, "ordered", {1, queue::Placement::kOrdered});
  const char* options = R"({"partition_key": "k"})";
  call_submit(app_, "ordered", "t", "0", options);
  app_.execute("SET timestamp = UNIX_TIMESTAMP(UTC_TIMESTAMP(6)) - 3600");
  for (const char* payload : {"1", "2", "3"}) call_submit(app_, "ordered", "t", payload, options);
  EXPECT_EQ(value("SELECT GROUP_CONCAT(payload ORDER BY run_key) FROM task"), "0,1,2,3");
}

}  // namespace
}  // namespace allot::sqlapi
