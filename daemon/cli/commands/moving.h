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

// What the commands share that move waiting tasks to another queue (decision 0015).
namespace allot::cli {

// Throws Error(kExitBadInput) for a queue whose tasks have places of their own (S16).
void require_spread(const queue::QueueInfo& queue);

struct Candidates {
  std::map<queue::Partition, std::vector<queue::Waiting>> partitions;
  std::uint64_t tasks = 0;
  std::uint64_t unique = 0;  // tasks that stay where they are
};
// The waiting tasks of the types that `takes` says.
Candidates choose(db::Connection& db, const queue::QueueInfo& from,
                  const std::function<bool(const std::string& type)>& takes);

struct Moved {
  std::uint64_t moved = 0;
  std::uint64_t gone = 0;    // ran meanwhile, or began to
  std::uint64_t leased = 0;  // stay, because workers have their partitions
  std::uint64_t unique = 0;  // stay where they are

  // Adds what a later look moved; what stays is what stayed then.
  void then(const Moved& later);
};
// Moves them, at most so many per second (0: no limit), shows the progress, and rings for them.
Moved move_chosen(db::Connection& db, const config::Settings& settings,
                  const queue::QueueInfo& from, const queue::QueueInfo& to,
                  const Candidates& chosen, std::uint32_t rate);

// The waiting tasks of a type, "" for all, that a gateway moves page by page.
Moved move_far(const remote::Session& gateway, const std::string& from, const std::string& to,
               const std::string& type);

// The fields of --json.
void add_moved(nlohmann::json& told, const Moved& moved);
// For people; what stays because of a worker is another function's.
void print_moved(const Moved& moved);
// kExitFailure for tasks that a worker keeps where they are, and says so.
int end_of_move(const Moved& moved);

// "2 tasks".
std::string waiting_text(std::uint64_t tasks);

}  // namespace allot::cli
