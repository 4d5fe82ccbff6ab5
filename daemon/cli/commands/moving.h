// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "cli/remote/session.h"
#include "config/settings.h"
#include "db/connection.h"
#include "queue/model/catalog.h"
#include "queue/operate/move.h"

// Functions shared by the commands that move waiting tasks to another queue (decision 0015).
namespace allot::cli {

// Throws Error(kExitBadInput) for a queue that assigns a place to each key (S16).
void require_spread(const queue::QueueInfo& queue);

struct Candidates {
  std::map<queue::Partition, std::vector<queue::Waiting>> partitions;
  std::uint64_t tasks = 0;
  std::uint64_t unique = 0;  // tasks that are not moved
};
// Waiting tasks of the types that `takes` accepts.
Candidates choose(db::Connection& db, const queue::QueueInfo& from,
                  const std::function<bool(const std::string& type)>& takes);

struct Moved {
  std::uint64_t moved = 0;
  std::uint64_t gone = 0;    // ran, or started, before they could be moved
  std::uint64_t leased = 0;  // not moved: a worker leases their partitions
  std::uint64_t unique = 0;  // not moved

  // Adds the result of a later pass. The tasks left behind are the ones of that pass.
  void then(const Moved& later);
};
// Moves the tasks, at most `rate` per second (0: no limit), shows the progress and rings for them.
Moved move_chosen(db::Connection& db, const config::Settings& settings,
                  const queue::QueueInfo& from, const queue::QueueInfo& to,
                  const Candidates& chosen, std::uint32_t rate);

// Waiting tasks of a type ("" for all), which a gateway moves page by page.
Moved move_far(const remote::Session& gateway, const std::string& from, const std::string& to,
               const std::string& type);

// The fields of --json.
void add_moved(nlohmann::json& told, const Moved& moved);
// Human-readable output. Tasks kept by a worker are reported by end_of_move().
void print_moved(const Moved& moved);
// Returns kExitFailure, with a message, if workers keep tasks in place.
int end_of_move(const Moved& moved);

// "2 tasks".
std::string waiting_text(std::uint64_t tasks);

}  // namespace allot::cli
