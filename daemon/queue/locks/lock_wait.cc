// SPDX-License-Identifier: Apache-2.0
#include "queue/locks/lock_wait.h"

#include <algorithm>

#include "base/mutant.h"
#include "queue/model/server_change.h"

namespace allot::queue {
namespace {

constexpr Nanos kLeastPause = 50 * kMilli;
constexpr Nanos kMostPause = kSecond;
constexpr Nanos kTicketEvery = in_ns(kTicketTtl) / 3;

}  // namespace

std::optional<std::uint32_t> Turn::slot(const Line& line, Nanos now) {
  if (line.free.empty() || line.ahead >= line.slots) {
    free_since_ns_ = 0;
    return std::nullopt;
  }
  if (line.ahead < line.free.size()) return line.free[line.ahead];
  if (free_since_ns_ == 0) free_since_ns_ = now;
  if (now - free_since_ns_ < kPatience) return std::nullopt;
  return line.free.back();
}

Nanos Turn::delay(const Line& line, Nanos now) {
  if (line.ahead >= line.slots) {
    next_since_ns_ = 0;
    const std::uint64_t behind = line.ahead - line.slots + 1;
    return std::min(kMostPause, kLeastPause * (1 + std::min<std::uint64_t>(behind, 100)));
  }
  if (next_since_ns_ == 0) next_since_ns_ = now;
  return std::clamp((now - next_since_ns_) / 20, kLeastPause, kMostPause);
}

LockWait::LockWait(LockSpec spec, Holder holder, TokenFloor& floor)
    : spec_(std::move(spec)),
      holder_(std::move(holder)),
      floor_(floor),
      watched_(in_ns(spec_.ttl),
               mutant::removed("lock_stood_still") ? StoodStill::kHalf : StoodStill::kAll) {}

void LockWait::stand_in_line(db::Connection& db, std::uint64_t generation, Nanos now) {
  if (!known_) {
    ensure_lock(db, spec_.name, spec_.slots);
    known_ = true;
  }
  if (generation_ != generation) {
    note_server(db);  // S48: starts the wait now, not with the first try
    generation_ = generation;
  }
  if (ticket_ && now < renewed_ns_ + kTicketEvery) return;
  if (ticket_ && !renew_ticket(db, holder_)) ticket_.reset();
  if (!ticket_) ticket_ = draw_ticket(db, spec_.name, holder_);
  renewed_ns_ = now;
}

// The deadline counts from the first sending: the lock may be that old.
std::optional<HeldLock> LockWait::take(db::Connection& db, std::uint32_t slot) {
  asked_slot_ = slot;
  if (asked_ns_ == 0) asked_ns_ = boot_ns();
  auto taken = take_lock(db, {spec_.name, slot, *ticket_, holder_, spec_.ttl}, floor_);
  if (taken) taken->sent_ns = asked_ns_;
  asked_ns_ = 0;
  return taken;
}

std::optional<HeldLock> LockWait::poll(db::Connection& db, std::uint64_t generation) {
  const Nanos began = boot_ns();
  next_ns_ = began + kLeastPause;
  if (asked_ns_ != 0) {
    if (auto taken = take(db, asked_slot_)) return taken;
  }
  stand_in_line(db, generation, began);
  const Line line = watch_line(db, spec_.name, *ticket_, spec_.ttl);
  const Nanos now = boot_ns();  // the line is known only since the reply
  if (!line.there) {            // the ticket was unused for long and was removed
    ticket_.reset();
    return std::nullopt;
  }
  near_ = line.ahead < 2 * std::uint64_t{line.slots};
  if (const auto slot = turn_.slot(line, now)) {
    if (auto taken = take(db, *slot)) return taken;
  }
  free_expired(db);
  next_ns_ = std::min(now + turn_.delay(line, now), std::max(watched_.next_poll_ns(), now));
  next_ns_ = std::max(next_ns_, now + kLeastPause);
  return std::nullopt;
}

void LockWait::free_expired(db::Connection& db) {
  if (watched_.due()) {
    const auto statement = [&] {
      auto seen = watch_lock(db, spec_.name);
      for (const LockObservation& observed : seen) floor_.saw(observed.epoch);
      return seen;
    };
    watched_.poll(statement, [&] { return generation_; });
  }
  while (const auto still = watched_.take()) free_lock(db, still->observed, still->stale);
}

void LockWait::give_up(db::Connection& db) {
  if (asked_ns_ != 0) {
    if (const auto taken = take(db, asked_slot_)) release_lock(db, *taken);
  }
  if (!ticket_) return;
  return_ticket(db, holder_);
  ticket_.reset();
}

}  // namespace allot::queue
