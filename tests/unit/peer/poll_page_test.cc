// SPDX-License-Identifier: Apache-2.0
// The page on which the steward publishes its observations for workers.
// Rule: S77.
#include "peer/poll_page.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <optional>

#include "support/temp_dir.h"

namespace allot::peer {
namespace {

class PollPageTest : public testing::Test {
 protected:
  [[nodiscard]] std::string file() const { return poll_page_in(folder_.path()); }
  static Poll poll() {
    Poll poll;
    poll.source = {1, 2, 3};
    poll.polled_ns = boot_ns();
    poll.every_ns = 5 * kSecond;
    poll.count = 1;
    poll.standing[0].epoch = 7;
    return poll;
  }

  support::TempDir folder_;
};

TEST_F(PollPageTest, AReaderGetsTheLastLook) {
  PollWriter writer(file());
  PollReader reader(file());
  EXPECT_FALSE(reader.read().has_value()) << "there is none yet";
  ASSERT_TRUE(writer.publish(poll()));
  const auto read = reader.read();
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->source, (PollSource{1, 2, 3}));
  EXPECT_EQ(read->count, 1U);
  EXPECT_EQ(read->standing[0].epoch, 7U);
  writer.withdraw();
  EXPECT_FALSE(reader.read().has_value());
}

TEST_F(PollPageTest, WithoutAStewardNothingIsPolled) {
  PollReader reader(file());
  EXPECT_FALSE(reader.read().has_value());
}

TEST_F(PollPageTest, ALookThatIsOlderThanTwoIsNotUsed) {
  PollWriter writer(file());
  PollReader reader(file());
  Poll old = poll();
  old.polled_ns -= 2 * old.every_ns + kMilli;
  ASSERT_TRUE(writer.publish(old));
  EXPECT_FALSE(reader.read().has_value());
  old.polled_ns = boot_ns() + kSecond;
  ASSERT_TRUE(writer.publish(old));
  EXPECT_FALSE(reader.read().has_value()) << "of another boot";
}

// A stopping steward still works while the next one begins.
TEST_F(PollPageTest, OneStewardWrites) {
  std::optional<PollWriter> former(std::in_place, file());
  PollWriter writer(file());
  EXPECT_FALSE(writer.publish(poll()));
  former.reset();
  EXPECT_TRUE(writer.publish(poll()));
}

TEST_F(PollPageTest, AWordThatAnotherWroteMakesThePageUseless) {
  PollWriter writer(file());
  PollReader reader(file());
  ASSERT_TRUE(writer.publish(poll()));
  ASSERT_TRUE(reader.read().has_value());
  const UniqueFd fd(::open(file().c_str(), O_RDWR | O_CLOEXEC));
  const char byte = 'x';
  ASSERT_EQ(::pwrite(fd.get(), &byte, 1, offsetof(PollWords, words) + 100), 1);
  EXPECT_FALSE(reader.read().has_value());
}

// Like after a steward that was killed while it wrote.
TEST_F(PollPageTest, AHalfWrittenPageIsNotReadAndMendedByTheNextLook) {
  PollWriter writer(file());
  PollReader reader(file());
  ASSERT_TRUE(writer.publish(poll()));
  const UniqueFd fd(::open(file().c_str(), O_RDWR | O_CLOEXEC));
  const std::uint64_t odd = 4711;
  ASSERT_EQ(::pwrite(fd.get(), &odd, sizeof odd, offsetof(PollWords, version)), 8);
  EXPECT_FALSE(reader.read().has_value());
  ASSERT_TRUE(writer.publish(poll()));
  EXPECT_TRUE(reader.read().has_value());
}

TEST_F(PollPageTest, OthersMayNotReadIt) {
  const PollWriter writer(file());
  struct stat status {};
  ASSERT_EQ(::stat(file().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0007U, 0U);
}

}  // namespace
}  // namespace allot::peer
