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

// Throws Error(kExitBadInput): unknown queue. The message lists the existing ones, the most likely
// one first.
[[noreturn]] void unknown_queue(const std::string& name, std::vector<std::string> known);

// Queues that accept submissions. Creates a queue that exists only in the configuration.
class Queues {
 public:
  Queues(db::Connection& db, const config::Settings& settings);
  // Throws as unknown_queue() does.
  [[nodiscard]] queue::QueueInfo get(const std::string& name) const;
  // The queue for a task of `type` submitted to `name`, or without a queue: see queue::Addresses.
  // The reference is valid until the next call.
  const queue::QueueInfo& address(const std::string& name, const std::string& type);
  // Fills in the configured defaults for a submission to this queue.
  void complete(const std::string& name, queue::SubmitOptions& options) const;

 private:
  db::Connection& db_;
  const config::Settings& settings_;
  queue::Addresses addresses_;
};

}  // namespace allot::cli
