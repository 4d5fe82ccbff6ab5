// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "config/settings.h"
#include "process/session.h"
#include "queue/model/catalog.h"

namespace allot::steward {

// A queue of this configuration, with its keys.
struct Served {
  queue::QueueInfo info;
  const config::Queue* keys = nullptr;
  bool by_this_host = true;  // false: no local pool serves it, and only on_stuck applies
};

// Queues of this configuration for its steward: those that a pool of this host serves, and others
// only if they have an on_stuck. Creates missing ones.
std::vector<Served> served_by(process::Session& session, const config::Settings& settings);

// Logs one line for each hook of these queues that would do nothing. Creates the queues of this
// configuration.
void check_hooks(process::Session& session, const config::Settings& settings,
                 const std::vector<Served>& served);

}  // namespace allot::steward
