// SPDX-License-Identifier: Apache-2.0
// The chore that removes the numbers of Fireworq's jobs.
#include "steward/job_numbers.h"

#include "db/worker/loop_fixture.h"
#include "support/eventually.h"

namespace allot::steward {
namespace {

class JobNumbersTest : public worker::LoopTest {
 protected:
  JobNumbersTest()
      : one_(worker()),
        leadership_(one_->session(), queue::make_holder("test", "/run/allot/test")),
        chore_(one_->session(), leadership_) {}

  std::unique_ptr<worker::LoopWorker> one_;
  Leadership leadership_;
  JobNumbers chore_;
};

TEST_F(JobNumbersTest, LeaderSweepsInBatches) {
  db_.execute(
      "INSERT INTO fireworq_job (queue_id, partition_no, prio, first_key) SELECT 1, 0, 1, "
      "seq FROM " +
      support::numbers(1, 2500));
  chore_.look();
  EXPECT_EQ(support::number_of(db_, "SELECT COUNT(*) FROM fireworq_job"), 2500U) << "it leads not";
  EXPECT_TRUE(support::eventually([&] {
    leadership_.look();
    chore_.look();
    return support::number_of(db_, "SELECT COUNT(*) FROM fireworq_job") == 0;
  }));
  EXPECT_GT(chore_.next_ns(), boot_ns() + 3000 * kSecond) << "in an hour again";
}

}  // namespace
}  // namespace allot::steward
