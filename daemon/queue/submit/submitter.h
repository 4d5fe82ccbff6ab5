// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "db/connection.h"
#include "peer/doorbell.h"
#include "queue/submit/address.h"
#include "queue/submit/submit.h"

namespace allot::queue {

// Throws the refusal if the client may not submit to the queue of this name.
using Permit = std::function<void(const std::string& queue)>;

// The path of a submission, for every program that submits: prepare() when the task arrives, and
// again if it then waits longer than Addresses::kKept, and submit(). One thread at a time. A
// program that adds a task to another transaction uses submit_statements() or plan_each() instead.
class Submitter {
 public:
  struct Environment {
    // Also has the options that a submission omits.
    Addresses::Configured configured{};
    Addresses::Find find{};
    peer::Ringer ringer{std::string()};
    // Submitted::owner says whether that task runs, which costs a statement for taken keys.
    bool finds_owners = false;
  };
  explicit Submitter(Environment environment)
      : environment_(std::move(environment)),
        addresses_(environment_.find, environment_.configured) {}

  // Finds the queue of each task, adds the configured defaults, and validates. `permit` decides
  // before an unknown queue is reported, so that a client cannot distinguish a forbidden queue from
  // a missing one. Throws the first error; for bad input in one of several tasks it names the task:
  // "task 3: ", counted from 0.
  void prepare(db::Connection& db, std::span<Submission> tasks, const Permit& permit = {});

  // See queue::submit(). Wakes workers of this host.
  std::vector<Submitted> submit(db::Connection& db, std::span<const Submission> tasks,
                                const ExtraStatements& extra = {}) const;

  // For tasks that were submitted with another transaction.
  void ring(std::span<const Submission> tasks) const;

 private:
  void prepare_one(db::Connection& db, Submission& task, const Permit& permit);

  Environment environment_;
  Addresses addresses_;
};

}  // namespace allot::queue
