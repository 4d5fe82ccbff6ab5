// SPDX-License-Identifier: Apache-2.0
// Real folders and links, as any user.
// Rule: S72.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/error.h"
#include "support/temp_dir.h"
#include "trust/trust.h"

namespace allot::trust {
namespace {

namespace fs = std::filesystem;

class Folders : public testing::Test {
 protected:
  [[nodiscard]] std::string path(const std::string& name) const { return folder_ / name; }
  void make(const std::string& name, mode_t mode) const {
    ASSERT_EQ(::mkdir(path(name).c_str(), 0700), 0);
    ASSERT_EQ(::chmod(path(name).c_str(), mode), 0);
  }
  [[nodiscard]] mode_t mode_of(const std::string& name) const {
    struct stat status = {};
    EXPECT_EQ(::lstat(path(name).c_str(), &status), 0) << name;
    return status.st_mode & 07777U;
  }
  // Reason of the refusal; empty: it is made.
  [[nodiscard]] std::string refusal(const std::string& name, Role role = Role::kOwnFolder) const {
    try {
      make_folder(path(name), role, "the folder");
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  }
  [[nodiscard]] std::string unsafe(const std::string& name, const std::string& why) const {
    return "the folder = " + path(name) + " is not safe: " + why + ", or name another folder";
  }

 private:
  support::TempDir folder_;
};

TEST_F(Folders, AreMadeWithThoseAbove) {
  EXPECT_EQ(refusal("a/b"), "");
  EXPECT_EQ(refusal("a/b"), "") << "again is not a failure";
  EXPECT_EQ(mode_of("a"), 0750U);
  EXPECT_EQ(mode_of("a/b"), 0750U);
  EXPECT_EQ(refusal("c/d", Role::kPrivateFolder), "");
  EXPECT_EQ(mode_of("c/d"), 0700U);
  EXPECT_FALSE(fs::exists(path("e")));
  EXPECT_NO_THROW(require_folder(path("e/f"), Role::kOwnFolder, "the folder"));
  EXPECT_FALSE(fs::exists(path("e"))) << "a mere check makes nothing";
}

TEST_F(Folders, OneThatIsThereMayNotBeOpen) {
  make("a", 0755);
  EXPECT_EQ(refusal("a", Role::kPrivateFolder),
            unsafe("a", "the folder " + path("a") +
                            " is open to other accounts (mode 0755); chmod 0700 " + path("a")));
  EXPECT_EQ(mode_of("a"), 0755U) << "what others may have put there stays unused";
  EXPECT_EQ(refusal("a"), "");
}

TEST_F(Folders, OneThatAnybodyMayWriteIsRefused) {
  for (const mode_t mode : {0777U, 01777U}) {
    make("a", mode);
    EXPECT_EQ(refusal("a"), unsafe("a", "every account may put files into the folder " + path("a") +
                                            "; chmod o-w " + path("a")));
    fs::remove(path("a"));
  }
}

TEST_F(Folders, OneBelowAFolderOfAllNeedsTheStickyBit) {
  make("all", 0777);
  EXPECT_EQ(refusal("all/a"),
            unsafe("all/a", "every account may replace files in the folder " + path("all") +
                                " above it; chmod o-w " + path("all")));
  EXPECT_FALSE(fs::exists(path("all/a"))) << "nothing is made there";
  ASSERT_EQ(::chmod(path("all").c_str(), 01777), 0);
  EXPECT_EQ(refusal("all/a", Role::kPrivateFolder), "");
}

TEST_F(Folders, ALinkAboveIsAsSafeAsWhatItPointsTo) {
  make("there", 0755);
  fs::create_symlink("there", path("link"));
  EXPECT_EQ(refusal("link/a"), "");
  EXPECT_EQ(mode_of("there/a"), 0750U);
  ASSERT_EQ(::chmod(path("there").c_str(), 0777), 0);
  EXPECT_EQ(refusal("link/b"),
            unsafe("link/b", "every account may replace files in the folder " + path("there") +
                                 " above it; chmod o-w " + path("there")));
  fs::create_symlink(path("turn"), path("turn"));
  EXPECT_NE(refusal("turn/a").find("Too many levels of symbolic links"), std::string::npos);
}

TEST_F(Folders, ALinkItselfIsRefused) {
  make("there", 0700);
  fs::create_symlink(path("there"), path("link"));
  for (const Role role : {Role::kOwnFolder, Role::kPrivateFolder}) {
    EXPECT_EQ(refusal("link", role),
              unsafe("link", path("link") + " is a link; name the folder itself"));
  }
}

TEST_F(Folders, AFileInTheWayIsSaid) {
  make("a", 0700);
  fs::copy_file("/etc/hostname", path("a/file"));
  EXPECT_EQ(refusal("a/file"), unsafe("a/file", path("a/file") + " is not a folder"));
  EXPECT_EQ(refusal("a/file/b"), unsafe("a/file/b", path("a/file") + " is not a folder"));
}

// Only root can change the owner of a folder.
TEST_F(Folders, AnothersAreRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  make("other", 0755);
  ASSERT_EQ(::chown(path("other").c_str(), 1001, 1001), 0);
  const std::string whose = " belongs to uid 1001, not to root; chown root " + path("other");
  EXPECT_EQ(refusal("other"), unsafe("other", "the folder " + path("other") + whose));
  EXPECT_EQ(refusal("other/a"),
            unsafe("other/a", "the folder " + path("other") + " above it" + whose));
  EXPECT_EQ(refusal("other", Role::kPrivateFolder),
            unsafe("other", "the folder " + path("other") +
                                " belongs to uid 1001, not to uid 0 who runs this; run this as "
                                "that account"));
  make("all", 01777);
  fs::create_symlink("/", path("all/link"));
  ASSERT_EQ(::lchown(path("all/link").c_str(), 1001, 1001), 0);
  EXPECT_EQ(refusal("all/link/tmp/x"),
            unsafe("all/link/tmp/x", "the link " + path("all/link") +
                                         " belongs to uid 1001, not to root; chown -h root " +
                                         path("all/link")));
}

}  // namespace
}  // namespace allot::trust
