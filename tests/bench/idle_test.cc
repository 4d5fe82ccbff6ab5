// SPDX-License-Identifier: Apache-2.0
#include "bench/idle.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/exit_codes.h"
#include "support/process.h"
#include "support/temp_dir.h"

namespace allot::bench {
namespace {

support::Finished idle_bench(const std::string& folder, const std::vector<std::string>& more) {
  std::vector<std::string> words{ALLOT_PROGRAM, "bench", "idle",      "--embedded", folder,
                                 "--rounds",    "1",     "--seconds", "1"};
  words.insert(words.end(), more.begin(), more.end());
  return support::run_program(words);
}

TEST(Idle, MeasuresEachNumberOfWorkers) {
  const support::TempDir dir;
  const auto done = idle_bench(dir / "b", {"--workers", "1,3", "--json"});
  ASSERT_EQ(done.status, (support::ExitStatus{0, 0})) << done.err;
  const auto report = nlohmann::json::parse(done.out);
  ASSERT_EQ(report["idle"].size(), 2U) << done.out;
  EXPECT_EQ(report["idle"][0]["workers"], 1);
  EXPECT_EQ(report["idle"][1]["workers"], 3);
  for (const auto& cost : report["idle"]) {
    EXPECT_GT(cost["statements_per_s"], 0.0);
    EXPECT_GT(cost["daemon_percent"], 0.0);
    EXPECT_GT(cost["server_percent"], 0.0);
  }
  EXPECT_GT(report["ratio"], 0.0);
}

TEST(Idle, WrongWordsAreNamed) {
  EXPECT_EQ(idle_bench("/tmp", {"--workers", "0"}).status.code, kExitUsage);
}

}  // namespace
}  // namespace allot::bench
