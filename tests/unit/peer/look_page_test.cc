// SPDX-License-Identifier: Apache-2.0
// The page on which the steward publishes its observations for workers.
// Rule: S77.
#include "peer/look_page.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <optional>

#include "support/temp_dir.h"

namespace allot::peer {
namespace {

class LookPageTest : public testing::Test {
 protected:
  [[nodiscard]] std::string file() const { return look_page_in(folder_.path()); }
  static Look look() {
    Look look;
    look.source = {1, 2, 3};
    look.looked_ns = boot_ns();
    look.every_ns = 5 * kSecond;
    look.count = 1;
    look.standing[0].epoch = 7;
    return look;
  }

  support::TempDir folder_;
};

TEST_F(LookPageTest, AReaderGetsTheLastLook) {
  LookWriter writer(file());
  LookReader reader(file());
  EXPECT_FALSE(reader.read().has_value()) << "there is none yet";
  ASSERT_TRUE(writer.publish(look()));
  const auto read = reader.read();
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->source, (LookSource{1, 2, 3}));
  EXPECT_EQ(read->count, 1U);
  EXPECT_EQ(read->standing[0].epoch, 7U);
  writer.withdraw();
  EXPECT_FALSE(reader.read().has_value());
}

TEST_F(LookPageTest, WithoutAStewardThereIsNoLook) {
  LookReader reader(file());
  EXPECT_FALSE(reader.read().has_value());
}

TEST_F(LookPageTest, ALookThatIsOlderThanTwoIsNotUsed) {
  LookWriter writer(file());
  LookReader reader(file());
  Look old = look();
  old.looked_ns -= 2 * old.every_ns + kMilli;
  ASSERT_TRUE(writer.publish(old));
  EXPECT_FALSE(reader.read().has_value());
  old.looked_ns = boot_ns() + kSecond;
  ASSERT_TRUE(writer.publish(old));
  EXPECT_FALSE(reader.read().has_value()) << "of another boot";
}

// A stopping steward still works while the next one begins.
TEST_F(LookPageTest, OneStewardWrites) {
  std::optional<LookWriter> former(std::in_place, file());
  LookWriter writer(file());
  EXPECT_FALSE(writer.publish(look()));
  former.reset();
  EXPECT_TRUE(writer.publish(look()));
}

TEST_F(LookPageTest, AWordThatAnotherWroteMakesThePageUseless) {
  LookWriter writer(file());
  LookReader reader(file());
  ASSERT_TRUE(writer.publish(look()));
  ASSERT_TRUE(reader.read().has_value());
  const UniqueFd fd(::open(file().c_str(), O_RDWR | O_CLOEXEC));
  const char byte = 'x';
  ASSERT_EQ(::pwrite(fd.get(), &byte, 1, offsetof(LookWords, words) + 100), 1);
  EXPECT_FALSE(reader.read().has_value());
}

// Like after a steward that was killed while it wrote.
TEST_F(LookPageTest, AHalfWrittenPageIsNotReadAndMendedByTheNextLook) {
  LookWriter writer(file());
  LookReader reader(file());
  ASSERT_TRUE(writer.publish(look()));
  const UniqueFd fd(::open(file().c_str(), O_RDWR | O_CLOEXEC));
  const std::uint64_t odd = 4711;
  ASSERT_EQ(::pwrite(fd.get(), &odd, sizeof odd, offsetof(LookWords, version)), 8);
  EXPECT_FALSE(reader.read().has_value());
  ASSERT_TRUE(writer.publish(look()));
  EXPECT_TRUE(reader.read().has_value());
}

TEST_F(LookPageTest, OthersMayNotReadIt) {
  const LookWriter writer(file());
  struct stat status {};
  ASSERT_EQ(::stat(file().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0007U, 0U);
}

}  // namespace
}  // namespace allot::peer
