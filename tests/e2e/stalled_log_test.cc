// SPDX-License-Identifier: Apache-2.0
// The daemon's standard error is not read.
// Rule: S71.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <memory>
#include <regex>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "e2e/daemon.h"

namespace allot::e2e::stalled_log_test {
namespace {

using support::eventually;
using support::ExitStatus;

// A daemon that logs into a pipe, which is full before it starts.
class StalledLog : public testing::Test {
 protected:
  StalledLog() : daemon_({.workers = 2, .start = false}) {
    daemon_.configure("file = \"" + daemon_.folder() + "/log\"", "file = \"\"");
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    read_end_.reset(ends[0]);
    write_end_.reset(ends[1]);
    if (::fcntl(write_end_.get(), F_SETPIPE_SZ, 1) < 0) throw std::runtime_error("no small pipe");
    fill();
    allotd_ = std::make_unique<support::Process>(
        std::vector<std::string>{program("allotd"), "--config", daemon_.config_file()},
        support::ProcessOptions{
            .descriptors = {{write_end_.get(), STDOUT_FILENO}, {write_end_.get(), STDERR_FILENO}}});
  }

  // Fills the pipe. The descriptor of the daemon keeps its flags, because this is another
  // description.
  void fill() const {
    const std::string path = "/proc/self/fd/" + std::to_string(write_end_.get());
    const UniqueFd own(::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
    while (::write(own.get(), "filler\n", 7) > 0) {
    }
  }

  // Reads the present contents.
  [[nodiscard]] const std::string& read() {
    std::array<char, 4096> part{};
    for (pollfd more{read_end_.get(), POLLIN, 0}; ::poll(&more, 1, 0) > 0;) {
      const ssize_t size = ::read(read_end_.get(), part.data(), part.size());
      if (size <= 0) break;
      seen_.append(part.data(), static_cast<std::size_t>(size));
    }
    return seen_;
  }

  // Reads until `program` reports how many lines were dropped.
  [[nodiscard]] bool tells(const std::string& program) {
    const std::regex line(" WARN  " + program + " log\\.dropped lines=[1-9]");
    return eventually([&] { return std::regex_search(read(), line); });
  }

  // The queue exists once the daemon has checked its database.
  [[nodiscard]] bool takes_a_task() const {
    return eventually([&] {
      return daemon_.allot({"submit", "default", "test.ok"}).status.code == 0;
    });
  }

  void work() {
    ASSERT_TRUE(takes_a_task());
    daemon_.submit_many("test.ok", numbered(300));
    EXPECT_TRUE(daemon_.drains());
  }

  [[nodiscard]] std::optional<ExitStatus> stop(int signal) {
    allotd_->signal(signal);
    return allotd_->wait(std::chrono::seconds(30));
  }

  Daemon daemon_;
  UniqueFd read_end_, write_end_;
  std::string seen_;
  std::unique_ptr<support::Process> allotd_;
};

TEST_F(StalledLog, HoldsUpNoTaskAndNoStop) {
  work();
  EXPECT_EQ(daemon_.count("task_dead"), 0U);
  EXPECT_EQ(stop(SIGTERM), (ExitStatus{0, 0}));
}

TEST_F(StalledLog, HoldsUpNoStopAtOnce) {
  ASSERT_TRUE(takes_a_task());
  EXPECT_TRUE(daemon_.drains());
  EXPECT_TRUE(stop(SIGQUIT));
}

TEST_F(StalledLog, TheLinesThatWereDroppedAreCounted) {
  work();
  EXPECT_TRUE(tells("supervisor")) << read();
  EXPECT_TRUE(tells("worker")) << read();
  fill();
  work();
  EXPECT_EQ(stop(SIGTERM), (ExitStatus{0, 0}));
}

}  // namespace
}  // namespace allot::e2e::stalled_log_test
