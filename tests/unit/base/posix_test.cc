// SPDX-License-Identifier: Apache-2.0
#include "base/posix.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <thread>

namespace allot {
namespace {

TEST(UniqueFd, ClosesWhatItOwnsAndNothingElse) {
  int raw = -1;
  {
    UniqueFd fd(open("/dev/null", O_RDONLY | O_CLOEXEC));
    raw = fd.get();
    UniqueFd moved(std::move(fd));
    EXPECT_FALSE(fd.valid());  // NOLINT(bugprone-use-after-move,clang-analyzer-cplusplus.Move)
    EXPECT_EQ(moved.get(), raw);
  }
  EXPECT_EQ(fcntl(raw, F_GETFD), -1);
  UniqueFd released(open("/dev/null", O_RDONLY | O_CLOEXEC));
  raw = released.release();
  released.reset();
  EXPECT_NE(fcntl(raw, F_GETFD), -1);
  close(raw);
}

TEST(Posix, WritesAndReadsAllOfItThroughASmallPipe) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  const UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]);
  const std::string sent(1 << 20, 'x');
  std::thread writer([&] {
    EXPECT_TRUE(write_all(write_end.get(), sent.data(), sent.size()));
    write_end.reset();
  });
  std::string got(sent.size(), ' ');
  EXPECT_TRUE(read_exact(read_end.get(), got.data(), got.size()));
  EXPECT_EQ(got, sent);
  char more = 0;
  EXPECT_FALSE(read_exact(read_end.get(), &more, 1)) << "early end of file";
  writer.join();
}

}  // namespace
}  // namespace allot
