// SPDX-License-Identifier: Apache-2.0
#include "metrics/page.h"

#include <prometheus/text_serializer.h>

#include <numeric>
#include <utility>

#include "base/version.h"
#include "json/printable.h"

namespace allot::metrics {
namespace {

constexpr std::size_t kMostLabel = 300;  // bytes of a name, all of which may be escaped

}  // namespace

Page::Page() {
  for (const Described& each : catalog()) {
    families_.push_back({{std::string(each.name), std::string(each.help), each.type, {}}});
  }
  add(Metric::kBuild, 1, {kVersion});
}

prometheus::ClientMetric& Page::series(Metric metric, const std::vector<std::string_view>& labels) {
  const Described& of = described(metric);
  std::vector<prometheus::ClientMetric::Label> wanted;
  std::string key;
  for (std::size_t i = 0; i < of.labels.size(); ++i) {
    const std::string value = as_json::printable(labels.at(i), kMostLabel);
    (key += value) += '\0';
    // Prometheus treats an empty label as a missing one.
    if (!value.empty()) wanted.push_back({std::string(of.labels[i]), value});
  }
  auto& [family, places] = families_[static_cast<std::size_t>(metric)];
  const auto [place, is_new] = places.try_emplace(std::move(key), family.metric.size());
  if (is_new) family.metric.emplace_back().label = std::move(wanted);
  return family.metric[place->second];
}

void Page::add(Metric metric, double value, const std::vector<std::string_view>& labels) {
  prometheus::ClientMetric& to = series(metric, labels);
  (described(metric).type == MetricType::Counter ? to.counter.value : to.gauge.value) += value;
}

void Page::add(Metric metric, const Histogram& histogram,
               const std::vector<std::string_view>& labels) {
  prometheus::ClientMetric::Histogram& to = series(metric, labels).histogram;
  if (to.bucket.empty()) {
    for (const double bound : histogram.bounds) to.bucket.push_back({0, bound});
  }
  std::uint64_t below = 0;
  for (std::size_t i = 0; i < to.bucket.size(); ++i) {
    below += histogram.buckets[i];
    to.bucket[i].cumulative_count += below;
  }
  to.sample_count +=
      std::accumulate(histogram.buckets.begin(), histogram.buckets.end(), std::uint64_t{0});
  to.sample_sum += histogram.sum;
}

std::vector<prometheus::MetricFamily> Page::families() const {
  std::vector<prometheus::MetricFamily> some;
  for (const Family& each : families_) {
    if (!each.family.metric.empty()) some.push_back(each.family);
  }
  return some;
}

std::string text_of(const Page& page) {
  return prometheus::TextSerializer().Serialize(page.families());
}

}  // namespace allot::metrics
