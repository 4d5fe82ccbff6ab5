// SPDX-License-Identifier: Apache-2.0
#include <thread>
#include <vector>

#include "unit/log/fixture.h"

namespace allot::log {
namespace {

TEST_F(Line, ThreadsDoNotMixTheirLines) {
  setup("worker", Level::kInfo, path());
  std::vector<std::thread> threads;
  for (int writer = 0; writer < 4; ++writer) threads.emplace_back(burst, writer, 200, 700);
  for (std::thread& thread : threads) thread.join();
  const auto count = whole_lines(lines(), 700);
  ASSERT_EQ(count.size(), 4U);
  for (const auto& [writer, lines] : count) EXPECT_EQ(lines, 200) << writer;
}

}  // namespace
}  // namespace allot::log
