// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/log_format.h"
#include "ipc/board.h"

// The answer that `allot-worker --check config` writes to kAnswerFd, so that the supervisor parses
// nothing (S26). It is one whole record of fixed size, written after configuration and plugins were
// found good. Both checks write one when they refuse.
namespace allot::ipc {

inline constexpr std::uint32_t kPreflightMagic = 0x414c5046;  // "ALPF"
inline constexpr std::uint32_t kPreflightVersion = 5;

struct PreflightPool {
  char name[32] = {};
  std::uint32_t size = 0;  // workers
};

struct PreflightAnswer {
  std::uint32_t magic = kPreflightMagic, version = kPreflightVersion, pool_count = 0;
  PreflightPool pools[kMaxPools + 1] = {};  // the last one has no name
  std::uint32_t frozen_ms = 0;  // a worker without a heartbeat for this long is killed (S27)
  std::uint32_t stop_ms = 0;    // how long a graceful stop may take
  std::uint32_t gateway = 0;    // 1: the configuration has a gateway
  LogFormat log_format = {};
  char instance[32] = {};
  char runtime_dir[1024] = {};   // absolute; the check made it if it was missing
  char embedded_dir[1024] = {};  // absolute; empty = external server
  char log_file[1024] = {};      // absolute; empty = stderr
  char problem[512] = {};        // why this step refuses; then only the log format is known
};

// Sum over all pools.
inline std::uint32_t worker_count(const PreflightAnswer& answer) {
  std::uint32_t count = 0;
  for (std::uint32_t i = 0; i < answer.pool_count; ++i) count += answer.pools[i].size;
  return count;
}

}  // namespace allot::ipc
