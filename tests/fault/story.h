// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "fault/evidence.h"

namespace allot::fault {

// Explains to people why a submission's task ran twice: all records of its handlers with their
// leases, and every fault within 10 s before and after a start. Does not judge.
std::string story_of(const Evidence& evidence, const std::string& tag);

}  // namespace allot::fault
