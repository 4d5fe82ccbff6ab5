// SPDX-License-Identifier: Apache-2.0
#include "fault/story.h"

#include <gtest/gtest.h>

#include "queue/model/task.h"
#include "support/text.h"

namespace allot::fault {
namespace {

using support::has;

TEST(Story, TellsAllRunsAndTheFaultsAroundThem) {
  const std::string task = queue::TaskId{{3, 5}, 1, 4711}.text();
  const pid_t place = place_of(task);
  Evidence evidence;
  const auto run = [&](const char* start, const char* end, pid_t pid) {
    for (const std::string& line : {std::string(start), std::string(end)}) {
      const std::size_t space = line.find(' ');
      const auto trace = parse_trace(line.substr(0, space) + " q " + task + " 1.7 " +
                                     std::to_string(pid) + " 99 " + line.substr(space + 1));
      ASSERT_TRUE(trace);
      evidence.traces.push_back(*trace);
    }
  };
  run("start 100000000000 1 5151 101500000000", "success 100250000000", 7);
  run("start 103000000000 2 6262 105000000000", "success 103250000000", 8);
  evidence.traces.push_back({Mark::kStart, "q", task, "1.8", 77, 99, 100 * kSecond});
  evidence.faults = {{"far", 7, 0, 89 * kSecond},
                     {"hold", place, 91 * kSecond, 92 * kSecond},
                     {"kill", 12, 102 * kSecond, 102 * kSecond, true},
                     {"late", 0, 114 * kSecond, 115 * kSecond}};
  evidence.wall_clock = 1'000'000'000 * kSecond;
  EXPECT_EQ(story_of(evidence, "1.7"),
            "1.7, queue q, partition 3/5; seconds since its first start, which was at "
            "2001-09-09T01:48:20.000Z\n"
            "  +0.000 start, task " +
                task +
                ", worker 7 of allotd 99, attempt 1, epoch 5151, lease sure until +1.500\n"
                "  +0.250 success, task " +
                task +
                ", worker 7 of allotd 99\n"
                "  +3.000 start, task " +
                task +
                ", worker 8 of allotd 99, attempt 2, epoch 6262, lease sure until +5.000\n"
                "  +3.250 success, task " +
                task +
                ", worker 8 of allotd 99\n"
                "  faults within 10 s; *: of these workers, their hosts, that partition, or all\n"
                "  * -9.000 to -8.000 hold, partition 3/5\n"
                "    +2.000 to +2.000 kill, process 12, which died\n");
}

TEST(Story, StoryOfATaskThatNeverRan) {
  EXPECT_TRUE(has(story_of(Evidence{}, "1.7"), "1.7: no handler"));
}

}  // namespace
}  // namespace allot::fault
