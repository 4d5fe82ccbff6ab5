// SPDX-License-Identifier: Apache-2.0
#include "metrics/slots.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "host/instance_view.h"
#include "meter/record.h"
#include "meter/totals.h"
#include "peer/handler_types.h"

namespace allot::metrics {
namespace {

using meter::Count;

// Labels of the outcomes, in the order of Count.
constexpr const char* kOutcomes[] = {"done",        "retried", "snoozed",
                                     "interrupted", "dead",    "cancelled"};
static_assert(std::size(kOutcomes) == static_cast<std::size_t>(Count::kVerdicts));

// In the order of Event.
constexpr Metric kOfEvents[] = {Metric::kStarts,    Metric::kSettled,  Metric::kLeases,
                                Metric::kTakeovers, Metric::kLost,     Metric::kRecovered,
                                Metric::kDeadlocks, Metric::kLockWaits};
static_assert(std::size(kOfEvents) == meter::kEvents);

// Fewer buckets than a meter has: each of them is a series of every queue.
constexpr std::array<std::uint64_t, 13> kShownMs{
    1, 5, 10, 50, 100, 500, 1'000, 5'000, 10'000, 60'000, 300'000, 900'000, 3'600'000};
static_assert(std::includes(meter::kBucketsMs.begin(), meter::kBucketsMs.end(), kShownMs.begin(),
                            kShownMs.end()));

Page::Histogram runtimes(const meter::Total& total) {
  Page::Histogram histogram;
  for (const std::uint64_t ms : kShownMs) {
    histogram.bounds.push_back(static_cast<double>(ms) / 1e3);
  }
  histogram.buckets.assign(kShownMs.size() + 1, 0);
  std::size_t shown = 0;
  for (std::size_t i = 0; i < meter::kBuckets; ++i) {
    histogram.buckets[shown] += total.buckets[i];
    const bool ends = i < meter::kBucketsMs.size() && shown < kShownMs.size() &&
                      meter::kBucketsMs.at(i) == kShownMs.at(shown);
    if (ends) ++shown;
  }
  histogram.sum = static_cast<double>(total.ran_us) / 1e6;
  return histogram;
}

void add_total(Page& page, const std::string& queue, const std::string& type,
               const meter::Total& total) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(Count::kVerdicts); ++i) {
    page.add(Metric::kTasks, static_cast<double>(total.counts[i]), {queue, type, kOutcomes[i]});
  }
  page.add(Metric::kRuntime, runtimes(total), {queue, type});
  for (const auto& [count, metric] : {std::pair{Count::kCrashed, Metric::kCrashed},
                                      {Count::kDetached, Metric::kDetached},
                                      {Count::kDeferred, Metric::kDeferred}}) {
    page.add(metric, static_cast<double>(total.of(count)), {queue, type});
  }
}

void add_meters(Page& page, const std::string& runtime_dir, const std::vector<std::string>& types) {
  const meter::Totals all = meter::totals(runtime_dir);
  for (std::size_t i = 0; i < meter::kEvents; ++i) {
    page.add(kOfEvents[i], static_cast<double>(all.events[i]));
  }
  for (const auto& [names, total] : all.pairs) {
    if (!total.any()) continue;
    add_total(page, names.first, peer::takes(types, names.second) ? names.second : "", total);
  }
}

// Labelled by slot, because slots are few, and not by task.
void add_progress(Page& page, const host::WorkerView& worker) {
  std::optional<std::uint32_t> least;
  for (const auto& task : worker.running) {
    const auto& percent = task.progress.percent;
    if (percent) least = std::min(least.value_or(*percent), *percent);
  }
  if (!least) return;
  page.add(Metric::kProgress, *least, {worker.pool, std::to_string(worker.slot)});
}

}  // namespace

void add_slots(Page& page, const std::string& runtime_dir, const std::vector<std::string>& types) {
  const host::InstanceView view = host::read_instance(runtime_dir);
  page.add(Metric::kDaemonUp, view.running ? 1 : 0);
  std::size_t without_database = 0;
  for (const host::WorkerView& worker : view.workers) {
    page.add(Metric::kWorkers, 1, {worker.pool, worker.state});
    page.add(Metric::kRunning, static_cast<double>(worker.running.size()), {worker.pool});
    add_progress(page, worker);
    without_database += worker.database_unreachable ? 1 : 0;
  }
  for (const host::WorkerView& steward : view.stewards) {
    without_database += steward.database_unreachable ? 1 : 0;
  }
  page.add(Metric::kWithoutDatabase, static_cast<double>(without_database));
  page.add(Metric::kUnsettled, view.unsettled);
  page.add(Metric::kStewards, static_cast<double>(view.stewards.size()));
  add_meters(page, runtime_dir, types);
}

}  // namespace allot::metrics
