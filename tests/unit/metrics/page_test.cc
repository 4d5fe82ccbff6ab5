// SPDX-License-Identifier: Apache-2.0
#include "metrics/page.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "support/prometheus_text.h"

namespace allot::metrics {
namespace {

using support::PrometheusText;

TEST(MetricsPage, NamesOfStrangersStayText) {
  Page page;
  page.add(Metric::kDead, 1, {"a\"b\\c\nd"});
  page.add(Metric::kDead, 2, {std::string("\xff\xfe\x00z", 4)});
  page.add(Metric::kDead, 3, {"caf\xc3\xa9"});
  page.add(Metric::kDead, 4, {std::string(10'000, 'x')});
  const std::string text = text_of(page);
  EXPECT_EQ(PrometheusText(text).fault, "") << text;
  EXPECT_LT(text.size(), 2'000U);
  EXPECT_EQ(PrometheusText(text).sum("allot_queue_dead_tasks"), 10);
}

TEST(MetricsPage, ASeriesIsThereOnce) {
  Page page;
  page.add(Metric::kTasks, 1, {"mail", "t", "done"});
  page.add(Metric::kTasks, 2, {"mail", "t", "done"});
  const Page::Histogram runtimes{{0.1, 1}, {3, 2, 1}, 4.5};
  page.add(Metric::kRuntime, runtimes, {"mail", "t"});
  page.add(Metric::kRuntime, runtimes, {"mail", "t"});
  const PrometheusText text(text_of(page));
  EXPECT_EQ(text.fault, "");
  EXPECT_EQ(text.value("allot_tasks_total{queue=\"mail\",type=\"t\",outcome=\"done\"}"), 3);
  const std::string labels = "{queue=\"mail\",type=\"t\",le=\"";
  EXPECT_EQ(text.value("allot_task_runtime_seconds_bucket" + labels + "0.1\"}"), 6);
  EXPECT_EQ(text.value("allot_task_runtime_seconds_bucket" + labels + "1\"}"), 10);
  EXPECT_EQ(text.value("allot_task_runtime_seconds_bucket" + labels + "+Inf\"}"), 12);
  EXPECT_EQ(text.value("allot_task_runtime_seconds_sum{queue=\"mail\",type=\"t\"}"), 9);
}

TEST(MetricsPage, AnEmptyLabelIsNone) {
  Page page;
  page.add(Metric::kTasks, 1, {"mail", "", "done"});
  page.add(Metric::kTasks, 2, {"mail", "t", "done"});
  page.add(Metric::kTasks, 3, {"mail", "", "done"});
  const PrometheusText text(text_of(page));
  EXPECT_EQ(text.fault, "");
  EXPECT_EQ(text.value("allot_tasks_total{queue=\"mail\",outcome=\"done\"}"), 4);
  EXPECT_EQ(text.value("allot_tasks_total{queue=\"mail\",type=\"t\",outcome=\"done\"}"), 2);
}

TEST(MetricsCatalog, FollowsPrometheusRules) {
  std::set<std::string_view> names;
  std::size_t at = 0;
  for (const Described& each : catalog()) {
    EXPECT_EQ(static_cast<std::size_t>(each.metric), at++) << each.name;
    EXPECT_TRUE(names.insert(each.name).second) << each.name;
    EXPECT_TRUE(each.name.starts_with("allot_")) << each.name;
    EXPECT_EQ(each.name.ends_with("_total"), each.type == MetricType::Counter) << each.name;
    EXPECT_TRUE(each.type != MetricType::Histogram || each.name.ends_with("_seconds")) << each.name;
    EXPECT_TRUE(each.help.ends_with('.')) << each.name;
    for (const std::string_view wrong : {"_ms", "_us", "_milliseconds", "_kib"}) {
      EXPECT_EQ(each.name.find(wrong), std::string_view::npos) << each.name;
    }
  }
}

// The validator of all texts detects an invalid one.
TEST(PrometheusText, WrongOnesAreFound) {
  const std::string head = "# HELP a_total x\n# TYPE a_total counter\n";
  EXPECT_EQ(PrometheusText(head + "a_total 1\n").fault, "");
  for (const std::string wrong :
       {"a_total 1\na_total 1\n", "b 1\n", "a_total{x=\"\n", "# TYPE a_total counter\n",
        "# HELP a_total y\n", "a_total -1\n", "a_total{x=\"a\"b\"} 1\n", "a_total 1"}) {
    EXPECT_NE(PrometheusText(head + wrong).fault, "") << wrong;
  }
  const std::string histogram =
      "# HELP h_seconds x\n# TYPE h_seconds histogram\nh_seconds_count 3\nh_seconds_sum 1\n";
  EXPECT_EQ(
      PrometheusText(histogram + "h_seconds_bucket{le=\"1\"} 2\nh_seconds_bucket{le=\"+Inf\"} 3\n")
          .fault,
      "");
  for (const std::string wrong :
       {"h_seconds_bucket{le=\"1\"} 3\nh_seconds_bucket{le=\"+Inf\"} 2\n",
        "h_seconds_bucket{le=\"1\"} 2\nh_seconds_bucket{le=\"+Inf\"} 4\n"}) {
    EXPECT_NE(PrometheusText(histogram + wrong).fault, "") << wrong;
  }
}

}  // namespace
}  // namespace allot::metrics
