// SPDX-License-Identifier: Apache-2.0
#include "peer/tally.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "support/temp_dir.h"

namespace allot::peer {
namespace {

TEST(TallyTest, NoMoreStartThanAreAllowed) {
  const support::TempDir folder;
  Tally* tally = make_tally(folder / "tally", 1000);
  ASSERT_NE(tally, nullptr);
  std::atomic<int> taken{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      Tally* mine = map_tally(folder / "tally");
      for (int tries = 0; tries < 1000; ++tries) taken += take(*mine) ? 1 : 0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(taken, 1000);
  EXPECT_EQ(tally->started, 1000U);
  EXPECT_EQ(tally->allowed, 0);
  give_back(*tally);
  EXPECT_EQ(tally->started, 999U);
  EXPECT_TRUE(take(*tally));
  EXPECT_FALSE(take(*tally));
}

TEST(TallyTest, ClosedItStaysClosed) {
  const support::TempDir folder;
  Tally* tally = make_tally(folder / "tally", 10);
  ASSERT_TRUE(take(*tally));
  close(*tally);
  give_back(*tally);
  EXPECT_FALSE(take(*tally));
  EXPECT_FALSE(take(*tally));
}

TEST(TallyTest, ANewOneLeavesTheFormerAlone) {
  const support::TempDir folder;
  Tally* former = make_tally(folder / "tally", 5);
  Tally* fresh = make_tally(folder / "tally", 7);
  ASSERT_NE(fresh, nullptr);
  EXPECT_TRUE(take(*former));
  EXPECT_EQ(fresh->allowed, 7);
  EXPECT_EQ(map_tally(folder / "none"), nullptr);
  (void)folder.write("short", "x");
  EXPECT_EQ(map_tally(folder / "short"), nullptr);
}

}  // namespace
}  // namespace allot::peer
