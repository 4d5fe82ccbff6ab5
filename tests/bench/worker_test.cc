// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "support/process.h"
#include "support/temp_dir.h"

namespace allot::bench {
namespace {

// The figures of so short a run say nothing, but each has to be there.
nlohmann::json report_of(const std::vector<std::string>& words) {
  const support::TempDir dir;
  std::vector<std::string> command{ALLOT_PROGRAM, "bench"};
  command.insert(command.end(), words.begin(), words.end());
  command.insert(command.end(), {"--embedded", dir / "b", "--rounds", "1", "--tasks", "1000"});
  command.emplace_back("--json");
  const auto done = support::run_program(command);
  EXPECT_EQ(done.status, (support::ExitStatus{0, 0})) << done.err;
  return nlohmann::json::parse(done.out, nullptr, false);
}

void expect_figures(const nlohmann::json& report, const std::set<std::string>& sides) {
  ASSERT_TRUE(report.is_object());
  ASSERT_EQ(report["rounds"].size(), 1U);
  std::set<std::string> found;
  for (const auto& [side, figure] : report["rounds"][0].items()) {
    EXPECT_GT(figure, 0.0) << side;
    found.insert(side);
  }
  EXPECT_EQ(found, sides);
  EXPECT_GE(report["ratios"].size(), 2U);
  for (const auto& ratio : report["ratios"]) {
    const double value = ratio["value"];
    const bool holds = ratio.contains("at_least") ? value >= ratio["at_least"].get<double>()
                                                  : value <= ratio["at_most"].get<double>();
    EXPECT_EQ(ratio["holds"], holds) << ratio;
  }
}

TEST(PipeWorker, IsMeasuredWithItsFloors) {
  expect_figures(report_of({"pipe-worker", "--workers", "1"}),
                 {"bare", "exec", "noop", "one", "pipe"});
}

TEST(HttpWorker, IsMeasuredWithItsFloors) {
  expect_figures(report_of({"http-worker", "--milliseconds", "50"}),
                 {"noop", "quick", "quick_bare", "quick_ready", "slow", "slow_bare"});
}

TEST(Fireworq, IsMeasuredWithItsFloors) {
  const auto report = report_of({"fireworq", "--milliseconds", "50", "--throttled", "4"});
  expect_figures(report, {"bare", "dispatch", "insert", "push"});
  EXPECT_EQ(report["ratios"].size(), 5U);
  ASSERT_EQ(report["rates"].size(), 3U);
  for (const auto& rate : report["rates"]) EXPECT_GT(rate["started"], 0.0) << rate;
}

}  // namespace
}  // namespace allot::bench
