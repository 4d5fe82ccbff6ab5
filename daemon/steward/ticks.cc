// SPDX-License-Identifier: Apache-2.0
#include "steward/ticks.h"

#include <algorithm>
#include <utility>

#include "peer/doorbell.h"
#include "steward/ask.h"

namespace allot::steward {
namespace {

constexpr Nanos kTicksEvery = 5 * kSecond;  // the ticker says when

}  // namespace

Ticks::Ticks(process::Session& session, ipc::Board& board, std::vector<std::string> command)
    : session_(session),
      calendar_(std::move(command)),
      ticker_(calendar_, [&board](const auto& tasks) { peer::Ringer(board).ring(tasks); }),
      check_(calendar_) {}

// A repeated call reads the rows first, so that a tick is never sent blindly again.
Chore Ticks::chore() {
  const auto run = [this](bool fresh) {
    if (fresh) {
      ticker_.forget();
      check_.forget();
    }
    ask(session_, [this](db::Connection& db) {
      ticker_.poll(db);
      check_.check(db, boot_ns());
      return true;
    });
    return Again(time_until(std::min(ticker_.next_ns(), check_.next_ns())));
  };
  return {.name = "schedules",
          .duties = {{0, "schedules"}},
          .every = kTicksEvery,
          .run_once = run,
          .at_drain = true};
}

}  // namespace allot::steward
