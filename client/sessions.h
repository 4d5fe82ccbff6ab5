// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "db/connection.h"
#include "thread/mutex.h"

namespace allot::client {

// Connection pool of one client. Each connection serves one call at a time; a few idle ones are
// kept.
class Sessions {
 public:
  using Session = std::unique_ptr<db::Connection>;

  explicit Sessions(db::ConnectOptions options) : options_(std::move(options)) {}

  // Returns a session and the result of `first` over it. `first` may run several times: the server
  // may have closed an idle connection, which this call detects for the caller. Throws the errors
  // of `first` over a working session.
  template <typename First>
  auto begin(First first) ALLOT_EXCLUDES(mutex_) {
    while (Session session = take_idle()) {
      try {
        auto answer = first(*session);
        return std::pair(std::move(session), std::move(answer));
      } catch (const db::DbError& error) {
        if (error.error_class() != db::ErrorClass::kGone) throw;
      }
    }
    Session session = connect();
    auto answer = first(*session);
    return std::pair(std::move(session), std::move(answer));
  }

  // Returns a session to the pool after a successful call; a session not returned is closed.
  void keep(Session session) ALLOT_EXCLUDES(mutex_);

 private:
  struct Idle {
    Session session;
    std::uint64_t since_ns;
  };
  // nullptr: no idle session.
  Session take_idle() ALLOT_EXCLUDES(mutex_);
  [[nodiscard]] Session connect() const;

  const db::ConnectOptions options_;
  Mutex mutex_;
  std::vector<Idle> idle_ ALLOT_GUARDED_BY(mutex_);
};

}  // namespace allot::client
