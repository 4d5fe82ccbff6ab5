// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "ipc/board.h"
#include "queue/model/duty.h"
#include "schedule/computing_process.h"
#include "steward/chore.h"
#include "steward/leadership.h"
#include "steward/next_run_check.h"
#include "steward/ticker.h"
#include "worker/process/session.h"

namespace allot::steward {

// The ticks of schedules, as a chore of the steward.
class Ticks : public Chore {
 public:
  // `command` computes the calendar, see schedule::ComputingProcess.
  Ticks(worker::Session& session, ipc::Board& board, Leadership& leadership,
        std::vector<std::string> command);

  void look() override;
  [[nodiscard]] Nanos next_ns() const override {
    return std::max(std::min(ticker_.next_ns(), check_.next_ns()), again_ns_);
  }
  void finish() override { look(); }

 private:
  worker::Session& session_;
  Leadership& leadership_;
  schedule::ComputingProcess calendar_;
  Ticker ticker_;
  NextRunCheck check_;
  Nanos again_ns_ = 0;  // after an error that waiting does not fix
};

}  // namespace allot::steward
