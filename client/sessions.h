// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <exception>
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
  explicit Sessions(db::ConnectOptions options);

  using Session = std::unique_ptr<db::Connection>;
  // A session in use by a call. Returns to the pool, or is closed if an exception ends the call.
  class Lent {
   public:
    Lent(Sessions& pool, Session session) : pool_(pool), session_(std::move(session)) {}
    Lent(const Lent&) = delete;
    Lent& operator=(const Lent&) = delete;
    ~Lent() {
      if (std::uncaught_exceptions() == exceptions_) pool_.keep(std::move(session_));
    }
    db::Connection& operator*() const { return *session_; }

   private:
    Sessions& pool_;
    Session session_;
    const int exceptions_ = std::uncaught_exceptions();
  };

  // Returns a session over which `first` succeeded. `first` may run several times: the server may
  // have closed an idle connection, which this call detects for the caller. Throws the errors of
  // `first` over a working session.
  template <typename First>
  Lent begin(First first) ALLOT_EXCLUDES(mutex_) {
    for (;;) {
      Session session = take_idle();
      const bool idle = session != nullptr;
      if (!idle) session = connect();
      try {
        first(*session);
        return {*this, std::move(session)};
      } catch (const db::DbError& error) {
        if (!idle || error.error_class() != db::ErrorClass::kGone) throw;
      } catch (const Error&) {  // bad input
        keep(std::move(session));
        throw;
      }
    }
  }

 private:
  void keep(Session session) ALLOT_EXCLUDES(mutex_);
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
