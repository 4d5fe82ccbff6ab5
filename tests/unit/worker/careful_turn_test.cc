// SPDX-License-Identifier: Apache-2.0
// Rule: S7.
#include <fcntl.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/unique_fd.h"
#include "support/temp_dir.h"
#include "worker/block/starter.h"

namespace allot::worker::careful_turn_test {
namespace {

constexpr std::chrono::milliseconds kNow{0};

// Like workers with inherited slots whose file may have been deleted.
TEST(CarefulTurn, IsOneForAllWhoOpenTheFileOnceMore) {
  const support::TempDir folder;
  const std::string file = folder.write("slots", "");
  const UniqueFd inherited(open(file.c_str(), O_RDWR | O_CLOEXEC));
  std::filesystem::remove(file);
  const std::string path = "/proc/self/fd/" + std::to_string(inherited.get());
  CarefulTurn one(path);
  CarefulTurn other(path);
  EXPECT_TRUE(one.take(kNow));
  EXPECT_FALSE(other.take(kNow));
  one.end();
  EXPECT_TRUE(other.take(kNow));
}

TEST(CarefulTurn, IsAlwaysFreeForASingleWorker) {
  CarefulTurn alone("");
  EXPECT_TRUE(alone.take(kNow));
  alone.end();
  EXPECT_TRUE(alone.take(kNow));
}

}  // namespace
}  // namespace allot::worker::careful_turn_test
