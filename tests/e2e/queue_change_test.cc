// SPDX-License-Identifier: Apache-2.0
// Queues are resized and tasks are moved while workers are killed.
#include <gtest/gtest.h>

#include <map>
#include <thread>

#include "db/connection.h"
#include "e2e/daemon.h"

namespace allot::e2e::queue_change_test {
namespace {

using nlohmann::json;
using support::eventually;

class Change : public testing::Test {
 protected:
  void submit(const std::string& queue, int first, int last) const {
    std::string lines;
    for (int i = first; i <= last; ++i) {
      lines +=
          json{{"queue", queue}, {"type", "test.write"}, {"payload", std::to_string(i)}}.dump() +
          "\n";
    }
    const auto done = daemon_.allot({"submit", "--ndjson", "-"}, lines);
    ASSERT_EQ(done.status.code, 0) << done.err;
  }
  void kill_one() const {
    const auto pids = daemon_.workers();
    if (!pids.empty())
      support::send_signal(pids[static_cast<std::size_t>(std::rand()) % pids.size()], SIGKILL);
  }
  // Number of runs of each payload.
  [[nodiscard]] std::map<std::string, int> runs() const {
    std::map<std::string, int> times;
    for (const std::string& line : daemon_.written()) ++times[line];
    return times;
  }
  [[nodiscard]] bool empty() const { return daemon_.drained(); }

  Daemon daemon_{{.workers = 3,
                  .queue_keys = "partitions = 4",
                  .more = "[queues.other]\n[queues.tidy]\nplacement = \"ordered\"\n"
                          "[queues.tenants]\nplacement = \"fair\"\npartitions = 4\n"}};
};

TEST_F(Change, PlacedTasksCannotBeMoved) {
  ASSERT_TRUE(eventually([&] { return daemon_.workers().size() == 3; })) << daemon_.log();
  const std::pair<std::vector<std::string>, const char*> refused[] = {
      {{"queue", "move", "tidy", "other"}, "queue 'tidy' is ordered: its tasks cannot be moved"},
      {{"queue", "move", "other", "tenants"}, "queue 'tenants' is fair: its tasks belong to"}};
  for (const auto& [words, why] : refused) {
    const auto done = daemon_.allot(words);
    EXPECT_EQ(done.status.code, 65) << why;
    EXPECT_NE(done.err.find(why), std::string::npos) << done.err;
  }
}

// Workers without knowledge of the resize drain retired partitions, and find new ones.
TEST_F(Change, ResizeUnderKillsLosesNothing) {
  ASSERT_TRUE(eventually([&] { return daemon_.workers().size() == 3; })) << daemon_.log();
  daemon_.must({"queue", "pause", "default"});  // so that something waits in every partition
  submit("default", 1, 400);
  daemon_.must({"queue", "resize", "default", "9"});
  submit("default", 401, 800);
  daemon_.must({"queue", "resize", "default", "2"});
  submit("default", 801, 1000);
  EXPECT_EQ(daemon_.count("(SELECT DISTINCT partition_no FROM task) AS used"), 9U);
  daemon_.must({"queue", "resume", "default"});
  const int sizes[] = {16, 1, 7, 3};
  int from = 1001;
  for (const int size : sizes) {
    kill_one();
    daemon_.must({"queue", "resize", "default", std::to_string(size)});
    submit("default", from, from + 99);
    from += 100;
  }
  ASSERT_TRUE(eventually([&] { return empty(); }, std::chrono::seconds(90))) << daemon_.log();
  EXPECT_EQ(runs().size(), static_cast<std::size_t>(from - 1)) << daemon_.log();
  EXPECT_EQ(daemon_.count("task_dead"), 0U);
  EXPECT_EQ(daemon_.count("q_lock_table WHERE queue_id = (SELECT queue_id FROM queue"
                          " WHERE name = 'default')"),
            16U);
}

TEST_F(Change, AFairQueueIsResizedUnderKills) {
  ASSERT_TRUE(eventually([&] { return daemon_.workers().size() == 3; })) << daemon_.log();
  int tasks = 0;
  for (const int size : {2, 6, 1, 3}) {
    std::string lines;
    for (int i = 0; i < 100; ++i) {
      lines += json{{"queue", "tenants"},
                    {"type", "test.write"},
                    {"payload", std::to_string(++tasks)},
                    {"partition_key", "tenant-" + std::to_string(i % 7)}}
                   .dump() +
               "\n";
    }
    EXPECT_EQ(daemon_.allot({"submit", "--ndjson", "-"}, lines).status.code, 0);
    kill_one();
    daemon_.must({"queue", "resize", "tenants", std::to_string(size)});
  }
  ASSERT_TRUE(eventually([&] { return empty(); }, std::chrono::seconds(90))) << daemon_.log();
  EXPECT_EQ(runs().size(), static_cast<std::size_t>(tasks)) << daemon_.log();
  EXPECT_EQ(daemon_.count("task_dead"), 0U);
}

// Workers process the queue while tasks leave it, and come back: each runs once.
TEST_F(Change, MovedTasksRunOnceWhileWorkersWork) {
  submit("default", 1, 3000);
  for (int round = 0; round < 6; ++round) {
    const bool there = round % 2 == 0;
    const auto done = daemon_.allot({"queue", "move", there ? "default" : "other",
                                     there ? "other" : "default", "--yes", "--json"});
    const json counts = json::parse(done.out);
    EXPECT_EQ(counts["tasks"].get<int>(),
              counts["moved"].get<int>() + counts["gone"].get<int>() + counts["leased"].get<int>())
        << done.out;
  }
  ASSERT_TRUE(eventually([&] { return empty(); }, std::chrono::seconds(90))) << daemon_.log();
  const auto times = runs();
  EXPECT_EQ(times.size(), 3000U);
  for (const auto& [payload, count] : times) EXPECT_EQ(count, 1) << payload;
}

TEST_F(Change, MoveThatIsKilledLosesNothing) {
  daemon_.must({"queue", "pause", "default"});
  daemon_.must({"queue", "pause", "other"});
  submit("default", 1, 3000);
  for (int i = 0; i < 8; ++i) {
    support::Process process({program("allot"), "--config", daemon_.config_file(), "queue", "move",
                              "default", "other", "--yes"});
    const auto before = daemon_.count("task WHERE queue_id = 1");
    (void)eventually([&] { return daemon_.count("task WHERE queue_id = 1") < before; },
                     std::chrono::seconds(2));
    process.kill9();
    EXPECT_EQ(daemon_.count("task"), 3000U);
  }
  EXPECT_LT(daemon_.count("task WHERE queue_id = 1"), 3000U) << "nothing moved before a kill";
  EXPECT_EQ(daemon_.number("SELECT COUNT(DISTINCT payload) FROM task"), 3000U);
}

}  // namespace
}  // namespace allot::e2e::queue_change_test
