// SPDX-License-Identifier: Apache-2.0
#include "ipc/slot.h"

#include <gtest/gtest.h>

#include <memory>

namespace allot::ipc {
namespace {

TEST(Slot, EachSlotIsMappedByItself) {
  for (std::uint32_t i = 0; i < kMaxSlots; ++i) EXPECT_EQ(slot_offset(i) % kPage, 0U);
  EXPECT_EQ(slot_offset(1) - slot_offset(0), sizeof(Slot));
  EXPECT_EQ(slot_offset(3), slot_offset(3));
}

TEST(Slot, ClearedSlotHasNothingToSettle) {
  // The supervisor clears only the first page; numbers in it limit the arrays after it.
  EXPECT_LE(offsetof(Slot, runs), kPage);
  EXPECT_LE(offsetof(Slot, run_states) + kMaxRunning, kPage);
  EXPECT_LT(offsetof(Slot, finished_count), kPage);
}

TEST(Slot, ADeathNeedsSettlingWhenAnythingIsLeftBehind) {
  const auto slot = std::make_unique<Slot>();
  EXPECT_FALSE(needs_settling(*slot));
  slot->lease_held = 1;
  EXPECT_TRUE(needs_settling(*slot));
  slot->lease_held = 0;
  slot->run_states[7] = RunState::kRefundingDetached;
  EXPECT_TRUE(needs_settling(*slot));
  slot->run_states[7] = RunState::kFree;
  slot->finished_count = 1;
  EXPECT_TRUE(needs_settling(*slot));
}

}  // namespace
}  // namespace allot::ipc
