// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "fault/evidence.h"

namespace allot::fault {

// For people who want to know why a submission's task ran twice: everything that its handlers left,
// under which leases, and every fault from 10 s before until 10 s after a start. Judges nothing.
std::string story_of(const Evidence& evidence, const std::string& tag);

}  // namespace allot::fault
