// SPDX-License-Identifier: Apache-2.0
#include "steward/locks.h"

#include "log/log.h"
#include "peer/lock_bell.h"
#include "steward/ask.h"

namespace allot::steward {
namespace {

// Less than the shortest TTL, so that a lock which was taken right after a poll is free within two
// of its TTLs: one to see that its holder stalled, and the time until that begins.
constexpr Nanos kLocksEvery = kSecond * queue::kShortestLockTtl.count() * 3 / 4;
// Interval after kIdleAfter without a lock: e2e_idle bounds the cost of a cluster without locks.
constexpr Nanos kIdleEvery = 6 * kLocksEvery;
constexpr Nanos kIdleAfter = 60 * kSecond;
constexpr Nanos kTicketsEvery = 60 * kSecond;

const queue::DutyName kLocksDuty{0, "locks"};  // of the cluster

}  // namespace

Locks::Locks(worker::Session& session, Leadership& leadership, std::string runtime_dir)
    : session_(session),
      leadership_(leadership),
      runtime_dir_(std::move(runtime_dir)),
      watched_(6 * kLocksEvery, queue::StoodStill::kAll) {  // with six polls in that time
  leadership_.want(kLocksDuty);
  // For accounts that may ring and hear, but cannot create files in that folder.
  static_cast<void>(peer::LockBell(runtime_dir_, ""));
}

void Locks::look() {
  if (boot_ns() < next_ns_) return;
  if (!leadership_.leads(kLocksDuty)) {
    next_ns_ = leadership_.next_ns();
    return;
  }
  next_ns_ = boot_ns() + kLocksEvery;
  try {
    round();
    leadership_.ran(kLocksDuty);
  } catch (const db::DbError& error) {
    leadership_.failed(kLocksDuty, error.what());
    log::error("duty.failed", {{"duty", kLocksDuty.name}, {"error", error.what()}});
  }
}

void Locks::round() {
  const auto statement = [&] {
    return ask(session_, [](db::Connection& db) { return queue::watch_locks(db); });
  };
  watched_.look(statement, [&] { return session_.generation(); });
  const Nanos seen = boot_ns();
  if (!watched_.empty()) idle_from_ns_ = seen + kIdleAfter;
  next_ns_ = seen < idle_from_ns_ ? watched_.next_look_ns() : seen + kIdleEvery;
  while (const auto still = watched_.take()) {
    next_ns_ = boot_ns() + kLocksEvery;  // or a lock that cannot be freed is retried at once
    const queue::LockObservation& lock = still->observed;
    const bool freed =
        ask(session_, [&](db::Connection& db) { return queue::free_lock(db, lock, still->stale); });
    if (!freed) continue;
    peer::LockBell(runtime_dir_, lock.name).ring();
    log::warn(
        "lock.freed",
        {{"lock", lock.name}, {"slot", lock.slot}, {"token", lock.epoch}, {"holder", lock.holder}});
  }
  const Nanos now = boot_ns();
  if (now < purge_ns_) return;
  purge_ns_ = now + kTicketsEvery;
  ask(session_, [](db::Connection& db) { return queue::purge_tickets(db); });
}

}  // namespace allot::steward
