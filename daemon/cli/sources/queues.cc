// SPDX-License-Identifier: Apache-2.0
#include "cli/sources/queues.h"

#include <utility>

#include "operations/call.h"

namespace allot::cli {

void unknown_queue(const std::string& name, std::vector<std::string> known) {
  throw Error(operations::unknown_queue_text(name, std::move(known)), kExitBadInput);
}

Queues::Queues(db::Connection& db, const config::Settings& settings)
    : db_(db),
      settings_(settings),
      addresses_([this](db::Connection& /*db*/, const std::string& name) { return get(name); }) {}

queue::QueueInfo Queues::get(const std::string& name) const {
  auto info = queue::find_queue(db_, name);
  if (!info) {
    const config::Queue* configured = config::find_queue(settings_, name);
    if (configured == nullptr) {
      std::vector<std::string> names;
      for (const auto& queue : queue::list_queues(db_)) names.push_back(queue.name);
      for (const auto& queue : settings_.queues) names.push_back(queue.name);
      unknown_queue(name, std::move(names));
    }
    info = queue::ensure_queue(db_, name, queue::shape_of(*configured));
  }
  return *info;
}

const queue::QueueInfo& Queues::address(const std::string& name, const std::string& type) {
  return addresses_.find(db_, name, type);
}

void Queues::complete(const std::string& name, queue::SubmitOptions& options) const {
  const config::Queue* configured = config::find_queue(settings_, name);
  if (configured == nullptr || options.compress_above) return;
  options.compress_above = configured->compress_above;
}

}  // namespace allot::cli
