// SPDX-License-Identifier: Apache-2.0
#include "metrics/slots.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>

#include "json/instance_view.h"
#include "meter/record.h"
#include "meter/record_file.h"

namespace allot::metrics {
namespace {

using meter::Count;
using meter::Event;

constexpr std::size_t kCounts = static_cast<std::size_t>(Count::kCounts);
constexpr std::size_t kEvents = static_cast<std::size_t>(Event::kEvents);

// The word of a verdict in the label.
const char* name_of(Count verdict) {
  switch (verdict) {
    case Count::kDone:
      return "done";
    case Count::kRetried:
      return "retried";
    case Count::kSnoozed:
      return "snoozed";
    case Count::kInterrupted:
      return "interrupted";
    case Count::kDead:
      return "dead";
    default:
      return "cancelled";
  }
}

Metric metric_of(Event event) {
  switch (event) {
    case Event::kStarts:
      return Metric::kStarts;
    case Event::kSettled:
      return Metric::kSettled;
    case Event::kLeases:
      return Metric::kLeases;
    case Event::kTakeovers:
      return Metric::kTakeovers;
    case Event::kLost:
      return Metric::kLost;
    case Event::kDeadlocks:
      return Metric::kDeadlocks;
    default:
      return Metric::kLockWaits;
  }
}

// The same queue and type in the records of several slots.
struct Sum {
  std::uint64_t counts[kCounts] = {};
  std::uint64_t buckets[meter::kBucketsMs.size() + 1] = {};
  std::uint64_t ran_us = 0;

  void add(const meter::Pair& pair) {
    for (std::size_t i = 0; i < kCounts; ++i) counts[i] += pair.counts[i].load();
    for (std::size_t i = 0; i < std::size(buckets); ++i) buckets[i] += pair.buckets[i].load();
    ran_us += pair.ran_us.load();
  }
  [[nodiscard]] bool any() const {
    return std::any_of(std::begin(counts), std::end(counts), [](auto count) { return count != 0; });
  }
};
using Sums = std::map<std::pair<std::string, std::string>, Sum>;

// Another process writes the names, so the copies are bounded here.
std::string text_of(const char (&name)[meter::kNameSize]) {
  return {name, strnlen(name, sizeof name)};
}

Page::Histogram runtimes(const Sum& sum) {
  Page::Histogram histogram;
  for (const std::uint64_t ms : meter::kBucketsMs) {
    histogram.bounds.push_back(static_cast<double>(ms) / 1e3);
  }
  histogram.buckets.assign(std::begin(sum.buckets), std::end(sum.buckets));
  histogram.sum = static_cast<double>(sum.ran_us) / 1e6;
  return histogram;
}

void add_sum(Page& page, const std::string& queue, const std::string& type, const Sum& sum) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(Count::kVerdicts); ++i) {
    page.add(Metric::kTasks, static_cast<double>(sum.counts[i]),
             {queue, type, name_of(static_cast<Count>(i))});
  }
  page.add(Metric::kRuntime, runtimes(sum), {queue, type});
  for (const auto& [count, metric] : {std::pair{Count::kCrashed, Metric::kCrashed},
                                      {Count::kDetached, Metric::kDetached},
                                      {Count::kDeferred, Metric::kDeferred}}) {
    page.add(metric, static_cast<double>(sum.counts[static_cast<std::size_t>(count)]),
             {queue, type});
  }
}

void add_meters(Page& page, const std::string& runtime_dir) {
  Sums sums;
  std::uint64_t events[kEvents] = {};
  for (const auto& record : meter::read_records(runtime_dir)) {
    for (std::size_t i = 0; i < kEvents; ++i) events[i] += record->events[i].load();
    for (std::size_t i = 0; i <= meter::kPairs; ++i) {
      if (i < meter::kPairs && record->hashes[i].load() == 0) continue;
      const meter::Pair& pair = record->pairs[i];
      sums[{text_of(pair.queue), text_of(pair.type)}].add(pair);
    }
  }
  for (std::size_t i = 0; i < kEvents; ++i) {
    page.add(metric_of(static_cast<Event>(i)), static_cast<double>(events[i]));
  }
  for (const auto& [names, sum] : sums) {
    if (sum.any()) add_sum(page, names.first, names.second, sum);
  }
}

}  // namespace

void add_slots(Page& page, const std::string& runtime_dir) {
  const as_json::InstanceView view = as_json::read_instance(runtime_dir);
  page.add(Metric::kDaemonUp, view.running ? 1 : 0);
  std::size_t without_database = 0;
  for (const as_json::WorkerView& worker : view.workers) {
    page.add(Metric::kWorkers, 1, {worker.pool, worker.state});
    page.add(Metric::kRunning, static_cast<double>(worker.running.size()), {worker.pool});
    without_database += worker.database_away ? 1 : 0;
  }
  for (const as_json::WorkerView& steward : view.stewards) {
    without_database += steward.database_away ? 1 : 0;
  }
  page.add(Metric::kWithoutDatabase, static_cast<double>(without_database));
  page.add(Metric::kUnsettled, view.unsettled);
  page.add(Metric::kStewards, static_cast<double>(view.stewards.size()));
  add_meters(page, runtime_dir);
}

}  // namespace allot::metrics
