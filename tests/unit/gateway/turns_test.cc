// SPDX-License-Identifier: Apache-2.0
#include "gateway/ui/turns.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace allot::gateway::ui {
namespace {

class TurnsTest : public testing::Test {
 protected:
  void TearDown() override {
    while (!turns_.empty()) end_first();
  }
  // Takes a turn, and keeps it until it is removed from turns_.
  bool take(int number) {
    return line_->take([this, number](const Turns::Turn& turn) {
      started_.push_back(number);
      turns_.push_back(turn);
    });
  }
  void end_first() {
    const Turns::Turn first = turns_.front();
    turns_.erase(turns_.begin());
  }

  std::shared_ptr<Turns> line_ = std::make_shared<Turns>(2, 2);
  std::vector<int> started_;
  std::vector<Turns::Turn> turns_;
};

TEST_F(TurnsTest, ATurnThatEndsStartsTheNextInOrder) {
  for (int number : {1, 2, 3, 4}) EXPECT_TRUE(take(number));
  EXPECT_EQ(started_, (std::vector{1, 2}));
  end_first();
  EXPECT_EQ(started_, (std::vector{1, 2, 3}));
  end_first();
  EXPECT_EQ(started_, (std::vector{1, 2, 3, 4}));
}

TEST_F(TurnsTest, OneMoreThanMayWaitIsRefused) {
  for (int number : {1, 2, 3, 4}) EXPECT_TRUE(take(number));
  EXPECT_FALSE(take(5));
  end_first();
  EXPECT_TRUE(take(6));
}

TEST_F(TurnsTest, AFreeTurnIsTakenAtOnce) {
  for (int number : {1, 2}) EXPECT_TRUE(take(number));
  end_first();
  end_first();
  EXPECT_TRUE(take(3));
  EXPECT_EQ(started_, (std::vector{1, 2, 3}));
}

TEST_F(TurnsTest, ATurnMayEndWithinItsStart) {
  int ended = 0;
  for (int number = 0; number < 5; ++number) {
    EXPECT_TRUE(line_->take([&](const Turns::Turn&) { ++ended; }));
  }
  EXPECT_EQ(ended, 5);
}

}  // namespace
}  // namespace allot::gateway::ui
