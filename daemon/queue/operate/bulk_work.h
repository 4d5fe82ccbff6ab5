// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "db/connection.h"
#include "queue/model/dead_letter.h"
#include "queue/model/duty.h"
#include "queue/operate/bulk_action.h"
#include "queue/operate/dead_tasks.h"

// Carries out bulk actions. Called by the steward that leads the cluster duty "bulk", or by a
// command if no steward does. Leading saves work and permits nothing (S46).
namespace allot::queue {

// A duty of the cluster.
[[nodiscard]] inline DutyName bulk_duty() {
  return {0, "bulk"};
}

inline constexpr std::size_t kMostBulkText = 255;  // bytes of a text in its row

// Whether the dead task died until then. One that died in the future counts too: the clock was set
// back.
[[nodiscard]] bool is_chosen(const BulkFilter& filter, std::uint64_t until_us,
                             const DeadLetter& letter);

// Result of one call, and how to continue.
struct BulkStep {
  bool open = false;                  // there is more to do after `wait`
  std::chrono::microseconds wait{0};  // due to the rate, or to other processes on the same tasks
  std::uint32_t queue_id = 0;         // its workers are to be woken for `put_back` tasks
  std::uint64_t put_back = 0;
  MovedIds moved{};     // see retry_dead()
  bool failed = false;  // it just ended: `error` is the cause, as in its row
  std::string error{};
};

// Makes the next batch of the action if it is due: up to kDeadBatch tasks, in one packet and one
// transaction with its new progress (S49). The rows therefore show where to continue, also after a
// lost reply, and two concurrent callers make one batch. An action whose batch cannot be made by
// any caller has failed. Throws db::DbError for transient errors.
BulkStep work_bulk(db::Connection& db, std::uint64_t action_id);

struct OpenBulk {
  std::uint64_t action_id = 0;
  std::chrono::microseconds wait{0};  // until the next batch is due
};
// Oldest first.
std::vector<OpenBulk> open_bulk(db::Connection& db);

// Removes rows of actions that ended a week ago or are not among the newest 10,000. True: there may
// be more.
bool purge_bulk(db::Connection& db);

}  // namespace allot::queue
