// SPDX-License-Identifier: Apache-2.0
// allot top with a working daemon, on a terminal and into a pipe.
#include <gtest/gtest.h>

#include <regex>

#include "e2e/daemon.h"
#include "support/terminal.h"

namespace allot::e2e::top_test {
namespace {

using nlohmann::json;
using support::eventually;
using Words = std::vector<std::string>;

class Top : public testing::Test {
 protected:
  [[nodiscard]] json top() const {
    return json::parse(daemon_.must({"top", "--json", "--interval", "300ms"}));
  }

  Daemon daemon_{{.workers = 2}};
};

TEST_F(Top, CountsWhatHappensInASecond) {
  ASSERT_TRUE(eventually([&] { return daemon_.workers().size() == 2; })) << daemon_.log();
  const json idle = top();
  EXPECT_EQ(idle["per_second"], json::parse(R"({"done": 0.0, "retried": 0.0, "dead": 0.0})"));
  EXPECT_EQ(idle["running"], 0);
  daemon_.submit_many("test.sleep", Words(2'000, "10"));
  ASSERT_TRUE(eventually([&] { return top()["per_second"]["done"] > 20; })) << daemon_.log();
  const json busy = top();
  double sum = 0;
  for (const json& worker : busy["workers"]) sum += worker["per_second"]["done"].get<double>();
  EXPECT_NEAR(sum, busy["per_second"]["done"].get<double>(), 0.001);
  EXPECT_LT(sum, 201) << "two workers, 10 ms for each task";
  EXPECT_TRUE(eventually([&] { return top()["running"] == 2; }));
}

TEST_F(Top, IntoAPipeItPrintsOnce) {
  wait_ready(daemon_, 2);
  (void)daemon_.submit("test.sleep", "20000");
  ASSERT_TRUE(eventually([&] { return daemon_.busy_workers().size() == 1; })) << daemon_.log();
  const auto once = daemon_.allot({"top", "--interval", "100ms"});
  EXPECT_EQ(once.status.code, 0) << once.err;
  EXPECT_NE(once.out.find("2 workers, 1 task running\n0 done/s"), std::string::npos) << once.out;
  EXPECT_NE(once.out.find(" test.sleep for "), std::string::npos) << once.out;
  EXPECT_EQ(once.out.find('\x1b'), std::string::npos) << once.out;
}

TEST_F(Top, OnATerminalItRefreshesUntilQ) {
  (void)daemon_.submit("test.sleep", "20000");
  ASSERT_TRUE(eventually([&] { return daemon_.busy_workers().size() == 1; })) << daemon_.log();
  support::Terminal terminal;
  terminal.type("xq");  // each ends one interval
  const auto done =
      terminal.run({program("allot"), "--config", daemon_.config_file(), "top"}, {}, {0, 1, 2});
  EXPECT_EQ(done.status, (support::ExitStatus{0, 0})) << terminal.written();
  const std::string& all = terminal.written();
  EXPECT_EQ(all.rfind("\x1b[?1049h", 0), 0U) << all;
  EXPECT_EQ(all.substr(all.size() - 8), "\x1b[?1049l") << "the screen as it was before";
  std::size_t frames = 0;
  for (std::size_t at = 0; (at = all.find("\x1b[H", at)) != std::string::npos; ++at) ++frames;
  EXPECT_EQ(frames, 2U) << all;
  EXPECT_NE(all.find(" test."), std::string::npos) << all;
  std::istringstream lines(std::regex_replace(all, std::regex("\x1b\\[H"), "\n"));
  for (std::string line; std::getline(lines, line);) {
    line = std::regex_replace(line, std::regex("\x1b\\[[0-9?]*[A-Za-z]|\r"), "");
    EXPECT_LE(line.size(), 80U) << line;
  }
}

TEST_F(Top, AnInterruptLeavesTheScreenInOrder) {
  support::Terminal terminal;
  // A program that is interrupted before it has the screen has nothing to restore.
  for (const char* after : {"1", "4", "15"}) {
    (void)terminal.run(
        {"timeout", "-s", "INT", after, program("allot"), "--config", daemon_.config_file(), "top"},
        {}, {1, 2});
    if (!terminal.written().empty()) break;
  }
  const std::string& all = terminal.written();
  ASSERT_GT(all.size(), 8U);
  EXPECT_EQ(all.substr(all.size() - 8), "\x1b[?1049l") << all;
}

TEST_F(Top, WithoutADaemonItSaysSo) {
  ASSERT_TRUE(daemon_.stop());
  const auto once = daemon_.allot({"top", "--once", "--interval", "10ms"});
  EXPECT_EQ(once.status.code, 1);
  EXPECT_NE(once.out.find("no allotd is running"), std::string::npos) << once.out;
  EXPECT_EQ(daemon_.allot({"top", "--interval", "soon"}).status.code, 65);
}

}  // namespace
}  // namespace allot::e2e::top_test
