// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/remote/session.h"
#include "config/settings.h"
#include "db/connection.h"
#include "peer/doorbell.h"
#include "queue/model/catalog.h"

namespace allot::cli {

// Options of every command.
struct Context {
  config::LoadOptions load;
  remote::Options remote;
  std::string reason;  // of a command that operates: its reason, for people

  [[nodiscard]] config::Settings settings() const { return config::load(load); }
};

// Connects to the configured database, whose schema may be of any version or missing.
[[nodiscard]] db::Connection connect_any(const config::Settings& settings);

// The same, but requires the schema version of this build.
[[nodiscard]] db::Connection connect(const config::Settings& settings);

// Runtime folder of the configured instance, for bells; empty if it belongs to another user.
[[nodiscard]] std::string local_folder(const config::Settings& settings);
// The bells of that instance.
[[nodiscard]] peer::Ringer ringer_of(const config::Settings& settings);

// Throws Error(kExitBadInput): unknown queue. The message lists the existing ones, the most likely
// one first.
[[noreturn]] void unknown_queue(const std::string& name, std::vector<std::string> known);

// Finds the queue. Makes a queue that only the configuration has. Throws as unknown_queue() does.
[[nodiscard]] queue::QueueInfo queue_named(db::Connection& db, const config::Settings& settings,
                                           const std::string& name);

// Throws Error(kExitBadInput) for a reason that exceeds its column.
void check_reason(const std::string& reason);

// "ann@host": the user of this process.
[[nodiscard]] std::string requested_by();

}  // namespace allot::cli
