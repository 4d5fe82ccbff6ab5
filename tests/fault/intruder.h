// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>

#include "db/connection.h"

namespace allot::fault {

// A session that holds locks needed by workers, until it is destroyed. After the server went away
// it may only be destroyed.
class Intruder {
 public:
  explicit Intruder(db::Connection connection) : db_(std::move(connection)) {}

  // Each locks rows of a leased partition chosen by `pick`, and returns its place_of(); nullopt:
  // nothing was locked.
  std::optional<pid_t> hold_lease(std::uint64_t pick);
  std::optional<pid_t> hold_tasks(std::uint64_t pick);
  // place_of() the partition whose rows may be locked, also after a nullopt.
  [[nodiscard]] std::optional<pid_t> touched() const { return touched_; }
  // Makes a worker the victim of a deadlock, in at most half a second. nullopt: failed.
  std::optional<pid_t> deadlock(std::uint64_t pick);

 private:
  struct Leased {
    std::uint64_t queue_id = 0;
    std::uint64_t partition_no = 0;
  };
  std::optional<Leased> choose(std::uint64_t pick);
  void begin();

  db::Connection db_;
  std::optional<pid_t> touched_;
};

}  // namespace allot::fault
