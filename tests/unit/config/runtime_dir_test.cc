// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "base/error.h"
#include "unit/config/fixture.h"

namespace allot::config {
namespace {

using RuntimeDir = ConfigTest;

// Switches root to the account "nobody" until destruction; other users are not changed.
class OrdinaryUser {
 public:
  OrdinaryUser() {
    if (::getuid() == 0) became_ = ::seteuid(65534) == 0;
  }
  ~OrdinaryUser() {
    if (became_ && ::seteuid(0) != 0) std::abort();
  }
  OrdinaryUser(const OrdinaryUser&) = delete;
  OrdinaryUser& operator=(const OrdinaryUser&) = delete;

 private:
  bool became_ = false;
};

TEST_F(RuntimeDir, IsTheMostSpecificThatIsKnown) {
  Settings settings;
  settings.daemon.instance = "blue";
  ::setenv("RUNTIME_DIRECTORY", "/run/from-systemd:/run/second", 1);
  EXPECT_EQ(runtime_dir(settings), "/run/from-systemd");
  settings.database.embedded = "/data/db";
  EXPECT_EQ(runtime_dir(settings), "/data/db/run");
  settings.daemon.runtime_dir = "/explicit";
  EXPECT_EQ(runtime_dir(settings), "/explicit");
  ::unsetenv("RUNTIME_DIRECTORY");
}

TEST_F(RuntimeDir, RootUsesRun) {
  if (::geteuid() != 0) GTEST_SKIP() << "not root";
  ::setenv("XDG_RUNTIME_DIR", "/run/user/0", 1);
  EXPECT_EQ(runtime_dir(Settings()), "/run/allot/default");
  ::unsetenv("XDG_RUNTIME_DIR");
}

TEST_F(RuntimeDir, UserUsesTheSessionFolder) {
  const OrdinaryUser user;
  ::setenv("XDG_RUNTIME_DIR", "/run/user/7", 1);
  EXPECT_EQ(runtime_dir(Settings()), "/run/user/7/allot/default");
  ::unsetenv("XDG_RUNTIME_DIR");
}

TEST_F(RuntimeDir, BelowTmpMustBePrivate) {
  const OrdinaryUser user;
  ::setenv("XDG_RUNTIME_DIR", "relative", 1);  // not usable (XDG base directory specification)
  const std::string shared = "/tmp/allot-" + std::to_string(::geteuid());
  if (::access(shared.c_str(), F_OK) == 0) GTEST_SKIP() << shared << " is in use";
  EXPECT_EQ(runtime_dir(Settings()), shared + "/default");
  ASSERT_EQ(::mkdir(shared.c_str(), 0700), 0);
  EXPECT_EQ(runtime_dir(Settings()), shared + "/default");
  EXPECT_EQ(::chmod(shared.c_str(), 0770), 0);
  EXPECT_THROW(static_cast<void>(runtime_dir(Settings())), Error);
  EXPECT_EQ(::rmdir(shared.c_str()), 0);
  EXPECT_EQ(::symlink("/usr", shared.c_str()), 0);
  EXPECT_THROW(static_cast<void>(runtime_dir(Settings())), Error);
  EXPECT_EQ(::unlink(shared.c_str()), 0);
  ::unsetenv("XDG_RUNTIME_DIR");
}

}  // namespace
}  // namespace allot::config
