// SPDX-License-Identifier: Apache-2.0
#include "queue/minutes/type_hours.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "db/statement.h"
#include "sql/queries.h"

namespace allot::queue {
namespace {

using std::chrono::microseconds;

double bound_us(std::size_t at) {
  return static_cast<double>(kHourBoundsMs.at(at)) * 1'000;
}

TypeCounts counts_in(const db::Row& row, std::size_t at) {
  TypeCounts counts;
  row.read(at, counts.done, counts.retried, counts.dead);
  at += 3;
  for (std::uint64_t& bucket : counts.ran.buckets) bucket = row.u64(at++);
  for (std::uint64_t& bucket : counts.waited.buckets) bucket = row.u64(at++);
  return counts;
}

}  // namespace

std::uint64_t Histogram::count() const {
  return std::accumulate(buckets.begin(), buckets.end(), std::uint64_t{0});
}

std::optional<microseconds> Histogram::percentile(double part) const {
  const auto all = static_cast<double>(count());
  if (all == 0) return std::nullopt;
  double left = all * part;
  for (std::size_t i = 0; i < kHourBoundsMs.size(); ++i) {
    const auto here = static_cast<double>(buckets.at(i));
    if (here > 0 && left <= here) {
      const double from = i == 0 ? 0 : bound_us(i - 1);
      return microseconds(std::llround(from + (bound_us(i) - from) * left / here));
    }
    left -= here;
  }
  return microseconds(std::llround(bound_us(kHourBoundsMs.size() - 1)));
}

void Histogram::add(const Histogram& other) {
  for (std::size_t i = 0; i < buckets.size(); ++i) buckets.at(i) += other.buckets.at(i);
}

void TypeCounts::add(const TypeCounts& other) {
  done += other.done;
  retried += other.retried;
  dead += other.dead;
  ran.add(other.ran);
  waited.add(other.waited);
}

std::vector<std::string> hour_columns() {
  std::vector<std::string> columns{"done", "retried", "dead"};
  for (const char* kind : {"ran_", "wait_"}) {
    for (std::size_t i = 0; i < kHourBuckets; ++i) columns.push_back(kind + std::to_string(i));
  }
  return columns;
}

Types list_types(db::Connection& db, const TypesWanted& wanted) {
  db::Statement list(sql::k_list_types);
  const auto sum = [](const std::string& column) { return "SUM(" + column + ")"; };
  list.set_raw("sums", db::joined(hour_columns(), sum, ", "))
      .set("queue", wanted.queue)
      .set("type", wanted.type)
      .set("hours", wanted.hours)
      .set("step", wanted.step)
      .set("limit", kMostTypeRows + 1);
  auto results = db.run({list});
  Types types;
  types.more = results.front().row_count() > kMostTypeRows;
  std::map<std::pair<std::string, std::string>, TypeView> found;
  while (const auto row = results.front().next()) {
    TypeView& view = found[{row->string(1), row->string(2)}];
    const TypeCounts counts = counts_in(*row, 3);
    view.all.add(counts);
    view.steps.push_back({row->string(0), counts});
  }
  for (auto& [names, view] : found) {
    std::tie(view.queue, view.type) = names;
    std::reverse(view.steps.begin(), view.steps.end());
    types.list.push_back(std::move(view));
  }
  std::stable_sort(types.list.begin(), types.list.end(), [](const TypeView& a, const TypeView& b) {
    return a.all.attempts() > b.all.attempts();
  });
  return types;
}

}  // namespace allot::queue
