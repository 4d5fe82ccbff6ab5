// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <set>

#include "db/queue/fixture.h"
#include "queue/model/task_facts.h"
#include "queue/schedules/schedule_store.h"

namespace allot::queue {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::seconds;

// The message of an error of `call`; empty if it succeeds.
template <typename Call>
std::string error_said_by(Call&& call) {
  try {
    call();
    return {};
  } catch (const Error& error) {
    return error.what();
  }
}

class ScheduleTest : public QueueTest {
 protected:
  static ScheduleSpec spec() {
    ScheduleSpec spec;
    spec.name = "nightly";
    spec.expression = "0 3 * * *";
    spec.queue = "q";
    spec.type = "t";
    spec.payload = "{\"a\": 1.10}";
    return spec;
  }
  static ScheduleSpec full() {
    ScheduleSpec all = spec();
    all.zone = "Europe/Berlin";
    all.payload = "{\"b\": \"\xc3\xa4\\\\\"}";
    all.options.prio = 3;
    all.options.delay = seconds(5);
    all.options.unique_key = std::string("a\0b'", 4);
    all.options.unique_for = hours(1);
    all.options.expires_in = hours(2);
    all.late = Late::kAll;
    all.late_after = seconds(7);
    all.catch_up = 9;
    all.jitter = seconds(30);
    all.tick_field = "scheduled_at";
    return all;
  }
  Moment now() { return database_now(observer_); }
  Schedule found(const std::string& name = "nightly") {
    auto schedule = find_schedule(observer_, name);
    return schedule ? *schedule : Schedule{};
  }

  Moment next_ = std::chrono::floor<seconds>(now()) + hours(1);
};

TEST_F(ScheduleTest, IsReadAsItWasPut) {
  EXPECT_EQ(put_schedule(worker_.db, full(), next_), Put::kAdded);
  const Schedule schedule = found();
  EXPECT_EQ(schedule.spec, full());
  EXPECT_EQ(schedule.next_run, next_);
  EXPECT_EQ(schedule.due_at, due_at(full(), next_));
  EXPECT_LT(*schedule.due_at, next_ + seconds(30));
  EXPECT_EQ(schedule.ticks, 0U);
  EXPECT_FALSE(schedule.applied);
  const auto list = list_schedules(observer_);
  ASSERT_EQ(list.size(), 1U);
  EXPECT_EQ(list[0].spec.payload, "");
  EXPECT_EQ(list[0].spec.tick_field, "scheduled_at");
  EXPECT_FALSE(find_schedule(observer_, "Nightly"));
}

// S35
TEST_F(ScheduleTest, AChangeRaisesTheVersionAndKeepsWhatIsNotChanged) {
  put_schedule(worker_.db, spec(), next_);
  const Schedule before = found();
  EXPECT_EQ(put_schedule(worker_.db, spec(), next_ + hours(1)), Put::kSame);
  EXPECT_EQ(found().version, before.version);
  ScheduleSpec changed = spec();
  changed.payload = "other";
  EXPECT_EQ(put_schedule(worker_.db, changed, next_ + hours(1)), Put::kChanged);
  const Schedule after = found();
  EXPECT_GT(after.version, before.version);
  EXPECT_EQ(after.next_run, next_) << "the expression is the same, and so is its next tick";
  EXPECT_EQ(after.schedule_id, before.schedule_id);
  changed.expression = "0 4 * * *";
  EXPECT_EQ(put_schedule(worker_.db, changed, next_ + hours(2)), Put::kChanged);
  EXPECT_EQ(found().next_run, next_ + hours(2));
  changed.jitter = seconds(30);
  EXPECT_EQ(put_schedule(worker_.db, changed, next_ + hours(3)), Put::kChanged);
  EXPECT_EQ(found().next_run, next_ + hours(2));
  EXPECT_EQ(found().due_at, due_at(changed, next_ + hours(2)));
}

TEST_F(ScheduleTest, OneThatIsMadeAgainHasAHigherVersionAndAnotherNumber) {
  put_schedule(worker_.db, spec(), next_);
  const Schedule before = found();
  EXPECT_TRUE(remove_schedule(worker_.db, "nightly"));
  EXPECT_FALSE(remove_schedule(worker_.db, "nightly"));
  EXPECT_EQ(put_schedule(worker_.db, spec(), next_), Put::kAdded);
  EXPECT_GT(found().version, before.version);
  EXPECT_NE(found().schedule_id, before.schedule_id);
}

TEST_F(ScheduleTest, AnAppliedTextChangesNothingTwiceNorAfterAHigherRevision) {
  EXPECT_EQ(put_schedule(worker_.db, spec(), next_, AppliedText{7, 2}), Put::kAdded);
  ScheduleSpec changed = spec();
  changed.type = "by-hand";
  EXPECT_EQ(put_schedule(worker_.db, changed, next_), Put::kChanged);
  EXPECT_EQ(put_schedule(worker_.db, spec(), next_, AppliedText{7, 2}), Put::kSame);
  EXPECT_EQ(found().spec.type, "by-hand");
  ScheduleSpec other = spec();
  other.type = "other";
  EXPECT_EQ(put_schedule(worker_.db, other, next_, AppliedText{8, 1}), Put::kOlder);
  EXPECT_EQ(found().spec.type, "by-hand");
  EXPECT_EQ(put_schedule(worker_.db, other, next_, AppliedText{8, 2}), Put::kChanged);
  EXPECT_EQ(found().spec.type, "other");
  EXPECT_EQ(found().applied, 8U);
  EXPECT_EQ(put_schedule(worker_.db, other, next_, AppliedText{8, 3}), Put::kSame);
  EXPECT_EQ(found().revision, 3U);
}

TEST_F(ScheduleTest, APauseIsKeptByAChangeAndEndsWithAResume) {
  EXPECT_FALSE(pause_schedule(worker_.db, "nightly", "x"));
  EXPECT_FALSE(resume_schedule(worker_.db, "nightly"));
  put_schedule(worker_.db, spec(), next_);
  EXPECT_TRUE(resume_schedule(worker_.db, "nightly"));
  EXPECT_FALSE(found().resumed_at) << "it was not paused";
  const std::uint64_t version = found().version;
  EXPECT_TRUE(pause_schedule(worker_.db, "nightly", "a \xff reason"));
  const Schedule paused = found();
  ASSERT_TRUE(paused.paused_at);
  EXPECT_EQ(paused.pause_reason, "a \xef\xbf\xbd reason");
  EXPECT_GT(paused.version, version);
  EXPECT_TRUE(pause_schedule(worker_.db, "nightly", "another"));
  EXPECT_EQ(found().paused_at, paused.paused_at);
  EXPECT_EQ(found().pause_reason, "another");
  EXPECT_EQ(found().version, paused.version);
  put_schedule(worker_.db, full(), next_);
  EXPECT_EQ(found().paused_at, paused.paused_at);
  EXPECT_TRUE(resume_schedule(worker_.db, "nightly"));
  EXPECT_FALSE(found().paused_at);
  ASSERT_TRUE(found().resumed_at);
  EXPECT_GE(*found().resumed_at, *paused.paused_at);
  EXPECT_GT(found().version, paused.version);
}

TEST_F(ScheduleTest, RunNowMakesATaskAndItsRecord) {
  EXPECT_FALSE(run_schedule_now(worker_.db, "nightly"));
  ScheduleSpec spec = full();
  spec.options.unique_key.reset();
  put_schedule(worker_.db, spec, next_);
  pause_schedule(worker_.db, "nightly", "");
  const Moment before = now();
  const auto id = run_schedule_now(worker_.db, "nightly");
  ASSERT_TRUE(id);
  const auto task = show(observer_, *id);
  ASSERT_TRUE(task);
  EXPECT_EQ(task->type, "t");
  EXPECT_TRUE(task->payload.starts_with("{\"scheduled_at\":\"20")) << task->payload;
  const Schedule schedule = found();
  EXPECT_EQ(schedule.last_task, id->text());
  EXPECT_GE(*schedule.last_run, before);
  EXPECT_EQ(schedule.next_run, next_);
  EXPECT_EQ(schedule.submitted, 1U);
  const auto ticks = list_ticks(observer_, schedule.schedule_id);
  ASSERT_EQ(ticks.size(), 1U);
  EXPECT_EQ(ticks[0].task, id->text());
  EXPECT_EQ(ticks[0].reason, "run now");
  EXPECT_EQ(ticks[0].tick, schedule.last_run);
}

TEST_F(ScheduleTest, RunNowWithAUniqueKeyThatIsTakenNamesItsTask) {
  put_schedule(worker_.db, full(), next_);
  const auto first = run_schedule_now(worker_.db, "nightly");
  const auto second = run_schedule_now(worker_.db, "nightly");
  ASSERT_TRUE(first && second);
  EXPECT_EQ(*first, *second);
  EXPECT_EQ(number("SELECT COUNT(*) FROM task"), 1U);
  EXPECT_EQ(found().submitted, 1U);
  EXPECT_EQ(list_ticks(observer_, found().schedule_id).size(), 1U);
}

TEST_F(ScheduleTest, RunNowSaysWhatTheQueueRefuses) {
  ScheduleSpec nowhere = spec();
  nowhere.queue = "nowhere";
  put_schedule(worker_.db, nowhere, next_);
  EXPECT_NE(error_said_by([&] {
              run_schedule_now(worker_.db, "nightly");
            }).find("unknown queue 'nowhere'"),
            std::string::npos);
  EXPECT_EQ(found().ticks, 0U);
}

TEST_F(ScheduleTest, InvalidFieldIsNamed) {
  const auto refused = [](const std::function<void(ScheduleSpec&)>& change) {
    ScheduleSpec wrong = full();
    wrong.options.unique_key.reset();
    change(wrong);
    return error_said_by([&] { validate(wrong); });
  };
  using S = ScheduleSpec;
  const std::vector<std::pair<std::string, std::function<void(S&)>>> cases = {
      {"name", [](S& s) { s.name = std::string(64, 'a'); }},
      {"name", [](S& s) { s.name = "a/b"; }},
      {"expression", [](S& s) { s.expression = std::string(256, '*'); }},
      {"expression", [](S& s) { s.expression = "* *\n"; }},
      {"zone", [](S& s) { s.zone = ""; }},
      {"queue", [](S& s) { s.queue = ""; }},
      {"type", [](S& s) { s.type = "a b"; }},
      {"payload", [](S& s) { s.payload = "[1]"; }},
      {"payload", [](S& s) { s.payload = "{"; }},
      {"tick_field", [](S& s) { s.payload = "{\"scheduled_at\": 1}"; }},
      {"tick_field", [](S& s) { s.tick_field = "a\""; }},
      {"catch_up", [](S& s) { s.catch_up = 0; }},
      {"catch_up", [](S& s) { s.catch_up = 1001; }},
      {"jitter", [](S& s) { s.jitter = hours(25); }},
      {"late_after", [](S& s) { s.late_after = microseconds(-1); }},
      {"run_at", [](S& s) { s.options.run_at = Moment{}; }},
      {"prio", [](S& s) { s.options.prio = 4; }},
      {"unique_key",
       [](S& s) {
         s.overlap = Overlap::kSkip;
         s.options.unique_key = "k";
       }},
  };
  for (const auto& [field, change] : cases) {
    EXPECT_EQ(refused(change).find(field), 0U) << field << ": " << refused(change);
  }
  EXPECT_EQ(refused([](S&) {}), "");
}

TEST_F(ScheduleTest, ThePayloadKeepsItsBytesWithTheTick) {
  ScheduleSpec spec = full();
  const auto payload = [&](const std::string& text) {
    spec.payload = text;
    return submission_of(spec, queue_, Moment(seconds(1'774'742'400))).payload;
  };
  const std::string member = "\"scheduled_at\":\"2026-03-29T00:00:00Z\"";
  EXPECT_EQ(payload(" {\"n\": 1.10}"), " {" + member + ",\"n\": 1.10}");
  EXPECT_EQ(payload("{ }"), "{" + member + " }");
  EXPECT_EQ(payload(""), "{" + member + "}");
}

TEST_F(ScheduleTest, TheJitterIsTheSameForAllAndSpreads) {
  ScheduleSpec spec = full();
  std::set<std::int64_t> quarters;
  for (int i = 0; i < 60; ++i) {
    const Moment tick(seconds(1'774'742'400 + i * 60));
    const auto behind = due_at(spec, tick) - tick;
    EXPECT_GE(behind.count(), 0);
    EXPECT_LT(behind, spec.jitter);
    quarters.insert(behind / (spec.jitter / 4));
  }
  EXPECT_EQ(quarters.size(), 4U);
  const Moment tick(seconds(1'774'742'400));
  EXPECT_EQ((due_at(spec, tick) - tick).count(), 1'718'081)
      << "the value stays from version to version";
}

}  // namespace
}  // namespace allot::queue
