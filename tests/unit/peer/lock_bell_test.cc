// SPDX-License-Identifier: Apache-2.0
#include "peer/lock_bell.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "support/temp_dir.h"

namespace allot::peer {
namespace {

class LockBellTest : public testing::Test {
 protected:
  [[nodiscard]] std::string file() const { return folder_ / "lock-bells"; }
  support::TempDir folder_;
};

TEST_F(LockBellTest, ARingWakesAnotherProcessLongBeforeItsTimeout) {
  LockBell bell(folder_.path(), "nightly");
  const std::uint32_t seen = bell.seen();
  const pid_t child = fork();
  if (child == 0) {
    const Nanos began = mono_ns();
    LockBell(folder_.path(), "nightly").wait(seen, 60 * kSecond);
    _exit(mono_ns() - began < 30 * kSecond ? 0 : 1);
  }
  // Does not wait for the child to sleep: a ring before that must not be lost either.
  bell.ring();
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST_F(LockBellTest, OnlyItsOwnNameIsHeard) {
  LockBell one(folder_.path(), "one");
  LockBell two(folder_.path(), "two");
  const std::uint32_t before = two.seen();
  one.ring();
  EXPECT_EQ(two.seen(), before);
  EXPECT_EQ(LockBell(folder_.path(), "one").seen(), one.seen());
}

TEST_F(LockBellTest, TheFileIsForTheGroup) {
  const LockBell bell(folder_.path(), "x");
  struct stat status {};
  ASSERT_EQ(::stat(file().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0660U);
}

// Without a folder, or without a usable file, it is silent, and waits only sleep.
TEST_F(LockBellTest, WithoutAFileItOnlySleeps) {
  std::filesystem::create_directory(file());
  for (const std::string& folder : {std::string(), folder_ / "none", folder_.path()}) {
    LockBell bell(folder, "x");
    const std::uint32_t seen = bell.seen();
    bell.ring();
    EXPECT_EQ(bell.seen(), seen);
    const Nanos began = mono_ns();
    bell.wait(seen, 20 * kMilli);
    EXPECT_GE(mono_ns() - began, 20 * kMilli) << folder;
  }
  EXPECT_FALSE(std::filesystem::exists(folder_ / "none"));
}

TEST_F(LockBellTest, AFileThatIsTooShortIsNotUsed) {
  { const LockBell made(folder_.path(), "x"); }
  std::filesystem::resize_file(file(), 8);
  LockBell bell(folder_.path(), "x");
  bell.ring();
  EXPECT_EQ(bell.seen(), 0U);
}

}  // namespace
}  // namespace allot::peer
