// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "metrics/catalog.h"

namespace allot::metrics {

// What one scrape gets: the samples of every metric of the catalog that has any, each series once.
// Whoever makes it adds to it from the places that know; see slots.h and the like.
class Page final : public prometheus::Collectable {
 public:
  Page();

  // The values of the metric's labels, in their order. Bytes that are not text are escaped. Of a
  // counter or a gauge; what is added to a series twice is summed.
  void add(Metric metric, double value, const std::vector<std::string_view>& labels = {});

  struct Histogram {
    std::vector<double> bounds;          // upper ones, rising
    std::vector<std::uint64_t> buckets;  // not cumulative, one more than bounds
    double sum = 0;
  };
  void add(Metric metric, const Histogram& histogram, const std::vector<std::string_view>& labels);

  [[nodiscard]] std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  prometheus::ClientMetric& series(Metric metric, const std::vector<std::string_view>& labels);

  struct Family {
    prometheus::MetricFamily family;
    std::unordered_map<std::string, std::size_t> places{};  // by labels, of what it has
  };
  std::vector<Family> families_;
};

// Prometheus' text format, version 0.0.4.
inline constexpr std::string_view kTextType = "text/plain; version=0.0.4; charset=utf-8";
[[nodiscard]] std::string text_of(const prometheus::Collectable& page);

}  // namespace allot::metrics
