// SPDX-License-Identifier: Apache-2.0
#include "queue/schedules/policy.h"

#include <gtest/gtest.h>

namespace allot::queue {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr Moment kFirst = std::chrono::sys_days(std::chrono::year(2026) / 1 / 1);
const QueueInfo kQueue{7, "q", {4}};

Moment at(int minute) {
  return kFirst + minutes(minute);
}

class PolicyTest : public testing::Test {
 protected:
  PolicyTest() {
    schedule_.schedule_id = 3;
    schedule_.version = 9;
    schedule_.spec.name = "s";
    schedule_.spec.type = "t";
    schedule_.next_run = kFirst;
  }
  // A schedule of every minute; `later` ticks after the first one are due.
  [[nodiscard]] static LaterTicks later(int count, std::size_t known = 1000) {
    LaterTicks ticks{{}, static_cast<std::uint64_t>(count), false, at(count + 1)};
    for (int i = 1; i <= count; ++i) ticks.newest.push_back(at(i));
    if (ticks.newest.size() > known) {
      ticks.newest.erase(ticks.newest.begin(), ticks.newest.end() - static_cast<long>(known));
    }
    return ticks;
  }
  // At the last of them.
  [[nodiscard]] std::vector<Tick> steps(int count, std::optional<Moment> free_since = {}) const {
    return steps_of(schedule_, kQueue, at(count), later(count), free_since);
  }
  // Minutes of the ticks with a task.
  [[nodiscard]] static std::vector<int> submitted(const std::vector<Tick>& steps) {
    std::vector<int> ticks;
    for (const Tick& step : steps) {
      if (step.task) ticks.push_back(static_cast<int>((step.tick - kFirst) / minutes(1)));
    }
    return ticks;
  }
  static std::uint64_t dropped(const std::vector<Tick>& steps) {
    std::uint64_t sum = 0;
    for (const Tick& step : steps) sum += step.dropped;
    return sum;
  }
  // S34: each step begins at the end of the previous one, and advances.
  static void expect_forward(const std::vector<Tick>& steps, std::optional<Moment> end) {
    Moment from = kFirst;
    for (const Tick& step : steps) {
      EXPECT_EQ(step.seen_next_run, from);
      EXPECT_EQ(step.version, 9U);
      if (step.next_run) {
        EXPECT_GT(*step.next_run, from);
        EXPECT_GT(*step.next_run, step.tick);
      }
      from = step.next_run.value_or(Moment::max());
    }
    EXPECT_EQ(steps.back().next_run, end);
  }

  Schedule schedule_;
};

TEST_F(PolicyTest, OneTickIsOneStep) {
  for (const Late late : {Late::kOnce, Late::kSkip, Late::kAll}) {
    schedule_.spec.late = late;
    const auto found = steps(0);
    EXPECT_EQ(submitted(found), std::vector{0});
    EXPECT_EQ(dropped(found), 0U);
    expect_forward(found, at(1));
  }
}

TEST_F(PolicyTest, PunctualTickIsSubmittedWithAnyPolicy) {
  schedule_.spec.late_after = minutes(5);
  for (const Late late : {Late::kOnce, Late::kSkip, Late::kAll}) {
    schedule_.spec.late = late;
    const auto found = steps(3);
    EXPECT_EQ(submitted(found), (std::vector{0, 1, 2, 3}));
    expect_forward(found, at(4));
  }
}

TEST_F(PolicyTest, OnceKeepsTheNewestLateTick) {
  const auto found = steps(10);  // 9 and 10 are not late
  EXPECT_EQ(submitted(found), (std::vector{8, 9, 10}));
  EXPECT_EQ(dropped(found), 8U);
  EXPECT_EQ(found[0].newest_dropped, at(7));
  EXPECT_EQ(found[0].reason, "8 ticks late");
  expect_forward(found, at(11));
}

TEST_F(PolicyTest, SkipKeepsNoLateTick) {
  schedule_.spec.late = Late::kSkip;
  auto found = steps(10);
  EXPECT_EQ(submitted(found), (std::vector{9, 10}));
  EXPECT_EQ(dropped(found), 9U);
  expect_forward(found, at(11));
  found = steps_of(schedule_, kQueue, at(500), later(10), std::nullopt);
  EXPECT_TRUE(submitted(found).empty());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].dropped, 11U);
  EXPECT_EQ(found[0].tick, at(10));
  expect_forward(found, at(11));
}

// S36
TEST_F(PolicyTest, AllKeepsTheNewestAsManyAsItMay) {
  schedule_.spec.late = Late::kAll;
  schedule_.spec.catch_up = 4;
  const auto found = steps(10);
  EXPECT_EQ(submitted(found), (std::vector{7, 8, 9, 10}));
  EXPECT_EQ(dropped(found), 7U);
  expect_forward(found, at(11));
}

// S36: also without late ticks, and with unknown ones.
TEST_F(PolicyTest, NoPolicyKeepsMoreThanItMay) {
  schedule_.spec.late_after = hours(10);
  schedule_.spec.catch_up = 3;
  for (const Late late : {Late::kOnce, Late::kSkip, Late::kAll}) {
    schedule_.spec.late = late;
    EXPECT_EQ(submitted(steps(10)), (std::vector{8, 9, 10}));
    LaterTicks many = later(10, 3);
    many.count = 2'000;
    many.at_least = true;
    const auto found = steps_of(schedule_, kQueue, at(10), many, std::nullopt);
    EXPECT_EQ(submitted(found), (std::vector{8, 9, 10}));
    EXPECT_EQ(found[0].dropped, 1998U);
    EXPECT_EQ(found[0].reason, "at least 1998 ticks late");
    expect_forward(found, at(11));
  }
}

// S36: ticks that do not fit are still due, and come in the next round.
TEST_F(PolicyTest, StepsAreBoundedInNumberAndBytes) {
  schedule_.spec.late = Late::kAll;
  schedule_.spec.catch_up = 1000;
  auto found = steps(500);
  EXPECT_EQ(found.size(), 100U);
  EXPECT_EQ(dropped(found), 0U);
  expect_forward(found, at(100));
  schedule_.spec.payload = std::string(3 << 20, 'x');
  found = steps(500);
  EXPECT_EQ(found.size(), 2U);
  expect_forward(found, at(2));
}

TEST_F(PolicyTest, TicksInAPauseAreDropped) {
  schedule_.resumed_at = at(3) + seconds(30);
  schedule_.spec.late = Late::kAll;
  const Question question = question_of(schedule_, at(10));
  EXPECT_LT(question.until, *schedule_.resumed_at);
  EXPECT_GT(question.until, at(3));
  const auto found = steps_of(schedule_, kQueue, at(10), later(3), std::nullopt);
  EXPECT_TRUE(submitted(found).empty());
  EXPECT_EQ(found.at(0).reason, "4 ticks in a pause");
  expect_forward(found, at(4));
  schedule_.next_run = at(4);
  EXPECT_EQ(question_of(schedule_, at(10)).until, at(10)) << "the pause was before";
}

TEST_F(PolicyTest, ATickWhoseJitterMayNotBeOverIsLeftForLater) {
  schedule_.spec.jitter = minutes(10);
  EXPECT_EQ(question_of(schedule_, at(30)).until, at(20));
  EXPECT_EQ(question_of(schedule_, at(5)).until, kFirst);
  const auto found = steps(0);
  EXPECT_EQ(*found[0].due_at, due_at(schedule_.spec, at(1)));
  EXPECT_GT(*found[0].due_at, at(1));
}

TEST_F(PolicyTest, ATickThatWaitedIsLateOnlySinceItMayRun) {
  schedule_.spec.overlap = Overlap::kWait;
  auto found = steps(10, at(10) - seconds(1));
  EXPECT_EQ(submitted(found), std::vector{0});
  EXPECT_TRUE(found[0].waits);
  EXPECT_EQ(found[0].dropped, 10U);
  EXPECT_EQ(found[0].newest_dropped, at(10));
  EXPECT_EQ(found[0].reason, "10 ticks while a task was not finished");
  expect_forward(found, at(11));
  // The key was free all the time: the schedule was not processed.
  found = steps(10, kFirst - hours(1));
  EXPECT_EQ(submitted(found), std::vector{10});
  EXPECT_EQ(dropped(found), 10U);
  EXPECT_EQ(submitted(steps(10)), std::vector{10});
  schedule_.spec.late = Late::kSkip;
  found = steps_of(schedule_, kQueue, at(500), later(10), kFirst);
  EXPECT_TRUE(submitted(found).empty());
}

TEST_F(PolicyTest, TheLastTickOfAllEndsIt) {
  LaterTicks none;
  const auto found = steps_of(schedule_, kQueue, kFirst, none, std::nullopt);
  EXPECT_EQ(submitted(found), std::vector{0});
  EXPECT_FALSE(found[0].next_run);
  EXPECT_FALSE(found[0].due_at);
}

}  // namespace
}  // namespace allot::queue
