// SPDX-License-Identifier: Apache-2.0
// The whole life of tasks on a server with wrong defaults everywhere.
#include <gtest/gtest.h>

#include "db/queue/fixture.h"
#include "queue/model/task_facts.h"

namespace allot::queue {
namespace {

TEST(HostileServerTest, TasksLiveAndDieAsAnywhere) {
  support::Database server(support::hostile_settings());
  const std::string name = server.make_database();
  Worker worker(server.connect(name));
  const QueueInfo queue = ensure_queue(worker.db, "q", {1});
  const Partition partition{queue.queue_id, 0};
  // 0xbf5c is one character in gbk and ends in a backslash.
  const std::string payload = "\xbf\\' OR 1 -- \xc3\xa4 \"x\"";
  const std::vector<Submission> submissions(3, {queue, "t", payload, {}});
  const std::vector<TaskId> ids = ids_of(submit(worker.db, submissions));

  auto block = worker.lease(partition);
  ASSERT_TRUE(block);
  ASSERT_EQ(block->tasks.size(), 3U);
  EXPECT_EQ(block->tasks[0].payload, payload);
  const std::string error = "it's \xe4\xb8\xad \\ \"bad\" \xbf\\'";
  EXPECT_EQ(worker.tasks.retry(worker.db, fence(block->lease, block->tasks[0]), 1,
                               std::chrono::seconds(60), {"retry", error}),
            Fenced::kWritten);
  EXPECT_EQ(worker.tasks.bury(worker.db, fence(block->lease, block->tasks[1]), 1, {"fail", error}),
            Fenced::kWritten);
  const std::vector<Finished> done{finished(block->tasks[2])};
  EXPECT_TRUE(ack_and_release(worker.db, block->lease, done));

  // Another connection sees all of it, so it was committed.
  db::Connection look = server.connect(name);
  EXPECT_EQ(list_attempts(look, ids[0]).at(0).error,
            "it's \xe4\xb8\xad \\ \"bad\" \xef\xbf\xbd\\'");
  EXPECT_EQ(show(look, ids[0])->payload, payload);
  EXPECT_TRUE(show(look, ids[1])->dead);
  EXPECT_EQ(show(look, ids[1])->payload, payload);
  EXPECT_FALSE(show(look, ids[2]));
  EXPECT_TRUE(LeaseStore::watch(look, std::vector{queue.queue_id}).empty());
}

}  // namespace
}  // namespace allot::queue
