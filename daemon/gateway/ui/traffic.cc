// SPDX-License-Identifier: Apache-2.0
#include "gateway/ui/traffic.h"

#include <cstddef>
#include <nlohmann/json.hpp>

#include "gateway/ui/words.h"

namespace allot::gateway::ui {
namespace {

constexpr std::chrono::minutes kStep{kTrafficStep};
constexpr std::uint64_t kFewAttempts = 10;

// Index of a time among kTrafficPoints; the last one contains `now`.
std::optional<std::size_t> point_of(std::chrono::sys_seconds at, std::chrono::sys_seconds now) {
  const auto ago = now.time_since_epoch() / kStep - at.time_since_epoch() / kStep;
  if (ago < 0 || ago >= static_cast<std::int64_t>(kTrafficPoints)) return std::nullopt;
  return kTrafficPoints - 1 - static_cast<std::size_t>(ago);
}

void add(Traffic& traffic, const json& item, std::size_t point) {
  const std::uint64_t done = number_of(item, "done");
  const std::uint64_t dead = number_of(item, "dead");
  const std::uint64_t failed = number_of(item, "retried") + dead;
  const double out = static_cast<double>(number_of(item, "out")) / kTrafficStep;
  const double in = static_cast<double>(number_of(item, "in")) / kTrafficStep;
  traffic.out.at(point) += out;
  traffic.in.at(point) += in;
  traffic.dead += dead;
  // The last point is still incomplete.
  const std::size_t age = kTrafficPoints - 1 - point;
  constexpr std::size_t kRecent = kRecentMinutes / kTrafficStep;
  if (age > kRecent) return;
  traffic.ended += done + failed;
  traffic.failed += failed;
  if (age == 0) return;
  traffic.recent_out += out / kRecent;
  traffic.recent_in += in / kRecent;
}

}  // namespace

std::optional<double> Traffic::error_rate() const {
  if (ended < kFewAttempts) return std::nullopt;
  return static_cast<double>(failed) / static_cast<double>(ended);
}

std::string Traffic::time_to_empty() const {
  if (!backlog) return "–";
  if (*backlog == 0) return "empty";
  const double less = recent_out - recent_in;
  if (recent_out == 0 && recent_in == 0) return "–";
  if (less <= 0) return "grows";
  const double seconds = 60 * static_cast<double>(*backlog) / less;
  constexpr double kLong = 100.0 * 86'400;
  return seconds > kLong ? "–" : span(std::chrono::seconds(static_cast<std::int64_t>(seconds) + 1));
}

std::map<std::string, Traffic> traffic_of(const Document* minutes, std::chrono::sys_seconds now) {
  std::map<std::string, Traffic> all;
  for (const json& item : items_of(minutes)) {
    const auto at = moment(text_of(item, "at"));
    const auto point = at ? point_of(*at, now) : std::nullopt;
    if (!point) continue;
    Traffic& traffic = all[text_of(item, "queue")];
    add(traffic, item, *point);
    const auto in = item.find("in");
    traffic.knows_in = traffic.knows_in || (in != item.end() && in->is_number());
    const auto backlog = item.find("backlog");
    if (traffic.backlog || backlog == item.end() || !backlog->is_number()) continue;
    traffic.backlog = number_of(item, "backlog");  // newest first
    traffic.estimated = flag_of(item, "estimated");
  }
  for (auto& [queue, traffic] : all) {  // drop the incomplete point, which would look like a fall
    traffic.in.pop_back();
    traffic.out.pop_back();
  }
  return all;
}

ApiRequest traffic_request(const std::string& queue) {
  return {"/api/v1/minutes?since=" + std::to_string(kTrafficMinutes) + "&step=" +
          std::to_string(kTrafficStep) + (queue.empty() ? "" : "&queue=" + api::escaped(queue))};
}

std::uint64_t Workforce::of(const std::string& queue) const {
  std::uint64_t count = 0;
  for (const std::string& name : {queue, std::string("*")}) {
    const auto at = workers.find(name);
    if (at != workers.end()) count += at->second;
  }
  return count;
}

Workforce workforce_of(const Document* instances) {
  Workforce force;
  force.known = instances != nullptr && instances->ok();
  for (const json& instance : items_of(instances)) {
    if (flag_of(instance, "silent")) {
      ++force.silent;
      continue;
    }
    ++force.hosts;
    const auto pools = instance.find("pools");
    if (pools == instance.end() || !pools->is_array()) continue;
    for (const json& pool : *pools) {
      for (const json& queue : list_of(pool, "queues")) {
        if (queue.is_string())
          force.workers[queue.get<std::string>()] += number_of(pool, "workers");
      }
    }
  }
  return force;
}

}  // namespace allot::gateway::ui
