// SPDX-License-Identifier: Apache-2.0
#include "fault/checker.h"

#include <gtest/gtest.h>

#include "fault/record.h"
#include "queue/model/task.h"

namespace allot::fault {
namespace {

constexpr pid_t kParent = 99;

// Times are small numbers here: the checker only compares them.
struct Story : Evidence {
  Story() {
    recovery = 5;
    unacknowledged = 3;
  }
  Story& told_of(std::uint64_t first, std::uint64_t count, Answer answer) {
    replies.push_back({1, first, count, answer});
    return *this;
  }
  Story& run(const std::string& tag, pid_t pid, Nanoseconds start, Nanoseconds end,
             Mark mark = Mark::kSuccess, const std::string& task = "t", Mark how = Mark::kStart) {
    traces.push_back({how, "q", task + tag, tag, pid, kParent, start});
    if (end != 0) traces.push_back({mark, "q", task + tag, tag, pid, kParent, end});
    return *this;
  }
  Story& run_beside(const std::string& tag, pid_t pid, Nanoseconds start, Nanoseconds end) {
    return run(tag, pid, start, end, Mark::kSuccess, "t", Mark::kBeside);
  }
  Story& hit(const std::string& kind, pid_t pid, Nanoseconds begin, Nanoseconds end, bool fatal,
             Reach reach = Reach::kOne) {
    faults.push_back({kind, pid, begin, end, fatal, false, reach});
    return *this;
  }
};

TEST(Checker, AcknowledgedAndRunOnceIsClean) {
  const auto verdict = check(
      Story().told_of(1, 2, Answer::kAcknowledged).run("1.1", 7, 10, 20).run("1.2", 8, 15, 25));
  EXPECT_TRUE(verdict.clean());
  EXPECT_EQ(verdict.acknowledged, 2U);
  EXPECT_EQ(verdict.runs, 2U);
  EXPECT_EQ(verdict.duplicates, 0U);
}

TEST(Checker, AcknowledgedAndNeverRunIsLost) {
  const auto verdict = check(Story().told_of(1, 2, Answer::kAcknowledged).run("1.1", 7, 10, 20));
  EXPECT_EQ(verdict.lost, 1U);
  EXPECT_FALSE(verdict.clean());
}

TEST(Checker, StartedAndNeverFinishedIsLost) {
  EXPECT_EQ(check(Story().told_of(1, 1, Answer::kAcknowledged).run("1.1", 7, 10, 0)).lost, 1U);
  EXPECT_EQ(check(Story().told_of(1, 1, Answer::kUnknown).run("1.1", 7, 10, 0)).lost, 1U);
  EXPECT_EQ(
      check(Story().told_of(1, 1, Answer::kAcknowledged).run("1.1", 7, 10, 20, Mark::kRetry)).lost,
      1U);
}

TEST(Checker, WaitingTaskIsUnfinishedNotLost) {
  Story story;
  story.told_of(1, 1, Answer::kAcknowledged).waiting = {"1.1"};
  const auto verdict = check(story);
  EXPECT_EQ(verdict.lost, 0U);
  EXPECT_EQ(verdict.unfinished, 1U);
}

TEST(Checker, RefusedMayNotBeThere) {
  EXPECT_TRUE(check(Story().told_of(1, 3, Answer::kRefused)).clean());
  EXPECT_EQ(check(Story().told_of(1, 3, Answer::kRefused).run("1.2", 7, 1, 2)).unexpected, 1U);
}

TEST(Checker, AnUnsubmittedTaskIsUnexpected) {
  EXPECT_EQ(check(Story().run("1.1", 7, 1, 2)).unexpected, 1U);
  EXPECT_EQ(
      check(Story().told_of(1, 1, Answer::kAcknowledged).run("1.1", 7, 1, 2).run("1.2", 7, 3, 4))
          .unexpected,
      1U);
}

TEST(Checker, AnEndWithoutAStartIsUnexpected) {
  Story story;
  story.told_of(1, 1, Answer::kAcknowledged).run("1.1", 7, 1, 2);
  story.traces.push_back({Mark::kSuccess, "q", "t", "1.1", 8, kParent, 3});
  EXPECT_EQ(check(story).unexpected, 1U);
}

TEST(Checker, ALostReplyMayHaveSubmittedAllOrNothing) {
  EXPECT_TRUE(check(Story().told_of(1, 2, Answer::kUnknown)).clean());
  const auto all =
      check(Story().told_of(1, 2, Answer::kUnknown).run("1.1", 7, 1, 2).run("1.2", 7, 3, 4));
  EXPECT_TRUE(all.clean());
  EXPECT_EQ(all.unknown, 2U);
  EXPECT_EQ(all.unknown_exist, 2U);
  EXPECT_EQ(check(Story().told_of(1, 2, Answer::kUnknown).run("1.1", 7, 1, 2)).torn, 1U);
}

TEST(Checker, OneSubmissionIsOneTask) {
  const auto verdict = check(Story()
                                 .told_of(1, 1, Answer::kUnknown)
                                 .run("1.1", 7, 10, 20, Mark::kSuccess, "a")
                                 .run("1.1", 8, 30, 40, Mark::kSuccess, "b")
                                 .hit("kill", 7, 15, 16, true));
  EXPECT_EQ(verdict.doubled, 1U);
}

TEST(Checker, ADuplicateNeedsAFaultThatHitItsWorkerInTime) {
  const auto twice = [](pid_t pid, Nanoseconds begin, Nanoseconds end, bool fatal) {
    return check(Story()
                     .told_of(1, 1, Answer::kAcknowledged)
                     .run("1.1", 7, 10, 20)
                     .run("1.1", 8, 30, 40)
                     .hit("x", pid, begin, end, fatal));
  };
  EXPECT_TRUE(twice(7, 21, 22, true).clean());
  EXPECT_EQ(twice(7, 21, 22, true).duplicates, 1U);
  EXPECT_EQ(twice(8, 21, 22, true).doubtful, std::vector<std::string>{"1.1"});
  EXPECT_TRUE(twice(7, 21, 22, true).doubtful.empty());
  EXPECT_EQ(twice(8, 21, 22, true).unexplained_duplicates, 1U) << "another worker";
  EXPECT_EQ(twice(7, 8, 9, true).unexplained_duplicates, 1U) << "before";
  EXPECT_EQ(twice(7, 31, 32, true).unexplained_duplicates, 1U) << "after";
  EXPECT_TRUE(twice(7, 1, 5, false).clean()) << "it shows for some seconds";
  EXPECT_EQ(twice(7, 1, 4, false).unexplained_duplicates, 1U) << "but not longer";
  EXPECT_TRUE(twice(0, 21, 22, false).clean()) << "it hit all";
  EXPECT_TRUE(twice(kParent, 21, 22, true).clean()) << "it hit the host";
}

// Worker 8 was stopped between its check of the lease and the start, while worker 7 ran the task.
TEST(Checker, AStopRightBeforeAStartExplainsThatStartAndNoOther) {
  Story story;
  story.told_of(1, 2, Answer::kAcknowledged);
  story.run("1.1", 7, 50, 60).run("1.2", 7, 61, 62).run("1.1", 8, 90, 91);
  EXPECT_EQ(check(story).unexplained_duplicates, 1U);
  story.hit("stop_host", 8, 40, 92, false);
  EXPECT_EQ(check(story).unexplained_duplicates, 0U);
  EXPECT_EQ(check(story).duplicates_by.at("stop_host").all, 1U);
  story.run("1.2", 8, 91, 92);
  EXPECT_EQ(check(story).unexplained_duplicates, 1U) << "by then it has to look again";
}

TEST(Checker, OnlyAStopThatIsNotOverExplainsALateStart) {
  Story story;
  story.told_of(1, 1, Answer::kAcknowledged).run("1.1", 7, 50, 60).run("1.1", 8, 90, 91);
  story.hit("stop_host", 8, 40, 89, false).hit("kill_connection", 8, 40, 92, false);
  EXPECT_EQ(check(story).unexplained_duplicates, 1U);
}

TEST(Checker, AStopRightBeforeAStartExplainsAnOverlap) {
  Story story;
  story.told_of(1, 1, Answer::kAcknowledged).run("1.1", 7, 50, 100).run_beside("1.1", 8, 90, 91);
  EXPECT_EQ(check(story).unexplained_overlaps, 1U);
  story.hit("stop_worker", 8, 40, 92, false);
  EXPECT_EQ(check(story).unexplained_overlaps, 0U);
}

TEST(Checker, ARequestedRetryIsNotADuplicate) {
  const auto verdict = check(Story()
                                 .told_of(1, 1, Answer::kAcknowledged)
                                 .run("1.1", 7, 10, 20, Mark::kRetry)
                                 .run("1.1", 8, 30, 40));
  EXPECT_TRUE(verdict.clean());
  EXPECT_EQ(verdict.duplicates, 0U);
}

TEST(Checker, AnOverlapNeedsAFaultThatLeftTheWorkerAlive) {
  const auto overlap = [](pid_t pid, bool fatal, Nanoseconds first_end) {
    return check(Story()
                     .told_of(1, 1, Answer::kAcknowledged)
                     .run("1.1", 7, 10, first_end)
                     .run_beside("1.1", 8, 30, 40)
                     .hit("x", pid, 15, 16, fatal));
  };
  EXPECT_EQ(overlap(7, false, 0).overlaps, 1U);
  EXPECT_TRUE(overlap(7, false, 0).clean());
  EXPECT_TRUE(overlap(7, false, 35).clean());
  EXPECT_EQ(overlap(7, true, 0).unexplained_overlaps, 1U) << "the kernel says that it lived";
  EXPECT_EQ(overlap(9, false, 0).unexplained_overlaps, 1U) << "another worker";
}

TEST(Checker, ARunThatEndedWithItsWorkerIsNotAnOverlap) {
  const auto verdict = check(Story()
                                 .told_of(1, 1, Answer::kAcknowledged)
                                 .run("1.1", 7, 10, 0)
                                 .run("1.1", 8, 30, 40)
                                 .hit("x", 7, 15, 31, true));
  EXPECT_TRUE(verdict.clean());
  EXPECT_EQ(verdict.overlaps, 0U);
  EXPECT_EQ(verdict.duplicates, 1U);
}

TEST(Checker, AnEarlierRunThatEndsLaterIsAnOverlap) {
  Story story;
  story.told_of(1, 1, Answer::kAcknowledged)
      .run("1.1", 7, 10, 35)
      .run("1.1", 8, 30, 40)
      .hit("x", 7, 15, 16, false);
  EXPECT_EQ(check(story).overlaps, 1U);
}

TEST(Checker, InAnExclusiveQueueNoFaultExcusesAnOverlap) {
  Story story;
  story.told_of(1, 1, Answer::kAcknowledged)
      .run("1.1", 7, 10, 35)
      .run_beside("1.1", 8, 30, 40)
      .hit("x", 7, 15, 16, false);
  EXPECT_TRUE(check(story).clean());
  story.exclusive = {"q"};
  EXPECT_EQ(check(story).exclusive_overlaps, 1U);
  EXPECT_FALSE(check(story).clean());
  story.faults.back().unguarded = true;
  EXPECT_EQ(check(story).frozen_overlaps, 1U) << "it could not have been killed";
  EXPECT_TRUE(check(story).clean());
}

// The first run was killed, the second one continues: the kernel reports the second.
TEST(Checker, AnOverlapIsNotWithTheDead) {
  Story story;
  story.told_of(1, 1, Answer::kAcknowledged)
      .run("1.1", 7, 10, 0)
      .hit("z", 7, 11, 11, false)
      .hit("x", 7, 12, 13, true)
      .run("1.1", 8, 14, 0)
      .hit("y", 8, 15, 16, false)
      .run_beside("1.1", 9, 30, 40);
  story.exclusive = {"q"};
  EXPECT_EQ(check(story).exclusive_overlaps, 1U);
  story.faults.back().unguarded = true;
  EXPECT_EQ(check(story).frozen_overlaps, 1U);
  EXPECT_TRUE(check(story).clean());
}

TEST(Checker, ExplainedDuplicatesAreCounted) {
  const auto verdict = check(Story()
                                 .told_of(1, 2, Answer::kAcknowledged)
                                 .run("1.1", 7, 10, 20)
                                 .run("1.1", 8, 30, 40)
                                 .run("1.2", 7, 21, 0)
                                 .run("1.2", 8, 41, 42)
                                 .hit("all", 0, 5, 6, false)
                                 .hit("kill", 7, 22, 23, true));
  EXPECT_EQ(verdict.duplicates, 2U);
  ASSERT_EQ(verdict.duplicates_by.size(), 1U) << "the kill says more";
  EXPECT_EQ(verdict.duplicates_by.at("kill").all, 2U);
  EXPECT_EQ(verdict.duplicates_by.at("kill").finished, 1U);
}

// Otherwise a fault that hit everything would explain each task that finished at any time before
// and starts again.
TEST(Checker, GlobalFaultExplainsOnlyUnacknowledgedTasks) {
  const auto twice = [](pid_t pid, Nanoseconds begin, Reach reach, Nanoseconds end) {
    return check(Story()
                     .told_of(1, 1, Answer::kAcknowledged)
                     .run("1.1", 7, 10, end)
                     .run("1.1", 8, 30, 40)
                     .hit("x", pid, begin, begin + 1, false, reach));
  };
  EXPECT_TRUE(twice(0, 23, Reach::kAll, 20).clean());
  EXPECT_EQ(twice(0, 24, Reach::kAll, 20).unexplained_duplicates, 1U);
  EXPECT_EQ(twice(7, 24, Reach::kAll, 20).unexplained_duplicates, 1U) << "its connection, with all";
  EXPECT_TRUE(twice(7, 24, Reach::kOne, 20).clean()) << "its own trouble";
  EXPECT_EQ(twice(0, 29, Reach::kAll, 0).unexplained_duplicates, 0U) << "it never ended";
}

TEST(Checker, TheNarrowestFaultExplains) {
  const std::string task = queue::TaskId{{3, 5}, 1, 4711}.text();
  Story story;
  story.told_of(1, 1, Answer::kAcknowledged);
  for (const pid_t pid : {7, 8}) {
    story.traces.push_back({Mark::kStart, "q", task, "1.1", pid, kParent, 10L * pid});
    story.traces.push_back({Mark::kSuccess, "q", task, "1.1", pid, kParent, 10L * pid + 1});
  }
  const auto explained = [&story](const std::string& kind, Scope scope) {
    const auto verdict = check(story);
    EXPECT_EQ(verdict.duplicates_by.count(kind), 1U) << kind;
    EXPECT_EQ(verdict.duplicates_within, (std::map<Scope, std::uint64_t>{{scope, 1}})) << kind;
  };
  story.hit("restart", 0, 72, 73, false, Reach::kAll);
  explained("restart", Scope::kAll);
  story.hit("settler_cut", kParent, 72, 73, false);
  explained("settler_cut", Scope::kHost);
  story.hit("stop_host", 7, 72, 73, false, Reach::kHost);
  EXPECT_EQ(check(story).duplicates_within.at(Scope::kHost), 1U);
  story.hit("hold", place_of(3, 5), 72, 73, false);
  explained("hold", Scope::kPartition);
  story.hit("cut", 7, 72, 73, false);
  explained("cut", Scope::kWorker);
  story.hit("cut_all", 7, 72, 73, false, Reach::kAll);
  explained("cut", Scope::kWorker);
  story.hit("kill_host", 7, 74, 75, true, Reach::kHost);
  explained("kill_host", Scope::kHost);
  story.hit("kill_worker", 7, 74, 75, true);
  explained("kill_worker", Scope::kWorker);
}

TEST(Checker, HowMuchOfTheTimeIsExcusedIsCounted) {
  Story story;
  story.told_of(1, 2, Answer::kAcknowledged).run("1.1", 7, 100, 110).run("1.2", 7, 190, 200);
  EXPECT_EQ(check(story).excused, 0);
  story.hit("kill", 7, 120, 130, true).hit("restart", 0, 120, 122, false, Reach::kAll);
  EXPECT_DOUBLE_EQ(check(story).excused, 0.1) << "3 before, 2, 5 behind";
  story.hit("cut", 8, 125, 127, false, Reach::kAll).hit("cut", 9, 125, 127, false, Reach::kAll);
  const auto verdict = check(story);
  EXPECT_DOUBLE_EQ(verdict.excused, 0.15) << "both, once";
  EXPECT_DOUBLE_EQ(verdict.excused_by.at("restart"), 0.1);
  EXPECT_DOUBLE_EQ(verdict.excused_by.at("cut"), 0.1);
  story.hit("restart", 0, 199, 250, false, Reach::kAll);
  EXPECT_DOUBLE_EQ(check(story).excused, 0.19) << "not behind the end";
  story.hit("restart", 0, 50, 60, false, Reach::kAll);
  EXPECT_DOUBLE_EQ(check(story).excused, 0.19) << "nor before the beginning";
}

TEST(Checker, PoisonIsCountedByWhatItTakesDown) {
  Story story;
  story.max_attempts = 2;
  story.told_of(1, 3, Answer::kAcknowledged)
      .run("1.1", 7, 1, 2, Mark::kCrash)
      .run("1.1", 8, 3, 4, Mark::kCrash)
      .run("1.2", 9, 1, 2, Mark::kRaze)
      .run("1.2", 10, 3, 4, Mark::kRaze)
      .run("1.2", 11, 5, 6, Mark::kRaze)
      .run("1.3", 12, 1, 2, Mark::kFail)
      .dead = {"1.1", "1.2", "1.3"};
  const auto verdict = check(story);
  EXPECT_TRUE(verdict.clean());
  ASSERT_EQ(verdict.poison.size(), 2U);
  EXPECT_FALSE(verdict.poison[0].host);
  EXPECT_EQ(verdict.poison[0].runs, 2U);
  EXPECT_TRUE(verdict.poison[1].host);
  EXPECT_EQ(verdict.poison[1].runs, 3U);
}

TEST(Checker, TheTimeUntilTheNextStartIsMeasuredOnTheInterruptedTask) {
  Story story;
  story.told_of(1, 2, Answer::kAcknowledged)
      .run("1.1", 7, 10, 20)
      .run("1.2", 7, 21, 0)
      .run("1.2", 8, 41, 42)
      .hit("kill", 7, 25, 26, true)
      .hit("kill", 9, 27, 28, true);
  auto verdict = check(story);
  ASSERT_EQ(verdict.restarts.size(), 1U);
  EXPECT_EQ(verdict.restarts[0].kind, "kill");
  EXPECT_EQ(verdict.restarts[0].after, 16);
  EXPECT_FALSE(verdict.restarts[0].disturbed);
  EXPECT_TRUE(check(story.hit("cut", 8, 30, 31, false)).restarts.at(0).disturbed);
}

TEST(Checker, AnOrderedCrashIsAnAttempt) {
  Story story;
  story.max_attempts = 2;
  story.told_of(1, 1, Answer::kAcknowledged)
      .run("1.1", 7, 1, 2, Mark::kCrash)
      .run("1.1", 8, 3, 4, Mark::kCrash)
      .dead = {"1.1"};
  auto verdict = check(story);
  EXPECT_TRUE(verdict.clean());
  EXPECT_EQ(verdict.crashes, 2U);
  EXPECT_EQ(verdict.duplicates, 0U);
  EXPECT_EQ(verdict.dead_by_attempts, 1U);
  story.run("1.1", 9, 5, 6, Mark::kCrash);
  EXPECT_EQ(check(story).overtried, 1U);
  EXPECT_EQ(check(story.hit("x", 8, 4, 4, false)).overtried, 0U) << "one may have gone uncharged";
}

TEST(Checker, DeadNeedsAFail) {
  Story wanted;
  wanted.told_of(1, 1, Answer::kAcknowledged).run("1.1", 7, 1, 2, Mark::kFail).dead = {"1.1"};
  EXPECT_TRUE(check(wanted).clean());
  EXPECT_EQ(check(wanted).dead_as_wanted, 1U);
  Story buried;
  buried.told_of(1, 1, Answer::kAcknowledged).run("1.1", 7, 1, 0).dead = {"1.1"};
  EXPECT_EQ(check(buried).buried, 1U);
  wanted.dead = {"1.1", "1.1"};
  EXPECT_EQ(check(wanted).doubled, 1U);
}

TEST(Checker, AFaultOfAPartitionHitsItsHolder) {
  const std::string task = queue::TaskId{{3, 5}, 1, 4711}.text();
  Story story;
  story.told_of(1, 1, Answer::kAcknowledged);
  for (const pid_t pid : {7, 8}) {
    story.traces.push_back({Mark::kStart, "q", task, "1.1", pid, kParent, 10L * pid});
    story.traces.push_back({Mark::kSuccess, "q", task, "1.1", pid, kParent, 10L * pid + 1});
  }
  EXPECT_EQ(check(story).unexplained_duplicates, 1U);
  EXPECT_EQ(check(story.hit("x", place_of(3, 6), 75, 76, false)).unexplained_duplicates, 1U);
  EXPECT_TRUE(check(story.hit("x", place_of(3, 5), 75, 76, false)).clean());
}

TEST(Checker, AHostKillerMayRunOnceMore) {
  Story story;
  story.max_attempts = 1;
  story.told_of(1, 1, Answer::kAcknowledged)
      .run("1.1", 7, 1, 2, Mark::kRaze)
      .run("1.1", 8, 3, 4, Mark::kRaze)
      .dead = {"1.1"};
  EXPECT_TRUE(check(story).clean());
  EXPECT_EQ(check(story.run("1.1", 9, 5, 6, Mark::kRaze)).overtried, 1U);
}

TEST(Checker, SucceededTaskIsDeadOnlyAfterAFaultOfItsWorker) {
  Story story;
  story.told_of(1, 1, Answer::kAcknowledged)
      .run("1.1", 7, 10, 30, Mark::kFail)
      .run_beside("1.1", 8, 20, 40)
      .hit("stop", 7, 11, 12, false)
      .dead = {"1.1"};
  EXPECT_EQ(check(story).contradicted, 1U);
  EXPECT_EQ(check(story.hit("kill", 8, 41, 42, true)).contradicted, 0U);
}

TEST(Evidence, NoRecordReachesIntoASecondPage) {
  constexpr std::size_t kPage = 4096;
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, kRecordBytes - 1})
    EXPECT_EQ(kPage % record_of(std::string(size, 'x')).size(), 0U) << size;
  EXPECT_EQ(record_of("a").substr(0, 2), "a ");
  EXPECT_EQ(record_of("a").find('\n'), kRecordBytes - 1);
  EXPECT_THROW(record_of(std::string(kRecordBytes, 'x')), std::length_error);
}

TEST(Evidence, LinesAreReadAsTheyWereWritten) {
  const auto reply = parse_reply(line_of(Reply{3, 100, 50, Answer::kUnknown}));
  ASSERT_TRUE(reply);
  EXPECT_EQ(tag_of(reply->submitter, reply->first), "3.100");
  EXPECT_EQ(reply->count, 50U);
  EXPECT_EQ(reply->answer, Answer::kUnknown);
  EXPECT_TRUE(parse_trace("parallel default 0840dqg2v5n80r00 3.100 4711 4700 1"));
  const auto trace = parse_trace("retry default 0840dqg2v5n80r00 3.100 4711 4700 123456789012");
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->mark, Mark::kRetry);
  EXPECT_EQ(trace->parent, 4700);
  EXPECT_EQ(trace->at, 123456789012);
  EXPECT_FALSE(parse_trace("retry default 0840dqg2v5n80r00"));
  const auto record =
      parse_trace(record_of("start default 0840dqg2v5n80r00 3.1 4711 4700 1 1 2 3 a b"));
  ASSERT_TRUE(record);
  EXPECT_EQ(record->more, "a b");
  EXPECT_FALSE(parse_reply("1 2 3 maybe"));
  const auto fault = parse_fault(line_of(Fault{"stop_host", 7, 10, 20, false, true}));
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, "stop_host");
  EXPECT_EQ(fault->end, 20);
  EXPECT_FALSE(fault->fatal);
  EXPECT_TRUE(fault->unguarded);
  EXPECT_EQ(fault->reach, Reach::kOne);
  for (const Reach reach : {Reach::kHost, Reach::kAll}) {
    const auto wide = parse_fault(line_of(Fault{"cut", 7, 10, 20, true, false, reach}));
    ASSERT_TRUE(wide);
    EXPECT_EQ(wide->reach, reach);
    EXPECT_TRUE(wide->fatal);
  }
  EXPECT_FALSE(parse_fault("stop_host 7 10 20 mortal"));
}

}  // namespace
}  // namespace allot::fault
