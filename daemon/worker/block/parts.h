// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "plugin_host/registry.h"
#include "process/lifetime.h"
#include "process/session.h"
#include "process/slot_writer.h"
#include "process/stop_request.h"
#include "queue/model/task.h"
#include "worker/block/careful_turn.h"
#include "worker/job/executor.h"
#include "worker/lease/finder.h"
#include "worker/lease/lease_keeper.h"
#include "worker/settle/recovery.h"

namespace allot::worker {

// Parts of the worker that the block loop and its leases use. All outlive them.
struct BlockParts {
  process::Session& session;
  Finder& finder;
  LeaseKeeper& keeper;
  process::SlotWriter& slot;
  Executor& executor;
  const plugin_host::Registry& registry;
  CarefulTurn& careful_turn;
  Recovery& recovery;
  process::Lifetime* lifetime = nullptr;  // nullptr: this worker stays
  // Called for each task that is put back because no handler here knows its type.
  std::function<void(const queue::TaskId&, const std::string& type)> on_unknown{};

  // True: no further task may start here.
  [[nodiscard]] bool done() const {
    if (lifetime != nullptr) lifetime->check();
    return process::leaving();
  }
};

}  // namespace allot::worker
