// SPDX-License-Identifier: Apache-2.0
// Compressed payloads through all tables that can contain a task.
#include "queue/model/compression.h"

#include <gtest/gtest.h>

#include "db/queue/fixture.h"
#include "queue/model/task_facts.h"
#include "queue/operate/cancel.h"
#include "queue/operate/dead_tasks.h"

namespace allot::queue {
namespace {

class CompressionTest : public QueueTest {
 protected:
  TaskId put_large(SubmitOptions options) {
    options.compress_above = 1000;
    const std::vector<Submission> one{{queue_, "t", kLarge, options}};
    return submit(worker_.db, one).at(0).id;
  }
  // Payload as seen by the handler.
  static std::string read(const Task& task) { return decompress(task.flags, *task.payload); }

  const std::string kLarge = std::string(50'000, 'x');
};

TEST_F(CompressionTest, OnlyWhatIsLargeIsCompressed) {
  put_large({});
  put_large({.unique_key = "u"});
  SubmitOptions options{.compress_above = kLarge.size()};
  const std::vector<Submission> as_it_is{
      {queue_, "t", kLarge, options}, {queue_, "t", kLarge, {}}, {queue_, "t", "ready", {}}};
  submit(worker_.db, as_it_is);
  const Block block = must_lease();
  ASSERT_EQ(block.tasks.size(), 5U);
  const std::uint32_t flags[] = {kZstdFlag, kZstdFlag | kUniqueFlag, 0, 0, 0};
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(block.tasks[i].flags, flags[i]) << i;
    EXPECT_EQ(read(block.tasks[i]), i < 4 ? kLarge : "ready");
    EXPECT_EQ(block.tasks[i].payload->size() < 1000, i < 2 || i == 4) << i;
  }
}

TEST_F(CompressionTest, CompressedPayloadIsOnlyMarked) {
  const std::vector<Submission> one{
      {queue_, "t", "bytes", {.compress_above = 1, .compression = Compression::kGzip}}};
  submit(worker_.db, one);
  const Block block = must_lease();
  EXPECT_EQ(block.tasks.at(0).flags, kGzipFlag);
  EXPECT_EQ(block.tasks.at(0).payload, "bytes");
}

TEST_F(CompressionTest, ADeadTaskThatIsRetriedIsReadAsBefore) {
  const TaskId id = put_large({});
  Block block = must_lease();
  ASSERT_EQ(worker_.tasks.bury(worker_.db, fence(block.lease, block.tasks[0]), 1, kFailure),
            Fenced::kWritten);
  EXPECT_EQ(decompress(show(observer_, id)->flags, show(observer_, id)->payload), kLarge);
  ASSERT_EQ(retry_dead(worker_.db, std::vector{id}), 1U);
  auto tasks = fetch(worker_.db, partition_, {});
  EXPECT_EQ(read(tasks.at(0)), kLarge);
  // The other paths into task_dead do the same.
  const auto waiting = show(observer_, id);
  ASSERT_TRUE(cancel(worker_.db, id, waiting->run_key, "no"));
  ASSERT_EQ(retry_dead(worker_.db, std::vector{id}), 1U);
  tasks = fetch(worker_.db, partition_, {});
  ASSERT_EQ(worker_.detached.detach(worker_.db, fence(block.lease, tasks.at(0)), 1, {}),
            Fenced::kWritten);
  const Fence detached = fence(block.lease, tasks[0]).once_detached();
  EXPECT_EQ(decompress(show(observer_, id)->flags, show(observer_, id)->payload), kLarge);
  ASSERT_EQ(Verbs().bury(worker_.db, detached, 1, kFailure), Fenced::kWritten);
  ASSERT_EQ(retry_dead(worker_.db, std::vector{id}), 1U);
  tasks = fetch(worker_.db, partition_, {});
  EXPECT_EQ(read(tasks.at(0)), kLarge);
}

// If it saves space; and a small one does not disable it for later ones.
TEST_F(CompressionTest, ACheckpointKeepsTheCompression) {
  put_large({.unique_key = "u"});
  Block block = must_lease();
  const auto save = [&](const std::string& state) {
    const Task& task = block.tasks.at(0);
    EXPECT_EQ(checkpoint(worker_.db, fence(block.lease, task), {task.flags, state}),
              Fenced::kWritten);
    block.tasks = fetch(worker_.db, partition_, {});
    EXPECT_EQ(read(block.tasks.at(0)), state);
  };
  save(std::string(3'000, 'y'));
  EXPECT_EQ(block.tasks[0].flags, kUniqueFlag | kZstdFlag);
  EXPECT_LT(block.tasks[0].payload->size(), 100U);
  save("rest");
  EXPECT_EQ(block.tasks[0].flags, kUniqueFlag | kCompressibleFlag);
  EXPECT_EQ(block.tasks[0].payload, "rest");
  save(std::string(3'000, 'z'));
  EXPECT_EQ(block.tasks[0].flags, kUniqueFlag | kZstdFlag);
  EXPECT_LT(block.tasks[0].payload->size(), 100U);
}

TEST_F(CompressionTest, ACheckpointOfATaskThatWasNotCompressedIsNot) {
  submit(worker_.db, std::vector<Submission>{{queue_, "t", kLarge, {}}});
  const Block block = must_lease();
  ASSERT_EQ(
      checkpoint(worker_.db, fence(block.lease, block.tasks[0]), {block.tasks[0].flags, kLarge}),
      Fenced::kWritten);
  EXPECT_EQ(fetch(worker_.db, partition_, {}).at(0).payload, kLarge);
}

// The other table for a running task.
TEST_F(CompressionTest, ACheckpointOfADetachedTaskKeepsIt) {
  const TaskId id = put_large({});
  const Block block = must_lease();
  const Task& task = block.tasks.at(0);
  ASSERT_EQ(worker_.detached.detach(worker_.db, fence(block.lease, task), 1, {}), Fenced::kWritten);
  const Fence detached = fence(block.lease, task).once_detached();
  const std::string state(3'000, 'y');
  ASSERT_EQ(checkpoint(worker_.db, detached, {task.flags, state}), Fenced::kWritten);
  const auto view = show(observer_, id);
  EXPECT_LT(view->payload.size(), 100U);
  EXPECT_EQ(decompress(view->flags, view->payload), state);
}

}  // namespace
}  // namespace allot::queue
