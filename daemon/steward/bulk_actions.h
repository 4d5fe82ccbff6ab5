// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "ipc/board.h"
#include "process/session.h"
#include "queue/operate/bulk_work.h"
#include "steward/chore.h"
#include "steward/leadership.h"

namespace allot::steward {

// Executes bulk actions, a batch of each in turn, on one host for all. Each batch is conditioned on
// the row of its action (S49), so that a second executor does no harm (S46). Without an action it
// polls every five seconds, and when its bell rings.
class BulkActions {
 public:
  BulkActions(process::Session& session, ipc::Board& board, const Leadership& leadership)
      : session_(session), board_(board), leadership_(leadership) {}

  [[nodiscard]] Chore chore();

 private:
  Again round();
  // Returns the time before which the action needs no work.
  Nanos work(std::uint64_t action_id);

  process::Session& session_;
  ipc::Board& board_;
  const Leadership& leadership_;
  std::uint32_t rung_ = 0;  // value of the bell at the last poll
  std::uint64_t turn_ = 0;  // the action that had a batch last
};

}  // namespace allot::steward
