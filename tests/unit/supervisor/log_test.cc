// SPDX-License-Identifier: Apache-2.0
#include "supervisor/log.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

namespace allot::supervisor {
namespace {

TEST(QuotedLine, LeavesPlainWordsAlone) {
  EXPECT_STREQ(Quoted("/run/allot/default").c_str(), "/run/allot/default");
}

TEST(QuotedLine, QuotesWhatWouldBreakALine) {
  EXPECT_STREQ(Quoted("").c_str(), "\"\"");
  EXPECT_STREQ(Quoted("a b").c_str(), "\"a b\"");
  EXPECT_STREQ(Quoted("k=v").c_str(), "\"k=v\"");
  EXPECT_STREQ(Quoted("say \"hi\" \\").c_str(), R"("say \"hi\" \\")");
  EXPECT_STREQ(Quoted("two\nlines").c_str(), R"("two\u000alines")");
}

TEST(QuotedLine, CutsWhatIsTooLong) {
  const std::string text(5000, '\n');
  EXPECT_LT(std::string(Quoted(text.c_str()).c_str()).size(), 512U);
}

TEST(LogEvent, IsOneLineInTheShapeOfAllPrograms) {
  testing::internal::CaptureStderr();
  log_event(Level::kWarn, "worker.died", "slot=%d reason=%s", 3, Quoted("a b").c_str());
  const std::string line = testing::internal::GetCapturedStderr();
  EXPECT_NE(line.find("Z WARN  supervisor worker.died slot=3 reason=\"a b\"\n"), std::string::npos)
      << line;
  EXPECT_EQ(line.find('T'), 10U);
}

TEST(LogEvent, AnOverlongLineIsCutAndStillEnds) {
  testing::internal::CaptureStderr();
  log_event(Level::kInfo, "x", "%s", std::string(10'000, 'y').c_str());
  const std::string line = testing::internal::GetCapturedStderr();
  EXPECT_LE(line.size(), 2048U);
  EXPECT_EQ(line.back(), '\n');
}

class Formats : public testing::Test {
 protected:
  Formats() { testing::internal::CaptureStderr(); }
  Formats(const Formats&) = delete;
  Formats& operator=(const Formats&) = delete;
  ~Formats() override { set_log_format(LogFormat::kText); }
  static std::string written() { return testing::internal::GetCapturedStderr(); }
  // The line from the end of the time on.
  static std::string after_time(const std::string& line) {
    return line.substr(line.find("Z\"") + 2);
  }
};

TEST_F(Formats, ForTheJournal) {
  set_log_format(LogFormat::kJournald);
  log_event(Level::kInfo, "a", "%s", "");
  log_event(Level::kWarn, "b", "slot=%d", 3);
  log_event(Level::kError, "c", "reason=%s", Quoted("x y").c_str());
  EXPECT_EQ(written(), "<6>supervisor a\n<4>supervisor b slot=3\n<3>supervisor c reason=\"x y\"\n");
}

TEST_F(Formats, AsJson) {
  set_log_format(LogFormat::kJson);
  log_event(Level::kWarn, "worker.died", "slot=%d pool=%s path=%s none=%s code=0x%x empty=", 3,
            Quoted("a").c_str(), Quoted("q\"b\\s\n e=1").c_str(), Quoted("").c_str(), 255U);
  const std::string line = written();
  EXPECT_EQ(line.rfind("{\"time\":\"20", 0), 0U) << line;
  EXPECT_EQ(after_time(line),
            R"(,"level":"warn","program":"supervisor","event":"worker.died","slot":3,"pool":"a",)"
            R"("path":"q\"b\\s\u000a e=1","none":"","code":"0xff","empty":""})"
            "\n");
}

TEST_F(Formats, AsJsonWithoutFields) {
  set_log_format(LogFormat::kJson);
  log_event(Level::kInfo, "x", "%s", "");
  EXPECT_EQ(after_time(written()),
            ",\"level\":\"info\",\"program\":\"supervisor\",\"event\":\"x\"}\n");
}

// Cut in the middle of an escape, of a quoted value, of a name: it is still JSON.
TEST_F(Formats, AsJsonWhatIsTooLongIsStillWhole) {
  set_log_format(LogFormat::kJson);
  const std::string odd(std::size_t{400}, '\n');
  const std::string quoted = Quoted(odd.c_str()).c_str();
  for (std::size_t fill = 0; fill < 20; ++fill) {
    log_event(Level::kInfo, "x", "a=%s b=%s c=%s d=%s", std::string(fill, 'y').c_str(),
              quoted.c_str(), quoted.c_str(), quoted.c_str());
  }
  std::istringstream lines(written());
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    EXPECT_TRUE(nlohmann::json::accept(line)) << line;
  }
  EXPECT_EQ(count, 20);
}

}  // namespace
}  // namespace allot::supervisor
