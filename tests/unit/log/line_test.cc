// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/error.h"
#include "log/log.h"
#include "unit/log/fixture.h"

namespace allot::log {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

TEST_F(Line, HasTimeLevelProgramEventAndFields) {
  setup("worker", Level::kDebug, path());
  info("task.done", {{"task", "abc-1"}, {"type", "mail send"}, {"runtime_ms", 12}, {"ok", true}});
  warn("db.gone");
  error("task.dead", {{"error", "line one\nline two"}});
  debug("lease.kept");
  const std::vector<std::string> found = lines();
  ASSERT_EQ(found.size(), 4U);
  const std::regex time(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z )");
  for (const std::string& line : found) {
    ASSERT_TRUE(std::regex_search(line, time, std::regex_constants::match_continuous)) << line;
  }
  EXPECT_EQ(found[0].substr(25),
            "INFO  worker task.done task=abc-1 type=\"mail send\" runtime_ms=12 ok=true");
  EXPECT_EQ(found[1].substr(25), "WARN  worker db.gone");
  EXPECT_EQ(found[2].substr(25), "ERROR worker task.dead error=\"line one\\nline two\"");
  EXPECT_EQ(found[3].substr(25), "DEBUG worker lease.kept");
}

TEST_F(Line, AsJsonHasTheSameFields) {
  setup("worker", Level::kDebug, path(), LogFormat::kJson);
  info("task.done", {{"task", "12"},
                     {"type", "mail send"},
                     {"runtime_ms", 12},
                     {"ok", true},
                     {"ratio", 0.5},
                     {"none", std::numeric_limits<double>::quiet_NaN()}});
  error("task.dead", {{"error", "say \"hi\" \\ to\nthe \x1b[1m p\xc3\xa4ss \xff%v{}"}});
  const std::vector<std::string> found = lines();
  ASSERT_EQ(found.size(), 2U);
  const json done = json::parse(found[0]);
  const std::regex time(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)");
  EXPECT_TRUE(std::regex_match(done.at("time").get<std::string>(), time)) << found[0];
  EXPECT_EQ(found[0].substr(found[0].find(",\"level\"")),
            R"(,"level":"info","program":"worker","event":"task.done","task":"12",)"
            R"("type":"mail send","runtime_ms":12,"ok":true,"ratio":0.5,"none":null})");
  EXPECT_EQ(json::parse(found[1]).at("error"),
            "say \"hi\" \\ to\nthe \x1b[1m p\xc3\xa4ss \xef\xbf\xbd%v{}");
}

TEST_F(Line, EveryByteIsJson) {
  setup("worker", Level::kInfo, path(), LogFormat::kJson);
  std::string all;
  for (int i = 1; i < 256; ++i) all += static_cast<char>(i);
  info("odd", {{"text", all}});
  ASSERT_EQ(lines().size(), 1U);
  const auto text = json::parse(lines()[0]).at("text").get<std::string>();
  EXPECT_EQ(text.substr(0, 127), all.substr(0, 127));
}

TEST_F(Line, ForTheJournalHasAPriorityAndNoTime) {
  setup("worker", Level::kDebug, path(), LogFormat::kJournald);
  debug("a");
  info("b", {{"k", "v w"}});
  warn("c");
  error("d");
  EXPECT_EQ(lines(), (std::vector<std::string>{"<7>worker a", "<6>worker b k=\"v w\"",
                                               "<4>worker c", "<3>worker d"}));
}

// "auto" trusts $JOURNAL_STREAM only if it names the present standard error.
TEST_F(Line, FormatsAreReadFromWords) {
  EXPECT_EQ(parse_format("text"), LogFormat::kText);
  EXPECT_EQ(parse_format("json"), LogFormat::kJson);
  EXPECT_EQ(parse_format("journald"), LogFormat::kJournald);
  EXPECT_THROW(static_cast<void>(parse_format("xml")), Error);
  ::unsetenv("JOURNAL_STREAM");
  EXPECT_EQ(parse_format("auto"), LogFormat::kText);
  struct stat status = {};
  ASSERT_EQ(::fstat(STDERR_FILENO, &status), 0);
  const std::string device = std::to_string(status.st_dev) + ":";
  ::setenv("JOURNAL_STREAM", (device + std::to_string(status.st_ino)).c_str(), 1);
  EXPECT_EQ(parse_format("auto"), LogFormat::kJournald);
  EXPECT_EQ(parse_format("auto", path()), LogFormat::kText) << "lines go to a file";
  ::setenv("JOURNAL_STREAM", (device + std::to_string(status.st_ino + 1)).c_str(), 1);
  EXPECT_EQ(parse_format("auto"), LogFormat::kText);
  ::unsetenv("JOURNAL_STREAM");
}

TEST_F(Line, TimeIsUtcWhateverTheZone) {
  ::setenv("TZ", "Pacific/Kiritimati", 1);  // UTC+14
  ::tzset();
  setup("worker", Level::kInfo, path());
  const std::time_t before = std::time(nullptr);
  info("now");
  const std::time_t after = std::time(nullptr);
  ::unsetenv("TZ");
  ::tzset();
  ASSERT_EQ(lines().size(), 1U);
  std::tm parts = {};
  ASSERT_NE(::strptime(lines()[0].c_str(), "%Y-%m-%dT%H:%M:%S", &parts), nullptr);
  const std::time_t written = ::timegm(&parts);
  EXPECT_GE(written, before);
  EXPECT_LE(written, after);
}

TEST_F(Line, BelowTheLevelIsNotWritten) {
  setup("worker", Level::kWarn, path());
  EXPECT_FALSE(enabled(Level::kInfo));
  EXPECT_TRUE(enabled(Level::kWarn));
  info("hidden");
  warn("shown");
  error("shown");
  EXPECT_EQ(lines().size(), 2U);
}

TEST_F(Line, PercentAndBracesAreNotFormatted) {
  setup("worker", Level::kInfo, path());
  info("odd", {{"text", "%s{}%v{0}"}});
  ASSERT_EQ(lines().size(), 1U);
  EXPECT_EQ(lines()[0].substr(25), "INFO  worker odd text=%s{}%v{0}");
}

TEST_F(Line, ReopenFollowsALogThatWasMoved) {
  setup("worker", Level::kInfo, path());
  info("first");
  fs::rename(path(), path() + ".1");
  info("second");
  EXPECT_TRUE(reopen());
  info("third");
  EXPECT_EQ(lines(path() + ".1").size(), 2U);
  ASSERT_EQ(lines().size(), 1U);
  EXPECT_NE(lines()[0].find("third"), std::string::npos);
}

TEST_F(Line, ReopenThatFailsKeepsTheOldFile) {
  setup("worker", Level::kInfo, path());
  fs::rename(path(), path() + ".1");
  fs::create_directory(path());
  EXPECT_FALSE(reopen());
  info("kept");
  EXPECT_EQ(lines(path() + ".1").size(), 1U);
}

TEST_F(Line, FileThatCannotBeOpenedIsOneClearError) {
  const std::string missing = path() + "/none/allot.log";
  try {
    setup("worker", Level::kInfo, missing);
    FAIL() << "opened " << missing;
  } catch (const Error& failure) {
    EXPECT_EQ(failure.exit_code(), kExitCannotCreate);
    EXPECT_EQ(std::string(failure.what()),
              "cannot open the log file " + missing + ": No such file or directory");
  }
}

TEST_F(Line, LevelsAreReadFromWords) {
  EXPECT_EQ(parse_level("debug"), Level::kDebug);
  EXPECT_EQ(parse_level("error"), Level::kError);
  EXPECT_THROW(static_cast<void>(parse_level("INFO")), Error);
}

// More than stdio's buffer: it would be written in parts.
TEST_F(Line, ProcessesShareAFile) {
  constexpr std::size_t kSize = 9000;
  std::vector<pid_t> children;
  for (int writer = 0; writer < 4; ++writer) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      setup("worker", Level::kInfo, path());
      burst(writer, 200, kSize);
      ::_exit(0);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  const auto count = whole_lines(lines(), kSize);
  ASSERT_EQ(count.size(), 4U);
  for (const auto& [writer, lines] : count) EXPECT_EQ(lines, 200) << writer;
}

// Redirects standard error to a file.
TEST_F(Line, AFullDiskDoesNotHideTheLine) {
  if (::access("/dev/full", W_OK) != 0) GTEST_SKIP() << "no /dev/full";
  setup("worker", Level::kInfo, "/dev/full");
  const int kept = ::dup(STDERR_FILENO);
  const int file = ::open(path().c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  ASSERT_GE(::dup2(file, STDERR_FILENO), 0);
  info("important");
  ASSERT_GE(::dup2(kept, STDERR_FILENO), 0);
  ::close(file);
  ::close(kept);
  ASSERT_EQ(lines().size(), 1U);
  EXPECT_NE(lines()[0].find("important"), std::string::npos);
}

}  // namespace
}  // namespace allot::log
