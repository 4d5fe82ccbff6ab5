// SPDX-License-Identifier: Apache-2.0
#include "steward/ticks.h"

#include <utility>

#include "log/log.h"
#include "peer/doorbell.h"
#include "steward/ask.h"

namespace allot::steward {

namespace {

constexpr Nanos kAfterError = 10 * kSecond;

// One duty for all queues.
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
                          }}),
      check_(calendar_, [&leadership] { return leadership.leads(duty()); }) {
  leadership_.want(duty());
}

// A repeated call reads the rows first, so that a tick is never sent blindly again.
void Ticks::look() {
  if (boot_ns() < next_ns()) return;
  try {
    ask(session_, [this](db::Connection& db) {
      ticker_.look(db);
      check_.look(db, boot_ns());
      return true;
    });
    if (leadership_.leads(duty())) leadership_.ran(duty());
  } catch (const db::DbError& error) {
    again_ns_ = boot_ns() + kAfterError;
    leadership_.failed(duty(), error.what());
    log::error("duty.failed", {{"duty", duty().name}, {"error", error.what()}});
  }
}

}  // namespace allot::steward
