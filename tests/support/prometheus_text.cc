// SPDX-License-Identifier: Apache-2.0
#include "support/prometheus_text.h"

#include <regex>
#include <sstream>

namespace allot::support {
namespace {

// Metric of a series: histograms have three kinds of series.
std::string metric_of(const std::string& series, const std::map<std::string, std::string>& types) {
  const std::string name = series.substr(0, series.find('{'));
  if (types.contains(name)) return name;
  for (const std::string end : {"_bucket", "_sum", "_count"}) {
    if (!name.ends_with(end)) continue;
    const std::string stem = name.substr(0, name.size() - end.size());
    const auto type = types.find(stem);
    if (type != types.end() && type->second == "histogram") return stem;
  }
  return {};
}

class Reader {
 public:
  explicit Reader(PrometheusText& into) : into_(into) {}

  std::string fault_of(const std::string& line) {
    static const std::regex kHelp(R"(# HELP ([a-zA-Z_:][a-zA-Z0-9_:]*) .+)");
    static const std::regex kType(R"(# TYPE ([a-zA-Z_:][a-zA-Z0-9_:]*) (counter|gauge|histogram))");
    static const std::regex kSeries(
        R"re(([a-zA-Z_:][a-zA-Z0-9_:]*(?:\{(?:[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*",?)*\})?) (\S+))re");
    std::smatch found;
    if (std::regex_match(line, found, kHelp)) {
      return helped_.insert(found[1]).second ? "" : "a second HELP";
    }
    if (std::regex_match(line, found, kType)) return type(found[1], found[2]);
    if (!std::regex_match(line, found, kSeries)) return "no line of the format";
    return sample(found[1], found[2]);
  }

 private:
  std::string type(const std::string& name, const std::string& type) {
    if (!into_.types.emplace(name, type).second) return "a second TYPE";
    if (!helped_.contains(name)) return "no HELP before it";
    if ((type == "counter") != name.ends_with("_total")) return "_total is for counters";
    return {};
  }
  std::string sample(const std::string& series, const std::string& value) {
    const std::string metric = metric_of(series, into_.types);
    if (metric.empty()) return "no TYPE before it";
    if (metric != last_ && !begun_.insert(metric).second) return "its metric was left before";
    last_ = metric;
    const double number = std::stod(value);
    if (!into_.series.emplace(series, number).second) return "a second time";
    if (into_.types[metric] != "gauge" && number < 0) return "a count below 0";
    return of_histogram(series, number);
  }
  // Buckets come in ascending order, and the last one equals the count.
  std::string of_histogram(const std::string& series, double number) {
    const std::string name = series.substr(0, series.find('{'));
    if (name.ends_with("_count") && metric_of(series, into_.types) != name) expected_ = number;
    if (!name.ends_with("_bucket")) {
      below_ = 0;
      return {};
    }
    if (number < below_) return "fewer than in the bucket before";
    below_ = number;
    if (series.find("le=\"+Inf\"") == std::string::npos) return {};
    return number == expected_ ? "" : "not the count of its histogram";
  }

  PrometheusText& into_;
  std::set<std::string> helped_;
  std::set<std::string> begun_;
  std::string last_;
  double below_ = 0;
  double expected_ = 0;  // prometheus-cpp writes the count first
};

}  // namespace

PrometheusText::PrometheusText(const std::string& text) {
  Reader reader(*this);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::string wrong = reader.fault_of(line);
    if (!wrong.empty() && fault.empty()) fault = line + ": " + wrong;
  }
  if (text.empty() || text.back() != '\n') fault += "; the last line has no end";
}

double PrometheusText::value(const std::string& one) const {
  const auto found = series.find(one);
  return found == series.end() ? 0 : found->second;
}

double PrometheusText::sum(const std::string& name, const std::string& part) const {
  double all = 0;
  for (const auto& [one, number] : series) {
    if (one.substr(0, one.find('{')) == name && one.find(part) != std::string::npos) all += number;
  }
  return all;
}

std::map<std::string, double> PrometheusText::counters() const {
  std::map<std::string, double> some;
  for (const auto& [one, number] : series) {
    const auto type = types.find(metric_of(one, types));
    if (type != types.end() && type->second != "gauge") some.emplace(one, number);
  }
  return some;
}

std::string fallen(const PrometheusText& before, const PrometheusText& after) {
  for (const auto& [one, number] : before.counters()) {
    const auto now = after.series.find(one);
    if (now == after.series.end()) return one + " is gone";
    if (now->second < number) {
      return one + " fell from " + std::to_string(number) + " to " + std::to_string(now->second);
    }
  }
  return {};
}

}  // namespace allot::support
