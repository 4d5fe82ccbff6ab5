// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "queue/verbs/lease_store.h"

namespace allot::queue {
namespace {

// S19: a block contains no payload above 64 KiB, and at most 8 MiB of payloads in total.
TEST(FetchSpecTest, InlineLimitBoundsPayloadAndBlock) {
  constexpr std::uint64_t kBlockBytes = 8 << 20;
  for (const std::uint32_t block_size : {1U, 2U, 100U, 127U, 128U, 129U, 1000U, 65535U}) {
    const std::uint64_t limit = FetchSpec{block_size, 0}.inline_limit();
    EXPECT_LE(limit, 65536U) << block_size;
    EXPECT_LE(limit * block_size, kBlockBytes) << block_size;
  }
  EXPECT_EQ((FetchSpec{1, 0}.inline_limit()), 65536U);
  EXPECT_EQ((FetchSpec{128, 0}.inline_limit()), 65536U);
  EXPECT_EQ((FetchSpec{1000, 0}.inline_limit()), kBlockBytes / 1000);
}

TEST(FetchSpecTest, NoBlockSizeDividesByZero) {
  EXPECT_EQ((FetchSpec{0, 0}.inline_limit()), 65536U);
}

}  // namespace
}  // namespace allot::queue
