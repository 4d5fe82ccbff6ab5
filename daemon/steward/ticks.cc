// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <utility>

#include "peer/doorbell.h"
#include "schedule/computing_process.h"
#include "steward/chores.h"
#include "steward/next_run_check.h"
#include "steward/ticker.h"

namespace allot::steward {
namespace {

constexpr Nanos kTicksEvery = 5 * kSecond;  // the ticker says when

struct Ticks {
  Ticks(ipc::Board& board, std::vector<std::string> command)
      : calendar(std::move(command)),
        ticker(calendar, [&board](const auto& tasks) { peer::Ringer(board).ring(tasks); }) {}

  schedule::ComputingProcess calendar;
  Ticker ticker;
  NextRunCheck check{calendar};
};

}  // namespace

// A repeated call reads the rows first, so that a tick is never sent blindly again.
Chore ticks(process::Session& session, ipc::Board& board, std::vector<std::string> command) {
  const auto own = std::make_shared<Ticks>(board, std::move(command));
  const auto run = [&session, own](bool fresh) {
    if (fresh) {
      own->ticker.forget();
      own->check.forget();
    }
    ask(session, [&own](db::Connection& db) {
      own->ticker.poll(db);
      own->check.check(db, boot_ns());
    });
    return Again(time_until(std::min(own->ticker.next_ns(), own->check.next_ns())));
  };
  return {.name = "schedules",
          .duties = {{0, "schedules"}},
          .every = kTicksEvery,
          .run_once = run,
          .at_drain = true};
}

}  // namespace allot::steward
