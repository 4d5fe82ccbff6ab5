// SPDX-License-Identifier: Apache-2.0
// The procedures follow routes as the programs do (A10, S45).
#include "db/route_table.h"
#include "db/sqlapi/fixture.h"

namespace allot::sqlapi {
namespace {

class SqlRouteTest : public SqlApiTest {
 protected:
  void make(const char* name) {
    queue::ensure_queue(observer_, name,
                        {4, name == std::string(queue::kFairOne) ? queue::Placement::kFair
                                                                 : queue::Placement::kSpread});
  }
  queue::QueueInfo queue(const std::string& name) {
    return queue::find_queue(observer_, name).value();
  }
  void set(const char* from, const char* types, const char* to) {
    set_route(observer_, from == nullptr ? std::nullopt : std::optional(queue(from)),
              queue::pattern_of(types), queue(to));
  }
  std::string taker(const Made& made) {
    const auto id = queue::TaskId::parse(made.id);
    return id ? queue::queue_name(observer_, id->partition.queue_id) : "no id " + made.id;
  }
};

TEST_F(SqlRouteTest, TheMostSpecificOneTakesTheTask) {
  for (const char* name : queue::kRouteQueues) make(name);
  for (const queue::RouteRow& row : queue::kRouteRows) set(row.from, row.types, row.to);
  for (const queue::RouteCase& one : queue::kRouteCases) {
    const bool keyed = one.taker == std::string(queue::kFairOne);
    const auto options =
        keyed ? std::optional<std::string>(R"({"partition_key": "k"})") : std::nullopt;
    EXPECT_EQ(taker(call_submit(app_, one.queue, one.type, "x", options)), one.taker)
        << "'" << one.queue << "' " << one.type;
  }
}

// S45
TEST_F(SqlRouteTest, ARouteIsFollowedOnce) {
  make("a");
  set("default", "t", "narrow");
  set("narrow", "t", "a");
  EXPECT_EQ(taker(call_submit(app_, "default", "t", "x")), "narrow");
}

TEST_F(SqlRouteTest, ATaskMayNameNoQueue) {
  const auto refused = support::db_error_of(
      [&] { app_.execute("CALL allot_submit(NULL, 't', 'x', NULL, @i, @e)"); });
  ASSERT_TRUE(refused);
  EXPECT_NE(
      std::string(refused->what()).find("queue NULL: no route takes type 't' without a queue"),
      std::string::npos);
  set(nullptr, "*", "narrow");
  app_.execute("CALL allot_submit(NULL, 't', 'x', NULL, @i, @e)");
  call_submit(app_, "", "t", "x");
  call_submit_many(app_,
                   R"([{"type": "t"}, {"queue": null, "type": "t"}, {"queue": "", "type": "t"},
                             {"queue": "default", "type": "t"}])");
  const std::string in_queue = "SELECT COUNT(*) FROM task WHERE queue_id = ";
  EXPECT_EQ(number(in_queue + std::to_string(narrow_.queue_id)), 5U);
  EXPECT_EQ(number(in_queue + std::to_string(default_.queue_id)), 1U);
}

// A transaction whose snapshot is older than the route, and than its target queue.
TEST_F(SqlRouteTest, AnOldSnapshotHidesNoRoute) {
  app_.execute("BEGIN; SELECT COUNT(*) FROM queue");
  make("late");
  set("default", "t", "late");
  if (support::keeps_snapshots(observer_)) {
    EXPECT_EQ(support::error_class_of([&] { call_submit(app_, "default", "t", "x"); }),
              "retryable");
    app_.execute("BEGIN");
  }
  EXPECT_EQ(taker(call_submit(app_, "default", "t", "x")), "late");
  app_.execute("COMMIT");
}

TEST_F(SqlRouteTest, AScheduleThatIsRunFollows) {
  observer_.execute("DELETE FROM schedule");
  observer_.execute(
      "INSERT INTO schedule (name, version, expression, zone, queue, type, payload, created_at,"
      " changed_at) VALUES ('s', 1, '* * * * *', 'UTC', 'default', 't', 'x', UTC_TIMESTAMP(6),"
      " UTC_TIMESTAMP(6))");
  set("default", "t", "narrow");
  app_.execute("CALL allot_schedule_run('s', @id)");
  const Made made{support::value_of(app_, "SELECT @id")};
  EXPECT_EQ(taker(made), "narrow");
}

}  // namespace
}  // namespace allot::sqlapi
