// SPDX-License-Identifier: Apache-2.0
#include "steward/bulk_actions.h"

#include <algorithm>
#include <vector>

#include "log/log.h"
#include "peer/doorbell.h"
#include "peer/steward_board.h"
#include "steward/ask.h"

namespace allot::steward {
namespace {

constexpr Nanos kBulkIdleEvery = 6 * kSecond;
// Longest run of a batch, and the pause after it for the other users of the database.
constexpr Nanos kBulkAtOnce = 50 * kMilli;
constexpr Nanos kBulkPause = 20 * kMilli;
constexpr Nanos kBulkAfterError = 10 * kSecond;
constexpr Nanos kBulkPurgeEvery = 3600 * kSecond;

}  // namespace

BulkActions::BulkActions(worker::Session& session, ipc::Board& board, Leadership& leadership)
    : session_(session), board_(board), leadership_(leadership) {
  leadership_.want(queue::bulk_duty());
}

void BulkActions::look() {
  const std::uint32_t bell = peer::steward_part(board_).bell.load();
  if (boot_ns() < next_ns_ && bell == rung_) return;
  rung_ = bell;
  if (!leadership_.leads(queue::bulk_duty())) {
    next_ns_ = std::max(leadership_.next_ns(), boot_ns() + kMilli);
    return;
  }
  try {
    round();
    leadership_.ran(queue::bulk_duty());
  } catch (const db::DbError& error) {
    next_ns_ = boot_ns() + kBulkAfterError;
    leadership_.failed(queue::bulk_duty(), error.what());
    log::error("duty.failed", {{"duty", queue::bulk_duty().name}, {"error", error.what()}});
  }
}

void BulkActions::round() {
  const Nanos began = boot_ns();
  struct Turn {
    std::uint64_t action_id;
    Nanos at_ns;
  };
  std::vector<Turn> turns;
  for (const auto& open : ask(session_, [](db::Connection& db) { return queue::open_bulk(db); })) {
    turns.push_back({open.action_id, began + static_cast<Nanos>(open.wait.count()) * kMicro});
  }
  // Start after the action that had the last batch.
  std::rotate(turns.begin(),
              std::find_if(turns.begin(), turns.end(),
                           [this](const Turn& turn) { return turn.action_id > turn_; }),
              turns.end());
  bool worked = true;
  while (worked && leadership_.leads(queue::bulk_duty())) {
    worked = false;
    for (Turn& turn : turns) {
      if (boot_ns() - began >= kBulkAtOnce) break;
      if (boot_ns() < turn.at_ns) continue;
      turn.at_ns = work(turn.action_id);
      turn_ = turn.action_id;
      worked = true;
    }
  }
  const Nanos now = boot_ns();
  next_ns_ = now + kBulkIdleEvery;
  for (const Turn& turn : turns) {
    next_ns_ = std::min(next_ns_, std::max(turn.at_ns, now + kBulkPause));
  }
  if (now >= purge_ns_) purge();
}

Nanos BulkActions::work(std::uint64_t action_id) {
  const queue::BulkStep step =
      ask(session_, [&](db::Connection& db) { return queue::work_bulk(db, action_id); });
  if (step.put_back > 0) peer::ring(board_, step.queue_id, step.put_back);
  for (const auto& [from, to] : step.moved) {
    log::info("bulk.moved", {{"action", action_id}, {"task", from.text()}, {"now", to.text()}});
  }
  if (step.open) return boot_ns() + static_cast<Nanos>(step.wait.count()) * kMicro;
  if (step.failed) {
    log::error("bulk.failed", {{"action", action_id}, {"error", step.error}});
  } else {
    log::info("bulk.ended", {{"action", action_id}});
  }
  return boot_ns() + kBulkIdleEvery;
}

void BulkActions::purge() {
  const bool more = ask(session_, [](db::Connection& db) { return queue::purge_bulk(db); });
  purge_ns_ = boot_ns() + (more ? kBulkPause : kBulkPurgeEvery);
}

}  // namespace allot::steward
