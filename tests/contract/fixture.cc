// SPDX-License-Identifier: Apache-2.0
#include "contract/fixture.h"

#include <algorithm>

namespace allot::contract {

std::string Rule::put(const Task& task) {
  const Answer made = interface().submit(task);
  EXPECT_EQ(made.kind, Kind::kDone) << made;
  EXPECT_FALSE(made.id().empty()) << made;
  return made.id();
}

void Rule::lease() {
  look().execute(
      "UPDATE q_lock_table SET state = 'LOCKED', epoch = epoch + 1, lock_by = 7, lock_host = 'h',"
      " lock_pid = 42, expire_at = UTC_TIMESTAMP(6) + INTERVAL 30 SECOND");
}

void Rule::announce() {
  look().execute("UPDATE task SET flags = flags | 64 WHERE queue_id > 0");
  lease();
}

void Rule::detach() {
  look().execute(
      "INSERT INTO task_running (queue_id, partition_no, prio, first_key, run_key, attempt, type,"
      " payload, epoch, lock_by, lock_origin, lock_host, lock_instance, lock_pid, expire_at,"
      " detached_at) SELECT queue_id, partition_no, prio, COALESCE(first_key, run_key), run_key, 1,"
      " type, payload, 1, 7, 7, 'h', 'i', 42, UTC_TIMESTAMP(6) + INTERVAL 30 SECOND,"
      " UTC_TIMESTAMP(6) FROM task; DELETE FROM task");
}

void Rule::retry() {
  look().execute(
      "INSERT INTO task_moved SELECT queue_id, partition_no, prio, run_key, run_key + 5 FROM task;"
      "UPDATE task SET first_key = run_key, run_key = run_key + 5, attempt = 2");
}

void Rule::finish() {
  look().execute(
      "DELETE FROM task; DELETE FROM task_moved; DELETE FROM task_running;"
      "UPDATE task_unique SET free_at = UTC_TIMESTAMP(6) + INTERVAL 1 HOUR");
}

testing::AssertionResult names(const Answer& answer, const std::string& field) {
  std::string text = answer.text;
  std::replace(text.begin(), text.end(), '-', '_');
  std::string wanted = field;
  std::replace(wanted.begin(), wanted.end(), '-', '_');
  if (text.find(wanted) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "no '" << field << "' in " << answer;
}

testing::AssertionResult refuses(const Answer& answer, const std::string& field) {
  if (answer.kind != Kind::kBadInput) {
    return testing::AssertionFailure() << field << " is not refused: " << answer;
  }
  return names(answer, field);
}

}  // namespace allot::contract
