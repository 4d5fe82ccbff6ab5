// SPDX-License-Identifier: Apache-2.0
#include "cli/sources/input.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>

#include "base/error.h"
#include "base/unique_fd.h"
#include "support/temp_dir.h"

namespace allot::cli {
namespace {

constexpr std::size_t kMost = 1'000'000;

class InputTest : public testing::Test {
 protected:
  std::vector<std::string> lines(const std::string& content, std::size_t most = kMost) {
    Input input(folder_.write("in", content));
    std::vector<std::string> all;
    for (std::string line; input.next_line(line, most);) all.push_back(line);
    return all;
  }

  support::TempDir folder_;
};

ExitCode code_of(const std::function<void()>& call) {
  try {
    call();
    return kExitOk;
  } catch (const Error& error) {
    return error.exit_code();
  }
}

using Lines = std::vector<std::string>;

TEST_F(InputTest, Lines) {
  EXPECT_EQ(lines(""), Lines{});
  EXPECT_EQ(lines("\n"), Lines{""});
  EXPECT_EQ(lines("a\nb\n"), (Lines{"a", "b"}));
  EXPECT_EQ(lines("a\n\nb"), (Lines{"a", "", "b"}));
  EXPECT_EQ(lines(std::string("a\0b\r\n", 5)), Lines{std::string("a\0b\r", 4)});
}

// The input is longer than one read, with line ends at and around the border.
TEST_F(InputTest, LinesAcrossReads) {
  for (const std::size_t size : {262'143U, 262'144U, 262'145U, 600'000U}) {
    const std::string big(size, 'x');
    EXPECT_TRUE(lines(big + "\nrest\n" + big) == (Lines{big, "rest", big})) << size;
    EXPECT_TRUE(lines("first\n" + big + "\n") == (Lines{"first", big})) << size;
  }
  Lines many;
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += many.emplace_back("line " + std::to_string(i)) + "\n";
  EXPECT_TRUE(lines(text) == many);
}

TEST_F(InputTest, ALineHasABound) {
  EXPECT_EQ(lines("12345\n12345", 5), (Lines{"12345", "12345"}));
  EXPECT_EQ(code_of([&] { lines("1\n123456\n", 5); }), kExitBadInput);
  EXPECT_EQ(code_of([&] { lines("1\n123456", 5); }), kExitBadInput);
  EXPECT_EQ(code_of([&] { lines(std::string(900'000, 'x'), 300'000); }), kExitBadInput);
}

TEST_F(InputTest, AllOfItOrOneByteMoreThanAllowed) {
  const std::string big(700'000, 'y');
  const std::string path = folder_.write("in", big);
  EXPECT_TRUE(Input(path).read_all(kMost) == big);
  EXPECT_TRUE(Input(path).read_all(big.size()) == big);
  EXPECT_EQ(Input(path).read_all(big.size() - 1).size(), big.size());
  EXPECT_EQ(Input(path).read_all(10).size(), 11U);
}

// If a failure looked like the end, half of a file would be submitted as if it were complete.
TEST_F(InputTest, AFailureIsNotAnEnd) {
  EXPECT_EQ(code_of([&] { Input{folder_ / "missing"}; }), kExitNoInput);
  Input folder(folder_.path());
  std::string line;
  EXPECT_EQ(code_of([&] { folder.next_line(line, kMost); }), kExitNoInput);
  EXPECT_EQ(code_of([&] { (void)Input(folder_.path()).read_all(kMost); }), kExitNoInput);
}

// In a child process, because an interrupt is recorded permanently.
class InterruptTest : public testing::Test {
 protected:
  void SetUp() override {
    std::array<int, 2> ends{};
    ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
    read_end_.reset(ends[0]);
    write_end_.reset(ends[1]);
  }

  // Exits with 0 if `wait` returns, and an interrupt was recorded during it. The signal is held
  // back until the wait, as if it came after the last check of interrupted(). SIGALRM ends a wait
  // that does not notice it.
  template <typename Wait>
  [[noreturn]] static void interrupt_just_before(int signal, Wait wait) {
    note_interrupts();
    sigset_t held;
    sigemptyset(&held);
    sigaddset(&held, signal);
    pthread_sigmask(SIG_BLOCK, &held, nullptr);
    raise(signal);
    alarm(60);
    const bool early = interrupted();
    wait();
    std::_Exit(!early && interrupted() ? 0 : 1);
  }

  UniqueFd read_end_;
  UniqueFd write_end_;
};

TEST_F(InterruptTest, ASignalJustBeforeAWaitEndsIt) {
  for (const int signal : {SIGINT, SIGTERM}) {
    EXPECT_EXIT(interrupt_just_before(signal,
                                      [&] {
                                        if (wait_readable(read_end_.get())) std::_Exit(2);
                                      }),
                testing::ExitedWithCode(0), "");
  }
}

TEST_F(InterruptTest, ASignalJustBeforeAReadEndsIt) {
  EXPECT_EXIT(interrupt_just_before(SIGTERM,
                                    [&] {
                                      Input input("/dev/fd/" + std::to_string(read_end_.get()));
                                      std::string line;
                                      if (input.next_line(line, kMost)) std::_Exit(2);
                                    }),
              testing::ExitedWithCode(0), "");
}

TEST_F(InterruptTest, AWaitEndsWithInputAndInTime) {
  EXPECT_FALSE(wait_readable(read_end_.get(), std::chrono::milliseconds(1)));
  EXPECT_FALSE(wait_readable(-1, std::chrono::milliseconds(1)));
  ASSERT_EQ(write(write_end_.get(), "x", 1), 1);
  EXPECT_TRUE(wait_readable(read_end_.get()));
  EXPECT_TRUE(wait_readable(read_end_.get(), std::chrono::milliseconds(0)));
}

}  // namespace
}  // namespace allot::cli
