// SPDX-License-Identifier: Apache-2.0
#include "cli/sources/queues.h"

#include <algorithm>

#include "base/names.h"
#include "cli/words/text.h"
#include "queue/model/task.h"

namespace allot::cli {

void unknown_queue(const std::string& name, std::vector<std::string> known) {
  constexpr std::size_t kListed = 10;
  const std::string shown = printable(name, kMaxQueueName);
  if (!queue::is_name(name)) {
    throw Error("'" + shown + "' is not a queue: names are 1 to 63 of A-Z a-z 0-9 . _ -",
                kExitBadInput);
  }
  std::string text = "queue '" + shown + "' does not exist" + did_you_mean(name, known);
  if (text.back() != '?') text += ';';
  std::sort(known.begin(), known.end());
  known.erase(std::unique(known.begin(), known.end()), known.end());
  std::string list;
  for (std::size_t i = 0; i < std::min(known.size(), kListed); ++i) {
    list += (i == 0 ? " there is " : ", ") + known[i];
  }
  if (known.size() > kListed) list += " and " + std::to_string(known.size() - kListed) + " more";
  if (known.empty()) list = " there is none yet";
  throw Error(
      text + list + "; a section [queues.\"" + shown + "\"] in the configuration creates it",
      kExitBadInput);
}

std::vector<queue::QueueInfo> chosen_queues(db::Connection& db, const std::string& name) {
  auto all = queue::list_queues(db);
  if (name.empty()) return all;
  std::vector<std::string> names;
  for (const auto& info : all) {
    if (info.name == name) return {info};
    names.push_back(info.name);
  }
  unknown_queue(name, std::move(names));
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
