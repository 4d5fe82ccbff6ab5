// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ipc/board.h"
#include "process/session.h"
#include "queue/notices/stuck.h"
#include "queue/submit/submitter.h"
#include "steward/chore.h"
#include "steward/served.h"
#include "steward/unknown_tasks.h"

namespace allot::steward {

// Finds stuck tasks of queues with an on_stuck, and submits a task about each (C9).
class StuckReports {
 public:
  StuckReports(process::Session& session, ipc::Board& board, UnknownTasks& unknown,
               const std::vector<Served>& served)
      : session_(session),
        submitter_({.ringer = peer::Ringer(board)}),
        unknown_(unknown),
        served_(served) {}

  // Two for each such queue: one on the host that leads this duty of it, and one on every host, for
  // the tasks that its workers deferred.
  [[nodiscard]] std::vector<Chore> chores();

 private:
  void report_stuck(const Served& queue);
  void report_unknown(const Served& queue);
  std::string report(const Served& queue, const std::set<std::string>& reported, const char* what,
                     const queue::Stuck& stuck);
  bool submit(const Served& queue, const std::string& payload, const queue::SubmitOptions& options);

  process::Session& session_;
  const queue::Submitter submitter_;
  UnknownTasks& unknown_;
  const std::vector<Served>& served_;
  // Keys of the last findings, by queue.
  std::map<std::uint32_t, std::set<std::string>> reported_;
  std::map<std::uint32_t, std::set<std::string>> reported_unknown_;
};

}  // namespace allot::steward
