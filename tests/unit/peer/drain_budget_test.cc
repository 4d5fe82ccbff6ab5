// SPDX-License-Identifier: Apache-2.0
#include "peer/drain_budget.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "support/temp_dir.h"

namespace allot::peer {
namespace {

TEST(DrainBudgetTest, NoMoreStartThanAreAllowed) {
  const support::TempDir folder;
  DrainBudget* budget = make_drain_budget(folder / "budget", 1000);
  ASSERT_NE(budget, nullptr);
  std::atomic<int> taken{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      DrainBudget* mine = map_drain_budget(folder / "budget");
      for (int tries = 0; tries < 1000; ++tries) taken += take(*mine) ? 1 : 0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(taken, 1000);
  EXPECT_EQ(budget->started, 1000U);
  EXPECT_EQ(budget->allowed, 0);
  refund(*budget);
  EXPECT_EQ(budget->started, 999U);
  EXPECT_TRUE(take(*budget));
  EXPECT_FALSE(take(*budget));
}

TEST(DrainBudgetTest, ClosedItStaysClosed) {
  const support::TempDir folder;
  DrainBudget* budget = make_drain_budget(folder / "budget", 10);
  ASSERT_TRUE(take(*budget));
  close(*budget);
  refund(*budget);
  EXPECT_FALSE(take(*budget));
  EXPECT_FALSE(take(*budget));
}

TEST(DrainBudgetTest, ANewOneLeavesTheFormerAlone) {
  const support::TempDir folder;
  DrainBudget* former = make_drain_budget(folder / "budget", 5);
  DrainBudget* fresh = make_drain_budget(folder / "budget", 7);
  ASSERT_NE(fresh, nullptr);
  EXPECT_TRUE(take(*former));
  EXPECT_EQ(fresh->allowed, 7);
  EXPECT_EQ(map_drain_budget(folder / "none"), nullptr);
  (void)folder.write("short", "x");
  EXPECT_EQ(map_drain_budget(folder / "short"), nullptr);
}

}  // namespace
}  // namespace allot::peer
