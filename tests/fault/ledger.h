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

// A worker that died, as the log of its daemon says.
struct Death {
  std::string line;
  pid_t pid = 0;
  Nanoseconds at = 0;
};

// The ticks that are to have one task each: a tick for each second, `end` is none of them. Seconds
// since 1970 by the database's clock.
struct TickRange {
  std::int64_t first = 0;
  std::int64_t end = 0;
};

// All that is known of a draw when it is over.
struct Ledger {
  Draw draw;
  Evidence evidence;
  std::map<std::string, std::string> ids{};  // what submitters were told, by tag
  std::vector<Deed> deeds{};
  std::vector<TaskRow> dead{};
  std::map<std::string, unsigned> effects{};  // rows by tag
  std::vector<HistoryRow> history{};
  std::vector<Death> deaths{};
  std::optional<TickRange> ticks{};  // nullopt: there was no schedule
  // When the rate of the first queue was taken away, in a draw that has one.
  Nanoseconds rated_until = 0;
};

// Whom the supervisor ended, as the log of its daemon says: a task of theirs may run again.
void add_kills(Evidence& evidence, const std::string& log);
// The same, and who died of whatever.
void add_log(Ledger& ledger, const std::string& log);
// Whoever died at the hands of a task, by the traces.
void add_crashes(Evidence& evidence);
// What operators' deeds explain, for check().
void add_deeds(Ledger& ledger);

// What was promised for what was drawn, beside what check() knows. Pure. A line for each promise
// that was broken, and for each of those below.
std::vector<std::string> broken_promises(const Ledger& ledger);
// What was cancelled ends, and what is paused does not start.
std::vector<std::string> broken_by_operators(const Ledger& ledger);
// Each finished task is a row of the history, if its queue has one, and no other task is.
std::vector<std::string> broken_history(const Ledger& ledger);
// Each tick of the schedule has one task.
std::vector<std::string> broken_ticks(const Ledger& ledger);
// A task goes where the route says that was there when it was submitted.
std::vector<std::string> broken_routes(const Ledger& ledger);
// In any 10 s no more tasks of the first queue start than its rate allows.
std::vector<std::string> broken_rate(const Ledger& ledger);
// No worker dies by itself.
std::vector<std::string> deaths_of_nothing(const Ledger& ledger);

}  // namespace allot::fault
