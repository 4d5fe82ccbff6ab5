// SPDX-License-Identifier: Apache-2.0
#include <ctime>
#include <map>
#include <set>

#include "fault/ledger.h"

namespace allot::fault {
namespace {

// Format of a payload.
std::string text_of_tick(std::int64_t tick) {
  const auto seconds = static_cast<std::time_t>(tick);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  char text[sizeof "2026-11-24T02:15:00Z"];
  (void)std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

// Ids of the tasks that ran for each tick. A task that waits or is dead at the end is already a
// complaint of check().
std::map<std::string, std::set<std::string>> tasks_of_ticks(const Evidence& evidence) {
  std::map<std::string, std::set<std::string>> tasks;
  for (const Trace& trace : evidence.traces) {
    if (trace.mark == Mark::kHooked && trace.more.rfind("tick ", 0) == 0)
      tasks[trace.more.substr(5)].insert(trace.task);
  }
  return tasks;
}

}  // namespace

std::vector<std::string> broken_ticks(const Ledger& ledger) {
  if (!ledger.ticks) return {};
  std::vector<std::string> broken;
  auto tasks = tasks_of_ticks(ledger.evidence);
  for (std::int64_t tick = ledger.ticks->first; tick < ledger.ticks->end; ++tick) {
    const std::string text = text_of_tick(tick);
    const auto found = tasks.find(text);
    if (found == tasks.end()) {
      broken.push_back("a tick without a task: " + text);
      continue;
    }
    if (found->second.size() > 1) {
      broken.push_back("a tick with " + std::to_string(found->second.size()) + " tasks: " + text);
    }
    tasks.erase(found);
  }
  for (const auto& [text, ids] : tasks) {
    broken.push_back("a task of a tick that was not due: " + text + ", " + *ids.begin());
  }
  return broken;
}

}  // namespace allot::fault
