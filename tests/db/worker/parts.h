// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <utility>

#include "db/stores.h"
#include "ipc/board.h"
#include "process/session.h"
#include "worker/job/job_runner.h"
#include "worker/lease/lease_keeper.h"

namespace allot::worker {

// Parts of a worker that run tasks, connected as in run_worker(). The keeper has its thread.
struct WorkerParts {
  WorkerParts(const db::ConnectOptions& options, process::SlotWriter& slot,
              const plugin_host::Registry& registry, ipc::Board& board,
              std::chrono::microseconds ttl, std::chrono::milliseconds patience)
      : stores(ttl),
        session(options, slot, patience),
        keeper(stores.leases, stores.detached, options, slot, board),
        runner(session, stores.detached, registry, keeper, slot, settings) {}

  config::Settings settings;
  queue::Stores stores;
  process::Session session;
  LeaseKeeper keeper;
  JobRunner runner;
};

}  // namespace allot::worker
