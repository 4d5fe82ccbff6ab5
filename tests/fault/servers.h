// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <utility>

#include "fault/draw.h"
#include "support/database.h"
#include "support/stepped_clock.h"

namespace allot::fault {

struct Server {
  std::unique_ptr<support::SteppedClock> clock{};  // nullptr: the machine's clock
  std::unique_ptr<support::Database> database{};
};

// Servers of a swarm. Use it on the main thread.
class Servers {
 public:
  // `binlog`: all have a binary log, even if the draw has none.
  explicit Servers(bool binlog) : binlog_(binlog) {}

  // A running server as required by the draw. It is kept for other draws with the same
  // requirements, unless this draw fills its disk: then the next call ends it.
  Server& of(const Draw& draw);

 private:
  using Wish = std::pair<bool, bool>;  // a binary log, a clock
  static Server make(Wish wish, bool full);

  bool binlog_;
  std::map<Wish, Server> kept_;
  Server full_;
};

}  // namespace allot::fault
