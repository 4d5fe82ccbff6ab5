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

// Actions of an operator on many dead tasks: a count, then an action that runs in the background
// (decision 0015). Callers that request one need this header only; bulk_work.h is for the component
// that carries it out.
namespace allot::queue {

enum class BulkKind { kRetryDead, kDiscardDead };
// The word in the database: "retry_dead".
[[nodiscard]] std::string_view name_of(BulkKind kind);

// Selects dead tasks of a queue.
struct BulkFilter {
  std::string group{};  // of model/error_text.h; empty: any
  std::string type{};   // empty: any
};

struct BulkCount {
  std::uint64_t tasks = 0;
  bool more = false;  // the count stopped early: there may be more of these
  // For begin_bulk(), valid for an hour. It states what was counted and when, and is not a secret.
  std::string token;
};

// Reads at most `most` dead tasks of the queue. Uses the database's clock.
BulkCount count_bulk(db::Connection& db, BulkKind kind, const QueueInfo& queue,
                     const BulkFilter& filter, std::uint64_t most);

inline constexpr std::size_t kMostOpenBulk = 100;

// The requested action, with the token that count_bulk() returned for it.
struct BulkRequest {
  BulkKind kind = BulkKind::kRetryDead;
  BulkFilter filter{};
  std::string token;
  std::uint32_t rate = 0;      // limit of tasks per second; 0: none
  std::string requested_by{};  // for people; cut to 255 characters
};

// Begins the action, for the tasks that were dead when they were counted, and returns its number.
// For a token that was used before, returns its action, so that the call may be repeated after a
// lost reply. Throws Error(kExitBadInput) for a token that is invalid, belongs to another count, or
// is older than an hour; Error if kMostOpenBulk actions are open.
std::uint64_t begin_bulk(db::Connection& db, const QueueInfo& queue, const BulkRequest& request);

enum class BulkState { kWaiting, kRunning, kDone, kStopped, kFailed };
[[nodiscard]] std::string_view name_of(BulkState state);
[[nodiscard]] inline bool is_open(BulkState state) {
  return state == BulkState::kWaiting || state == BulkState::kRunning;
}

// Times are UTC, ISO 8601; empty: not yet.
struct BulkAction {
  std::uint64_t action_id = 0;
  BulkKind kind = BulkKind::kRetryDead;
  std::uint32_t queue_id = 0;
  std::string queue;
  BulkFilter filter{};
  std::string died_until;  // later deaths are not included
  std::uint64_t died_until_us = 0;
  std::uint32_t rate = 0;
  std::uint64_t counted = 0;
  bool counted_all = true;
  std::string requested_by;
  std::string started_at;
  BulkState state = BulkState::kWaiting;
  std::uint64_t done = 0;             // tasks retried or discarded so far
  std::uint64_t batches = 0;          // number of transactions so far
  TaskId after{};                     // the next batch begins after this one
  std::chrono::microseconds wait{0};  // until the next batch is due
  std::string ended_at;
  std::string stopped_by;
  std::string error;  // why it failed
};

// nullopt: no action of this number, or it ended more than a week ago.
std::optional<BulkAction> find_bulk(db::Connection& db, std::uint64_t action_id);
// Newest first: at most `most` with a number below `before`.
std::vector<BulkAction> list_bulk(db::Connection& db, std::uint64_t before, std::uint32_t most);

// Stops the action after the current batch, if any. False: it had ended, or does not exist. May be
// repeated after a lost reply.
bool stop_bulk(db::Connection& db, std::uint64_t action_id, std::string_view stopped_by);

}  // namespace allot::queue
