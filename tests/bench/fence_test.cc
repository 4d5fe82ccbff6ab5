// SPDX-License-Identifier: Apache-2.0
#include "bench/fence.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sql/queries.h"
#include "support/process.h"
#include "support/temp_dir.h"

namespace allot::bench {
namespace {

TEST(Fence, IsTakenOffWholeAndNothingElse) {
  for (const sql::SqlText* query :
       {&sql::k_retry, &sql::k_bury, &sql::k_charge, &sql::k_record_attempt}) {
    const std::string bare = without_fence(query->text);
    EXPECT_EQ(bare.find("q_lock_table"), std::string::npos) << bare;
    EXPECT_EQ(bare.find(":epoch"), std::string::npos) << bare;
    EXPECT_NE(bare.find(":run_key"), std::string::npos) << bare;
  }
  EXPECT_EQ(without_fence("SELECT 1\n AND (SELECT 2) = 1"), "SELECT 1\n AND (SELECT 2) = 1");
}

TEST(Fence, TimesEachVerbBothWays) {
  const support::TempDir dir;
  const auto done = support::run_program({ALLOT_PROGRAM, "bench", "fence", "--embedded", dir / "b",
                                          "--tasks", "20", "--rounds", "2", "--json"});
  ASSERT_EQ(done.status, (support::ExitStatus{0, 0})) << done.err;
  const auto report = nlohmann::json::parse(done.out);
  ASSERT_EQ(report["verbs"].size(), 3U) << done.out;
  for (const auto& verb : report["verbs"]) {
    EXPECT_GT(verb["fenced_us"], 0.0);
    EXPECT_GT(verb["without_us"], 0.0);
    EXPECT_GT(verb["ratio"], 0.0);
  }
}

}  // namespace
}  // namespace allot::bench
