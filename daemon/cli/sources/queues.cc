// SPDX-License-Identifier: Apache-2.0
#include "cli/sources/queues.h"

#include <utility>

#include "cli/sources/context.h"
#include "operations/call.h"

namespace allot::cli {

void unknown_queue(const std::string& name, std::vector<std::string> known) {
  throw Error(operations::unknown_queue_text(name, std::move(known)), kExitBadInput);
}

queue::QueueInfo queue_named(db::Connection& db, const config::Settings& settings,
                             const std::string& name) {
  auto info = queue::find_or_make(db, name, config::find_queue(settings, name));
  if (info) return std::move(*info);
  std::vector<std::string> names;
  for (const auto& queue : queue::list_queues(db)) names.push_back(queue.name);
  for (const auto& queue : settings.queues) names.push_back(queue.name);
  unknown_queue(name, std::move(names));
}

queue::Submitter submitter_of(const config::Settings& settings) {
  return queue::Submitter(
      {.configured =
           [&settings](const std::string& name) { return config::find_queue(settings, name); },
       .find = [&settings](db::Connection& db,
                           const std::string& name) { return queue_named(db, settings, name); },
       .ringer = ringer_of(settings),
       .finds_owners = true});
}

}  // namespace allot::cli
