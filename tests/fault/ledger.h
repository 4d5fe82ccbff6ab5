// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fault/draw.h"
#include "fault/evidence.h"
#include "fault/operator.h"

namespace allot::fault {

// Death of a worker, from the log of its daemon.
struct Death {
  std::string line;
  pid_t pid = 0;
  Nanoseconds at = 0;
};

// Ticks that must have exactly one task each: one tick per second, `end` is excluded. Seconds since
// 1970 by the database's clock.
struct TickRange {
  std::int64_t first = 0;
  std::int64_t end = 0;
};

// All information about a finished draw.
struct Ledger {
  Draw draw;
  Evidence evidence;
  std::map<std::string, std::string> ids{};  // ids reported to submitters, by tag
  std::vector<Operation> operations{};
  std::vector<TaskRow> dead{};
  std::map<std::string, unsigned> effects{};  // rows by tag
  std::vector<HistoryRow> history{};
  std::vector<Death> deaths{};
  std::optional<TickRange> ticks{};  // nullopt: no schedule
  // Time at which the rate of the first queue was removed, in a draw with a rate.
  Nanoseconds rated_until = 0;
};

// Adds workers that the supervisor ended, from the log of its daemon: their tasks may run again.
void add_kills(Evidence& evidence, const std::string& log);
// The same, and all other deaths.
void add_log(Ledger& ledger, const std::string& log);
// Adds processes killed by a task, from the traces.
void add_crashes(Evidence& evidence);
// Adds what the actions of operators explain, for check().
void add_operations(Ledger& ledger);

// Promises of the draw that check() does not cover. Pure. One line for each broken promise,
// including promises of the functions below.
std::vector<std::string> broken_promises(const Ledger& ledger);
// Cancelled tasks end, and paused queues start nothing.
std::vector<std::string> broken_by_operators(const Ledger& ledger);
// Each finished task is a row of the history if its queue has one, and no other task is.
std::vector<std::string> broken_history(const Ledger& ledger);
// Each tick of the schedule has one task.
std::vector<std::string> broken_ticks(const Ledger& ledger);
// A task goes to the queue of the route that existed at its submission.
std::vector<std::string> broken_routes(const Ledger& ledger);
// In any 10 s the first queue starts no more tasks than its rate allows.
std::vector<std::string> broken_rate(const Ledger& ledger);
// A worker does not die without a cause.
std::vector<std::string> deaths_of_nothing(const Ledger& ledger);

}  // namespace allot::fault
