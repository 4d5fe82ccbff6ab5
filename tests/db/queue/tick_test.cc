// SPDX-License-Identifier: Apache-2.0
// One tick is one packet and one transaction (S33): its guard, its task, the next time.
#include "queue/schedules/tick.h"

#include <functional>
#include <future>

#include "db/queue/fixture.h"
#include "queue/model/task_facts.h"
#include "queue/operate/cancel.h"
#include "queue/schedules/policy.h"
#include "queue/schedules/schedule_store.h"
#include "support/rewriting_proxy.h"
#include "support/temp_dir.h"

namespace allot::queue {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

class TickTest : public QueueTest {
 protected:
  static ScheduleSpec spec(const std::string& name = "s") {
    ScheduleSpec spec;
    spec.name = name;
    spec.expression = "* * * * *";
    spec.queue = "q";
    spec.type = "t";
    return spec;
  }
  // A schedule whose tick has been due for a second.
  Schedule put(const ScheduleSpec& spec) {
    put_schedule(observer_, spec, due_);
    return found(spec.name);
  }
  Schedule found(const std::string& name = "s") { return *find_schedule(observer_, name); }
  // The step of an ordinary tick.
  Tick step(const Schedule& schedule, const QueueInfo& queue) {
    return steps_of(schedule, queue, due_ + seconds(1), {{}, 0, false, due_ + minutes(1)},
                    std::nullopt)
        .at(0);
  }
  Tick step(const Schedule& schedule) { return step(schedule, queue_); }
  std::vector<ScheduleTick> ticks(const Schedule& schedule) {
    return list_ticks(observer_, schedule.schedule_id);
  }
  std::uint64_t tasks() { return number("SELECT COUNT(*) FROM task"); }
  // Nothing of the tick has been done.
  void expect_untouched(const Schedule& schedule, const std::string& why) {
    const Schedule now = found(schedule.spec.name);
    EXPECT_EQ(now.next_run, schedule.next_run) << why;
    EXPECT_EQ(now.ticks, schedule.ticks) << why;
    EXPECT_EQ(ticks(schedule).size(), schedule.ticks) << why;
    EXPECT_EQ(tasks(), schedule.submitted) << why;
  }
  bool refuses(const Tick& tick) {
    const auto error = support::db_error_of([&] { send_ticks(worker_.db, {&tick, 1}); });
    return error && is_refusal(*error);
  }
  QueueInfo place(const std::string& name, Placement placement) {
    return ensure_queue(observer_, name, {4, placement, 2});
  }

  Moment due_ = std::chrono::floor<seconds>(database_now(observer_)) - seconds(1);
};

TEST_F(TickTest, MakesItsTaskAndContinues) {
  const Schedule schedule = put(spec());
  const Tick tick = step(schedule);
  const auto done = send_ticks(worker_.db, {&tick, 1});
  ASSERT_TRUE(done.at(0));
  EXPECT_TRUE(show(observer_, *done[0]));
  const Schedule after = found();
  EXPECT_EQ(after.next_run, due_ + minutes(1));
  EXPECT_EQ(after.due_at, due_ + minutes(1));
  EXPECT_EQ(after.last_run, due_);
  EXPECT_EQ(after.last_task, done[0]->text());
  EXPECT_EQ(after.ticks, 1U);
  EXPECT_EQ(after.submitted, 1U);
  EXPECT_EQ(after.version, schedule.version);
  const auto list = ticks(schedule);
  ASSERT_EQ(list.size(), 1U);
  EXPECT_EQ(list[0].tick, due_);
  EXPECT_EQ(list[0].task, done[0]->text());
  EXPECT_EQ(list[0].reason, "");
}

TEST_F(TickTest, TakesEachPlacementAndEachOption) {
  const QueueInfo wide = make_queue("wide", 8);
  std::vector<std::pair<QueueInfo, ScheduleSpec>> cases{{wide, spec("plain")}};
  for (const Placement placement : {Placement::kOrdered, Placement::kLimited, Placement::kFair}) {
    const std::string name(name_of(placement));
    cases.emplace_back(place(name, placement), spec(name));
    cases.back().second.queue = name;
    cases.back().second.options.partition_key = "k";
  }
  ScheduleSpec all = spec("all");
  all.queue = "wide";
  all.payload = "{}";
  all.tick_field = "scheduled_at";
  all.options.prio = 3;
  all.options.delay = hours(1);
  all.options.unique_key = std::string("\0'k", 3);
  all.options.unique_for = hours(2);
  all.options.expires_in = hours(3);
  cases.emplace_back(wide, all);
  cases.front().second.queue = "wide";
  ScheduleSpec limited = spec("limited-unique");
  limited.queue = "limited";
  limited.options.partition_key = "k";
  limited.overlap = Overlap::kSkip;
  cases.emplace_back(*find_queue(observer_, "limited"), limited);
  std::vector<Tick> steps;
  for (const auto& [queue, spec] : cases) {
    validate(spec, queue);
    steps.push_back(step(put(spec), queue));
  }
  const auto done = send_ticks(worker_.db, steps);
  ASSERT_EQ(done.size(), cases.size());
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto& [queue, spec] = cases[i];
    ASSERT_TRUE(done[i]) << spec.name;
    EXPECT_EQ(done[i]->partition.queue_id, queue.queue_id) << spec.name;
    EXPECT_EQ(done[i]->prio, spec.options.prio) << spec.name;
    EXPECT_EQ(found(spec.name).last_task, done[i]->text()) << spec.name;
    const auto task = show(observer_, *done[i]);
    ASSERT_TRUE(task) << spec.name;
    if (spec.options.partition_key && queue.is_keyed()) {
      const std::uint32_t first = place_of(queue, hash_of("k"));
      const std::uint32_t second = place_of(queue, hash_of("k"), 1);
      const std::uint32_t no = done[i]->partition.partition_no;
      EXPECT_TRUE(no == first || no == second) << spec.name;
    }
  }
  EXPECT_EQ(number("SELECT COUNT(*) FROM task WHERE expires_at > UTC_TIMESTAMP(6)"
                   " + INTERVAL 2 HOUR AND run_key >> 12 > TIMESTAMPDIFF(MICROSECOND,"
                   " '2025-01-01', UTC_TIMESTAMP(6) + INTERVAL 50 MINUTE)"),
            1U);
  EXPECT_EQ(number("SELECT unique_for_us FROM task_unique WHERE unique_key = '\\0\\'k'"),
            7'200'000'000U);
  EXPECT_EQ(number("SELECT unique_for_us FROM task_unique"
                   " WHERE unique_key = 'allot-schedule:limited-unique'"),
            0U);
}

TEST_F(TickTest, TicksOfAnOrderedQueueKeepTheirOrder) {
  const QueueInfo queue = place("ordered", Placement::kOrdered);
  ScheduleSpec ordered = spec();
  ordered.queue = "ordered";
  ordered.options.partition_key = "k";
  ordered.late = Late::kAll;
  ordered.tick_field = "at";
  const Schedule schedule = put(ordered);
  const auto steps = steps_of(schedule, queue, due_ + seconds(1),
                              {{due_ - minutes(0)}, 1, false, due_ + minutes(1)}, std::nullopt);
  ASSERT_EQ(steps.size(), 2U);
  std::vector<Tick> some(steps);
  some[0].next_run = due_ + std::chrono::microseconds(1);
  some[0].due_at = due_;
  some[1].seen_next_run = *some[0].next_run;
  const auto done = send_ticks(worker_.db, some);
  EXPECT_LT(done.at(0)->first_key, done.at(1)->first_key);
  EXPECT_EQ(done[0]->partition, done[1]->partition);
}

// S33
TEST_F(TickTest, ASecondOneOfTheSameMakesNothing) {
  const Schedule schedule = put(spec());
  const Tick tick = step(schedule);
  send_ticks(worker_.db, {&tick, 1});
  EXPECT_TRUE(refuses(tick));
  EXPECT_EQ(tasks(), 1U);
  EXPECT_EQ(found().ticks, 1U);
}

// S33: two leaders at the same moment.
TEST_F(TickTest, ConcurrentTicksMakeOneTask) {
  const Schedule schedule = put(spec());
  const Tick tick = step(schedule);
  observer_.execute("BEGIN; SELECT * FROM schedule FOR UPDATE");
  const auto other = [&] {
    db::Connection db = connect();
    const auto error = support::db_error_of([&] { send_ticks(db, {&tick, 1}); });
    return error ? static_cast<int>(is_refusal(*error)) : 2;
  };
  auto first = std::async(std::launch::async, other);
  auto second = std::async(std::launch::async, other);
  db::Connection watch = connect();
  EXPECT_TRUE(support::wait_for_lock_waits(watch, 2));
  observer_.execute("ROLLBACK");
  EXPECT_EQ(first.get() + second.get(), 3) << "one of them is refused";
  EXPECT_EQ(tasks(), 1U);
}

// S33: whatever part of the packet the server has executed when its client is gone, it is all or
// nothing, and the next leader sees the result in the schedule's row.
TEST_F(TickTest, AConnectionThatEndsAnywhereInThePacketLeavesAllOrNothing) {
  ScheduleSpec waits = spec();
  waits.overlap = Overlap::kWait;
  for (const ScheduleSpec& of : {spec(), waits}) {
    bool done_once = false;
    std::size_t untouched = 0;
    for (std::size_t at = 0; !done_once && at < 30; ++at) {
      observer_.execute(
          "DELETE FROM schedule; DELETE FROM schedule_tick; DELETE FROM task;"
          " DELETE FROM task_unique");
      const Schedule schedule = put(of);
      const Tick tick = step(schedule);
      const support::TempDir folder;
      const support::RewritingProxy proxy(
          folder / "p", support::Database::shared().socket(), [at](std::string sql) {
            if (sql.find("BEGIN;\n") != 0) return sql;
            std::size_t end = 0;
            for (std::size_t i = 0; i < at && end != std::string::npos; ++i) {
              end = sql.find(";\n", end == 0 ? 0 : end + 1);
            }
            const std::string kill = ";\nKILL CONNECTION_ID()";
            return end == std::string::npos
                       ? sql + kill
                       : sql.insert(end, at == 0 ? kill.substr(2) + ";\n" : kill);
          });
      db::ConnectOptions options = support::Database::shared().options(name_);
      options.socket = proxy.socket();
      db::Connection db(options);
      EXPECT_EQ(support::error_class_of([&] { send_ticks(db, {&tick, 1}); }), "gone") << at;
      // The row of the schedule is locked while the server executes the packet.
      worker_.db.execute("SELECT * FROM schedule FOR UPDATE");
      if (found().next_run == schedule.next_run) {
        expect_untouched(schedule, std::to_string(at));
        ++untouched;
        send_ticks(worker_.db, {&tick, 1});
      } else {
        done_once = true;
        EXPECT_TRUE(refuses(tick)) << at;
      }
      EXPECT_EQ(tasks(), 1U) << at;
      EXPECT_EQ(found().submitted, 1U) << at;
      EXPECT_EQ(ticks(found()).size(), 1U) << at;
    }
    EXPECT_TRUE(done_once);
    EXPECT_GE(untouched, of.overlap == Overlap::kWait ? 9U : 6U) << "statements before COMMIT";
  }
}

// S35
TEST_F(TickTest, AStaleVersionIsRefused) {
  const Schedule schedule = put(spec());
  const Tick tick = step(schedule);
  ScheduleSpec changed = spec();
  changed.payload = "new";
  put_schedule(observer_, changed, due_);
  EXPECT_TRUE(refuses(tick));
  expect_untouched(found(), "changed");
  EXPECT_EQ(found().next_run, due_);
  remove_schedule(observer_, "s");
  EXPECT_TRUE(refuses(tick));
  put(spec());
  EXPECT_TRUE(refuses(tick)) << "made again under its name";
  EXPECT_EQ(tasks(), 0U);
  pause_schedule(observer_, "s", "");
  resume_schedule(observer_, "s");
  EXPECT_TRUE(refuses(tick));
  const Tick fresh = step(found());
  send_ticks(worker_.db, {&fresh, 1});
  EXPECT_EQ(found().dropped, 1U) << "it fell into the pause";
  EXPECT_EQ(ticks(found()).at(0).reason, "1 tick in a pause");
  EXPECT_EQ(tasks(), 0U);
}

TEST_F(TickTest, APausedOneIsRefused) {
  put(spec());
  pause_schedule(observer_, "s", "");
  const Tick tick = step(found());
  EXPECT_TRUE(refuses(tick));
  expect_untouched(found(), "paused");
}

// S34
TEST_F(TickTest, NextRunNeverGoesBack) {
  const Schedule schedule = put(spec());
  for (const Moment to : {due_, due_ - minutes(1)}) {
    Tick tick = step(schedule);
    tick.next_run = to;
    EXPECT_TRUE(refuses(tick));
  }
  expect_untouched(schedule, "back");
  Tick last = step(schedule);
  last.next_run.reset();
  last.due_at.reset();
  send_ticks(worker_.db, {&last, 1});
  EXPECT_FALSE(found().next_run) << "none will ever come";
  EXPECT_TRUE(refuses(last));
}

// S37: the host believes that it is due, but the database decides.
TEST_F(TickTest, OneThatIsNotDueByTheDatabasesClockIsRefused) {
  const Schedule schedule = put(spec());
  const Tick tick = step(schedule);
  worker_.db.execute("SET timestamp = UNIX_TIMESTAMP(UTC_TIMESTAMP(6)) - 3600");
  EXPECT_TRUE(refuses(tick));
  EXPECT_TRUE(due_schedules(worker_.db, seconds(3), 10).empty());
  expect_untouched(schedule, "before its time");
  worker_.db.execute("SET timestamp = DEFAULT");
  EXPECT_EQ(due_schedules(worker_.db, seconds(3), 10).size(), 1U);
  send_ticks(worker_.db, {&tick, 1});
  EXPECT_EQ(tasks(), 1U);
}

// S57: a time left by a clock that was ahead. Earlier packets are refused (S35).
TEST_F(TickTest, ANextRunThatIsTooFarAheadIsSetBackOnce) {
  put_schedule(observer_, spec(), due_ + hours(24));
  put_schedule(observer_, spec("near"), due_ + seconds(50));
  put_schedule(observer_, spec("paused"), due_ + hours(24));
  pause_schedule(observer_, "paused", "");
  const auto far = far_schedules(worker_.db, 0, 10);
  ASSERT_EQ(far.size(), 1U);
  EXPECT_EQ(far[0].spec.name, "s");
  EXPECT_EQ(far[0].spec.expression, "* * * * *");
  EXPECT_EQ(far[0].next_run, due_ + hours(24));
  EXPECT_TRUE(far_schedules(worker_.db, far[0].schedule_id, 10).empty());
  Tick former = step(found());
  former.seen_next_run = due_ + hours(24);
  former.next_run = due_ + hours(25);
  EXPECT_TRUE(reset_next_run(worker_.db, far[0], due_));
  EXPECT_FALSE(reset_next_run(worker_.db, far[0], due_)) << "it is another version";
  EXPECT_EQ(found().next_run, due_);
  EXPECT_EQ(found().due_at, due_);
  EXPECT_TRUE(refuses(former));
  const Tick tick = step(found());
  send_ticks(worker_.db, {&tick, 1});
  EXPECT_EQ(tasks(), 1U);
}

// S57: the clock was behind, and not ahead before.
TEST_F(TickTest, AClockThatIsRightAgainSetsNothingBack) {
  put_schedule(observer_, spec(), due_ + minutes(1));
  worker_.db.execute("SET timestamp = UNIX_TIMESTAMP(UTC_TIMESTAMP(6)) - 86400");
  const auto far = far_schedules(worker_.db, 0, 10);
  ASSERT_EQ(far.size(), 1U);
  worker_.db.execute("SET timestamp = DEFAULT");
  EXPECT_FALSE(reset_next_run(worker_.db, far[0], due_ - hours(24)));
  EXPECT_EQ(found().next_run, due_ + minutes(1));
}

// S57: a resume while the clock was ahead by a day ends the pause now, and not tomorrow.
TEST_F(TickTest, AResumeUnderAClockThatWasAheadDropsNoLaterTick) {
  const Schedule schedule = put(spec());
  pause_schedule(observer_, "s", "");
  worker_.db.execute("SET timestamp = UNIX_TIMESTAMP(UTC_TIMESTAMP(6)) + 86400");
  resume_schedule(worker_.db, "s");
  worker_.db.execute("SET timestamp = DEFAULT");
  const Schedule resumed = found();
  EXPECT_LE(question_of(resumed, due_ + seconds(2)).until, due_ + seconds(2));
  const Tick dropped = step(resumed);
  EXPECT_EQ(dropped.reason, "1 tick in a pause");
  send_ticks(worker_.db, {&dropped, 1});
  EXPECT_LE(*found().resumed_at, database_now(observer_));
  EXPECT_EQ(found().dropped, 1U);
}

// S57: an expression can be changed although its last tick was far ahead.
TEST_F(TickTest, AnExpressionIsChangedAfterTheClockWasAhead) {
  put(spec());
  observer_.execute("UPDATE schedule SET last_run = UTC_TIMESTAMP(6) + INTERVAL 1 DAY");
  ScheduleSpec changed = spec();
  changed.expression = "*/2 * * * *";
  EXPECT_EQ(put_schedule(observer_, changed, due_ + minutes(1)), Put::kChanged);
  EXPECT_EQ(found().next_run, due_ + minutes(1));
}

TEST_F(TickTest, SkipsWhileTheTaskOfAnEarlierTickLives) {
  ScheduleSpec skips = spec();
  skips.overlap = Overlap::kSkip;
  const Schedule schedule = put(skips);
  Tick tick = step(schedule);
  const auto first = send_ticks(worker_.db, {&tick, 1}).at(0);
  ASSERT_TRUE(first);
  // As if a minute had passed.
  observer_.execute("UPDATE schedule SET due_at = UTC_TIMESTAMP(6) WHERE schedule_id > 0");
  const auto again =
      steps_of(found(), queue_, due_ + minutes(1), {{}, 0, false, due_ + minutes(2)}, std::nullopt);
  EXPECT_FALSE(send_ticks(worker_.db, again).at(0));
  Schedule after = found();
  EXPECT_EQ(after.skipped, 1U);
  EXPECT_EQ(after.submitted, 1U);
  EXPECT_EQ(after.last_task, first->text());
  EXPECT_EQ(after.last_run, due_);
  EXPECT_EQ(after.next_run, due_ + minutes(2));
  auto list = ticks(after);
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[0].task, "");
  EXPECT_EQ(list[0].reason, "the task of an earlier tick is not finished");
  // Once that task has ended the key is free immediately.
  Block block = must_lease();
  ack(worker_.db, partition_, std::vector{finished(block.tasks.at(0))});
  observer_.execute("UPDATE schedule SET due_at = UTC_TIMESTAMP(6) WHERE schedule_id > 0");
  const auto third =
      steps_of(found(), queue_, due_ + minutes(2), {{}, 0, false, due_ + minutes(3)}, std::nullopt);
  EXPECT_TRUE(send_ticks(worker_.db, third).at(0));
}

TEST_F(TickTest, WaitsWithoutAWriteWhileTheTaskOfAnEarlierTickLives) {
  ScheduleSpec waits = spec();
  waits.overlap = Overlap::kWait;
  const Schedule schedule = put(waits);
  const Tick tick = step(schedule);
  send_ticks(worker_.db, {&tick, 1});
  observer_.execute("UPDATE schedule SET due_at = UTC_TIMESTAMP(6) WHERE schedule_id > 0");
  const auto again =
      steps_of(found(), queue_, due_ + minutes(1), {{}, 0, false, due_ + minutes(2)}, std::nullopt);
  const std::vector<std::string> keys{overlap_key(waits), "other"};
  FreeKeys free = free_keys(observer_, keys);
  ASSERT_EQ(free.size(), 1U);
  EXPECT_FALSE(free.at(keys[0])) << "a task has it";
  EXPECT_TRUE(refuses(again.at(0)));
  EXPECT_EQ(found().next_run, due_ + minutes(1)) << "it stays due";
  EXPECT_EQ(found().ticks, 1U);
  Block block = must_lease();
  const Moment before = database_now(observer_);
  ack(worker_.db, partition_, std::vector{finished(block.tasks.at(0))});
  free = free_keys(observer_, keys);
  ASSERT_TRUE(free.at(keys[0]));
  EXPECT_GE(*free.at(keys[0]), before);
  EXPECT_TRUE(send_ticks(worker_.db, again).at(0));
}

// S58: the task of the previous tick ended while the clock was a day ahead.
TEST_F(TickTest, AnOverlapEndsAfterAClockThatWasAhead) {
  for (const Overlap overlap : {Overlap::kSkip, Overlap::kWait}) {
    observer_.execute("DELETE FROM schedule; DELETE FROM task_unique");
    ScheduleSpec one = spec();
    one.overlap = overlap;
    const Schedule schedule = put(one);
    const std::vector<std::string> keys{overlap_key(one)};
    const auto send = [&](int after) {
      observer_.execute("UPDATE schedule SET due_at = UTC_TIMESTAMP(6) WHERE schedule_id > 0");
      const auto steps = steps_of(found(), queue_, due_ + minutes(after),
                                  {{}, 0, false, due_ + minutes(after + 1)}, std::nullopt);
      return send_ticks(worker_.db, steps).at(0);
    };
    ASSERT_TRUE(send(0));
    set_clock(worker_.db, hours(24));
    Block block = must_lease();
    ASSERT_TRUE(ack_and_release(worker_.db, block.lease, std::vector{finished(block.tasks.at(0))}));
    set_clock(worker_.db, std::nullopt);
    if (overlap == Overlap::kSkip) {
      EXPECT_FALSE(send(1)) << "the claim meets the key, and cuts its time";
    } else {
      EXPECT_FALSE(free_keys(worker_.db, keys).at(keys[0]));
      EXPECT_TRUE(free_keys(worker_.db, keys).at(keys[0]));
    }
    EXPECT_TRUE(send(2)) << name_of(overlap);
    set_clock(worker_.db, hours(24));
    block = must_lease();
    ack_and_release(worker_.db, block.lease, std::vector{finished(block.tasks.at(0))});
    set_clock(worker_.db, std::nullopt);
  }
}

TEST_F(TickTest, DroppedTicksAreCountedAndReported) {
  const Schedule schedule = put(spec());
  const LaterTicks later{{due_ + minutes(4), due_ + minutes(5)}, 5, false, due_ + minutes(6)};
  const auto once = steps_of(schedule, queue_, due_ + minutes(10), later, std::nullopt);
  ASSERT_EQ(once.size(), 1U);
  send_ticks(worker_.db, once);
  const Schedule after = found();
  EXPECT_EQ(after.dropped, 5U);
  EXPECT_EQ(after.submitted, 1U);
  EXPECT_EQ(after.ticks, 6U);
  EXPECT_EQ(after.last_run, due_ + minutes(5));
  const auto list = ticks(after);
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[0].tick, due_ + minutes(5));
  EXPECT_NE(list[0].task, "");
  EXPECT_EQ(list[1].tick, due_ + minutes(4));
  EXPECT_EQ(list[1].reason, "5 ticks late");
}

TEST_F(TickTest, TheLastTwentyAreKept) {
  put(spec());
  for (int i = 0; i < 25; ++i) {
    const Schedule schedule = found();
    Tick tick = step(schedule);
    tick.seen_next_run = *schedule.next_run;
    tick.tick = *schedule.next_run;
    tick.next_run = tick.tick + std::chrono::microseconds(1);
    tick.due_at = due_;
    send_ticks(worker_.db, {&tick, 1});
  }
  const auto list = ticks(found());
  ASSERT_EQ(list.size(), 20U);
  EXPECT_EQ(list.front().tick_no, 25U);
  EXPECT_EQ(list.back().tick_no, 6U);
}

TEST_F(TickTest, AFailureIsWrittenOnceAndEndsWithATick) {
  put(spec());
  const auto due = due_schedules(worker_.db, seconds(3), 10);
  ASSERT_EQ(due.size(), 1U);
  EXPECT_LT(due[0].due_in.count(), 0);
  EXPECT_TRUE(fail_schedule(worker_.db, due[0], "no queue"));
  const Schedule failed = found();
  EXPECT_EQ(failed.error, "no queue");
  EXPECT_FALSE(fail_schedule(worker_.db, due[0], "no queue"));
  EXPECT_TRUE(fail_schedule(worker_.db, due[0], std::string(300, 'x')));
  EXPECT_EQ(found().error, std::string(252, 'x'));
  EXPECT_EQ(found().error_since, failed.error_since);
  const Tick tick = step(found());
  send_ticks(worker_.db, {&tick, 1});
  EXPECT_EQ(found().error, "");
  EXPECT_FALSE(found().error_since);
}

}  // namespace
}  // namespace allot::queue
