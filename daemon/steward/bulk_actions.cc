// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "log/log.h"
#include "peer/doorbell.h"
#include "queue/operate/bulk_work.h"
#include "steward/chores.h"

namespace allot::steward {
namespace {

constexpr Nanos kBulkIdleEvery = 6 * kSecond;
// Longest run of a batch, and the pause after it for the other users of the database.
constexpr Nanos kBulkAtOnce = 50 * kMilli;
constexpr Nanos kBulkPause = 20 * kMilli;

class BulkActions {
 public:
  BulkActions(process::Session& session, ipc::Board& board, const Leadership& leadership)
      : session_(session), board_(board), leadership_(leadership) {}

  [[nodiscard]] bool rung() const { return board_.steward.bell.rings.load() != rings_; }

  Again round() {
    rings_ = board_.steward.bell.rings.load();
    const Nanos began = boot_ns();
    struct Turn {
      std::uint64_t action_id;
      Nanos at_ns;
    };
    std::vector<Turn> turns;
    for (const auto& open :
         ask(session_, [](db::Connection& db) { return queue::open_bulk(db); })) {
      turns.push_back({open.action_id, began + in_nanos(open.wait)});
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

 private:
  // Returns the time before which the action needs no work.
  Nanos work(std::uint64_t action_id) {
    const queue::BulkStep step =
        ask(session_, [&](db::Connection& db) { return queue::work_bulk(db, action_id); });
    if (step.put_back > 0) peer::Ringer(board_).ring({{step.queue_id, step.put_back}});
    for (const auto& [from, to] : step.moved) {
      log::info("bulk.moved",
                {{"action", action_id}, {"task", from.text()}, {"new_id", to.text()}});
    }
    if (step.open) return boot_ns() + in_nanos(step.wait);
    if (step.failed) {
      log::error("bulk.failed", {{"action", action_id}, {"error", step.error}});
    } else {
      log::info("bulk.ended", {{"action", action_id}});
    }
    return boot_ns() + kBulkIdleEvery;
  }

  process::Session& session_;
  ipc::Board& board_;
  const Leadership& leadership_;
  std::uint32_t rings_ = 0;  // value of the bell at the last poll
  std::uint64_t turn_ = 0;   // the action that had a batch last
};

}  // namespace

Chore bulk_actions(process::Session& session, ipc::Board& board, const Leadership& leadership) {
  const auto own = std::make_shared<BulkActions>(session, board, leadership);
  return {.name = "bulk",
          .duties = {queue::bulk_duty()},
          .every = kBulkIdleEvery,
          .run_once = [own](bool /*fresh*/) { return own->round(); },
          .rung = [own] { return own->rung(); }};
}

}  // namespace allot::steward
