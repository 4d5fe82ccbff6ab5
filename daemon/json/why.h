// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "db/connection.h"
#include "json/instance_view.h"
#include "json/local_processes.h"
#include "queue/model/catalog.h"
#include "queue/verbs/cancel_request.h"
#include "queue/views/inspect.h"

// Explains in words why a task is not running, or where it runs.
namespace allot::as_json {

// Cause and error of a dead task, as one line of at most `most` bytes.
[[nodiscard]] std::string why_dead(const queue::TaskView& task, std::size_t most);

// The request to cancel a running task, as one line.
[[nodiscard]] std::string cancel_text(const queue::CancelRequest& request);

// "since 2026-...: reason", or "" for a queue that is not paused.
[[nodiscard]] std::string pause_text(const queue::QueueInfo& queue);

// One reason why a task is not running, or the place where it runs.
struct Reason {
  const char* word;  // for programs
  std::string text;  // for people
};
using Reasons = std::vector<Reason>;

// The instance on this host. Only its workers show their attached tasks, and only its processes can
// be checked for being alive.
class Neighbours {
 public:
  // An empty folder: no instance on this host.
  Neighbours(std::string instance, std::string runtime_dir)
      : instance_(std::move(instance)), runtime_dir_(std::move(runtime_dir)) {}
  [[nodiscard]] std::vector<WorkerView> workers() const {
    return runtime_dir_.empty() ? std::vector<WorkerView>() : read_instance(runtime_dir_).workers;
  }
  [[nodiscard]] bool gone(std::uint64_t origin, std::uint32_t pid) const {
    return !runtime_dir_.empty() && LocalProcesses(instance_, runtime_dir_).gone(origin, pid);
  }

 private:
  std::string instance_;
  std::string runtime_dir_;
};

// `queue` is the name of the task's queue. Throws Error if the partition of the task does not
// exist.
[[nodiscard]] Reasons reasons_of(db::Connection& db, const Neighbours& neighbours,
                                 const queue::TaskView& task, const std::string& queue);

[[nodiscard]] nlohmann::json why(const queue::TaskView& task, const std::string& queue,
                                 const Reasons& reasons);

}  // namespace allot::as_json
