// SPDX-License-Identifier: Apache-2.0
#include "client/lock.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "db/migrate.h"
#include "queue/locks/lock_wait.h"

namespace allot {
namespace client {

std::optional<queue::HeldLock> wait_for_lock(const db::ConnectOptions& connect,
                                             const queue::LockSpec& spec,
                                             std::chrono::milliseconds wait,
                                             queue::TokenFloor& floor, peer::LockBell& bell) {
  const Nanos patience = static_cast<Nanos>(std::max<std::int64_t>(0, wait.count())) * kMilli;
  const Nanos until = boot_ns() + patience;
  queue::LockWait wish(spec, queue::make_holder("", ""), floor);
  std::optional<db::Connection> db;
  for (std::uint64_t generation = 0;;) {
    const std::uint32_t seen = bell.seen();
    try {
      if (!db) {
        db.emplace(connect);
        db::require_schema(*db, db::Newer::kTaken);
        ++generation;
      }
      if (auto taken = wish.poll(*db, generation)) {
        bell.ring();  // wakes the waiters behind: the line has advanced
        return taken;
      }
    } catch (const db::DbError& error) {
      const bool gone = error.error_class() == db::ErrorClass::kGone;
      if (gone) db.reset();
      if (!gone && error.error_class() != db::ErrorClass::kRetryable) throw;
      if (boot_ns() >= until) throw;
    }
    const Nanos now = boot_ns();
    if (now >= until) break;
    const Nanos next = std::clamp(wish.next_ns(), now + kMilli, now + kSecond);
    const Nanos pause = std::min(next, until) - now;
    if (wish.near()) {
      bell.wait(seen, pause);
    } else {
      std::this_thread::sleep_for(std::chrono::nanoseconds(pause));
    }
  }
  if (db) wish.give_up(*db);
  bell.ring();
  return std::nullopt;
}

}  // namespace client

Lock::Impl::Impl(const db::ConnectOptions& connect, const queue::HeldLock& held,
                 std::unique_ptr<peer::LockBell> bell,
                 std::function<void(const std::string&)> on_lost)
    : bell_(std::move(bell)),
      keeper_(connect, held, queue::spare_ns(held),
              {{}, [callback = std::move(on_lost)](const std::string& reason, bool) {
                 if (callback) callback(reason);
               }}) {}

Lock::Lock(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Lock::Lock(Lock&& other) noexcept = default;
Lock& Lock::operator=(Lock&& other) noexcept = default;
Lock::~Lock() = default;

std::uint64_t Lock::token() const noexcept {
  return impl_->keeper().lock().token;
}
std::uint32_t Lock::slot() const noexcept {
  return impl_->keeper().lock().slot;
}
bool Lock::held() const noexcept {
  return impl_->keeper().held();
}
bool Lock::release() noexcept {
  return impl_->release();
}

}  // namespace allot
