// SPDX-License-Identifier: Apache-2.0
#include "fault/attempts.h"

#include <algorithm>

namespace allot::fault {

Attempts attempts_in(const std::vector<Trace>& traces) {
  Attempts all;
  for (const Trace& trace : traces) {
    if (trace.mark == Mark::kStart || trace.mark == Mark::kBeside) {
      all[trace.tag].push_back({&trace, nullptr});
    } else if (all.count(trace.tag) != 0 && trace.mark != Mark::kKept &&
               trace.mark != Mark::kHooked) {
      auto& attempts = all.at(trace.tag);
      const auto of = std::find_if(attempts.rbegin(), attempts.rend(), [&](const Attempt& one) {
        return one.start->pid == trace.pid && one.end == nullptr;
      });
      if (of != attempts.rend()) of->end = &trace;
    }
  }
  return all;
}

bool troubled(const Evidence& evidence, Nanoseconds from, Nanoseconds to) {
  return std::any_of(evidence.faults.begin(), evidence.faults.end(), [&](const Fault& fault) {
    return !fault.fatal && fault.begin <= to && fault.end + evidence.recovery >= from;
  });
}

bool stopped(const Evidence& evidence, const Trace& worker, Nanoseconds from, Nanoseconds to) {
  return std::any_of(evidence.faults.begin(), evidence.faults.end(), [&](const Fault& fault) {
    return fault.kind.rfind("stop_", 0) == 0 &&
           (fault.pid == worker.pid || fault.pid == worker.parent) && fault.begin <= to &&
           fault.end + evidence.recovery >= from;
  });
}

Nanoseconds killed_after(const Evidence& evidence, const Trace& worker, Nanoseconds from) {
  Nanoseconds first = 0;
  for (const Fault& fault : evidence.faults) {
    if (!fault.fatal || fault.pid != worker.pid || fault.end < from) continue;
    if (first == 0 || fault.end < first) first = fault.end;
  }
  return first;
}

}  // namespace allot::fault
