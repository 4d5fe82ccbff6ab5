// SPDX-License-Identifier: Apache-2.0
// Rule: S72.
#include "db/from_settings.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "support/temp_dir.h"

namespace allot::db {
namespace {

namespace fs = std::filesystem;

// With several servers a command stores their terms in the runtime folder, and may be the first to
// create it.
class RuntimeFolder : public testing::Test {
 protected:
  static void connect_in(const std::string& folder) {
    config::Database database;
    database.servers = {{"db1", 3306}, {"db2", 3306}};
    (void)from_settings(database, folder);
  }
  support::TempDir above_;
};

TEST_F(RuntimeFolder, IsMadeAsADaemonTakesIt) {
  const mode_t kept = ::umask(0002);
  connect_in(above_ / "a/run");
  ::umask(kept);
  EXPECT_EQ(fs::status(above_ / "a/run").permissions(), fs::perms(0750));
}

TEST_F(RuntimeFolder, IsNotMadeBelowAFolderOfAll) {
  fs::create_directory(above_ / "all");
  fs::permissions(above_ / "all", fs::perms(0777));
  connect_in(above_ / "all/run");
  EXPECT_FALSE(fs::exists(above_ / "all/run"));
}

}  // namespace
}  // namespace allot::db
