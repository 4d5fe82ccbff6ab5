// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "queue/model/catalog.h"

namespace allot::cli {

// "since 2026-...: reason", or "" for one that is not paused.
[[nodiscard]] std::string pause_text(const queue::QueueInfo& queue);

}  // namespace allot::cli
