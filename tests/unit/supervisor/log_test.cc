// SPDX-License-Identifier: Apache-2.0
#include "supervisor/log.h"

#include <gtest/gtest.h>

#include <string>

namespace allot::supervisor {
namespace {

TEST(Quoted, LeavesPlainWordsAlone) {
  EXPECT_STREQ(Quoted("/run/allot/default").c_str(), "/run/allot/default");
}

TEST(Quoted, QuotesWhatWouldBreakALine) {
  EXPECT_STREQ(Quoted("").c_str(), "\"\"");
  EXPECT_STREQ(Quoted("a b").c_str(), "\"a b\"");
  EXPECT_STREQ(Quoted("k=v").c_str(), "\"k=v\"");
  EXPECT_STREQ(Quoted("say \"hi\" \\").c_str(), R"("say \"hi\" \\")");
  EXPECT_STREQ(Quoted("two\nlines").c_str(), R"("two\x0alines")");
}

TEST(Quoted, CutsWhatIsTooLong) {
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

}  // namespace
}  // namespace allot::supervisor
