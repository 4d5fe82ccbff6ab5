// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <utility>

#include "base/version.h"
#include "meter/totals.h"
#include "steward/chores.h"

namespace allot::steward {
namespace {

using meter::Count;
using queue::MinuteColumn;

static_assert(meter::kBucketsMs == queue::kHourBoundsMs);

constexpr Nanos kMinute = 60 * kSecond;
// Hosts write at different seconds, and each of them once in every minute of the database clock.
constexpr unsigned kSpread = 60;
constexpr Nanos kMostWait = 75 * kSecond;

// A program whose records have another layout starts new ones.
std::string word_of(const meter::SupervisorRun& run) {
  return std::to_string(run.started_ns) + "." + std::to_string(run.pid) + "." +
         std::to_string(meter::kVersion);
}

MinuteColumn column_of(std::size_t bucket) {
  std::size_t column = static_cast<std::size_t>(MinuteColumn::kRan10Ms);
  for (const std::uint64_t most_ms : queue::kMinuteBoundsMs) {
    if (bucket < meter::kBucketsMs.size() && meter::kBucketsMs.at(bucket) <= most_ms) break;
    ++column;
  }
  return static_cast<MinuteColumn>(column);
}

queue::MinuteCounts counts_of(const meter::Total& total) {
  queue::MinuteCounts counts;
  for (const auto& [column, count] : {std::pair{MinuteColumn::kDone, Count::kDone},
                                      {MinuteColumn::kRetried, Count::kRetried},
                                      {MinuteColumn::kSnoozed, Count::kSnoozed},
                                      {MinuteColumn::kInterrupted, Count::kInterrupted},
                                      {MinuteColumn::kDead, Count::kDead},
                                      {MinuteColumn::kCancels, Count::kCancelled},
                                      {MinuteColumn::kCrashed, Count::kCrashed}}) {
    counts[column] = total.of(count);
  }
  counts[MinuteColumn::kRanUs] = total.ran_us;
  for (std::size_t i = 0; i < meter::kBuckets; ++i) {
    counts[column_of(i)] += total.buckets[i];
    counts.ran(i) = total.buckets[i];
    counts.waited(i) = total.waits[i];
  }
  return counts;
}

// Keyed by the names in the minutes.
queue::MinuteTotals minute_totals(const meter::Totals& totals) {
  queue::MinuteTotals all;
  for (const auto& [names, total] : totals.pairs) {
    all[{names.first, names.second}].counts = counts_of(total);
  }
  for (const auto& [names, errors] : totals.errors) {
    const auto& [queue, type, group] = names;
    queue::MinuteTotal& total = all[{queue, type, group}];
    total.error = errors.sample;
    total.counts[MinuteColumn::kRetried] = errors.retried;
    total.counts[MinuteColumn::kDead] = errors.dead;
  }
  return all;
}

class Minutes {
 public:
  Minutes(process::Session& session, std::string runtime_dir, const meter::SupervisorRun& run,
          queue::InstanceRun instance)
      : session_(session),
        runtime_dir_(std::move(runtime_dir)),
        run_(run),
        store_(std::move(instance)) {}

  Again write() {
    if (!store_) return kDone;
    const queue::MinuteTotals totals = minute_totals(meter::totals(runtime_dir_));
    const auto written =
        ask(session_, [&](db::Connection& db) { return store_->write(db, totals, age()); });
    if (!written) {
      store_.reset();
      return kDone;
    }
    const unsigned second = static_cast<unsigned>(run_.started_ns % kSpread);
    Nanos wait = (kSpread + second - written->second % kSpread) * kSecond;
    if (wait > kMostWait) wait -= kMinute;
    return wait;
  }
  // Writes the counts so far, because it may be the last write of this run: the next steward of the
  // run writes the rest.
  void leave() {
    if (!store_) return;
    const queue::MinuteTotals totals = minute_totals(meter::totals(runtime_dir_));
    try_once(session_, "minutes.not_written",
             [&](db::Connection& db) { return store_->write(db, totals, age()); });
  }

 private:
  [[nodiscard]] std::chrono::microseconds age() const {
    const Nanos now = mono_ns();
    return std::chrono::microseconds((now - std::min<Nanos>(run_.started_ns, now)) / kMicro);
  }

  process::Session& session_;
  const std::string runtime_dir_;
  const meter::SupervisorRun run_;
  std::optional<queue::MinuteStore> store_;  // nullopt: another run writes
};

}  // namespace

std::vector<Chore> minutes(process::Session& session, const queue::Holder& holder,
                           const std::string& runtime_dir,
                           const std::optional<meter::SupervisorRun>& run,
                           std::vector<queue::ServingPool> pools) {
  const auto backlogs = [&session](bool /*fresh*/) {
    ask(session, [](db::Connection& db) { queue::write_backlogs(db); });
    return kDone;
  };
  std::vector<Chore> all = {{.name = "minutes",
                             .duties = {{0, queue::kMinutesDuty}},
                             .every = kMinute,
                             .run_once = backlogs}};
  if (!run) return all;
  const auto own = std::make_shared<Minutes>(
      session, runtime_dir, *run,
      queue::InstanceRun{holder, kVersion, word_of(*run), std::move(pools)});
  all.insert(all.begin(), {.name = "counts",
                           .every = kMinute,
                           .run_once = [own](bool /*fresh*/) { return own->write(); },
                           .leave = [own] { own->leave(); }});
  return all;
}

}  // namespace allot::steward
