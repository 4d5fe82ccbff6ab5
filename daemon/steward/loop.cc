// SPDX-License-Identifier: Apache-2.0
#include "steward/loop.h"

#include <algorithm>

#include "base/clock.h"
#include "peer/doorbell.h"
#include "worker/process/stop_request.h"

namespace allot::steward {
namespace {

// After a suspend the chores' clock has advanced, but not the clock of the sleep.
constexpr Nanos kMostSleep = 10 * kSecond;

}  // namespace

void attend(const std::vector<Chore*>& chores, worker::SlotWriter& slot, ipc::PoolBoard& bell) {
  for (;;) {
    // Read before the check for a request to leave: a signal in between rings the bell.
    const std::uint32_t seen = bell.bell.load();
    Nanos next = boot_ns() + kMostSleep;
    for (Chore* chore : chores) {
      if (worker::leaving()) return;
      slot.beat();
      chore->look();
      next = std::min(next, chore->next_ns());
    }
    if (worker::leaving()) return;
    const Nanos now = boot_ns();
    if (next <= now) continue;
    const worker::SlotWriter::Guard guard(slot);
    peer::wait_for_ring(bell, seen, next - now);
  }
}

}  // namespace allot::steward
