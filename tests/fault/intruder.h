// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>

#include "db/connection.h"

namespace allot::fault {

// A session that holds locks which workers need, until it is destroyed. Not to be used after the
// server went away; its destructor may be.
class Intruder {
 public:
  explicit Intruder(db::Connection connection) : db_(std::move(connection)) {}

  // Each locks rows of a partition that is leased now, which `pick` chooses. place_of() that
  // partition; nullopt: nothing was locked.
  std::optional<pid_t> hold_lease(std::uint64_t pick);
  std::optional<pid_t> hold_tasks(std::uint64_t pick);
  // place_of() the partition of which it may have held locks, also when nullopt came back.
  [[nodiscard]] std::optional<pid_t> touched() const { return touched_; }
  // Makes a worker the victim of a deadlock; takes half a second at most. nullopt: it was none.
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
