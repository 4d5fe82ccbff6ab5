// SPDX-License-Identifier: Apache-2.0
#include "peer/handler_types.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "support/temp_dir.h"

namespace allot::peer {
namespace {

using Types = std::vector<std::string>;

TEST(HandlerTypesTest, AreReadAsTheyWereWritten) {
  const support::TempDir folder;
  EXPECT_FALSE(read_types(folder.path()));
  ASSERT_TRUE(write_types(folder.path(), {"mail.send", "thumbs.*"}));
  EXPECT_EQ(read_types(folder.path()), (Types{"mail.send", "thumbs.*"}));
  ASSERT_TRUE(write_types(folder.path(), {}));
  EXPECT_EQ(read_types(folder.path()), Types{}) << "no handler is not no file";
  using std::filesystem::directory_iterator;
  EXPECT_EQ(std::distance(directory_iterator(folder.path()), directory_iterator()), 1);
}

TEST(HandlerTypesTest, InvalidFileHasNoTypes) {
  const support::TempDir folder;
  for (const std::string text : {"", "allot types 2\na\n", "allot types 1\ncut of", "\n"}) {
    (void)folder.write("types", text);
    EXPECT_FALSE(read_types(folder.path())) << text;
  }
  std::filesystem::remove(folder / "types");
  ASSERT_EQ(mkfifo((folder / "types").c_str(), 0600), 0);
  const auto nobody_writes = read_types(folder.path());
  EXPECT_FALSE(nobody_writes && !nobody_writes->empty());
  std::filesystem::remove(folder / "types");
  std::filesystem::create_directory(folder / "types");
  EXPECT_FALSE(read_types(folder.path()));
  EXPECT_FALSE(write_types(folder.path(), {"a"}));
  EXPECT_FALSE(write_types(folder / "missing", {"a"}));
}

TEST(HandlerTypesTest, APrefixTakesWhatBeginsSo) {
  const Types types{"mail.send", "thumbs.*"};
  EXPECT_TRUE(takes(types, "mail.send"));
  EXPECT_TRUE(takes(types, "thumbs.make"));
  EXPECT_FALSE(takes(types, "mail.sendx"));
  EXPECT_FALSE(takes(types, "mail"));
  EXPECT_FALSE(takes(types, "thumbs"));
  EXPECT_FALSE(takes({}, "mail.send"));
}

}  // namespace
}  // namespace allot::peer
