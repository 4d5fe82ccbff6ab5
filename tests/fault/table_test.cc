// SPDX-License-Identifier: Apache-2.0
#include "fault/table.h"

#include <gtest/gtest.h>

#include "support/text.h"

namespace allot::fault {
namespace {

using support::has;

TEST(Table, SaysWhetherARestartIsWithinItsLimit) {
  CampaignResult result;
  auto& restarts = result.verdict.restarts;
  for (int i = 0; i < 99; ++i) restarts.push_back({"kill_worker", 299 * kMillisecond});
  for (int i = 0; i < 3; ++i) restarts.push_back({"kill_worker", 1'000 * kMillisecond});
  restarts.push_back({"kill_host", 2'999 * kMillisecond});
  restarts.push_back({"kill_host", 3'000 * kMillisecond, true});
  const std::string table = table_of({}, result);
  EXPECT_TRUE(has(table, "(of 102) | 299 within 300 / 1000 over 1000 / 1000 |")) << table;
  EXPECT_TRUE(has(table, "(of 1) | 2999 within 3000 / 2999 within 3000 / 2999 |")) << table;
}

TEST(Table, ShowsLockWaitsOfWhatNoFaultDisturbed) {
  CampaignResult result;
  result.verdict.runs = 4'000'000;
  result.undisturbed_runs = 2'000'000;
  result.counted = {1, 2, 8, 12};  // deadlocks, timed out, all waits, ms
  result.provoked = {5, 6, 7, 0};
  const std::string table = table_of({}, result);
  EXPECT_TRUE(has(table, "deadlocks (per million of these handlers) | 1 (0.5) |")) << table;
  EXPECT_TRUE(has(table, "error 1205 (per million) | 2 (1.0) |")) << table;
  EXPECT_TRUE(has(table, "for a row's lock (per million) | 6 (3.0) |")) << table;
  EXPECT_TRUE(has(table, "timed out, all waits | 5, 6, 7 |")) << table;
}

TEST(Table, ShowsWhatExplainedDuplicates) {
  CampaignResult result;
  result.verdict.duplicates_within = {{Scope::kWorker, 3}, {Scope::kHost, 2}, {Scope::kAll, 1}};
  result.verdict.excused = 0.25;
  result.verdict.excused_by = {{"read_only", 0.125}};
  const std::string table = table_of({}, result);
  EXPECT_TRUE(has(table, "own worker or its connection | 3 |")) << table;
  EXPECT_TRUE(has(table, "a lock on their partition | 0 |")) << table;
  EXPECT_TRUE(has(table, "their own host | 2 |")) << table;
  EXPECT_TRUE(has(table, "whole database or network | 1 |")) << table;
  EXPECT_TRUE(has(table, "would explain any duplicate | 25.0 |")) << table;
  EXPECT_TRUE(has(table, "% of the time, read_only of all | 12.5 |")) << table;
}

}  // namespace
}  // namespace allot::fault
