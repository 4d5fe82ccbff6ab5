// SPDX-License-Identifier: Apache-2.0
#include "steward/ticks.h"

#include <utility>

#include "peer/doorbell.h"

namespace allot::steward {

namespace {

// Of all queues together.
queue::DutyName duty() {
  return {0, "schedules"};
}

}  // namespace

Ticks::Ticks(worker::Session& session, ipc::Board& board, Leadership& leadership,
             std::vector<std::string> command)
    : session_(session),
      leadership_(leadership),
      calendar_(std::move(command)),
      ticker_(calendar_, {[&leadership] { return leadership.leads(duty()); },
                          [&board](std::uint32_t queue_id, std::size_t tasks) {
                            peer::ring(board, queue_id, tasks);
                          }}) {
  leadership_.want(duty());
}

// A call that is repeated reads the rows first, so that no tick is sent blindly again.
void Ticks::look() {
  if (boot_ns() < next_ns()) return;
  session_.call([this](db::Connection& db) {
    ticker_.look(db);
    return true;
  });
  if (leadership_.leads(duty())) leadership_.ran(duty());
}

}  // namespace allot::steward
