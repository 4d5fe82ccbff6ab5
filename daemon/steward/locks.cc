// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <utility>

#include "log/log.h"
#include "peer/doorbell.h"
#include "peer/lock_bell.h"
#include "queue/locks/lock_store.h"
#include "queue/model/expired_holder_watch.h"
#include "steward/chores.h"

namespace allot::steward {
namespace {

// Less than the shortest TTL, so that a lock which was taken right after a poll is free within two
// of its TTLs: one to see that its holder stalled, and the time until that begins.
constexpr Nanos kLocksEvery = kSecond * queue::kShortestLockTtl.count() * 3 / 4;
// Interval after kIdleAfter without a lock: e2e_idle bounds the cost of a cluster without locks.
constexpr Nanos kIdleEvery = 6 * kLocksEvery;
constexpr Nanos kIdleAfter = 60 * kSecond;

class Locks {
 public:
  Locks(process::Session& session, std::string runtime_dir)
      : session_(session), runtime_dir_(std::move(runtime_dir)) {
    // For accounts that may ring and hear, but cannot create files in that folder.
    static_cast<void>(peer::LockBell(runtime_dir_, ""));
  }

  // Returns the time until the next poll.
  Nanos poll() {
    const auto statement = [&] {
      return ask(session_, [](db::Connection& db) { return queue::watch_locks(db); });
    };
    watched_.poll(statement, [&] { return session_.generation(); });
    const Nanos seen = boot_ns();
    if (!watched_.empty()) idle_from_ns_ = seen + kIdleAfter;
    Nanos next = seen < idle_from_ns_ ? watched_.next_poll_ns() : seen + kIdleEvery;
    while (const auto still = watched_.take()) {
      next = boot_ns() + kLocksEvery;  // or a lock that cannot be freed is retried at once
      const queue::LockObservation& lock = still->observed;
      const bool freed = ask(
          session_, [&](db::Connection& db) { return queue::free_lock(db, lock, still->stale); });
      if (!freed) continue;
      peer::Ringer(runtime_dir_).ring_lock(lock.name);
      log::warn("lock.freed", {{"lock", lock.name},
                               {"slot", lock.slot},
                               {"token", lock.epoch},
                               {"holder", lock.holder}});
    }
    return time_until(next);
  }

 private:
  process::Session& session_;
  const std::string runtime_dir_;
  // With six polls in that time.
  queue::ExpiredHolderWatch<queue::LockSlot, queue::LockObservation> watched_{
      6 * kLocksEvery, queue::StoodStill::kAll};
  Nanos idle_from_ns_ = 0;
};

}  // namespace

Chore locks(process::Session& session, std::string runtime_dir) {
  const auto own = std::make_shared<Locks>(session, std::move(runtime_dir));
  return {.name = "locks",
          .duties = {{0, "locks"}},
          .every = kLocksEvery,
          .run_once = [own](bool /*fresh*/) { return own->poll(); }};
}

}  // namespace allot::steward
