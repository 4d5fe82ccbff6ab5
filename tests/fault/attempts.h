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

// The traces have to outlive it.
Attempts attempts_in(const std::vector<Trace>& traces);

// Whether a fault that killed nothing, and so may only have made something late, was at work then
// or shows yet.
bool troubled(const Evidence& evidence, Nanoseconds from, Nanoseconds to);
// Whether the worker, or all of its host, stood still meanwhile.
bool stopped(const Evidence& evidence, const Trace& worker, Nanoseconds from, Nanoseconds to);
// When the worker was killed, at that time or later; 0: it was not.
Nanoseconds killed_after(const Evidence& evidence, const Trace& worker, Nanoseconds from);

}  // namespace allot::fault
