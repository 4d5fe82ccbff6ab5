// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "db/connection.h"
#include "thread/mutex.h"

namespace allot::client {

// The connections of one client: one call at a time uses each, and the client keeps a few idle
// ones.
class Sessions {
 public:
  using Session = std::unique_ptr<db::Connection>;

  explicit Sessions(db::ConnectOptions options) : options_(std::move(options)) {}

  // Returns a session, and what `first` answered over it. `first` may run several times: the server
  // closes idle connections, and this call finds that out, so that the caller need not. Throws what
  // `first` throws over a working session.
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

  // Call it after a call that went well; a session that is not kept is closed.
  void keep(Session session) ALLOT_EXCLUDES(mutex_);

 private:
  struct Idle {
    Session session;
    std::uint64_t since_ns;
  };
  // nullptr: there is none.
  Session take_idle() ALLOT_EXCLUDES(mutex_);
  [[nodiscard]] Session connect() const;

  const db::ConnectOptions options_;
  Mutex mutex_;
  std::vector<Idle> idle_ ALLOT_GUARDED_BY(mutex_);
};

}  // namespace allot::client
