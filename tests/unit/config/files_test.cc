// SPDX-License-Identifier: Apache-2.0
// Rule: S26.
#include "config/files.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>

#include "base/error.h"
#include "base/posix.h"
#include "base/unique_fd.h"
#include "config/drain.h"
#include "unit/config/fixture.h"

namespace allot::config {
namespace {

class CopyTest : public ConfigTest {
 protected:
  // Copy of the files of `settings`, as a check leaves it for the other processes.
  static UniqueFd copy_of(const Settings& settings) {
    UniqueFd copy(memfd_create("copy", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    settings.files.keep(copy.get());
    return copy;
  }
  [[nodiscard]] Settings load_copy(const UniqueFd& copy) const {
    LoadOptions all = options();
    all.file = folder() + "/allot.toml";
    all.copy = copy.get();
    return load(all);
  }
};

TEST_F(CopyTest, IsWhatWasReadWhateverTheDiskHasNow) {
  write("secret", "p w\n");
  const std::string text =
      "[database]\npassword_file = \"secret\"\n[plugins]\nfolder = \"beside\"\n";
  const UniqueFd copy = copy_of(load_text(text));
  write("allot.toml", "bogus = 1\n");
  std::filesystem::remove(folder() + "/secret");
  for (int reader = 0; reader < 2; ++reader) {
    const Settings settings = load_copy(copy);
    EXPECT_EQ(settings.file, folder() + "/allot.toml");
    EXPECT_EQ(settings.file_named, "--config");
    EXPECT_EQ(settings.lines.at("plugins.folder"), 4U);
    EXPECT_EQ(settings.plugins.folder, folder() + "/beside");
    EXPECT_EQ(settings.database.password, "p w");
  }
}

TEST_F(CopyTest, CopyWithoutAFileStaysEmpty) {
  const UniqueFd copy = copy_of(load(options()));
  LoadOptions later = options();
  later.default_file = write("allot.toml", "[pools.new]\n");
  later.copy = copy.get();
  EXPECT_EQ(load(later).pools.front().name, "default");
}

TEST_F(CopyTest, HasBothFilesOfADrain) {
  const std::string other = write("other.toml", "[queues.mail]\nblock_size = 7\n");
  LoadOptions all = options();
  all.file = write(kDrainFile, drain_text({other, "mail", 3, "d", "/run/x", false, ""}));
  const UniqueFd copy = copy_of(load(all));
  std::filesystem::remove(other);
  std::filesystem::remove(all.file);
  all.copy = copy.get();
  const Settings settings = load(all);
  EXPECT_EQ(find_queue(settings, "mail")->block_size, 7U);
  EXPECT_EQ(settings.pools.front().size, 3U);
}

TEST_F(CopyTest, CopyIsPrivate) {
  const UniqueFd copy = copy_of(load_text("[pools.a]\n"));
  EXPECT_EQ(::write(copy.get(), "x", 1), -1);
  EXPECT_EQ(::ftruncate(copy.get(), 0), -1);
  struct stat status = {};
  ASSERT_EQ(::fstat(copy.get(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 0400U);
}

// A shell that starts allot-worker may have any file open under the number of the copy.
TEST_F(CopyTest, AFileOfAnotherUserIsIgnored) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  const UniqueFd read_end(ends[0]);
  const UniqueFd write_end(ends[1]);
  EXPECT_FALSE(Files::is_copy(read_end.get()));
  EXPECT_FALSE(Files::is_copy(read_end.get(), false));
  const UniqueFd place(memfd_create("copy", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  EXPECT_FALSE(Files::is_copy(place.get()));
  EXPECT_TRUE(Files::is_copy(place.get(), false));
  EXPECT_TRUE(Files::is_copy(copy_of(load_text("")).get()));
}

TEST_F(CopyTest, ItsMarkTellsWhetherAnythingDiffers) {
  write("secret", "one");
  const std::string text = "[database]\npassword_file = \"secret\"\n";
  const Settings first = load_text(text);
  EXPECT_EQ(load_copy(copy_of(first)).files.mark(), first.files.mark());
  EXPECT_EQ(load_text(text).files.mark(), first.files.mark());
  write("secret", "two");
  EXPECT_NE(load_text(text).files.mark(), first.files.mark());
}

TEST_F(CopyTest, InvalidCopyIsRefused) {
  for (const std::string text : {"", "allot configuration 2\n", "allot configuration 1\n5\nab",
                                 "allot configuration 1\n99999999999999999999\nab"}) {
    const UniqueFd copy(memfd_create("copy", MFD_CLOEXEC));
    ASSERT_TRUE(write_all(copy.get(), text.data(), text.size()));
    EXPECT_THROW((void)load_copy(copy), Error) << text;
  }
}

}  // namespace
}  // namespace allot::config
