// SPDX-License-Identifier: Apache-2.0
#include "bench/drain.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/exit_codes.h"
#include "bench/median.h"
#include "support/database.h"
#include "support/process.h"
#include "support/temp_dir.h"

namespace allot::bench {
namespace {

support::Finished drain(const std::string& folder, std::vector<std::string> more) {
  std::vector<std::string> words{ALLOT_PROGRAM, "bench", "drain", "--embedded", folder};
  words.insert(words.end(), more.begin(), more.end());
  return support::run_program(words);
}

TEST(Drain, MeasuresTheDaemonAndItsFloor) {
  const support::TempDir dir;
  const auto done = drain(dir / "b", {"--tasks", "2000", "--rounds", "2", "--json"});
  ASSERT_EQ(done.status, (support::ExitStatus{0, 0})) << done.err;
  const auto report = nlohmann::json::parse(done.out);
  EXPECT_EQ(report["tasks"], 2000);
  EXPECT_EQ(report["workers"], 2);
  EXPECT_EQ(report["innodb_flush_log_at_trx_commit"], 1);
  EXPECT_EQ(report["rounds"].size(), 2U);
  for (const auto& round : report["rounds"]) {
    EXPECT_GT(round["tasks_per_s"], 0.0);
    EXPECT_GT(round["floor_tasks_per_s"], 0.0);
    EXPECT_DOUBLE_EQ(round["ratio"],
                     round["tasks_per_s"].get<double>() / round["floor_tasks_per_s"].get<double>());
  }
}

TEST(Drain, RunsAgainInItsOwnFolderAndInNoOther) {
  const support::TempDir dir;
  for (int i = 0; i < 2; ++i) {
    const auto done = drain(dir / "b", {"--tasks", "1000", "--rounds", "1"});
    ASSERT_EQ(done.status, (support::ExitStatus{0, 0})) << done.err;
    EXPECT_NE(done.out.find("ratio "), std::string::npos) << done.out;
  }
  (void)dir.write("mine", "precious");
  const auto refused = drain(dir.path(), {});
  EXPECT_EQ(refused.status.code, kExitUsage);
  EXPECT_NE(refused.err.find("is not empty and holds no benchmark"), std::string::npos);
}

// Its own database, and nothing is left of it.
TEST(Drain, RunsOnAServerThatRuns) {
  auto& server = support::Database::shared();
  const auto on_it = [&] {
    return support::run_program({ALLOT_PROGRAM, "bench", "drain", "--socket", server.socket(),
                                 "--tasks", "1000", "--rounds", "1", "--json"});
  };
  const auto done = on_it();
  ASSERT_EQ(done.status, (support::ExitStatus{0, 0})) << done.err;
  const auto report = nlohmann::json::parse(done.out);
  auto db = server.connect();
  EXPECT_EQ(report["server"], support::value_of(db, "SELECT VERSION()"));
  EXPECT_EQ(report["log_bin"], support::number_of(db, "SELECT @@log_bin"));
  EXPECT_GT(report["ratio"], 0.0);
  db.execute("CREATE DATABASE allot_bench");  // fails when it is there
  const auto refused = on_it();
  EXPECT_NE(refused.status.code, 0);
  EXPECT_NE(refused.err.find("allot_bench"), std::string::npos) << refused.err;
  db.execute("DROP DATABASE allot_bench");  // fails when it is gone
}

TEST(Drain, WrongWordsAreNamed) {
  EXPECT_EQ(drain("/tmp", {"--workers", "0"}).status.code, kExitUsage);
  const auto none = support::run_program({ALLOT_PROGRAM, "bench", "drain"});
  EXPECT_EQ(none.status.code, kExitUsage);
  EXPECT_NE(none.err.find("--embedded or --socket is required"), std::string::npos) << none.err;
}

TEST(Median, OfOddAndEvenNumbers) {
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
  EXPECT_EQ(median({7}), 7);
}

// A floor that is not read proves nothing.
TEST(Floor, IsOneShortFile) {
  std::ifstream file(ALLOT_FLOOR_SOURCE);
  const auto lines = std::count(std::istreambuf_iterator<char>(file), {}, '\n');
  EXPECT_GT(lines, 0);
  EXPECT_LT(lines, 120);
}

}  // namespace
}  // namespace allot::bench
