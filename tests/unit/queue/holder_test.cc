// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <unistd.h>

#include <set>

#include "queue/model/lease.h"

namespace allot::queue {
namespace {

// S2: two workers with one id would mistake each other's leases for their own.
TEST(HolderTest, EachStartHasAnIdOfItsOwn) {
  constexpr std::size_t kStarts = 1000;
  std::set<std::uint64_t> ids;
  for (std::size_t i = 0; i < kStarts; ++i) ids.insert(make_holder("a", "/run/a").id);
  EXPECT_EQ(ids.size(), kStarts);
  EXPECT_GT(*ids.rbegin(), std::uint64_t{1} << 32) << "numbers of 64 bits";
}

// S11: with it a restarted instance finds the leases of its former run, and no others.
TEST(HolderTest, TheOriginNamesTheInstance) {
  const Holder holder = make_holder("a", "/run/a");
  EXPECT_EQ(make_holder("a", "/run/a").origin, holder.origin);
  EXPECT_NE(make_holder("b", "/run/a").origin, holder.origin);
  EXPECT_NE(make_holder("a", "/run/b").origin, holder.origin);
  EXPECT_NE(make_holder("a", "/run/a", 1).origin, holder.origin) << "of another lock";
  EXPECT_EQ(holder.pid, static_cast<std::uint32_t>(getpid()));
}

}  // namespace
}  // namespace allot::queue
