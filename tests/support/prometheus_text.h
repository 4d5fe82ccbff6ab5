// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <string>

namespace allot::support {

// Parser and validator for Prometheus' text format.
struct PrometheusText {
  std::map<std::string, std::string> types;  // by the name of the metric
  std::map<std::string, double> series;      // by name and labels, as written
  std::string fault;                         // first line that breaks a rule, with the rule

  explicit PrometheusText(const std::string& text);
  // 0: no such series.
  [[nodiscard]] double value(const std::string& one) const;
  // Sum over all series of that name whose labels contain this part.
  [[nodiscard]] double sum(const std::string& name, const std::string& part = {}) const;
  // Series that may only grow: counters, and the counts of histograms.
  [[nodiscard]] std::map<std::string, double> counters() const;
};

// "" if each counter of `before` is in `after`, and none is lower there.
std::string fallen(const PrometheusText& before, const PrometheusText& after);

}  // namespace allot::support
