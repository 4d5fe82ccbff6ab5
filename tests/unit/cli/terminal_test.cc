// SPDX-License-Identifier: Apache-2.0
#include "cli/words/terminal.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "base/exit_codes.h"
#include "cli/words/text.h"
#include "support/terminal.h"

namespace allot::cli {
namespace {

constexpr char kRedHead[] = "\x1b[1;31mallot:\x1b[0m ";

std::string error_on_terminal(std::vector<std::string> environment) {
  support::Terminal terminal;
  support::ProcessOptions options;
  options.environment = std::move(environment);
  const auto done = terminal.run({ALLOT_PROGRAM, "stauts"}, options, {STDERR_FILENO});
  EXPECT_EQ(done.status.code, kExitUsage);
  return terminal.written();
}

TEST(ColourTest, OnlyOnAColourTerminalUnlessRefused) {
  EXPECT_EQ(error_on_terminal({"NO_COLOR="}).rfind(kRedHead, 0), 0U);
  EXPECT_EQ(error_on_terminal({"NO_COLOR=1"}).rfind("allot: ", 0), 0U);
  EXPECT_EQ(error_on_terminal({"NO_COLOR=", "TERM=dumb"}).rfind("allot: ", 0), 0U);
  const auto piped = support::run_program({ALLOT_PROGRAM, "stauts"}, {{"TERM=xterm"}});
  EXPECT_EQ(piped.err.rfind("allot: ", 0), 0U);
}

TEST(ColourTest, HeadsAreBoldAndWhatIsAlarmingIsRed) {
  const nlohmann::json items{{{"a", "x"}, {"b", 0}}, {{"a", "y"}, {"b", 10}}};
  const std::vector<Column> columns{
      {"A", "a"}, {"B", "b", [](const nlohmann::json& item) { return item.at("b") > 0; }}};
  EXPECT_EQ(table_of(items, columns), "A   B\nx   0\ny  10\n");
  EXPECT_EQ(table_of(items, columns, true), "\x1b[1mA   B\x1b[0m\nx   0\ny  \x1b[1;31m10\x1b[0m\n");
}

TEST(ProgressLineTest, SaysHowFarAndHowFast) {
  EXPECT_EQ(progress_line(0, 1000, 0, 0, 50), "[>                          ]    0 %  0 tasks  0/s");
  EXPECT_EQ(progress_line(500, 1000, 70, 2 * kSecond, 50),
            "[============>            ]   50 %  70 tasks  35/s");
  EXPECT_EQ(progress_line(1000, 1000, 100, kSecond, 50),
            "[=======================]  100 %  100 tasks  100/s");
  // A file that grew.
  EXPECT_EQ(progress_line(2000, 1000, 100, kSecond, 50),
            "[=======================]  100 %  100 tasks  100/s");
}

TEST(ProgressLineTest, WithoutATotalOnlyCounts) {
  EXPECT_EQ(progress_line(500, 0, 1234, kSecond, 79), "1234 tasks  1234/s");
}

TEST(ProgressLineTest, NeverWiderThanTheTerminal) {
  for (std::size_t columns = 0; columns < 120; ++columns) {
    const std::string line = progress_line(999, 1000, 123'456'789, kSecond, columns);
    EXPECT_LE(line.size(), columns) << line;
    EXPECT_LE(progress_line(1, 0, 123'456'789, kSecond, columns).size(), columns);
  }
}

}  // namespace
}  // namespace allot::cli
