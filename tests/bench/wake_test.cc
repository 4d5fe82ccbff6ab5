// SPDX-License-Identifier: Apache-2.0
#include "bench/wake.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/process.h"
#include "support/temp_dir.h"

namespace allot::bench {
namespace {

TEST(WakeBench, MeasuresADrainAndTheCostWithAWriter) {
  const support::TempDir dir;
  const auto done =
      support::run_program({ALLOT_PROGRAM, "bench", "wake", "--embedded", dir / "b", "--tasks",
                            "1000", "--rounds", "1", "--seconds", "1", "--json"});
  ASSERT_EQ(done.status, (support::ExitStatus{0, 0})) << done.err;
  const auto report = nlohmann::json::parse(done.out);
  ASSERT_EQ(report["ratios"].size(), 3U) << done.out;
  EXPECT_GT(report["ratios"][0]["value"], 0.0);
  EXPECT_TRUE(report["ratios"][1]["value"].is_number());
  EXPECT_GT(report["written_mb_per_second"], 0.0);
}

}  // namespace
}  // namespace allot::bench
