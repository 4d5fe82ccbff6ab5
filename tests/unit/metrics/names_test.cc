// SPDX-License-Identifier: Apache-2.0
// The page, the alert rules and the dashboard name only existing metrics.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "metrics/catalog.h"

namespace allot::metrics {
namespace {

std::string text_in(const std::string& file) {
  std::ifstream in(std::string(ALLOT_SOURCE_DIR) + "/" + file);
  EXPECT_TRUE(in.good()) << file;
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// The metrics named in a text; a histogram by any of its series.
std::set<std::string> named_in(const std::string& text) {
  static const std::regex kName(R"(\ballot_[a-z_]*[a-z])");
  std::set<std::string> names;
  for (std::sregex_iterator at(text.begin(), text.end(), kName), end; at != end; ++at) {
    std::string name = at->str();
    for (const std::string series : {"_bucket", "_sum", "_count"}) {
      if (name.ends_with("_seconds" + series)) name.resize(name.size() - series.size());
    }
    names.insert(name);
  }
  return names;
}

std::set<std::string> exported() {
  std::set<std::string> names;
  for (const Described& each : catalog()) names.emplace(each.name);
  return names;
}

TEST(MetricNames, MetricsOfRulesAndDashboardAreExported) {
  for (const std::string file : {"etc/monitoring/alerts.yml", "etc/monitoring/alerts_test.yml",
                                 "etc/monitoring/dashboard.json", "docs/monitoring.md"}) {
    const std::set<std::string> names = named_in(text_in(file));
    EXPECT_FALSE(names.empty()) << file;
    for (const std::string& name : names) EXPECT_TRUE(exported().contains(name)) << file << name;
  }
}

TEST(MetricNames, DocumentListsAllMetrics) {
  const std::string page = text_in("docs/monitoring.md");
  for (const Described& each : catalog()) {
    const char* kind = each.type == MetricType::Counter ? "counter"
                       : each.type == MetricType::Gauge ? "gauge"
                                                        : "histogram";
    std::string labels;
    for (const std::string_view label : each.labels) {
      labels += (labels.empty() ? "`" : ", `") + std::string(label) + "`";
    }
    const std::string row = "| `" + std::string(each.name) + "` | " + kind + " | " + labels +
                            " | " + std::string(each.help) + " |\n";
    EXPECT_NE(page.find(row), std::string::npos) << row;
  }
}

TEST(MetricNames, TheDashboardIsJson) {
  const auto dashboard =
      nlohmann::json::parse(text_in("etc/monitoring/dashboard.json"), nullptr, false);
  ASSERT_FALSE(dashboard.is_discarded());
  EXPECT_GT(dashboard["panels"].size(), 5U);
}

}  // namespace
}  // namespace allot::metrics
