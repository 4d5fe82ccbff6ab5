// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace allot {

// Line format of every program of a daemon; ipc/preflight.h passes it to the supervisor.
enum class LogFormat : std::uint32_t {
  kText = 0,      // 2026-11-21T05:00:00.123Z INFO  worker task.done task=... runtime_ms=12
  kJson = 1,      // {"time":"...","level":"info","program":"worker","event":"task.done",...}
  kJournald = 2,  // <6>worker task.done task=...: the journal adds time and level
};

}  // namespace allot
