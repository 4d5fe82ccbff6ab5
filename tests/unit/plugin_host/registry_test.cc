// SPDX-License-Identifier: Apache-2.0
#include "plugin_host/registry.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "support/temp_dir.h"
#include "unit/plugin_host/fixture.h"

namespace allot::plugin_host {
namespace {

TEST(Registry, FindsAHandlerByItsExactType) {
  const Registry registry = Registry::load(folder_of("good"), {});
  EXPECT_EQ(registry.size(), 1U);
  EXPECT_NE(registry.find("test.variant"), nullptr);
  EXPECT_EQ(registry.find("test.varian"), nullptr);
  EXPECT_EQ(registry.find("test.variant2"), nullptr);
  EXPECT_EQ(registry.find("Test.variant"), nullptr);
  EXPECT_EQ(registry.find(""), nullptr);
}

TEST(Registry, DescribesNameVersionAndTypes) {
  const auto files = describe(folder_of("observe"));
  ASSERT_EQ(files.size(), 1U);
  EXPECT_EQ(files[0].path, folder_of("observe") + "/observe.so");
  EXPECT_EQ(files[0].name, "watcher");
  EXPECT_EQ(files[0].version, "2.0");
  EXPECT_EQ(files[0].abi_version, ALLOT_ABI_VERSION);
  EXPECT_EQ(files[0].types,
            (std::vector<std::string>{"observe.config", "observe.task", "observe.hooks",
                                      "observe.thread", "observe.later", "observe.verbose"}));
}

TEST(Registry, APluginWithoutNameIsNamedAsItsFile) {
  const auto files = describe(folder_of("probe"));
  ASSERT_EQ(files.size(), 1U);
  EXPECT_EQ(files[0].name, "probe");
}

TEST(Registry, AnEmptyFolderOffersNothing) {
  EXPECT_TRUE(describe(folder_of("empty")).empty());
  const Registry registry = Registry::load(folder_of("empty"), {});
  EXPECT_EQ(registry.size(), 0U);
  EXPECT_EQ(registry.find("test.variant"), nullptr);
}

TEST(Registry, OtherFilesOfTheFolderAreNotLookedAt) {
  const support::TempDir folder;
  const auto good = folder_of("good") + "/good.so";
  std::filesystem::copy_file(good, folder / "good.so.new");  // about to be renamed
  std::filesystem::copy_file(good, folder / ".so");
  std::filesystem::create_directory(folder / "deeper");
  std::filesystem::copy_file(good, folder / "deeper/good.so");
  EXPECT_TRUE(describe(folder.path()).empty());
}

TEST(Registry, ARelativeFolderIsOneOfTheWorkingDirectory) {
  const auto relative = std::filesystem::relative(folder_of("good"));
  const auto files = describe(relative.string());
  ASSERT_EQ(files.size(), 1U);
  EXPECT_TRUE(std::filesystem::path(files[0].path).is_absolute());
  EXPECT_FALSE(files[0].refused) << refusal_line(files[0]);
}

TEST(Registry, AMissingFolderIsAnErrorOfConfiguration) {
  const std::string folder = folder_of("nowhere");
  const auto error = load_failure(folder);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->exit_code(), kExitConfig);
  EXPECT_EQ(std::string(error->what()), "plugin folder '" + folder +
                                            "' cannot be read: No such file or directory; "
                                            "set [plugins] folder to an existing folder");
  EXPECT_THROW(describe(folder), Error);
}

TEST(Registry, AFileIsNoFolder) {
  const auto error = load_failure(folder_of("good") + "/good.so");
  ASSERT_TRUE(error);
  EXPECT_EQ(error->exit_code(), kExitConfig);
}

// One broken plugin must not leave the states of the others behind.
TEST(Registry, AFailedLoadDestroysWhatItMade) {
  const support::TempDir folder;
  std::filesystem::copy_file(folder_of("observe") + "/observe.so", folder / "a.so");
  std::filesystem::copy_file(folder_of("no_run") + "/no_run.so", folder / "b.so");
  const auto farewell = folder / "farewell";
  ASSERT_TRUE(load_failure(folder.path(), {{"watcher", {{"farewell", farewell}}}}));
  EXPECT_EQ(support::read_file(farewell), "destroyed\n");
}

TEST(Registry, StatesEndWithTheRegistryOnce) {
  const support::TempDir folder;
  const auto farewell = folder / "farewell";
  {
    Registry first = Registry::load(folder_of("observe"), {{"watcher", {{"farewell", farewell}}}});
    const Registry second = std::move(first);
    EXPECT_FALSE(std::filesystem::exists(farewell));
    EXPECT_NE(second.find("observe.config"), nullptr);
  }
  EXPECT_EQ(support::read_file(farewell), "destroyed\n");
}

}  // namespace
}  // namespace allot::plugin_host
