// SPDX-License-Identifier: Apache-2.0
// scripts/lib.sh installs missing packages, and changes nothing else on a machine.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "architecture/source_files.h"
#include "support/process.h"
#include "support/temp_dir.h"

namespace allot::architecture {
namespace {

// Runs the function of the scripts with fake package tools: `here` is installed, and apt-get
// records its calls.
class InstallTest : public testing::Test {
 protected:
  InstallTest() {
    put("dpkg-query", "[ \"$3\" = here ] && printf installed");
    put("apt-get", "echo \"$*\" >>\"$CALLS\"; exit \"${APT_ENDS:-0}\"");
  }

  // Runs it as user `uid`. The calls of apt-get are in calls().
  [[nodiscard]] support::Finished install(const std::string& packages, int uid,
                                          const std::string& apt_ends = "0") {
    put("id", "echo " + std::to_string(uid));
    return support::run_program(
        {"bash", "-c",
         "set -euo pipefail; source '" ALLOT_SOURCE_FOLDER "/scripts/lib.sh'; install_packages " +
             packages},
        {.environment = {"PATH=" + folder_.path() + ":/usr/bin:/bin",
                         "CALLS=" + (folder_ / "calls"), "APT_ENDS=" + apt_ends}});
  }
  [[nodiscard]] std::string calls() const { return support::read_file(folder_ / "calls"); }

 private:
  void put(const std::string& program, const std::string& text) const {
    const std::string path = folder_.write(program, "#!/bin/sh\n" + text + "\n");
    ASSERT_EQ(::chmod(path.c_str(), 0755), 0);
  }

  support::TempDir folder_;
};

// S31
TEST_F(InstallTest, WithNothingMissingAptIsNotCalled) {
  EXPECT_EQ(install("here 'other|here'", 1000).status.code, 0);
  EXPECT_EQ(calls(), "");
}

TEST_F(InstallTest, OnlyRootInstallsMissingPackages) {
  const auto refused = install("here missing 'one|two'", 1000);
  EXPECT_NE(refused.status.code, 0);
  EXPECT_NE(refused.err.find("apt-get install --no-install-recommends --no-remove missing one\n"),
            std::string::npos)
      << refused.err;
  EXPECT_EQ(calls(), "");
}

TEST_F(InstallTest, InstallingRemovesNothing) {
  EXPECT_EQ(install("missing", 0).status.code, 0);
  EXPECT_EQ(calls(), "-q update\n-q install -y --no-install-recommends --no-remove missing\n");
}

TEST_F(InstallTest, AptRefusalIsOnlyReported) {
  const auto refused = install("missing", 0, "100");
  EXPECT_NE(refused.status.code, 0);
  EXPECT_NE(refused.err.find("Nothing was removed"), std::string::npos) << refused.err;
  EXPECT_EQ(calls(),
            "-q update\n-q install -y --no-install-recommends --no-remove missing\n"
            "-s install --no-install-recommends missing\n")
      << "the last one only asks";
}

// All suites of Debian use the same mirror.
TEST(DebianMirror, BelongsToTheSuiteOrToAnotherOne) {
  const support::TempDir folder;
  const std::string apt_get = folder.write("apt-get",
                                           "#!/bin/sh\necho 'trixie http://other/ Docker/Docker'\n"
                                           "echo 'bookworm http://mirror/debian/ Debian/Debian'\n"
                                           "echo 'backports http://old/debian/ Debian/Debian'\n");
  ASSERT_EQ(::chmod(apt_get.c_str(), 0755), 0);
  const auto mirror = [&folder](const std::string& suite) {
    return support::run_program(
        {"bash", "-c",
         "set -euo pipefail; source '" ALLOT_SOURCE_FOLDER "/scripts/lib.sh'; debian_mirror " +
             suite},
        {.environment = {"PATH=" + folder.path() + ":/usr/bin:/bin"}});
  };
  EXPECT_EQ(mirror("backports").out, "http://old/debian/\n");
  EXPECT_EQ(mirror("sid").out, "http://mirror/debian/\n");
  EXPECT_EQ(mirror("trixie").out, "http://mirror/debian/\n");
  ASSERT_EQ(folder.write("apt-get", "#!/bin/sh\n"), apt_get);
  const auto none = mirror("sid");
  EXPECT_NE(none.status.code, 0);
  EXPECT_NE(none.err.find("no mirror of Debian"), std::string::npos) << none.err;
}

}  // namespace
}  // namespace allot::architecture
