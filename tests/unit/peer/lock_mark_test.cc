// SPDX-License-Identifier: Apache-2.0
#include "peer/lock_mark.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include "base/unique_fd.h"
#include "support/temp_dir.h"

namespace allot::peer {
namespace {

// S11: with it a daemon knows whether leases under its name were its own.
TEST(LockMark, IsDrawnOnceForEachFile) {
  const support::TempDir dir;
  const auto mark = [&](const char* name, bool draw) {
    const UniqueFd file(open((dir / name).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0640));
    return draw ? draw_lock_mark(file.get()) : lock_mark(file.get());
  };
  (void)dir.write("lock", "      4711\n");
  EXPECT_EQ(mark("lock", false), 0U);
  const std::uint64_t first = mark("lock", true);
  EXPECT_NE(first, 0U);
  EXPECT_EQ(mark("lock", false), first);
  EXPECT_EQ(mark("lock", true), first);
  EXPECT_NE(mark("other", true), first);
  EXPECT_EQ(support::read_file(dir / "lock").substr(0, 11), "      4711\n");
}

TEST(LockMark, WhereNoneCanBeWrittenThereIsNone) {
  const support::TempDir dir;
  const std::string path = dir.write("lock", "      4711\n");
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  EXPECT_EQ(draw_lock_mark(file.get()), 0U);
}

}  // namespace
}  // namespace allot::peer
