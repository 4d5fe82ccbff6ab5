// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "ipc/board.h"
#include "process/session.h"
#include "schedule/computing_process.h"
#include "steward/chore.h"
#include "steward/next_run_check.h"
#include "steward/ticker.h"

namespace allot::steward {

// The ticks of schedules, as a chore of the steward.
class Ticks {
 public:
  // `command` computes the calendar, see schedule::ComputingProcess.
  Ticks(process::Session& session, ipc::Board& board, std::vector<std::string> command);

  [[nodiscard]] Chore chore();

 private:
  process::Session& session_;
  schedule::ComputingProcess calendar_;
  Ticker ticker_;
  NextRunCheck check_;
};

}  // namespace allot::steward
