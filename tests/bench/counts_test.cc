// SPDX-License-Identifier: Apache-2.0
#include "bench/counts.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/process.h"
#include "support/temp_dir.h"

namespace allot::bench {
namespace {

// It fails by itself where a worker counts, or does not, against its wish.
TEST(Counts, MeasuresDrainsWithThemAndWithout) {
  const support::TempDir dir;
  const auto done = support::run_program({ALLOT_PROGRAM, "bench", "counts", "--embedded", dir / "b",
                                          "--tasks", "1000", "--rounds", "2", "--json"});
  ASSERT_EQ(done.status, (support::ExitStatus{0, 0})) << done.err;
  const auto report = nlohmann::json::parse(done.out);
  for (const char* name : {"with_us", "without_us", "server_us"}) {
    ASSERT_EQ(report[name].size(), 2U) << name;
    for (const auto& each : report[name]) EXPECT_GT(each, 0.0) << name;
  }
  EXPECT_TRUE(report["part_of_drain"].is_number());
}

}  // namespace
}  // namespace allot::bench
