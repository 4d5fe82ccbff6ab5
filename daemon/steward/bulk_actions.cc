// SPDX-License-Identifier: Apache-2.0
#include "steward/bulk_actions.h"

#include <algorithm>
#include <vector>

#include "log/log.h"
#include "peer/doorbell.h"
#include "steward/ask.h"

namespace allot::steward {
namespace {

constexpr Nanos kBulkIdleEvery = 6 * kSecond;
// Longest run of a batch, and the pause after it for the other users of the database.
constexpr Nanos kBulkAtOnce = 50 * kMilli;
constexpr Nanos kBulkPause = 20 * kMilli;

}  // namespace

Chore BulkActions::chore() {
  const auto run = [this](bool /*fresh*/) {
    rung_ = board_.steward.bell.rings.load();
    return round();
  };
  return {.name = "bulk",
          .duties = {queue::bulk_duty()},
          .every = kBulkIdleEvery,
          .run_once = run,
          .rung = [this] { return board_.steward.bell.rings.load() != rung_; }};
}

Again BulkActions::round() {
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
  Nanos next = now + kBulkIdleEvery;
  for (const Turn& turn : turns) next = std::min(next, std::max(turn.at_ns, now + kBulkPause));
  return time_until(next);
}

Nanos BulkActions::work(std::uint64_t action_id) {
  const queue::BulkStep step =
      ask(session_, [&](db::Connection& db) { return queue::work_bulk(db, action_id); });
  if (step.put_back > 0) peer::Ringer(board_).ring({{step.queue_id, step.put_back}});
  for (const auto& [from, to] : step.moved) {
    log::info("bulk.moved", {{"action", action_id}, {"task", from.text()}, {"new_id", to.text()}});
  }
  if (step.open) return boot_ns() + static_cast<Nanos>(step.wait.count()) * kMicro;
  if (step.failed) {
    log::error("bulk.failed", {{"action", action_id}, {"error", step.error}});
  } else {
    log::info("bulk.ended", {{"action", action_id}});
  }
  return boot_ns() + kBulkIdleEvery;
}

}  // namespace allot::steward
