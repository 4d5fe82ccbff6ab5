// SPDX-License-Identifier: Apache-2.0
#include "bench/latency.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "base/exit_codes.h"
#include "support/process.h"
#include "support/temp_dir.h"

namespace allot::bench {
namespace {

support::Finished latency_bench(const std::string& folder, const std::vector<std::string>& more) {
  std::vector<std::string> words{ALLOT_PROGRAM, "bench", "latency", "--embedded", folder};
  words.insert(words.end(), more.begin(), more.end());
  return support::run_program(words);
}

// Few tasks say little, but that the log makes SQL faster is plain.
TEST(Latency, MeasuresEachWayOnEachHostWithTheLogAndWithout) {
  const support::TempDir dir;
  const auto done =
      latency_bench(dir / "b", {"--tasks", "5", "--gap", "100", "--workers", "1", "--json"});
  ASSERT_EQ(done.status, (support::ExitStatus{0, 0})) << done.err;
  const auto report = nlohmann::json::parse(done.out);
  std::set<std::string> found;
  for (const auto& one : report["latency"]) {
    found.insert(one["way"].get<std::string>() + " " + one["host"].get<std::string>() + " " +
                 one["waking"].get<std::string>());
    EXPECT_EQ(one["tasks"], 5) << one;
    for (const char* from : {"from_answer_ms", "from_call_ms"}) {
      const auto& ms = one[from];
      EXPECT_LE(ms["p50"], ms["p90"]) << one;
      EXPECT_LE(ms["p90"], ms["p99"]) << one;
      EXPECT_LE(ms["p99"], ms["max"]) << one;
    }
    EXPECT_GT(one["from_call_ms"]["p50"], 0.0) << one;
    EXPECT_LE(one["from_answer_ms"]["p50"], one["from_call_ms"]["p50"]) << one;
  }
  EXPECT_EQ(found.size(), 16U) << done.out;
}

TEST(Latency, WrongWordsAreNamed) {
  EXPECT_EQ(latency_bench("/tmp", {"--tasks", "none"}).status.code, kExitUsage);
}

}  // namespace
}  // namespace allot::bench
