// SPDX-License-Identifier: Apache-2.0
#include "steward/ticks.h"

#include <utility>

#include "peer/doorbell.h"

namespace allot::steward {

Ticks::Ticks(worker::Session& session, ipc::Board& board, std::function<bool()> leads,
             std::vector<std::string> command)
    : session_(session),
      calendar_(std::move(command)),
      ticker_(calendar_, {std::move(leads), [&board](std::uint32_t queue_id, std::size_t tasks) {
                            peer::ring(board, queue_id, tasks);
                          }}) {}

// A call that is repeated reads the rows first, so that no tick is sent blindly again.
void Ticks::look() {
  if (boot_ns() < next_ns()) return;
  session_.call([this](db::Connection& db) {
    ticker_.look(db);
    return true;
  });
}

}  // namespace allot::steward
