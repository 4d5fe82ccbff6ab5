// SPDX-License-Identifier: Apache-2.0
// Rules: S33, S34.
#include "steward/ticker.h"

#include <atomic>
#include <future>
#include <mutex>

#include "db/queue/fixture.h"
#include "queue/operate/route.h"
#include "queue/schedules/schedule_store.h"
#include "queue/verbs/block.h"
#include "schedule/next.h"
#include "steward/next_run_check.h"

namespace allot::steward {
namespace {

using queue::Late;
using queue::Moment;
using queue::Overlap;
using queue::Schedule;
using queue::ScheduleSpec;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

// UTC, in this process.
class Utc : public schedule::Calendar, private schedule::Zone {
 public:
  std::vector<schedule::Instant> upcoming(const std::string& expression, const std::string& zone,
                                          schedule::Instant after, schedule::Instant until,
                                          std::size_t most) override {
    ++asked_;
    if (zone != "UTC") throw Error("zone '" + zone + "' is unknown");
    return schedule::upcoming(schedule::Expression::parse(expression), *this, after, until, most);
  }
  schedule::Missed missed(const std::string& expression, const std::string& /*zone*/,
                          schedule::Instant after, schedule::Instant until,
                          std::size_t most) override {
    ++asked_;
    return schedule::missed(schedule::Expression::parse(expression), *this, after, until, most);
  }
  [[nodiscard]] std::int64_t offset(schedule::Instant /*at*/) const override { return 0; }
  std::size_t asked_ = 0;
};

// Part of a steward, with a separate connection.
struct Steward {
  explicit Steward(db::Connection connection) : db(std::move(connection)) {
    db.execute("SET SESSION sql_safe_updates = 1");
  }
  void poll() { ticker.poll(db); }

  db::Connection db;
  Utc calendar;
  std::map<std::uint32_t, std::size_t> rung;
  Ticker ticker{calendar, [this](const auto& tasks) {
                  for (const auto& [queue_id, count] : tasks) rung[queue_id] += count;
                }};
};

class TickerTest : public queue::QueueTest {
 protected:
  // Every minute, at the current second: so no tick is due by chance during a test.
  static std::string minutely() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::to_string(std::chrono::floor<seconds>(now).count() % 60) + " * * * * *";
  }
  static ScheduleSpec spec(const std::string& name = "s", const std::string& text = minutely()) {
    ScheduleSpec spec;
    spec.name = name;
    spec.expression = text;
    spec.queue = "q";
    spec.type = "t";
    spec.tick_field = "at";
    return spec;
  }
  // Its first tick was this long ago.
  void put(const ScheduleSpec& spec, seconds ago = seconds(0)) {
    auto first = std::chrono::floor<seconds>(queue::database_now(observer_) - ago);
    if (spec.expression != "* * * * * *") {
      const int second = std::stoi(spec.expression);
      while (first.time_since_epoch().count() % 60 != second) first -= seconds(1);
    }
    queue::put_schedule(observer_, spec, first);
  }
  Schedule found(const std::string& name = "s") { return *queue::find_schedule(observer_, name); }
  std::uint64_t tasks() { return number("SELECT COUNT(*) FROM task"); }
  std::uint64_t different_tasks() { return number("SELECT COUNT(DISTINCT payload) FROM task"); }
  static std::uint64_t session(db::Connection& db, const std::string& counter) {
    return db.execute("SHOW SESSION STATUS LIKE '" + counter + "'").front().next()->u64(1);
  }
  void finish_all() {
    queue::Block block = must_lease();
    std::vector<queue::Finished> done;
    for (const queue::Task& task : block.tasks) done.push_back(queue::finished(task));
    queue::ack_and_release(worker_.db, block.lease, done);
  }

  Steward steward_{connect()};
};

TEST_F(TickerTest, SubmitsWhatIsDueAndRingsForIt) {
  put(spec());
  steward_.poll();
  EXPECT_EQ(tasks(), 1U);
  EXPECT_EQ(steward_.rung[queue_.queue_id], 1U);
  const Schedule schedule = found();
  EXPECT_EQ(*schedule.next_run - *schedule.last_run, minutes(1));
  steward_.poll();
  EXPECT_EQ(tasks(), 1U);
}

// The first tick is the next one.
TEST_F(TickerTest, TickWaitsUntilItIsDue) {
  const Moment due = std::chrono::floor<seconds>(queue::database_now(observer_)) + seconds(2);
  queue::put_schedule(observer_, spec("s", "* * * * * *"), due);
  steward_.poll();
  EXPECT_EQ(tasks(), 0U);
  const std::chrono::nanoseconds left = due - queue::database_now(observer_);
  EXPECT_LT(steward_.ticker.next_ns(), boot_ns() + static_cast<Nanos>(left.count()) + kSecond / 2);
  EXPECT_TRUE(support::eventually([&] {
    if (boot_ns() >= steward_.ticker.next_ns()) steward_.poll();
    return found().submitted > 0;
  }));
  const auto tick = queue::list_ticks(observer_, found().schedule_id).back();
  EXPECT_EQ(tick.tick, due);
}

TEST_F(TickerTest, WhereNothingIsDueOneStatementIsSentEveryTwoSeconds) {
  for (int i = 0; i < 100; ++i) {
    queue::put_schedule(observer_, spec("s" + std::to_string(i)),
                        queue::database_now(observer_) + hours(1));
  }
  const Nanos began = boot_ns();
  const std::uint64_t before = session(steward_.db, "Questions");
  for (int i = 0; i < 10; ++i) {
    if (boot_ns() >= steward_.ticker.next_ns()) steward_.poll();
  }
  const Nanos took = boot_ns() - began;
  EXPECT_LE(session(steward_.db, "Questions") - before, 2U + took / (2 * kSecond));
  EXPECT_GT(steward_.ticker.next_ns(), began + kSecond);
}

// Two stewards that both believe to lead.
TEST_F(TickerTest, TwoLeadersSubmitEachTickOnce) {
  constexpr std::uint64_t kDue = 620;  // twenty schedules for 30 s
  for (int i = 0; i < 20; ++i) put(spec("s" + std::to_string(i), "* * * * * *"), seconds(30));
  Steward other(connect());
  const auto until = boot_ns() + 2 * kSecond;
  std::atomic<bool> over{false};
  const auto lead = [&](Steward& steward) {
    while (!over) steward.poll();
  };
  auto one = std::async(std::launch::async, [&] { lead(steward_); });
  auto two = std::async(std::launch::async, [&] { lead(other); });
  EXPECT_TRUE(support::eventually([&] { return boot_ns() >= until && tasks() >= kDue; }));
  over = true;
  one.get();
  two.get();
  EXPECT_EQ(number("SELECT SUM(submitted) FROM schedule"), tasks());
  for (int i = 0; i < 20; ++i) {
    const Schedule schedule = found("s" + std::to_string(i));
    EXPECT_EQ(schedule.dropped, 0U);
    const auto ticks = queue::list_ticks(observer_, schedule.schedule_id);
    for (std::size_t k = 1; k < ticks.size(); ++k) {
      EXPECT_EQ(ticks[k - 1].tick - ticks[k].tick, seconds(1));
    }
  }
}

TEST_F(TickerTest, TwoHundredAtOnceAreAFewPackets) {
  for (int i = 0; i < 200; ++i) put(spec("s" + std::to_string(i), "* * * * * *"));
  const std::uint64_t before = session(steward_.db, "Com_commit");
  while (found("s199").submitted == 0 || found("s0").submitted == 0) steward_.poll();
  EXPECT_EQ(number("SELECT COUNT(*) FROM schedule WHERE submitted = 0"), 0U);
  EXPECT_LE(session(steward_.db, "Com_commit") - before, tasks() / 50);
}

TEST_F(TickerTest, AfterAnHourEachPolicyDoesWhatItSays) {
  for (const Late late : {Late::kOnce, Late::kSkip, Late::kAll}) {
    ScheduleSpec one = spec(std::string(name_of(late)));
    one.late = late;
    one.catch_up = 10;
    one.late_after = seconds(0);
    put(one, hours(1));
  }
  steward_.poll();
  EXPECT_EQ(found("once").submitted, 1U);
  EXPECT_EQ(found("skip").submitted, 0U);
  EXPECT_EQ(found("all").submitted, 10U);
  for (const char* name : {"once", "skip", "all"}) {
    const Schedule schedule = found(name);
    EXPECT_GE(schedule.ticks, 61U) << name;
    EXPECT_LE(schedule.ticks, 62U) << name;
    EXPECT_EQ(schedule.ticks, schedule.submitted + schedule.dropped) << name;
    EXPECT_GT(*schedule.next_run, queue::database_now(observer_) - seconds(2)) << name;
  }
}

// S36
TEST_F(TickerTest, AYearOfSecondsIsCaughtUpAtOnce) {
  ScheduleSpec second = spec("s", "* * * * * *");
  second.late = Late::kAll;
  put(second, hours(24 * 365));
  const Nanos start = boot_ns();
  while (*found().next_run < queue::database_now(observer_) - seconds(3)) steward_.poll();
  EXPECT_GE(tasks(), 100U);
  EXPECT_LE(tasks(), 110U + (boot_ns() - start) / kSecond) << "plus the tasks of the seconds since";
  EXPECT_GE(found().dropped, 1'900U);
  bool told = false;
  for (const auto& tick : queue::list_ticks(observer_, found().schedule_id)) {
    told = told || tick.reason.starts_with("at least ");
  }
  EXPECT_TRUE(told || found().submitted > 20U);
}

TEST_F(TickerTest, AQueueThatIsGoneIsSaidOnceUntilItIsThere) {
  ScheduleSpec lost = spec();
  lost.queue = "later";
  put(lost);
  steward_.poll();
  const Schedule failed = found();
  EXPECT_EQ(failed.error, "unknown queue 'later'");
  EXPECT_TRUE(failed.error_since);
  EXPECT_EQ(failed.ticks, 0U);
  Steward next(connect());
  const std::uint64_t before = session(next.db, "Com_update");
  next.poll();
  EXPECT_EQ(session(next.db, "Com_update"), before) << "it says so already";
  make_queue("later", 2);
  Steward after(connect());
  after.poll();
  EXPECT_EQ(tasks(), 1U);
  EXPECT_EQ(found().error, "");
}

TEST_F(TickerTest, RefusedTickIsReportedAndStopsNoOther) {
  queue::ensure_queue(observer_, "ordered", {2, queue::Placement::kOrdered});
  ScheduleSpec keyless = spec("keyless");
  keyless.queue = "ordered";
  put(keyless);
  ScheduleSpec nowhere = spec("nowhere");
  nowhere.zone = "No/Where";
  put(nowhere);
  put(spec("sound"));
  const Nanos began = boot_ns();
  steward_.poll();
  EXPECT_NE(found("keyless").error.find("partition_key"), std::string::npos);
  EXPECT_NE(found("nowhere").error.find("No/Where"), std::string::npos);
  EXPECT_EQ(found("sound").submitted, 1U);
  EXPECT_GT(steward_.ticker.next_ns(), began + kSecond / 5) << "it does not try all the time";
}

TEST_F(TickerTest, AWaitingTickerWritesNothingAndDropsLaterTicks) {
  ScheduleSpec waits = spec("s", "* * * * * *");
  waits.overlap = Overlap::kWait;
  put(waits);
  steward_.poll();
  ASSERT_EQ(tasks(), 1U);
  const Moment due = *found().next_run;
  ASSERT_TRUE(
      support::eventually([&] { return queue::database_now(observer_) > due + seconds(3); }));
  const std::uint64_t updates = session(steward_.db, "Com_update");
  const std::uint64_t commits = session(steward_.db, "Com_commit");
  steward_.poll();
  Steward other(connect());
  other.poll();
  EXPECT_EQ(session(steward_.db, "Com_update"), updates);
  EXPECT_EQ(session(steward_.db, "Com_commit"), commits);
  EXPECT_EQ(found().next_run, due) << "it stays due";
  finish_all();
  Steward after(connect());
  after.poll();
  EXPECT_EQ(tasks(), 1U);
  EXPECT_EQ(found().last_run, due);
  EXPECT_GE(found().dropped, 3U);
}

// S68: later tasks of the schedule go to another queue, by a route or by a change of the schedule,
// while the task of an earlier tick waits or runs in the former queue.
TEST_F(TickerTest, AnOverlapHoldsAcrossQueues) {
  const queue::QueueInfo other = make_queue("other", 4);
  const auto in_queue = [&](const queue::QueueInfo& queue) {
    return number("SELECT COUNT(*) FROM task WHERE queue_id = " + std::to_string(queue.queue_id));
  };
  for (const Overlap overlap : {Overlap::kSkip, Overlap::kWait}) {
    for (const bool by_route : {true, false}) {
      const std::string what =
          std::string(queue::name_of(overlap)) + (by_route ? ", by route" : ", by a change");
      ScheduleSpec one = spec("s", "* * * * * *");
      one.overlap = overlap;
      put(one);
      Steward(connect()).poll();
      ASSERT_EQ(in_queue(queue_), 1U) << what;
      if (by_route) {
        queue::set_route(observer_, queue_, {"t", false}, other);
      } else {
        one.queue = "other";
        put(one);
      }
      const Moment due = *found().next_run;
      ASSERT_TRUE(
          support::eventually([&] { return queue::database_now(observer_) > due + seconds(2); }));
      Steward(connect()).poll();
      EXPECT_EQ(in_queue(other), 0U) << what;
      EXPECT_EQ(found().skipped > 0, overlap == Overlap::kSkip) << what;
      EXPECT_EQ(*found().next_run > due, overlap == Overlap::kSkip) << what;
      finish_all();
      ASSERT_TRUE(support::eventually([&] {
        Steward(connect()).poll();
        return in_queue(other) == 1;
      })) << what;
      EXPECT_EQ(in_queue(queue_), 0U) << what;
      observer_.execute("DELETE FROM schedule; DELETE FROM task; DELETE FROM task_unique");
      if (by_route) queue::remove_route(observer_, queue_, {"t", false});
    }
  }
}

TEST_F(TickerTest, ALostConnectionLosesNoTickAndRepeatsNone) {
  put(spec("s", "* * * * * *"), seconds(20));
  steward_.poll();
  observer_.execute("KILL " + std::to_string(steward_.db.id()));
  ASSERT_TRUE(support::eventually([&] {
    return number("SELECT COUNT(*) FROM information_schema.processlist WHERE id = " +
                  std::to_string(steward_.db.id())) == 0;
  }));
  EXPECT_EQ(support::error_class_of([&] {
              for (int i = 0; i < 5; ++i) {
                steward_.db.execute("SELECT 1");
                steward_.poll();
              }
            }),
            "gone");
  steward_.db = connect();
  const std::uint64_t before = tasks();
  EXPECT_TRUE(support::eventually([&] {
    steward_.poll();
    return tasks() > before;
  }));
  EXPECT_EQ(tasks(), different_tasks());
  EXPECT_EQ(found().submitted, tasks());
  EXPECT_EQ(found().dropped, 0U);
}

// S35
TEST_F(TickerTest, AChangeIsSeenByTheNextTick) {
  put(spec("s", "* * * * * *"));
  steward_.poll();
  ScheduleSpec changed = spec("s", "* * * * * *");
  changed.payload = "{\"new\": true}";
  queue::put_schedule(observer_, changed, queue::database_now(observer_));
  const std::uint64_t before = tasks();
  EXPECT_TRUE(support::eventually([&] {
    steward_.poll();
    return tasks() > before;
  }));
  EXPECT_EQ(number("SELECT COUNT(*) FROM task WHERE payload LIKE '%new%'"), tasks() - before);
}

TEST_F(TickerTest, APayloadThatIsLargeIsNotKept) {
  ScheduleSpec large = spec("s", "* * * * * *");
  large.payload = "{\"x\": \"" + std::string(200'000, 'x') + "\"}";
  put(large, seconds(5));
  steward_.poll();
  EXPECT_GE(number("SELECT COUNT(*) FROM task WHERE LENGTH(payload) > 200000"), 6U);
}

// S37: the database's clock, by an hour.
TEST_F(TickerTest, AClockThatStepsRepeatsNothingAndTellsWhatIsLate) {
  ScheduleSpec minutely = spec();
  minutely.late_after = seconds(0);
  put(minutely);
  steward_.poll();
  EXPECT_EQ(tasks(), 1U);
  const std::string here = "SET timestamp = UNIX_TIMESTAMP(UTC_TIMESTAMP(6))";
  Steward back(connect());
  back.db.execute(here + " - 3600");
  for (int i = 0; i < 3; ++i) back.poll();
  EXPECT_EQ(tasks(), 1U);
  Steward ahead(connect());
  ahead.db.execute(here + " + 3600");
  for (int i = 0; i < 3; ++i) ahead.poll();
  EXPECT_EQ(tasks(), 2U) << "once";
  EXPECT_GE(found().dropped, 58U);
  steward_.poll();
  back.poll();
  EXPECT_EQ(tasks(), 2U) << "the clock is back, and these ticks have been";
}

TEST_F(TickerTest, TicksInAPauseAreDropped) {
  put(spec("s", "* * * * * *"), seconds(30));
  queue::pause_schedule(observer_, "s", "");
  steward_.poll();
  EXPECT_EQ(tasks(), 0U);
  const Nanos resumed = boot_ns();
  queue::resume_schedule(observer_, "s");
  Steward after(connect());
  after.poll();
  EXPECT_GE(found().dropped, 30U);
  EXPECT_LE(tasks(), 2U + (boot_ns() - resumed) / kSecond) << "plus the tasks of the seconds since";
}

// More of them wait than are read at once: they do not hide others.
TEST_F(TickerTest, FailingSchedulesHideNoOther) {
  observer_.execute("SET sql_safe_updates = 0");
  ScheduleSpec lost = spec("lost");
  lost.queue = "nowhere";
  put(lost, hours(1));
  observer_.execute(
      "INSERT INTO schedule (name, version, expression, zone, queue, type, payload, next_run,"
      " due_at, error, created_at, changed_at) SELECT CONCAT('lost', seq), version, expression, "
      "zone,"
      " queue, type, payload, next_run, due_at, 'unknown queue \\'nowhere\\'', created_at,"
      " changed_at FROM schedule, " +
      support::numbers(1, 900));
  put(spec("sound"));
  EXPECT_TRUE(support::eventually([&] {
    steward_.poll();
    return found("sound").submitted > 0;
  }));
}

// S57: a database whose clock is ahead for some time, and the following rounds of the check.
class NextRunCheckTest : public TickerTest {
 protected:
  // Ticks under a clock with this offset.
  void tick_at(seconds offset) {
    Steward there(connect());
    there.db.execute("SET timestamp = UNIX_TIMESTAMP(UTC_TIMESTAMP(6)) + " +
                     std::to_string(offset.count()));
    for (int i = 0; i < 3; ++i) there.poll();
  }
  // Two consecutive rounds, by the clock of `db`.
  void two_rounds(db::Connection& db) {
    for (int i = 0; i < 2; ++i) round(db);
  }
  void round(db::Connection& db) {
    do {
      check_.check(db, now_);
    } while (check_.next_ns() <= now_);
    now_ = check_.next_ns();
  }
  Moment database_now() { return queue::database_now(observer_); }

  Nanos now_ = boot_ns();
  NextRunCheck check_{steward_.calendar};
};

TEST_F(NextRunCheckTest, ASchedulesNextTickIsSetBackAfterAClockThatWasAhead) {
  for (const seconds jump : {seconds(hours(24)), seconds(hours(24 * 365))}) {
    observer_.execute("DELETE FROM schedule; DELETE FROM task");
    put(spec());
    tick_at(jump);
    const Schedule ahead = found();
    ASSERT_GT(*ahead.next_run, database_now() + jump / 2);
    two_rounds(steward_.db);
    const Schedule after = found();
    EXPECT_LE(*after.next_run, database_now() + minutes(1));
    EXPECT_GT(*after.next_run, database_now() - seconds(5));
    EXPECT_GT(after.version, ahead.version);
    EXPECT_EQ(after.submitted, ahead.submitted);
    observer_.execute("UPDATE schedule SET due_at = UTC_TIMESTAMP(6)");
    Steward next(connect());
    next.poll();
    EXPECT_EQ(found().submitted, ahead.submitted + 1);
  }
}

TEST_F(NextRunCheckTest, AStepBackOfASecondRepeatsNoTick) {
  put(spec("s", "* * * * * *"));
  tick_at(seconds(1));
  const Schedule ahead = found();
  two_rounds(steward_.db);
  EXPECT_EQ(found().next_run, ahead.next_run);
  steward_.poll();
  EXPECT_EQ(tasks(), different_tasks());
}

// 29 February, years away, is as far ahead as the calendar says.
TEST_F(NextRunCheckTest, DistantRunStays) {
  const Moment now = database_now();
  const auto next = steward_.calendar.upcoming(
      "0 0 29 2 *", "UTC", std::chrono::floor<seconds>(now).time_since_epoch().count(), 0, 1);
  queue::put_schedule(observer_, spec("leap", "0 0 29 2 *"), Moment(seconds(next.at(0))));
  const Schedule before = found("leap");
  two_rounds(steward_.db);
  EXPECT_EQ(found("leap").next_run, before.next_run);
  EXPECT_EQ(found("leap").version, before.version);
}

// The clock was behind for some seconds, and is correct in the next round.
TEST_F(NextRunCheckTest, OneRoundAloneSetsNothingBack) {
  put(spec());
  tick_at(seconds(0));
  const Schedule before = found();
  db::Connection behind = connect();
  behind.execute("SET timestamp = UNIX_TIMESTAMP(UTC_TIMESTAMP(6)) - 86400");
  round(behind);
  two_rounds(steward_.db);
  EXPECT_EQ(found().next_run, before.next_run);
  EXPECT_EQ(found().version, before.version);
}

TEST_F(NextRunCheckTest, AllPagesAreCheckedAndPausedOrChangedOnesAreLeft) {
  for (int i = 0; i < 250; ++i) {
    queue::put_schedule(observer_, spec("s" + std::to_string(i)), database_now() + hours(24));
  }
  queue::pause_schedule(observer_, "s7", "");
  round(steward_.db);
  ScheduleSpec changed = found("s9").spec;
  changed.payload = "{}";
  queue::put_schedule(observer_, changed, database_now());
  round(steward_.db);
  EXPECT_EQ(number("SELECT COUNT(*) FROM schedule WHERE next_run > UTC_TIMESTAMP(6)"
                   " + INTERVAL 1 HOUR"),
            2U)
      << "s9 is another version since the first round";
  round(steward_.db);
  EXPECT_GT(*found("s7").next_run, database_now() + hours(1));
  EXPECT_LT(*found("s9").next_run, database_now() + hours(1));
}

// Another host led since, with another clock.
TEST_F(NextRunCheckTest, ANewTermNeedsTwoRounds) {
  put(spec());
  tick_at(seconds(hours(24)));
  const Schedule ahead = found();
  round(steward_.db);
  check_.forget();
  round(steward_.db);
  EXPECT_EQ(found().next_run, ahead.next_run);
}

}  // namespace
}  // namespace allot::steward
