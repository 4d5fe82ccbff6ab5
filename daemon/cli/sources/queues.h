// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "config/settings.h"
#include "db/connection.h"
#include "queue/model/catalog.h"
#include "queue/submit/submitter.h"

namespace allot::cli {

// Throws Error(kExitBadInput): unknown queue. The message lists the existing ones, the most likely
// one first.
[[noreturn]] void unknown_queue(const std::string& name, std::vector<std::string> known);

// Finds the queue. Makes a queue that only the configuration has. Throws as unknown_queue() does.
[[nodiscard]] queue::QueueInfo queue_named(db::Connection& db, const config::Settings& settings,
                                           const std::string& name);

// The submission path of a command. The settings outlive it.
[[nodiscard]] queue::Submitter submitter_of(const config::Settings& settings);

}  // namespace allot::cli
