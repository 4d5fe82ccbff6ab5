// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <prometheus/metric_family.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "metrics/catalog.h"

namespace allot::metrics {

// Result of one scrape: the samples of every metric of the catalog that has any, each series once.
// Its owner fills it from the sources; see slots.h and the like.
class Page {
 public:
  Page();

  // `labels` are the values of the metric's labels, in order. Bytes that are not text are escaped.
  // For a counter or a gauge; values added to the same series are summed.
  void add(Metric metric, double value, const std::vector<std::string_view>& labels = {});

  struct Histogram {
    std::vector<double> bounds;          // upper bounds, rising
    std::vector<std::uint64_t> buckets;  // not cumulative, one more than bounds
    double sum = 0;
  };
  void add(Metric metric, const Histogram& histogram, const std::vector<std::string_view>& labels);

  [[nodiscard]] std::vector<prometheus::MetricFamily> families() const;

 private:
  prometheus::ClientMetric& series(Metric metric, const std::vector<std::string_view>& labels);

  struct Family {
    prometheus::MetricFamily family;
    std::unordered_map<std::string, std::size_t> places{};  // index of a sample by its labels
  };
  std::vector<Family> families_;
};

// Prometheus' text format, version 0.0.4.
inline constexpr std::string_view kTextType = "text/plain; version=0.0.4; charset=utf-8";
[[nodiscard]] std::string text_of(const Page& page);

}  // namespace allot::metrics
