// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

// main() of all test programs. It differs from GoogleTest's own in one way: a filter that selects
// no test fails, because otherwise a misspelt filter looks like success. (From 1.17 on GoogleTest
// has an option for it.) A shard may be empty.
int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const int result = RUN_ALL_TESTS();
  const bool is_shard = std::getenv("GTEST_TOTAL_SHARDS") != nullptr;
  if (testing::UnitTest::GetInstance()->test_to_run_count() > 0 || is_shard) return result;
  std::fprintf(stderr, "the filter selects no test: --gtest_filter=%s\n",
               GTEST_FLAG_GET(filter).c_str());
  return EXIT_FAILURE;
}
