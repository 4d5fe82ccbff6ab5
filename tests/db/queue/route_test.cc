// SPDX-License-Identifier: Apache-2.0
// Routes: the queue that takes a task, and valid routes (A10, S45).
#include "queue/operate/route.h"

#include <future>

#include "db/queue/fixture.h"
#include "db/route_table.h"
#include "queue/operate/resize.h"
#include "queue/schedules/schedule_store.h"
#include "queue/submit/address.h"

namespace allot::queue {
namespace {

// "" if nothing was thrown.
template <typename Act>
std::string refusal_of(Act&& act) {
  try {
    act();
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

class RouteTest : public QueueTest {
 protected:
  QueueInfo queue(const std::string& name) { return find_queue(observer_, name).value(); }
  std::optional<QueueInfo> source(const char* from) {
    return from == nullptr ? std::nullopt : std::optional(queue(from));
  }
  void set(const char* from, const char* types, const char* to) {
    set_route(worker_.db, source(from), pattern_of(types), queue(to));
  }
  bool remove(const char* from, const char* types) {
    return remove_route(worker_.db, source(from), pattern_of(types));
  }
  std::string taker(const std::string& name, const std::string& type) {
    return address(worker_.db, name, type).value().name;
  }
  std::string refused(const char* from, const char* types, const char* to) {
    return refusal_of([&] { check_route(worker_.db, source(from), pattern_of(types), queue(to)); });
  }
  std::string flag(const std::string& name) {
    return value("SELECT COALESCE(routed, 'NULL') FROM queue WHERE name = '" + name + "'");
  }
  QueueInfo make(const std::string& name, Placement placement) {
    return ensure_queue(observer_, name, {4, placement, 2});
  }
  std::uint64_t statements() {
    return worker_.db.execute("SHOW SESSION STATUS LIKE 'Com_select'").front().next()->u64(1);
  }
  void submit_to(const QueueInfo& queue, const std::string& type, const SubmitOptions& options) {
    const Submission task{queue, type, "x", options};
    submit(worker_.db, {&task, 1});
  }
};

class RoutedTest : public RouteTest {
 protected:
  RoutedTest() {
    for (const char* name : kRouteQueues) {
      make(name, name == std::string(kFairOne) ? Placement::kFair : Placement::kSpread);
    }
    for (const RouteRow& row : kRouteRows) set(row.from, row.types, row.to);
  }
};

TEST_F(RoutedTest, TheMostSpecificOneTakesTheTask) {
  for (const RouteCase& one : kRouteCases) {
    EXPECT_EQ(taker(one.queue, one.type), one.taker) << "'" << one.queue << "' " << one.type;
  }
  Addresses addresses(
      [](db::Connection& db, const std::string& name) { return find_queue(db, name).value(); });
  for (const RouteCase& one : kRouteCases) {
    EXPECT_EQ(addresses.find(worker_.db, one.queue, one.type).name, one.taker);
  }
}

// S45
TEST_F(RouteTest, ARouteIsFollowedOnce) {
  for (const char* name : {"a", "b", "c"}) make_queue(name, 1);
  set("a", "t", "b");
  set("b", "t", "c");
  EXPECT_EQ(taker("a", "t"), "b");
  EXPECT_EQ(taker("b", "t"), "c");
  EXPECT_EQ(taker("c", "t"), "c");
}

TEST_F(RouteTest, TwoQueuesMayChangePlaces) {
  for (const char* name : {"a", "b"}) make_queue(name, 1);
  set("a", "t", "b");
  set("b", "t", "a");
  EXPECT_EQ(taker("a", "t"), "b");
  EXPECT_EQ(taker("b", "t"), "a");
}

TEST_F(RouteTest, ATaskThatIsThereStaysWhereItIs) {
  make_queue("heavy", 1);
  const auto ids = put(3);
  set("q", "*", "heavy");
  for (const TaskId& id : ids) {
    EXPECT_EQ(
        number("SELECT COUNT(*) FROM task WHERE queue_id = " + std::to_string(queue_.queue_id) +
               " AND run_key = " + std::to_string(id.first_key)),
        1U);
  }
  EXPECT_EQ(number("SELECT COUNT(*) FROM task"), 3U);
}

TEST_F(RouteTest, OneThatIsChangedOrRemovedHoldsNoMore) {
  for (const char* name : {"a", "b"}) make_queue(name, 1);
  EXPECT_EQ(taker("q", "t"), "q");
  set("q", "t", "a");
  EXPECT_EQ(taker("q", "t"), "a");
  set("q", "t", "b");
  EXPECT_EQ(taker("q", "t"), "b");
  EXPECT_EQ(list_routes(observer_).size(), 1U);
  EXPECT_TRUE(remove("q", "t"));
  EXPECT_FALSE(remove("q", "t"));
  EXPECT_EQ(taker("q", "t"), "q");
}

TEST_F(RouteTest, TheListHasThemInTheOrderInWhichTheyAreTried) {
  for (const char* name : {"a", "b"}) make_queue(name, 1);
  set(nullptr, "*", "a");
  set("q", "*", "a");
  set("q", "mail.*", "b");
  set("q", "mail", "a");
  std::string all;
  for (const Route& route : list_routes(observer_)) {
    all += route.from.value_or("any") + " " + text_of(route.types) + " " + route.to + "; ";
    EXPECT_EQ(route.set_at.substr(0, 2), "20");
  }
  EXPECT_EQ(all, "q mail a; q mail.* b; q * a; any * a; ");
}

// A submission to it reads its row and nothing else.
TEST_F(RouteTest, AQueueThatNoRouteConcernsCostsNothing) {
  for (const char* name : {"a", "b"}) make_queue(name, 1);
  EXPECT_EQ(flag("q"), "0");
  const auto cost = [&] {
    const std::uint64_t before = statements();
    taker("q", "t");
    return statements() - before;
  };
  EXPECT_EQ(cost(), 1U);
  set("a", "t", "b");
  EXPECT_EQ(flag("a"), "1");
  EXPECT_EQ(flag("q"), "0");
  set(nullptr, "*", "b");
  EXPECT_EQ(flag("q"), "0") << "only for what names no queue";
  EXPECT_EQ(cost(), 1U);
  set(nullptr, "mail.*", "b");
  EXPECT_EQ(flag("q"), "1");
  EXPECT_EQ(cost(), 2U);
  EXPECT_EQ(ensure_queue(worker_.db, "later", {1}).routed, true) << "one that is made later, too";
  remove(nullptr, "mail.*");
  EXPECT_EQ(flag("q") + flag("a") + flag("later"), "010");
  EXPECT_EQ(cost(), 1U);
  EXPECT_FALSE(ensure_queue(worker_.db, "latest", {1}).routed);
}

// If `routed` is NULL it is unknown whether a route concerns the queue.
TEST_F(RouteTest, OnlyOneCallLooksUpAnUnknownQueue) {
  make_queue("a", 1);
  observer_.execute("UPDATE queue SET routed = NULL WHERE name = 'q'");
  EXPECT_TRUE(find_queue(observer_, "q")->routed);
  EXPECT_EQ(taker("q", "t"), "q");
  observer_.execute("INSERT INTO route VALUES (" + std::to_string(queue_.queue_id) + ", 0, 't', " +
                    std::to_string(queue("a").queue_id) + ", UTC_TIMESTAMP(6))");
  EXPECT_EQ(taker("q", "t"), "a");
  remove("q", "t");
  EXPECT_EQ(flag("q"), "0");
}

// A route of any queue is set before a queue is made, or updates it.
TEST_F(RouteTest, AQueueMadeLaterHasTheRoutesOfAnyQueue) {
  const QueueInfo target = make_queue("a", 1);
  db::Connection maker = connect();
  maker.execute(
      "BEGIN; INSERT INTO queue (name, partitions, created_at, routed) VALUES ('new', 1,"
      " UTC_TIMESTAMP(6), (SELECT COALESCE(SUM(pattern <> ''), 0) > 0 FROM route"
      " WHERE queue_id = 0 LOCK IN SHARE MODE))");
  auto setting = std::async(std::launch::async,
                            [&] { set_route(worker_.db, std::nullopt, pattern_of("t"), target); });
  ASSERT_TRUE(lock_waits(1));
  maker.execute("COMMIT");
  setting.get();
  EXPECT_EQ(flag("new"), "1");
}

TEST_F(RouteTest, WithoutAQueueAndWithoutARouteATaskIsRefused) {
  EXPECT_EQ(refusal_of([&] { taker("", "t"); }),
            "no queue is given, and no route exists for tasks of type 't' without one; name a "
            "queue, or set a default route: allot route set '*' QUEUE --any-queue");
  EXPECT_FALSE(address(worker_.db, "nowhere", "t"));
}

TEST_F(RouteTest, UnsafeRouteIsRefused) {
  for (const char* name : {"o1", "o2"}) make(name, Placement::kOrdered);
  make("limited", Placement::kLimited);
  make("fair", Placement::kFair);
  EXPECT_EQ(refused("q", "t", "q"), "a route from queue 'q' to itself");
  EXPECT_EQ(refused("q", "t", "o1"),
            "queue 'q' is spread, and queue 'o1' is ordered: both queues of a route must have the "
            "same placement");
  EXPECT_NE(refused("o1", "t", "limited"), "");
  EXPECT_NE(refused("fair", "t", "q"), "");
  EXPECT_NE(refused(nullptr, "t", "o1").find("queue 'o1' is ordered: "), std::string::npos);
  EXPECT_EQ(refused(nullptr, "t", "fair"), "");
  EXPECT_EQ(refused("o1", "t", "o2"), "");
  SubmitOptions keyed;
  keyed.partition_key = "k";
  submit_to(queue("o1"), "t.1", keyed);
  EXPECT_EQ(refused("o1", "t.1", "o2"),
            "queue 'o1' is ordered and has tasks of type t.1, which later tasks of their keys "
            "would not wait for; let them run first");
  EXPECT_NE(refused("o1", "t.*", "o2"), "");
  EXPECT_EQ(refused("o1", "t.2", "o2"), "");
  observer_.execute("DELETE FROM task");
  set("o1", "t.1", "o2");
  submit_to(queue("o2"), "t.1", keyed);
  EXPECT_NE(refusal_of([&] { check_end_of_route(worker_.db, queue("o1"), pattern_of("t.1")); }),
            "");
  EXPECT_EQ(refusal_of([&] { check_end_of_route(worker_.db, queue("o1"), pattern_of("t.2")); }),
            "");
}

TEST_F(RouteTest, ATypeIsOneOrABeginning) {
  EXPECT_EQ(pattern_of("mail.send"), (TypePattern{"mail.send", false}));
  EXPECT_EQ(pattern_of("mail.*"), (TypePattern{"mail.", true}));
  EXPECT_EQ(pattern_of("*"), (TypePattern{"", true}));
  for (const char* bad : {"", "ma il", "*mail", "m*l", "mail**", "*.send"}) {
    EXPECT_NE(refusal_of([&] { pattern_of(bad); }), "") << bad;
  }
  EXPECT_NE(refusal_of([&] { pattern_of(std::string(128, 'a')); }), "");
}

TEST_F(RouteTest, TheKeysOfATypeAreCounted) {
  SubmitOptions unique;
  for (const char* key : {"1", "2", "3"}) {
    unique.unique_key = key;
    submit_to(queue_, key == std::string("3") ? "other" : "mail.send", unique);
  }
  EXPECT_EQ(live_keys(observer_, queue_, pattern_of("mail.send")).value, 2U);
  EXPECT_EQ(live_keys(observer_, queue_, pattern_of("mail.*")).value, 2U);
  EXPECT_EQ(live_keys(observer_, queue_, pattern_of("*")).value, 3U);
  EXPECT_EQ(live_keys(observer_, queue_, pattern_of("none")).value, 0U);
  // Places of a task that was tried before, or is detached.
  observer_.execute(
      "UPDATE task SET first_key = run_key, run_key = run_key + 7 WHERE type = 'other'");
  observer_.execute(
      "INSERT INTO task_moved SELECT queue_id, partition_no, prio, first_key, run_key"
      " FROM task WHERE type = 'other'");
  EXPECT_EQ(live_keys(observer_, queue_, pattern_of("other")).value, 1U);
}

TEST_F(RouteTest, AnOpenTransactionWithTheQueuesRowIsWaitedForAndNamed) {
  make_queue("a", 1);
  worker_.db.execute("SET SESSION innodb_lock_wait_timeout = 1");
  db::Connection holder = connect();
  holder.execute("BEGIN; SELECT partitions FROM queue WHERE name = 'q' LOCK IN SHARE MODE");
  EXPECT_NE(refusal_of([&] { set("q", "t", "a"); }).find("no route was changed"),
            std::string::npos);
  EXPECT_EQ(list_routes(observer_).size(), 0U);
  holder.execute("ROLLBACK");
  set("q", "t", "a");
  holder.execute("BEGIN; SELECT partitions FROM queue WHERE name = 'q' LOCK IN SHARE MODE");
  set("q", "t2", "a");  // already in its row
  EXPECT_EQ(list_routes(observer_).size(), 2U);
}

// Queues whose tasks wait for others of their keys.
class PlacedRouteTest : public RouteTest {
 protected:
  PlacedRouteTest() {
    for (const char* name : {"o1", "o2", "o3"}) make(name, Placement::kOrdered);
  }
  static Submission task(const QueueInfo& queue, const std::string& type = "t") {
    Submission task{queue, type, "x", {}};
    task.options.partition_key = "k";
    return task;
  }
  std::string taker_of(const Submitted& made) {
    return queue_name(observer_, made.id.partition.queue_id);
  }
  // Queue of a task submitted by a client that looked up the queue earlier.
  std::string late(const QueueInfo& found) {
    const Submission one = task(found);
    const std::string taker = taker_of(submit(worker_.db, {&one, 1}).front());
    run_all();
    return taker;
  }
  void run_all() { observer_.execute("DELETE FROM task"); }
};

TEST_F(PlacedRouteTest, RouteIsReadAgainAfterAChange) {
  const QueueInfo before = queue("o1");
  set("o1", "t", "o2");
  EXPECT_EQ(late(before), "o2");
  const QueueInfo routed = address(observer_, "o1", "t").value();
  EXPECT_EQ(late(routed), "o2");
  set("o1", "t*", "o3");
  EXPECT_EQ(late(routed), "o2") << "the other one is more specific";
  set("o1", "t", "o3");
  EXPECT_EQ(late(routed), "o3");
  EXPECT_EQ(late(before), "o3");
  remove("o1", "t");
  remove("o1", "t*");
  EXPECT_EQ(late(routed), "o1");
  EXPECT_EQ(late(before), "o1");
}

TEST_F(PlacedRouteTest, SoDoesABatchOfSeveralTypes) {
  const QueueInfo before = queue("o1");
  set("o1", "t", "o2");
  const std::vector<Submission> some{task(before), task(before, "u"), task(before)};
  const auto made = submit(worker_.db, some);
  EXPECT_EQ(taker_of(made.at(0)) + taker_of(made.at(1)) + taker_of(made.at(2)), "o2o1o2");
}

TEST_F(PlacedRouteTest, SoDoesATransactionWithAnOlderView) {
  const QueueInfo before = queue("o1");
  set("o1", "t", "o2");
  const std::vector<Submission> some{task(before), task(queue("o2")), task(before, "u")};
  worker_.db.execute("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ");
  worker_.db.execute("BEGIN");
  worker_.db.execute("SELECT COUNT(*) FROM queue JOIN route");
  set_route(observer_, queue("o1"), pattern_of("t"), queue("o3"));
  const auto made = submit_within(worker_.db, Placer(observer_, some), some);
  worker_.db.execute("COMMIT");
  EXPECT_EQ(taker_of(made.at(0)) + taker_of(made.at(1)) + taker_of(made.at(2)), "o3o2o1");
}

TEST_F(PlacedRouteTest, ATransactionThatSubmittedIsWaitedForAndSeen) {
  const QueueInfo from = queue("o1");
  const QueueInfo to = queue("o2");
  worker_.db.execute("BEGIN");
  const Submission one = task(from);
  submit_within(worker_.db, Placer(observer_, {&one, 1}), {&one, 1});
  auto refusal = std::async(std::launch::async, [&] {
    db::Connection db = connect();
    return refusal_of([&] { set_route(db, from, pattern_of("t"), to); });
  });
  ASSERT_TRUE(lock_waits(1));
  worker_.db.execute("COMMIT");
  EXPECT_EQ(refusal.get(),
            "queue 'o1' is ordered and has tasks of type t, which later tasks of their keys would "
            "not wait for; let them run first");
  EXPECT_EQ(list_routes(observer_).size(), 0U);
  run_all();
  set("o1", "t", "o2");
  EXPECT_EQ(late(from), "o2");
}

// Its check was before the task came.
TEST_F(PlacedRouteTest, ATaskThatCameLaterIsSeen) {
  set("o1", "t", "o2");
  const Submission one = task(queue("o1"));
  submit(worker_.db, {&one, 1});
  EXPECT_NE(refusal_of([&] { remove("o1", "t"); }), "") << "it is in o2";
  EXPECT_NE(refusal_of([&] { set("o1", "t", "o3"); }), "");
  EXPECT_NE(refusal_of([&] { set("o1", "*", "o3"); }), "");
  set("o1", "u", "o3");
  EXPECT_EQ(taker("o1", "t") + taker("o1", "u"), "o2o3");
}

TEST_F(PlacedRouteTest, AQueueThatIsBeingResizedKeepsItsRoutes) {
  set("o1", "t", "o2");
  const Submission other = task(queue("o2"), "u");
  submit(worker_.db, {&other, 1});
  ASSERT_EQ(resize_layout(observer_, queue("o2"), 7), Resized::kWaits);
  EXPECT_EQ(refusal_of([&] { remove("o1", "t"); }),
            "queue 'o2' is being resized: tasks of its former layout wait or run; try again when "
            "it is done");
  run_all();
  ASSERT_EQ(resize_layout(observer_, queue("o2"), 7), Resized::kDone)
      << "it still knows its layout";
  EXPECT_TRUE(remove("o1", "t"));
}

}  // namespace
}  // namespace allot::queue
