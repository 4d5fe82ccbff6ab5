// SPDX-License-Identifier: Apache-2.0
#include "schedule/computing_process.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <chrono>
#include <cstdlib>
#include <string>

#include "base/error.h"
#include "support/process.h"

namespace allot::schedule {
namespace {

constexpr Instant kSummerTime = 1774746000;  // in Berlin, 2026

ComputingProcess answers() {
  return ComputingProcess({ALLOT_SCHEDULE_ANSWERS});
}

std::string complaint(ComputingProcess& process, const std::string& expression,
                      const std::string& zone) {
  try {
    process.next(expression, zone, 0);
    return "none";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(ComputingProcess, AnswersForOneZoneAfterTheOther) {
  ComputingProcess process = answers();
  EXPECT_EQ(process.pid(), -1);
  EXPECT_EQ(process.next("30 2 * * *", "Europe/Berlin", kSummerTime - 3600), kSummerTime);
  const pid_t first = process.pid();
  EXPECT_GT(first, 0);
  EXPECT_EQ(process.next("30 2 * * *", "UTC", kSummerTime - 3600), kSummerTime + 5400);
  EXPECT_EQ(process.next("0 0 * * *", "UTC", INT64_MAX), std::nullopt);
  EXPECT_EQ(process.pid(), first);
}

TEST(ComputingProcess, LeavesTheZoneOfThisProcessAlone) {
  const char* before = getenv("TZ");
  const std::string was = before != nullptr ? before : "none";
  ComputingProcess process = answers();
  EXPECT_TRUE(process.next("0 0 * * *", "Asia/Tokyo", 0).has_value());
  const char* now = getenv("TZ");
  EXPECT_EQ(now != nullptr ? std::string(now) : "none", was);
}

TEST(ComputingProcess, NeedsNoChildToRefuseNorForAPeriod) {
  ComputingProcess process = answers();
  EXPECT_EQ(complaint(process, "61 * * * *", "UTC"),
            "schedule '61 * * * *': minute: '61' is not a number from 0 to 59");
  EXPECT_EQ(complaint(process, "* * * * *", "Europe/Nowhere"),
            "zone 'Europe/Nowhere': no such file in /usr/share/zoneinfo, where tzdata installs "
            "time zones");
  EXPECT_EQ(complaint(process, "* * * * *\n0 UTC 5 5 5 5 5", "UTC").substr(0, 10), "schedule '");
  EXPECT_EQ(complaint(process, "* * * * *", "UTC\n0").substr(0, 6), "zone '");
  EXPECT_EQ(process.next("@every 90s", "UTC", 10), 100);
  EXPECT_EQ(process.pid(), -1);
}

TEST(ComputingProcess, OneThatDiedIsReplaced) {
  ComputingProcess process = answers();
  EXPECT_TRUE(process.next("0 0 * * *", "UTC", 0).has_value());
  const pid_t first = process.pid();
  ASSERT_EQ(support::send_signal(first, SIGKILL), 0);
  siginfo_t info = {};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(first), &info, WEXITED | WNOWAIT), 0);
  EXPECT_EQ(process.next("0 0 * * *", "UTC", 0), 86400);
  EXPECT_NE(process.pid(), first);
}

TEST(ComputingProcess, AnInvalidOneIsReported) {
  ComputingProcess missing({"/nonexistent/program"});
  EXPECT_EQ(complaint(missing, "* * * * *", "UTC"),
            "schedules: /nonexistent/program does not start: No such file or directory");
  ComputingProcess ends({"/bin/true"});
  EXPECT_EQ(complaint(ends, "* * * * *", "UTC"), "schedules: the computing process ended");
  ComputingProcess repeats({"/bin/cat"});
  EXPECT_EQ(complaint(repeats, "* * * * *", "UTC"),
            "schedules: the computing process answered 'upcoming 0 0 1 UTC * * * * *'");
  ComputingProcess hangs({"/bin/sleep", "1000"}, std::chrono::milliseconds(20));
  EXPECT_EQ(complaint(hangs, "* * * * *", "UTC"),
            "schedules: the computing process has not answered within 20 ms");
  EXPECT_EQ(hangs.pid(), -1);
}

TEST(ComputingProcess, EndsWithItsOwner) {
  pid_t child = -1;
  {
    ComputingProcess process = answers();
    EXPECT_TRUE(process.next("0 0 * * *", "UTC", 0).has_value());
    child = process.pid();
  }
  EXPECT_EQ(waitpid(child, nullptr, WNOHANG), -1);  // it is reaped
}

}  // namespace
}  // namespace allot::schedule
