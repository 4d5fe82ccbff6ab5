// SPDX-License-Identifier: Apache-2.0
#include "cli/sources/known_types.h"

#include <cstdio>

#include "base/names.h"
#include "cli/words/text.h"
#include "config/served.h"
#include "peer/handler_types.h"
#include "queue/minutes/instances.h"
#include "queue/model/task.h"

namespace allot::cli {
namespace {

constexpr std::size_t kMostTypes = 1000;
constexpr std::size_t kMostQueues = 1000;

// Instances of all hosts; empty if this account may not read them.
std::vector<queue::InstanceRow> instances_of(db::Connection& db) {
  try {
    return queue::list_instances(db);
  } catch (const db::DbError&) {
    return {};
  }
}

}  // namespace

KnownTypes::KnownTypes(const config::Settings& settings)
    : settings_(settings), types_(peer::read_types(config::runtime_dir(settings))) {}

void KnownTypes::submitted(const std::string& queue, const std::string& type) {
  if (queues_.size() < kMostQueues) queues_.insert(queue);
  if (!types_ || peer::takes(*types_, type)) return;
  const auto known = unknown_.find(type);
  if (known != unknown_.end()) {
    ++known->second;
  } else if (unknown_.size() < kMostTypes && config::is_served(settings_, queue)) {
    unknown_.emplace(type, 1);
  }
}

void KnownTypes::warn(db::Connection& db) const {
  const auto instances = instances_of(db);
  for (const std::string& queue : queues_) {
    const auto pools = queue::pools_that_serve(instances, queue);
    if (!pools || !pools->empty()) continue;
    std::fprintf(stderr,
                 "allot: warning: no pool of a running daemon serves queue '%s': its tasks wait\n",
                 printable(queue, kMaxQueueName).c_str());
  }
  for (const auto& [type, tasks] : unknown_) {
    std::fprintf(stderr,
                 "allot: warning: this host's daemon has no handler for type '%s' (%llu %s)%s\n",
                 type.c_str(), static_cast<unsigned long long>(tasks),
                 tasks == 1 ? "task" : "tasks", did_you_mean(type, *types_).c_str());
  }
}

}  // namespace allot::cli
