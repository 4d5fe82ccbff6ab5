// SPDX-License-Identifier: Apache-2.0
#include "steward/locks.h"

#include "log/log.h"
#include "peer/lock_bell.h"
#include "steward/ask.h"

namespace allot::steward {
namespace {

constexpr Nanos kLocksEvery = 5 * kSecond;
constexpr Nanos kIdleEvery = 10 * kSecond;  // where none is held
constexpr Nanos kTicketsEvery = 60 * kSecond;

const queue::DutyName kLocksDuty{0, "locks"};  // of the cluster

}  // namespace

Locks::Locks(worker::Session& session, Leadership& leadership, std::string runtime_dir)
    : session_(session),
      leadership_(leadership),
      runtime_dir_(std::move(runtime_dir)),
      watched_(6 * kLocksEvery, queue::StoodStill::kAll) {
  leadership_.want(kLocksDuty);
  // For accounts that may ring and hear, but make no file in that folder.
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
  if (watched_.empty()) next_ns_ = boot_ns() + kIdleEvery;
  while (const auto still = watched_.take()) {
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
