// SPDX-License-Identifier: Apache-2.0
#include "peer/folders.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <string>

#include "support/temp_dir.h"

namespace allot::peer {
namespace {

TEST(Folders, AreMadeWithTheirParents) {
  const support::TempDir dir;
  const std::string path = dir / "a/b/c";
  EXPECT_TRUE(make_folders(path.c_str(), 0750));
  EXPECT_TRUE(make_folders(path.c_str(), 0750)) << "again is no failure";
  struct stat status {};
  ASSERT_EQ(stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0750U);
  (void)dir.write("file", "");
  EXPECT_FALSE(make_folders((dir / "file/x").c_str(), 0750));
  EXPECT_EQ(errno, ENOTDIR);
}

}  // namespace
}  // namespace allot::peer
