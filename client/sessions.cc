// SPDX-License-Identifier: Apache-2.0
#include "client/sessions.h"

#include "base/clock.h"
#include "db/migrate.h"

namespace allot::client {
namespace {

constexpr std::size_t kKept = 4;

}  // namespace

Sessions::Sessions(db::ConnectOptions options) : options_(std::move(options)) {
  idle_.reserve(kKept);  // so that keep() cannot fail
}

Sessions::Session Sessions::connect() const {
  auto session = std::make_unique<db::Connection>(options_);
  // An older schema lacks objects that this build needs. A newer one works: migrations only add,
  // and an application is not rebuilt for each schema.
  db::require_schema(*session, db::Newer::kTaken);
  return session;
}

Sessions::Session Sessions::take_idle() {
  Idle idle{};
  {
    const MutexLock held(mutex_);
    if (idle_.empty()) return nullptr;
    idle = std::move(idle_.back());
    idle_.pop_back();
  }
  if (boot_ns() - idle.since_ns < kSecond) return std::move(idle.session);
  try {
    // The server may have become read-only while the session was idle.
    idle.session->require_writer();
    return std::move(idle.session);
  } catch (const db::DbError&) {
    return connect();
  }
}

void Sessions::keep(Session session) {
  const MutexLock held(mutex_);
  if (idle_.size() < kKept) idle_.push_back({std::move(session), boot_ns()});
}

}  // namespace allot::client
