// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "cli/remote/operations.h"

// Functions shared by the commands that move waiting tasks to another queue (decision 0015).
namespace allot::cli {

// Waiting tasks of a queue, and where they go.
struct Move {
  std::string from;
  std::string to;
  std::string type;        // as in a route: "mail.*"; empty: all
  std::uint32_t rate = 0;  // per second; 0: no limit
};

// The number of tasks that may move.
[[nodiscard]] std::uint64_t count_waiting(const Operations& allot, const Move& move);

struct Moved {
  std::uint64_t moved = 0;
  std::uint64_t gone = 0;    // ran, or started, before they could be moved
  std::uint64_t leased = 0;  // not moved: a worker leases their partitions
  std::uint64_t unique = 0;  // not moved

  // Adds the result of a later pass. The tasks left behind are the ones of that pass.
  void then(const Moved& later);
  // Adds the result for other tasks.
  void add(const Moved& other);
};
// Moves the tasks page by page and shows the progress among `total`. Waits up to 5 s for workers
// that lease their partitions.
Moved move_waiting(const Operations& allot, const Move& move, std::uint64_t total);

// The fields of --json.
void add_moved(nlohmann::json& report, const Moved& moved);
// Human-readable output. Tasks kept by a worker are reported by end_of_move().
void print_moved(const Moved& moved);
// Returns kExitFailure, with a message, if workers keep tasks in place.
int end_of_move(const Moved& moved);

// "2 tasks".
std::string waiting_text(std::uint64_t tasks);

}  // namespace allot::cli
