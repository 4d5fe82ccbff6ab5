// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>

#include "db/connection.h"

namespace allot::gateway::work {

// The threads that send statements, each with a connection of its own, behind a queue of jobs that
// is bounded: a gateway that cannot keep up says so at once.
class Crew {
 public:
  // The job gets a connection that works, or the error why there is none; it throws nothing.
  using Job = std::function<void(db::Connection* db, const std::exception_ptr& unavailable)>;

  Crew(db::ConnectOptions options, std::size_t threads, std::size_t most_waiting);
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;
  ~Crew();  // what waits is done first

  // False: the queue is full. Any thread.
  [[nodiscard]] bool post(Job job);
};

}  // namespace allot::gateway::work
