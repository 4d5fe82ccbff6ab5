// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <stdexcept>

#include "db/connection.h"
#include "worker/slot_writer.h"

namespace allot::worker {

// Thrown when the database stays away while the worker has to leave.
class GaveUp : public std::runtime_error {
 public:
  GaveUp() : std::runtime_error("gave up on the database while leaving") {}
};

// The block loop's connection, kept up: a call is repeated over deadlocks, lost connections and
// restarts of the server until it succeeds. So whatever is passed to call() must have the effect of
// once when it is executed twice, as every verb of the stores has.
class Session {
 public:
  Session(db::ConnectOptions options, SlotWriter& slot, std::chrono::milliseconds patience)
      : options_(std::move(options)), slot_(slot), patience_(patience) {}

  // Throws GaveUp when asked to leave and the database stays away for longer than the patience.
  template <typename Verb>
  auto call(Verb&& verb) {
    for (;;) {
      const SlotWriter::Guard guard(slot_);
      try {
        auto result = verb(connection());
        failures_ = 0;
        return result;
      } catch (const db::DbError& error) {
        handle(error);
      }
    }
  }

  // Grows with every connection that is lost: where it grew, a reply may have been.
  [[nodiscard]] std::uint64_t generation() const { return generation_; }

 private:
  db::Connection& connection();
  void end_former(db::Connection& fresh);
  void handle(const db::DbError& error);
  void back_off();

  db::ConnectOptions options_;
  SlotWriter& slot_;
  std::chrono::milliseconds patience_;
  std::optional<db::Connection> connection_;
  std::uint64_t looked_at_ns_ = 0;  // when it was last seen to be writable
  std::uint64_t generation_ = 0;
  std::uint32_t failures_ = 0;
  std::optional<std::uint64_t> leaving_since_ns_;
};

}  // namespace allot::worker
