// SPDX-License-Identifier: Apache-2.0
#include "bench/http.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "base/exit_codes.h"
#include "support/process.h"
#include "support/temp_dir.h"

namespace allot::bench {
namespace {

support::Finished http(const std::string& folder, const std::vector<std::string>& more) {
  std::vector<std::string> words{
      ALLOT_PROGRAM,    "bench", "http",    "--embedded", folder,       "--rounds", "1",
      "--milliseconds", "50",    "--lines", "1000",       "--dripping", "5"};
  words.insert(words.end(), more.begin(), more.end());
  return support::run_program(words);
}

// The figures of so short a run say nothing, but each has to be there.
TEST(Http, MeasuresTheGatewayAndItsFloors) {
  const support::TempDir dir;
  const auto done = http(dir / "b", {"--idle", "20", "--json"});
  ASSERT_EQ(done.status, (support::ExitStatus{0, 0})) << done.err;
  const auto report = nlohmann::json::parse(done.out);
  std::set<std::string> sides;
  for (const auto& side : report["sides"]) {
    EXPECT_GT(side["per_s"], 0.0) << side;
    sides.insert(side["name"]);
  }
  EXPECT_EQ(sides, (std::set<std::string>{"allot_ndjson", "client_1", "clients_64", "fresh_64",
                                          "http_1", "http_64", "http_ndjson", "tls_64"}));
  EXPECT_EQ(report["ratios"].size(), 8U);
  for (const auto& ratio : report["ratios"]) {
    const double value = ratio["value"];
    EXPECT_GT(value, 0.0) << ratio;
    const bool holds = ratio.contains("at_least") ? value >= ratio["at_least"].get<double>()
                                                  : value <= ratio["at_most"].get<double>();
    EXPECT_EQ(ratio["holds"], holds) << ratio;
  }
}

TEST(Http, WrongWordsAreNamed) {
  const auto done = http("/tmp", {"--idle", "many"});
  EXPECT_EQ(done.status.code, kExitUsage);
  EXPECT_NE(done.err.find("allot bench http --help"), std::string::npos) << done.err;
}

}  // namespace
}  // namespace allot::bench
