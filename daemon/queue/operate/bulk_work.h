// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "db/connection.h"
#include "queue/look/dead_letter.h"
#include "queue/model/duty.h"
#include "queue/operate/bulk_action.h"
#include "queue/operate/dead_tasks.h"

// How bulk actions are worked off: by the steward that leads the duty "bulk" of the cluster, or by
// a command while nobody does. Leading saves work and permits nothing (S46).
namespace allot::queue {

// Of the cluster.
[[nodiscard]] inline DutyName bulk_duty() {
  return {0, "bulk"};
}

inline constexpr std::size_t kMostBulkText = 255;  // bytes of a text in its row

// Whether the dead task is one of those that died until then. One that died in the future did: the
// clock was set back.
[[nodiscard]] bool is_chosen(const BulkFilter& filter, std::uint64_t until_us,
                             const DeadLetter& letter);

// What one call did, and how it goes on.
struct BulkStep {
  bool open = false;                  // there is more to do, not before `wait` is over
  std::chrono::microseconds wait{0};  // by the rate, or because others are at the same tasks
  std::uint32_t queue_id = 0;         // whose workers want to be rung for so many tasks
  std::uint64_t put_back = 0;
  MovedIds moved{};     // see retry_dead()
  bool failed = false;  // it ended just now: `error` is why, as in its row
  std::string error{};
};

// Makes the next batch of the action, if it is time: up to kDeadBatch tasks, in one packet and one
// transaction with how far it is then (S49). So it goes on by the rows, after a lost reply, too,
// and two who work it off make one batch. An action whose batch cannot be made, whoever tries, has
// failed. Throws db::DbError of what passes.
BulkStep work_bulk(db::Connection& db, std::uint64_t action_id);

struct OpenBulk {
  std::uint64_t action_id = 0;
  std::chrono::microseconds wait{0};  // until it may go on
};
// The oldest first.
std::vector<OpenBulk> open_bulk(db::Connection& db);

// Removes the rows of those that ended a week ago, or are not among the newest 10,000. True: there
// may be more.
bool purge_bulk(db::Connection& db);

}  // namespace allot::queue
