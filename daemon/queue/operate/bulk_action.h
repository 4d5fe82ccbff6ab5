// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "db/connection.h"
#include "queue/model/catalog.h"
#include "queue/model/task.h"

// What an operator does with many dead tasks at once: a count, then an action that somebody works
// off (decision 0015). Whoever asks needs this header only; bulk_work.h is for whoever works
// it off.
namespace allot::queue {

enum class BulkKind { kRetryDead, kDiscardDead };
// The word in the database: "retry_dead".
[[nodiscard]] std::string_view name_of(BulkKind kind);

// Which dead tasks of a queue.
struct BulkFilter {
  std::string group{};  // of model/fault.h; empty: any
  std::string type{};   // empty: any
};

struct BulkCount {
  std::uint64_t tasks = 0;
  bool more = false;  // not all dead tasks of the queue were looked at: there may be more of these
  // For begin_bulk(), for an hour. It says what was counted, and when: it is no secret.
  std::string token;
};

// Looks at `most` dead tasks of the queue at most. The clock is the database's.
BulkCount count_bulk(db::Connection& db, BulkKind kind, const QueueInfo& queue,
                     const BulkFilter& filter, std::uint64_t most);

inline constexpr std::size_t kMostOpenBulk = 100;

// What is wanted, with the token that count_bulk() returned for the same.
struct BulkRequest {
  BulkKind kind = BulkKind::kRetryDead;
  BulkFilter filter{};
  std::string token;
  std::uint32_t rate = 0;  // tasks per second at most; 0: no limit
  std::string asked_by{};  // for people; at most 255 characters are kept
};

// Begins the action, for the tasks that had died when they were counted, and returns its number.
// With a token that was used before it returns the action of that time, so that it may be repeated
// after a lost reply. Throws Error(kExitBadInput) for a token that is none, is that of another
// count, or is older than an hour; Error where kMostOpenBulk are not at their end.
std::uint64_t begin_bulk(db::Connection& db, const QueueInfo& queue, const BulkRequest& request);

enum class BulkState { kWaiting, kWorking, kDone, kStopped, kFailed };
[[nodiscard]] std::string_view name_of(BulkState state);
[[nodiscard]] inline bool is_open(BulkState state) {
  return state == BulkState::kWaiting || state == BulkState::kWorking;
}

// Times are UTC, ISO 8601; empty: not yet.
struct BulkAction {
  std::uint64_t action_id = 0;
  BulkKind kind = BulkKind::kRetryDead;
  std::uint32_t queue_id = 0;
  std::string queue;
  BulkFilter filter{};
  std::string died_until;  // later deaths are left alone
  std::uint64_t died_until_us = 0;
  std::uint32_t rate = 0;
  std::uint64_t counted = 0;
  bool counted_all = true;
  std::string asked_by;
  std::string begun_at;
  BulkState state = BulkState::kWaiting;
  std::uint64_t done = 0;             // tasks that were retried or discarded so far
  std::uint64_t batches = 0;          // in so many transactions
  TaskId after{};                     // the next batch begins behind this one
  std::chrono::microseconds wait{0};  // until the next batch may be made
  std::string ended_at;
  std::string stopped_by;
  std::string error;  // why it failed
};

// nullopt: there is none of this number, or it ended a week ago.
std::optional<BulkAction> find_bulk(db::Connection& db, std::uint64_t action_id);
// The newest first: `most` with a number below `before`.
std::vector<BulkAction> list_bulk(db::Connection& db, std::uint64_t before, std::uint32_t most);

// Ends it with the batch that is being made, if any. False: it was at its end, or is not there. May
// be repeated after a lost reply.
bool stop_bulk(db::Connection& db, std::uint64_t action_id, std::string_view stopped_by);

}  // namespace allot::queue
