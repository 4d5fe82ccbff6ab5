// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "fault/evidence.h"

namespace allot::fault {

struct Attempt {
  const Trace* start = nullptr;
  const Trace* end = nullptr;  // none: it was killed
};
using Attempts = std::map<std::string, std::vector<Attempt>>;  // by tag, as they started

// The traces must outlive the result.
Attempts attempts_in(const std::vector<Trace>& traces);

// True if a non-fatal fault, which can only delay, was active in this period or still has effects.
bool troubled(const Evidence& evidence, Nanoseconds from, Nanoseconds to);
// True if the worker, or its whole host, was stopped in this period.
bool stopped(const Evidence& evidence, const Trace& worker, Nanoseconds from, Nanoseconds to);
// Time at which the worker was killed, at `at` or later; 0: it was not.
Nanoseconds killed_after(const Evidence& evidence, const Trace& worker, Nanoseconds from);

}  // namespace allot::fault
