// SPDX-License-Identifier: Apache-2.0
// systemd's own check of the files. tests/nightly/systemd shows that they work.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <regex>

#include "support/process.h"
#include "support/temp_dir.h"

namespace allot {
namespace {

class UnitTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists("/usr/bin/systemd-analyze")) {
      GTEST_SKIP() << "systemd is not installed";
    }
  }
};

constexpr const char* kUnits[] = {"allotd.service", "allot-gateway.service"};

TEST_F(UnitTest, AreVerified) {
  for (const std::string unit : kUnits) {
    const auto done = support::run_program(
        {"systemd-analyze", "verify", "--man=no", "--recursive-errors=no", ALLOT_UNITS + unit});
    EXPECT_EQ(done.status, (support::ExitStatus{0, 0})) << unit;
    EXPECT_EQ(done.err.find(unit), std::string::npos) << done.err;
  }
}

// By systemd's own scale. The daemon has to leave some to its handlers.
double exposure_of(const std::string& unit) {
  const auto done = support::run_program(
      {"systemd-analyze", "security", "--offline=yes", "--no-pager", ALLOT_UNITS + unit});
  std::smatch level;
  const std::regex line("Overall exposure level for " + unit + ": ([0-9.]+)");
  EXPECT_TRUE(std::regex_search(done.out, level, line)) << done.out << done.err;
  return level.empty() ? 10 : std::stod(level[1]);
}

TEST_F(UnitTest, ExposeLittle) {
  EXPECT_LT(exposure_of("allotd.service"), 3.0);
  EXPECT_LT(exposure_of("allot-gateway.service"), 2.0);
}

TEST_F(UnitTest, TheUsersAndTheFoldersAreMade) {
  const support::TempDir root;
  std::filesystem::create_directories(root.path() + "/etc/allot");
  (void)root.write("etc/allot/allot.toml", "");
  const std::string folder = ALLOT_SYSTEMD_FOLDER;
  const auto users = support::run_program(
      {"systemd-sysusers", "--root=" + root.path(), folder + "/allot.sysusers"});
  ASSERT_EQ(users.status, (support::ExitStatus{0, 0})) << users.err;
  for (const char* user : {"allot:x:", "allot-gateway:x:"}) {
    EXPECT_NE(support::read_file(root / "etc/passwd").find(user), std::string::npos) << user;
  }
  if (geteuid() != 0) return;  // only root may give folders away
  const auto files = support::run_program(
      {"systemd-tmpfiles", "--root=" + root.path(), "--create", folder + "/allot.tmpfiles"});
  ASSERT_EQ(files.status, (support::ExitStatus{0, 0})) << files.err;
  EXPECT_TRUE(std::filesystem::is_directory(root / "var/lib/allot"));
  EXPECT_EQ(std::filesystem::status(root / "etc/allot/allot.toml").permissions(),
            std::filesystem::perms(0640));
}

}  // namespace
}  // namespace allot
