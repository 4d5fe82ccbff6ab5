// SPDX-License-Identifier: Apache-2.0
#include "worker/oneshot/unit_reach.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "support/temp_dir.h"

namespace allot::worker {
namespace {

std::string trouble(const UnitReach::Properties& unit, const std::string& path, int mode = X_OK) {
  const auto reach = UnitReach::of(unit);
  if (!reach) return "no such account";
  return reach->trouble_with(path, mode);
}

const UnitReach::Properties kNobody{{"User", "nobody"}};

class UnitReachTest : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root, to become another account";
    ::chmod(folder_.path().c_str(), 0755);
    std::filesystem::create_directory(folder_ / "app");
    program_ = folder_.write("app/job", "#!/bin/sh\n");
    ::chmod(program_.c_str(), 0755);
  }
  support::TempDir folder_;
  std::string program_;
};

TEST_F(UnitReachTest, AFolderThatTheAccountCannotEnterIsNamed) {
  EXPECT_EQ(trouble(kNobody, program_), "");
  const std::string app = folder_ / "app";
  ::chmod(app.c_str(), 0700);
  EXPECT_EQ(trouble(kNobody, program_),
            "the account 'nobody' of the service cannot use " + app + ": Permission denied");
  EXPECT_EQ(trouble({}, program_), "") << "a unit without User= runs as root";
}

TEST_F(UnitReachTest, AndSoIsAFileThatItMayNotUse) {
  ::chmod(program_.c_str(), 0640);
  for (const int mode : {X_OK, R_OK}) {
    EXPECT_EQ(trouble(kNobody, program_, mode),
              "the account 'nobody' of the service cannot use " + program_ + ": Permission denied");
  }
}

TEST_F(UnitReachTest, ASupplementaryGroupOpensIt) {
  ASSERT_EQ(::chown(program_.c_str(), 0, 2), 0);  // bin
  ::chmod(program_.c_str(), 0750);
  EXPECT_NE(trouble(kNobody, program_), "");
  EXPECT_EQ(trouble({{"User", "nobody"}, {"SupplementaryGroups", "bin"}}, program_), "");
  EXPECT_EQ(trouble({{"User", "nobody"}, {"Group", "bin"}}, program_), "");
}

TEST_F(UnitReachTest, HiddenFolderIsNotReachable) {
  const std::string hidden = "the service cannot see it (ProtectHome=yes of its unit)";
  EXPECT_EQ(trouble({{"ProtectHome", "yes"}}, "/root"), hidden);
  EXPECT_EQ(trouble({{"ProtectHome", "read-only"}}, "/root"), "");
  EXPECT_EQ(trouble({{"ProtectHome", "yes"}}, program_), "");
  EXPECT_NE(trouble({{"ProtectHome", "tmpfs"}}, "/root"), "");
  EXPECT_EQ(
      trouble({{"ProtectHome", "tmpfs"}, {"BindReadOnlyPaths", "/srv/app:/root:rbind"}}, "/root"),
      "");
  EXPECT_NE(trouble({{"ProtectHome", "tmpfs"}, {"BindPaths", "/home/a:/home/a:"}}, "/home"), "");
}

// systemd creates the folders above one that it shows.
TEST_F(UnitReachTest, OnlyBoundFoldersAreReachable) {
  ::setenv("TMPDIR", "/root", 1);
  const support::TempDir home;
  ::unsetenv("TMPDIR");
  const std::string app = home / "app";
  std::filesystem::create_directory(app);
  const std::string job = home.write("app/job", "");
  const UnitReach::Properties unit{
      {"User", "nobody"}, {"ProtectHome", "tmpfs"}, {"BindPaths", app + ":" + app + ":rbind"}};
  ::chmod(job.c_str(), 0644);
  EXPECT_EQ(trouble(unit, job, R_OK), "") << "although " << home.path() << " is root's alone";
  EXPECT_EQ(trouble(unit, app), "");
  ::chmod(app.c_str(), 0700);
  EXPECT_EQ(trouble(unit, job, R_OK),
            "the account 'nobody' of the service cannot use " + app + ": Permission denied");
}

TEST_F(UnitReachTest, MissingFileIsIgnored) {
  EXPECT_EQ(trouble(kNobody, folder_ / "none"), "");
  EXPECT_EQ(trouble({{"User", "no-such-account"}}, program_), "no such account");
}

}  // namespace
}  // namespace allot::worker
