// SPDX-License-Identifier: Apache-2.0
#include "steward/loop.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "log/log.h"
#include "peer/doorbell.h"
#include "process/stop_request.h"

namespace allot::steward {
namespace {

// After a suspend the chores' clock has advanced, but not the clock of the sleep.
constexpr Nanos kMostSleep = 10 * kSecond;
// Longest run of a chore, besides the statement in progress, and the pause before it continues, for
// the other users of the database.
constexpr Nanos kAtOnce = 50 * kMilli;
constexpr Nanos kBetweenBatches = 100 * kMilli;
constexpr Nanos kAfterError = 10 * kSecond;
constexpr Nanos kFinish = kSecond;  // for all chores of a drain
constexpr Nanos kHour = 3600 * kSecond;

}  // namespace

void Loop::add(Chore chore) {
  for (const queue::DutyName& duty : chore.duties) leadership_.want(duty);
  chores_.push_back(std::move(chore));
}

void Loop::add(std::vector<Chore> chores) {
  for (Chore& chore : chores) add(std::move(chore));
}

void Loop::attend(ipc::Bell& bell) {
  for (;;) {
    // Read before the check for a request to leave: a signal in between rings the bell.
    const std::uint32_t seen = bell.rings.load();
    if (process::leaving()) return;
    const Nanos next = std::min(round(), boot_ns() + kMostSleep);
    const Nanos now = boot_ns();
    if (next <= now) continue;
    const process::SlotWriter::Guard guard(slot_);
    peer::wait_for_ring(bell, seen, next - now);
  }
}

Nanos Loop::round() {
  slot_.beat();
  leadership_.round();
  Nanos next = leadership_.next_ns();
  for (Chore& chore : chores_) {
    if (process::leaving()) break;
    const Nanos now = boot_ns();
    if (now >= chore.next_ns || (chore.rung && chore.rung())) {
      slot_.beat();
      run(chore, now + kAtOnce);
    }
    next = std::min(next, chore.next_ns);
  }
  return next;
}

void Loop::finish() {
  leadership_.round();
  const Nanos until = boot_ns() + kFinish;
  for (Chore& chore : chores_) {
    if (chore.at_drain) run(chore, until);
  }
}

void Loop::leave() {
  leadership_.leave();
  for (const Chore& chore : chores_) {
    if (chore.leave) chore.leave();
  }
}

void Loop::run(Chore& chore, Nanos until) {
  Again again;
  do {
    const Nanos wait = until_turn(chore);
    again = wait > 0 ? wait : step(chore);
  } while (again == kMore && boot_ns() < until);
  chore.next_ns = boot_ns() + (again == kMore ? kBetweenBatches : again.value_or(chore.every));
}

// Time until it is the turn of this host; 0: now.
Nanos Loop::until_turn(Chore& chore) const {
  if (chore.duties.empty()) return 0;
  std::uint64_t term = 0;
  for (const queue::DutyName& duty : chore.duties) term = std::max(term, leadership_.term(duty));
  if (std::exchange(chore.term, term) != term) chore.under_way = false;
  if (term == 0) return time_until(leadership_.next_ns());
  if (chore.under_way || !chore.reports || chore.every < kHour) return 0;
  const auto since = leadership_.since_last_run(chore.duties.front());
  return since && *since < chore.every ? chore.every - *since : 0;
}

Again Loop::step(Chore& chore) {
  try {
    const Again again = chore.run_once(!chore.under_way);
    chore.under_way = again.has_value();
    if (!chore.reports || again == kMore) return again;
    for (const queue::DutyName& duty : chore.duties) leadership_.ran(duty);
    return again;
  } catch (const Error& error) {
    chore.under_way = false;
    log::error("duty.failed", {{"duty", chore.name}, {"error", error.what()}});
    if (!chore.reports) return kAfterError;
    for (const queue::DutyName& duty : chore.duties) leadership_.failed(duty, error.what());
    return kAfterError;
  }
}

}  // namespace allot::steward
