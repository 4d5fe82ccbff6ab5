// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "steward/loop.h"

namespace allot::steward {

// The loop of a host's steward, without chores.
struct StewardHost {
  StewardHost(process::Session& session, process::SlotWriter& slot)
      : leadership(session, queue::make_holder("test", "/run/allot/test")),
        loop(leadership, slot) {}

  // Time of the next run of the only chore, or of the first one.
  [[nodiscard]] Nanos next_ns() const { return loop.chores().front().next_ns; }

  Leadership leadership;
  Loop loop;
};

}  // namespace allot::steward
