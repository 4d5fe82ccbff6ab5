// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <string>

namespace allot::support {

// Prometheus' text format, read and judged by its rules.
struct PrometheusText {
  std::map<std::string, std::string> types;  // by the name of the metric
  std::map<std::string, double> series;      // by name and labels, as they are written
  std::string fault;                         // the first line that breaks a rule, and which

  explicit PrometheusText(const std::string& text);
  // 0: there is no such series.
  [[nodiscard]] double value(const std::string& one) const;
  // Over all series of that name whose labels have this part.
  [[nodiscard]] double sum(const std::string& name, const std::string& part = {}) const;
  // Those that can only grow: counters, and what histograms count.
  [[nodiscard]] std::map<std::string, double> counters() const;
};

// "" if each counter of `before` is in `after`, and none is lower there.
std::string fallen(const PrometheusText& before, const PrometheusText& after);

}  // namespace allot::support
