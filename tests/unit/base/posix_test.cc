// SPDX-License-Identifier: Apache-2.0
// Rule: S71.
#include "base/posix.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "support/eventually.h"
#include "support/temp_dir.h"

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

// Both ends of a channel whose reader does not read.
struct Ends {
  UniqueFd read, write;
};

Ends pipe_ends() {
  std::array<int, 2> ends{};
  EXPECT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

Ends socket_ends() {
  std::array<int, 2> ends{};
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

Ends terminal_ends() {
  UniqueFd master(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  EXPECT_TRUE(grantpt(master.get()) == 0 && unlockpt(master.get()) == 0);
  UniqueFd slave(ioctl(master.get(), TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC));
  return {std::move(master), std::move(slave)};
}

constexpr std::string_view kLine = "a line of the log\n";

// Writes until the pipe is full, which must not block; returns the number of bytes.
std::size_t fill(int fd) {
  std::size_t size = 0;
  for (ssize_t n = 0; (n = write_now(fd, kLine.data(), kLine.size())) > 0;) {
    size += static_cast<std::size_t>(n);
  }
  EXPECT_EQ(errno, EAGAIN);
  return size;
}

class WriteNow : public testing::TestWithParam<Ends (*)()> {};

TEST_P(WriteNow, DoesNotWaitForAReader) {
  const Ends ends = GetParam()();
  const int flags = fcntl(ends.write.get(), F_GETFL);
  EXPECT_GT(fill(ends.write.get()), 0U);
  EXPECT_EQ(fcntl(ends.write.get(), F_GETFL), flags) << "they belong to all who share it";
  std::array<char, 4096> part{};
  EXPECT_TRUE(support::eventually([&] {
    pollfd there{ends.read.get(), POLLIN, 0};
    if (poll(&there, 1, 0) > 0) (void)!read(ends.read.get(), part.data(), part.size());
    return write_now(ends.write.get(), kLine.data(), kLine.size()) > 0;
  })) << "it continues once the reader does";
}

INSTANTIATE_TEST_SUITE_P(Of, WriteNow, testing::Values(&pipe_ends, &socket_ends, &terminal_ends));

// Like standard error after a change of the user: it cannot be opened again.
TEST(WriteNowWithoutARight, DoesNotWaitForAReader) {
  const Ends ends = pipe_ends();
  ASSERT_EQ(fchmod(ends.write.get(), 0), 0);
  const bool root = geteuid() == 0;
  if (root) {
    ASSERT_EQ(seteuid(65534), 0);
  }
  const std::string path = "/proc/self/fd/" + std::to_string(ends.write.get());
  EXPECT_EQ(open(path.c_str(), O_WRONLY | O_CLOEXEC), -1);
  EXPECT_GT(fill(ends.write.get()), 0U);
  if (root) {
    ASSERT_EQ(seteuid(0), 0);
  }
}

TEST(WriteNowToAFile, ContinuesAtTheEndOfTheFile) {
  const support::TempDir folder;
  const UniqueFd file(open((folder / "log").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  ASSERT_TRUE(write_all(file.get(), "one\n", 4));
  EXPECT_EQ(write_now(file.get(), "two\n", 4), 4);
  ASSERT_TRUE(write_all(file.get(), "three\n", 6));
  EXPECT_EQ(support::read_file(folder / "log"), "one\ntwo\nthree\n");
}

}  // namespace
}  // namespace allot
