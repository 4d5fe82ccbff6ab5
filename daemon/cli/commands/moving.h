// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "config/settings.h"
#include "db/connection.h"
#include "queue/model/catalog.h"
#include "queue/operate/move.h"

// What the commands share that move waiting tasks to another queue (decision 0019).
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
};
// Moves them, at most so many per second (0: no limit), shows the progress, and rings for them.
Moved move_chosen(db::Connection& db, const config::Settings& settings, const queue::QueueInfo& to,
                  const Candidates& chosen, std::uint32_t rate);

// "1 task", "2 tasks stay".
std::string waiting_text(std::uint64_t tasks);
std::string stay_text(std::uint64_t tasks);
// Says on standard error that tasks stay, and what to do.
void say_leased(const Moved& moved);

}  // namespace allot::cli
