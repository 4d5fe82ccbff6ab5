// SPDX-License-Identifier: Apache-2.0
// Rule: S25.
#include "supervisor/handover.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <string>

namespace allot::supervisor {
namespace {

using Way = Handover::Way;

struct State {
  std::array<int, 3> numbers{};
  std::uint64_t big = 0;
  UniqueFd fd;
  UniqueFd none;

  bool pass(int file, Way way) {
    Handover io(file, way);
    io(numbers, big, fd, none);
    return io.whole();
  }
};

bool closes_on_exec(int fd) {
  return (fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0;
}

class HandoverTest : public testing::Test {
 protected:
  // Result of whole(), and its reason on standard error.
  bool refused(std::string& why) const {
    testing::internal::CaptureStderr();
    State read;
    const bool whole = read.pass(file_.get(), Way::kRead);
    why = testing::internal::GetCapturedStderr();
    (void)read.fd.release();  // owned by the writer
    return !whole;
  }

  UniqueFd file_{memfd_create("test", MFD_CLOEXEC)};
  State written_{{1, 2, 3}, 1ULL << 60U, UniqueFd(open("/dev/null", O_RDONLY | O_CLOEXEC)), {}};
};

TEST_F(HandoverTest, StateIsReadAsWritten) {
  ASSERT_TRUE(written_.pass(file_.get(), Way::kWrite));
  EXPECT_FALSE(closes_on_exec(written_.fd.get())) << "it is to survive exec";
  State read;
  ASSERT_TRUE(read.pass(file_.get(), Way::kRead));
  EXPECT_EQ(read.numbers, written_.numbers);
  EXPECT_EQ(read.big, written_.big);
  EXPECT_EQ(read.fd.get(), written_.fd.release());
  EXPECT_TRUE(closes_on_exec(read.fd.get()));
  EXPECT_FALSE(read.none.valid());
}

TEST_F(HandoverTest, WrittenTwiceTheLastOneCounts) {
  ASSERT_TRUE(written_.pass(file_.get(), Way::kWrite));
  written_.big = 7;
  ASSERT_TRUE(written_.pass(file_.get(), Way::kWrite));
  State read;
  ASSERT_TRUE(read.pass(file_.get(), Way::kRead));
  EXPECT_EQ(read.big, 7U);
  (void)read.fd.release();
}

TEST_F(HandoverTest, AnotherSlotVersionIsRefusedByName) {
  ASSERT_TRUE(written_.pass(file_.get(), Way::kWrite));
  std::array<char, 64> head{};
  ASSERT_EQ(pread(file_.get(), head.data(), head.size(), 0), 64);
  std::string other(head.data());
  const std::size_t at = other.find("slots ") + 6;
  ASSERT_LT(at, other.size()) << other;
  other[at] = '0';
  ASSERT_EQ(pwrite(file_.get(), other.data(), other.size(), 0), static_cast<ssize_t>(other.size()));
  std::string why;
  EXPECT_TRUE(refused(why));
  EXPECT_NE(why.find("upgrade.refused"), std::string::npos) << why;
  EXPECT_NE(why.find(other), std::string::npos) << why;
}

TEST_F(HandoverTest, APreReleaseIsRefusedByName) {
  ASSERT_TRUE(written_.pass(file_.get(), Way::kWrite));
  std::array<char, 64> head{"state 1, 512 slots 6 of 53248 bytes"};
  ASSERT_EQ(pwrite(file_.get(), head.data(), head.size(), 0), 64);
  std::string why;
  EXPECT_TRUE(refused(why));
  EXPECT_NE(why.find("upgrade.refused"), std::string::npos) << why;
  EXPECT_NE(why.find(head.data()), std::string::npos) << why;
}

TEST_F(HandoverTest, LessOrMoreThanItKnowsIsRefused) {
  ASSERT_TRUE(written_.pass(file_.get(), Way::kWrite));
  const off_t size = lseek(file_.get(), 0, SEEK_END);
  std::string why;
  ASSERT_EQ(ftruncate(file_.get(), size - 1), 0);
  EXPECT_TRUE(refused(why));
  ASSERT_TRUE(written_.pass(file_.get(), Way::kWrite));
  ASSERT_EQ(ftruncate(file_.get(), size + 1), 0);
  EXPECT_TRUE(refused(why));
  EXPECT_NE(why.find("upgrade.refused"), std::string::npos) << why;
}

TEST_F(HandoverTest, InvalidStateIsRefused) {
  std::string why;
  EXPECT_TRUE(refused(why)) << "an empty file";
  EXPECT_FALSE(State().pass(-1, Way::kRead));
  EXPECT_FALSE(State().pass(-1, Way::kWrite));
}

}  // namespace
}  // namespace allot::supervisor
