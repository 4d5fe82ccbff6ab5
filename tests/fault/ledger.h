// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "fault/draw.h"
#include "fault/evidence.h"
#include "fault/operator.h"

namespace allot::fault {

// All that is known of a draw when it is over.
struct Ledger {
  Draw draw;
  Evidence evidence;
  std::map<std::string, std::string> ids{};  // what submitters were told, by tag
  std::vector<Deed> deeds{};
  std::vector<TaskRow> dead{};
  std::map<std::string, unsigned> effects{};  // rows by tag
  std::vector<std::string> deaths{};          // lines of the logs: workers that died
};

// Whoever died at the hands of a task or of the supervisor, by the traces and the logs.
void add_inner_deaths(Ledger& ledger, const std::string& log);
// What operators' deeds explain, for check().
void add_deeds(Ledger& ledger);

// What was promised for what was drawn, beside what check() knows. Pure. A line for each promise
// that was broken.
std::vector<std::string> broken_promises(const Ledger& ledger);

}  // namespace allot::fault
