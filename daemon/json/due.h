// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

#include "queue/submit/submit.h"

namespace allot::as_json {

// Reads "300ms", "5m". Throws Error(kExitBadInput) that names `field`.
std::chrono::microseconds parse_delay(const std::string& field, const std::string& text);

// Reads RFC 3339: "2026-12-24T18:00:00Z", "2026-12-24T19:00:00.5+01:00". The time zone is required,
// because a guess could be wrong. Throws Error(kExitBadInput) that names `field`.
queue::Moment parse_moment(const std::string& field, const std::string& text);

}  // namespace allot::as_json
