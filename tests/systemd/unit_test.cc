// SPDX-License-Identifier: Apache-2.0
// What systemd itself says about the files. scripts/test-systemd shows that they work.
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

TEST_F(UnitTest, IsVerified) {
  const auto done = support::run_program(
      {"systemd-analyze", "verify", "--man=no", "--recursive-errors=no", ALLOT_UNIT});
  EXPECT_EQ(done.status, (support::ExitStatus{0, 0}));
  EXPECT_EQ(done.err.find("allotd.service"), std::string::npos) << done.err;
}

TEST_F(UnitTest, ExposesLittle) {
  const auto done = support::run_program(
      {"systemd-analyze", "security", "--offline=yes", "--no-pager", ALLOT_UNIT});
  std::smatch level;
  ASSERT_TRUE(std::regex_search(done.out, level,
                                std::regex("Overall exposure level for allotd.service: ([0-9.]+)")))
      << done.out << done.err;
  EXPECT_LT(std::stod(level[1]), 3.0) << done.out;
}

TEST_F(UnitTest, TheUserAndTheFoldersAreMade) {
  const support::TempDir root;
  std::filesystem::create_directories(root.path() + "/etc/allot");
  (void)root.write("etc/allot/allot.toml", "");
  const std::string folder = ALLOT_SYSTEMD_FOLDER;
  const auto users = support::run_program(
      {"systemd-sysusers", "--root=" + root.path(), folder + "/allot.sysusers"});
  ASSERT_EQ(users.status, (support::ExitStatus{0, 0})) << users.err;
  EXPECT_NE(support::read_file(root / "etc/passwd").find("allot:x:"), std::string::npos)
      << support::read_file(root / "etc/passwd");
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
