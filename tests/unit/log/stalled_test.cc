// SPDX-License-Identifier: Apache-2.0
// Log lines without a reader.
// Rule: S71.
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/unique_fd.h"
#include "unit/log/fixture.h"

namespace allot::log {
namespace {

using std::chrono::steady_clock;

// A pipe of one page in place of standard error.
class Stalled : public Line {
 protected:
  Stalled() : kept_(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 16)) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    read_end_.reset(ends[0]);
    const UniqueFd write_end(ends[1]);
    size_ = ::fcntl(write_end.get(), F_SETPIPE_SZ, 1);
    ::dup2(write_end.get(), STDERR_FILENO);
  }
  Stalled(const Stalled&) = delete;
  Stalled& operator=(const Stalled&) = delete;
  ~Stalled() override { ::dup2(kept_.get(), STDERR_FILENO); }

  std::vector<std::string> read() {
    std::string text;
    std::array<char, 4096> part{};
    for (pollfd more{read_end_.get(), POLLIN, 0}; ::poll(&more, 1, 0) > 0;) {
      text.append(part.data(), static_cast<std::size_t>(
                                   std::max<ssize_t>(0, ::read(more.fd, part.data(), 4096))));
    }
    std::istringstream lines(text);
    std::vector<std::string> all;
    for (std::string line; std::getline(lines, line);) all.push_back(line);
    return all;
  }

  // Logs this number of lines of about 100 bytes.
  static void say(int lines) {
    for (int i = 0; i < lines; ++i) info("said", {{"text", std::string(60, 'x')}});
  }

  UniqueFd kept_, read_end_;
  int size_ = 0;
};

TEST_F(Stalled, WaitsForAMomentOnceAndThenNotAtAll) {
  setup("worker", Level::kInfo);
  const auto began = steady_clock::now();
  say(2'000);
  EXPECT_LT(steady_clock::now() - began, std::chrono::seconds(100)) << "each waited";
}

TEST_F(Stalled, SaysFirstHowManyLinesWereDropped) {
  setup("worker", Level::kInfo);
  say(100);
  const std::size_t got = read().size();
  EXPECT_GT(got, 10U);
  info("behind");
  const std::vector<std::string> found = read();
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].substr(25), "WARN  worker log.dropped lines=" + std::to_string(100 - got));
  EXPECT_EQ(found[1].substr(25), "INFO  worker behind");
  info("further");
  EXPECT_EQ(read().size(), 1U) << "it is said once";
}

TEST_F(Stalled, SaysItWithoutAFurtherLine) {
  setup("worker", Level::kInfo, {}, LogFormat::kJson);
  say(100);
  tell_dropped();
  const std::size_t got = read().size();
  tell_dropped();
  const std::vector<std::string> found = read();
  ASSERT_EQ(found.size(), 1U);
  const auto line = nlohmann::json::parse(found[0]);
  EXPECT_EQ(line.at("event"), "log.dropped");
  EXPECT_EQ(line.at("level"), "warn");
  EXPECT_EQ(line.at("lines"), 100 - got);
  tell_dropped();
  EXPECT_TRUE(read().empty());
}

// More than a pipe accepts in one piece.
TEST_F(Stalled, ALineThatWasCutHasAnEnd) {
  setup("worker", Level::kInfo);
  info("long", {{"text", std::string(3 * static_cast<std::size_t>(size_), 'x')}});
  EXPECT_EQ(read().size(), 1U);
  info("behind");
  const std::vector<std::string> found = read();
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0], "") << "the end of the former";
  EXPECT_EQ(found[1].substr(25), "WARN  worker log.dropped lines=1");
  EXPECT_EQ(found[2].substr(25), "INFO  worker behind");
}

TEST_F(Stalled, AFifoWithoutAReaderIsAnErrorAtOnce) {
  ASSERT_EQ(::mkfifo(path().c_str(), 0600), 0);
  EXPECT_THROW(setup("worker", Level::kInfo, path()), Error);
  const UniqueFd reader(::open(path().c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  setup("worker", Level::kInfo, path());
  say(10'000);
}

}  // namespace
}  // namespace allot::log
