// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "fault/ledger.h"

namespace allot::fault {
namespace {

// A worker that exits waits for the database for half of the stop_timeout of 5 s, and a connection
// takes up to a second.
constexpr Nanoseconds kGivesUp = 4 * kSecond;
constexpr Nanoseconds kLogged = 50 * kMillisecond;  // a log time is truncated to a millisecond

class Reasons {
 public:
  explicit Reasons(const Evidence& evidence) : evidence_(evidence) {}

  [[nodiscard]] bool known(const Death& death) const {
    if (ended(death, " exit=69")) return away(death);
    // If a task was active, the log line has it after the signal.
    const bool crashed = has(death, " signal=11");
    if (!crashed && !has(death, " signal=9")) return false;
    return std::any_of(evidence_.faults.begin(), evidence_.faults.end(), [&](const Fault& fault) {
      return fault.fatal && fault.pid == death.pid && fault.begin <= death.at + kLogged &&
             (fault.kind == "crash") == crashed;
    });
  }

 private:
  static bool ended(const Death& death, const char* how) { return death.line.ends_with(how); }
  static bool has(const Death& death, const std::string& how) {
    return ended(death, how.c_str()) || death.line.find(how + " ") != std::string::npos;
  }

  // True if the worker could not reach the database, or not lock there what it tries at its start,
  // or was stopped.
  [[nodiscard]] bool away(const Death& death) const {
    return std::any_of(evidence_.faults.begin(), evidence_.faults.end(), [&](const Fault& fault) {
      const bool place = fault.pid < 0;
      return !fault.fatal && !fault.inner && fault.kind != "kill_daemon" &&
             (fault.pid == 0 || fault.pid == death.pid || place) &&
             fault.begin <= death.at + kLogged && fault.end + kGivesUp >= death.at;
    });
  }

  const Evidence& evidence_;
};

}  // namespace

std::vector<std::string> deaths_of_nothing(const Ledger& ledger) {
  std::vector<std::string> broken;
  const Reasons reasons(ledger.evidence);
  for (const Death& death : ledger.deaths) {
    if (!reasons.known(death)) broken.push_back("a worker died of nothing: " + death.line);
  }
  return broken;
}

}  // namespace allot::fault
