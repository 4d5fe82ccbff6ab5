// SPDX-License-Identifier: Apache-2.0
#include "fault/intruder.h"

#include <string>
#include <vector>

#include "fault/evidence.h"
#include "support/database.h"
#include "support/eventually.h"

namespace allot::fault {
namespace {

std::string partition(std::uint64_t queue_id, std::uint64_t partition_no) {
  return " WHERE queue_id = " + std::to_string(queue_id) +
         " AND partition_no = " + std::to_string(partition_no);
}

}  // namespace

std::optional<Intruder::Leased> Intruder::choose(std::uint64_t pick) {
  auto results = db_.execute(
      "SELECT queue_id, partition_no FROM q_lock_table "
      "WHERE state <> 'FREE' ORDER BY queue_id, partition_no");
  const std::uint64_t count = results.front().row_count();
  if (count == 0) return std::nullopt;
  auto row = results.front().next();
  for (std::uint64_t i = 0; i < pick % count; ++i) row = results.front().next();
  const Leased leased{row->u64(0), row->u64(1)};
  touched_ = place_of(leased.queue_id, leased.partition_no);
  return leased;
}

void Intruder::begin() {
  db_.execute("SET SESSION innodb_lock_wait_timeout = 1; BEGIN");
}

std::optional<pid_t> Intruder::hold_lease(std::uint64_t pick) {
  const auto leased = choose(pick);
  if (!leased) return std::nullopt;
  begin();
  db_.execute("SELECT 1 FROM q_lock_table" + partition(leased->queue_id, leased->partition_no) +
              " FOR UPDATE");
  return place_of(leased->queue_id, leased->partition_no);
}

std::optional<pid_t> Intruder::hold_tasks(std::uint64_t pick) {
  const auto leased = choose(pick);
  if (!leased) return std::nullopt;
  begin();
  auto results =
      db_.execute("SELECT run_key FROM task" + partition(leased->queue_id, leased->partition_no) +
                  " ORDER BY prio, run_key LIMIT 20 FOR UPDATE");
  if (results.front().row_count() == 0) return std::nullopt;
  return place_of(leased->queue_id, leased->partition_no);
}

// The server picks the transaction that wrote less as victim, hence the ballast. The worker's
// acknowledgement locks the first task and waits for the second, which is held; then the intruder
// requests the first.
std::optional<pid_t> Intruder::deadlock(std::uint64_t pick) {
  const auto leased = choose(pick);
  if (!leased) return std::nullopt;
  const std::string where = partition(leased->queue_id, leased->partition_no);
  auto results =
      db_.execute("SELECT prio, run_key FROM task" + where + " ORDER BY prio, run_key LIMIT 2");
  std::vector<std::string> tasks;
  while (const auto row = results.front().next()) {
    tasks.push_back(where + " AND prio = " + std::string(row->text(0)) +
                    " AND run_key = " + std::string(row->text(1)) + " FOR UPDATE");
  }
  if (tasks.size() < 2) return std::nullopt;
  db_.execute("CREATE TABLE IF NOT EXISTS ballast (a INT) ENGINE=InnoDB");
  begin();
  const std::uint64_t before = support::server_counter(db_, "Innodb_deadlocks");
  db_.execute("INSERT INTO ballast SELECT seq FROM " + support::numbers(1, 2000));
  db_.execute("SELECT 1 FROM task" + tasks[1]);
  const bool waited = support::eventually(
      [this] { return support::server_counter(db_, "Innodb_row_lock_current_waits") > 0; },
      std::chrono::milliseconds(200));
  if (waited) db_.execute("SELECT 1 FROM task" + tasks[0]);
  if (support::server_counter(db_, "Innodb_deadlocks") == before) return std::nullopt;
  return place_of(leased->queue_id, leased->partition_no);
}

}  // namespace allot::fault
