// SPDX-License-Identifier: Apache-2.0
// The rules hold in every state of the model, and without one of them a story shows the harm.
#include <gtest/gtest.h>

#include "model/explore.h"

namespace allot::model {
namespace {

constexpr std::size_t kMost = 4'000'000;

TEST(ModelTest, RulesHold) {
  const Scenario scenario{"crashes", 2, 1, 0, 0, 0, 0, 2, 1};
  const Findings found = explore(scenario, kMost);
  EXPECT_TRUE(found.whole);
  EXPECT_EQ(found.broken, Broken::kNothing) << name_of(found.broken) << "\n" << found.story;
  EXPECT_EQ(found.dead_ends, 0U) << found.story;
}

}  // namespace
}  // namespace allot::model
