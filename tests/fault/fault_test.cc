// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdio>

#include "fault/campaign.h"

namespace allot::fault {
namespace {

void expect_clean(const CampaignOptions& options, const CampaignResult& result) {
  EXPECT_TRUE(result.verdict.clean() && result.problem.empty())
      << table_of(options, result) << result.log_tail;
  // A run in which nothing happened proves nothing.
  EXPECT_GT(result.verdict.acknowledged, 500U);
  std::fputs(table_of(options, result).c_str(), stderr);
}

TEST(Campaign, WorkersDieAndConnectionsSuffer) {
  CampaignOptions options;
  options.seed = 1;
  options.length = std::chrono::seconds(8);
  options.mean_pause = std::chrono::milliseconds(150);
  options.weights = {.stop_worker = 0, .kill_daemon = 0, .kill_database = 0};
  options.per_second = 400;
  const auto result = run_campaign(options);
  expect_clean(options, result);
  EXPECT_GT(result.faults.at("kill_worker"), 10U);
}

TEST(Campaign, AllKindsOfFaults) {
  CampaignOptions options;
  options.seed = 2;
  options.length = std::chrono::seconds(15);
  options.mean_pause = std::chrono::milliseconds(200);
  options.weights = {.kill_worker = 30, .stop_worker = 10, .kill_daemon = 3, .kill_database = 4};
  options.per_second = 400;
  const auto result = run_campaign(options);
  expect_clean(options, result);
}

}  // namespace
}  // namespace allot::fault
