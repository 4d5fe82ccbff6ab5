// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "config/settings.h"
#include "db/connection.h"
#include "queue/model/catalog.h"
#include "queue/submit/address.h"
#include "queue/submit/submit.h"

namespace allot::cli {

// Throws Error(kExitBadInput): there is no queue of that name, but these, the most likely one
// first.
[[noreturn]] void unknown_queue(const std::string& name, std::vector<std::string> known);

// The queue of that name, or all for an empty one. Throws as unknown_queue.
[[nodiscard]] std::vector<queue::QueueInfo> chosen_queues(db::Connection& db,
                                                          const std::string& name);

// The queues that tasks may be submitted to. Creates a queue that only the configuration knows.
class Queues {
 public:
  Queues(db::Connection& db, const config::Settings& settings);
  // Looks it up. Throws as unknown_queue.
  [[nodiscard]] queue::QueueInfo get(const std::string& name) const;
  // The queue that takes a task of `type` submitted to `name`, or to none: see queue::Addresses.
  // The reference is valid until the next call.
  const queue::QueueInfo& address(const std::string& name, const std::string& type);
  // Fills in what a submission to this queue leaves out and the configuration says.
  void complete(const std::string& name, queue::SubmitOptions& options) const;

 private:
  db::Connection& db_;
  const config::Settings& settings_;
  queue::Addresses addresses_;
};

}  // namespace allot::cli
