// SPDX-License-Identifier: Apache-2.0
#include "json/minutes_json.h"

#include <cstddef>
#include <nlohmann/json.hpp>
#include <utility>

#include "json/fields.h"
#include "json/host_json.h"

namespace allot::as_json {
namespace {

using nlohmann::json;
using queue::MinuteColumn;

// Run time histogram: the number of handler runs in each bucket.
json runtimes(const queue::MinuteCounts& counts) {
  json buckets = json::array();
  std::size_t column = static_cast<std::size_t>(MinuteColumn::kRan10Ms);
  for (const std::uint64_t most_ms : queue::kMinuteBoundsMs) {
    buckets.push_back({{"up_to_ms", most_ms}, {"count", counts.columns.at(column++)}});
  }
  buckets.push_back({{"up_to_ms", nullptr}, {"count", counts.columns.at(column)}});
  return buckets;
}

json percentiles(const queue::Histogram& histogram) {
  const auto at = [&histogram](double part) {
    const auto time = histogram.percentile(part);
    return time ? json(time->count()) : json();
  };
  return {{"count", histogram.count()}, {"p50_us", at(0.5)}, {"p99_us", at(0.99)}};
}

json type_counts(const queue::TypeCounts& counts) {
  return {{"done", counts.done},
          {"retried", counts.retried},
          {"dead", counts.dead},
          {"runtime", percentiles(counts.ran)},
          {"wait", percentiles(counts.waited)}};
}

}  // namespace

json minute(const queue::MinuteView& view, queue::MinutesBy by) {
  const queue::MinuteCounts& counts = view.counts;
  json document = {{"at", view.at},
                   {"queue", view.key.queue},
                   {"retried", counts[MinuteColumn::kRetried]},
                   {"dead", counts[MinuteColumn::kDead]}};
  if (by != queue::MinutesBy::kQueue) document["type"] = view.key.type;
  if (by == queue::MinutesBy::kError) {
    document["group"] = view.key.error_group;
    document["error"] = view.error;
    return document;
  }
  document["done"] = counts[MinuteColumn::kDone];
  document["snoozed"] = counts[MinuteColumn::kSnoozed];
  document["interrupted"] = counts[MinuteColumn::kInterrupted];
  document["cancelled"] = counts[MinuteColumn::kCancels];
  document["crashed"] = counts[MinuteColumn::kCrashed];
  document["out"] = counts.out();
  document["ran_us"] = counts[MinuteColumn::kRanUs];
  document["runtimes"] = runtimes(counts);
  if (by != queue::MinutesBy::kQueue) return document;
  document["in"] = view.in ? json(*view.in) : json(nullptr);
  document["backlog"] = view.backlog ? json(*view.backlog) : json(nullptr);
  document["estimated"] = view.estimated;
  return document;
}

json failure(const queue::FailureGroup& group) {
  json hours = json::array();
  for (const auto& hour : group.hours) hours.push_back({{"at", hour.at}, {"failed", hour.failed}});
  json document = {{"group", group.group},      {"queue", group.queue},
                   {"type", group.type},        {"error", group.sample},
                   {"dead", group.dead},        {"retried", group.retried},
                   {"hours", std::move(hours)}, {"newest_task", nullptr},
                   {"newest_at", nullptr},      {"newest_error", nullptr}};
  if (!group.newest) return document;
  document["newest_task"] = group.newest->task.text();
  document["newest_at"] = group.newest->ended_at;
  document["newest_error"] = group.newest->error;
  return document;
}

json type(const queue::TypeView& view) {
  json steps = json::array();
  for (const queue::TypeStep& step : view.steps) {
    steps.push_back(type_counts(step.counts));
    steps.back()["at"] = step.at;
  }
  json document = type_counts(view.all);
  document["queue"] = view.queue;
  document["type"] = view.type;
  document["steps"] = std::move(steps);
  return document;
}

json deployment(const queue::Deployment& deployment) {
  return {{"host", deployment.host},
          {"instance", deployment.instance},
          {"since", deployment.since},
          {"version", deployment.version},
          {"configuration", deployment.configuration},
          {"previous_version", or_null(deployment.previous_version)},
          {"previous_configuration", or_null(deployment.previous_configuration)}};
}

json instance(const queue::InstanceRow& row) {
  return {{"host", row.host},
          {"instance", row.instance},
          {"version", row.version},
          {"since", row.since},
          {"seen_at", row.seen},
          {"silent", row.silent >= queue::kInstanceSilent},
          {"pools", row.pools.empty() ? json() : pools_of(row.pools)}};
}

}  // namespace allot::as_json
