// SPDX-License-Identifier: Apache-2.0
// Rule: S52.
#include "db/term_memory.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "support/temp_dir.h"

namespace allot::db {
namespace {

class TermMemoryTest : public testing::Test {
 protected:
  support::TempDir folder_;
  TermMemory here_{folder_.path(), "db1:3306 db2:3306 allot"};
  TermMemory there_{folder_.path(), "db1:3306 db2:3306 allot"};
};

TEST_F(TermMemoryTest, TheHighestTermIsKnownToAllProcesses) {
  EXPECT_EQ(here_.highest(), 0U);
  here_.saw(3);
  EXPECT_EQ(there_.highest(), 3U);
  there_.saw(2);
  EXPECT_EQ(here_.highest(), 3U);
  there_.saw(4);
  EXPECT_EQ(here_.highest(), 4U);
}

TEST_F(TermMemoryTest, AnotherListHasAnotherMemory) {
  here_.saw(3);
  EXPECT_EQ(TermMemory(folder_.path(), "db3:3306 allot").highest(), 0U);
}

TEST_F(TermMemoryTest, UnwritableTermIsKeptInTheProcess) {
  TermMemory nowhere("/proc/nowhere", "list");
  nowhere.saw(3);
  EXPECT_EQ(nowhere.highest(), 3U);
  nowhere.found_silent("db1:3306");
  EXPECT_TRUE(nowhere.is_silent("db1:3306"));
}

TEST_F(TermMemoryTest, AFileThatHoldsNoNumberCountsAsNone) {
  here_.saw(3);
  for (const auto& file : std::filesystem::directory_iterator(folder_.path())) {
    std::ofstream(file.path()) << "?";
  }
  EXPECT_EQ(TermMemory(folder_.path(), "db1:3306 db2:3306 allot").highest(), 0U);
  EXPECT_EQ(here_.highest(), 3U);
}

TEST_F(TermMemoryTest, ASilentServerIsKnownToAllProcesses) {
  here_.found_silent("db1:3306");
  EXPECT_TRUE(there_.is_silent("db1:3306"));
  EXPECT_FALSE(there_.is_silent("db2:3306"));
  here_.found_answering("db1:3306");
  EXPECT_FALSE(here_.is_silent("db1:3306"));
  EXPECT_FALSE(there_.is_silent("db1:3306"));
}

}  // namespace
}  // namespace allot::db
