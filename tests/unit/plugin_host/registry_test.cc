// SPDX-License-Identifier: Apache-2.0
// Rule: S80.
#include "plugin_host/registry.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "plugin_host/handler_call.h"
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

// Answer of the handler that was found.
std::string answer(const Registry& registry, const std::string& type) {
  const LoadedHandler* handler = registry.find(type);
  HostHooks hooks;
  return handler == nullptr ? "nobody" : call(*handler, {"1", "q", type, ""}, hooks).reason;
}

TEST(Registry, AnExactTypeGoesBeforeAPrefixAndALongPrefixBeforeAShortOne) {
  const Registry registry = Registry::load(folder_of("prefix"), {});
  EXPECT_EQ(registry.size(), 4U);
  EXPECT_EQ(answer(registry, "mail.news"), "1 mail.news") << "the handler gets the real type";
  EXPECT_EQ(answer(registry, "mail.news.daily"), "1 mail.news.daily");
  EXPECT_EQ(answer(registry, "mail.fast.x"), "2 mail.fast.x");
  EXPECT_EQ(answer(registry, "mail.fast.x.y"), "2 mail.fast.x.y");
  EXPECT_EQ(answer(registry, "mail.fast.now"), "3 mail.fast.now");
  EXPECT_EQ(answer(registry, "mail.fast"), "1 mail.fast");
  EXPECT_EQ(answer(registry, "mail"), "4 mail");
  for (const char* type : {"mail.", "mailx", "mailx.a", "Mail.a", "x.mail.a", ".", "..", "", "m"}) {
    EXPECT_EQ(answer(registry, type), "nobody") << type;
  }
  EXPECT_EQ(answer(registry, "mail.fast."), "1 mail.fast.") << "a star is at least one byte";
}

TEST(Registry, APrefixTwoTimesIsRefusedAndNamesBothFiles) {
  const auto files = describe(folder_of("prefix_taken"));
  ASSERT_EQ(files.size(), 2U);
  EXPECT_FALSE(files[0].refused);
  ASSERT_TRUE(files[1].refused);
  EXPECT_EQ(files[1].refused->refusal, Refusal::kTypeTaken);
  EXPECT_EQ(files[1].refused->text, "prefix 'mail.*' is offered by " + files[0].path +
                                        " too; remove one of the two files from the folder");
  const auto error = load_failure(folder_of("prefix_taken"));
  ASSERT_TRUE(error);
  EXPECT_EQ(std::string(error->what()), refusal_line(files[1]));
}

TEST(Registry, ATypeOfOneFileAndAPrefixOfAnotherGoTogether) {
  const Registry registry = Registry::load(folder_of("prefix_beside"), {});
  ASSERT_NE(registry.find("mail.news"), nullptr);
  EXPECT_EQ(registry.find("mail.news")->types, std::vector<std::string>{"mail.news"});
  EXPECT_EQ(registry.find("mail.other")->types, std::vector<std::string>{"mail.*"});
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

TEST(Registry, AFileIsNotAFolder) {
  const auto error = load_failure(folder_of("good") + "/good.so");
  ASSERT_TRUE(error);
  EXPECT_EQ(error->exit_code(), kExitConfig);
}

class ConfiguredTest : public testing::Test {
 protected:
  static std::string run(const Registry& registry, const std::string& type) {
    return registry.find(type) == nullptr ? "unknown" : answer(registry, type);
  }
  // Reason why describing and loading refuse it.
  static std::string refusal(const Section& section) {
    const auto files = describe(folder_of("configured"), {{"configured", section}});
    const auto error = load_failure(folder_of("configured"), {{"configured", section}});
    if (!files.at(0).refused) return "";
    EXPECT_TRUE(error && error->what() == refusal_line(files[0]));
    return std::string(name_of(files[0].refused->refusal)) + ": " + files[0].refused->text;
  }

  support::TempDir folder_;
  std::string diary_ = folder_ / "diary";
};

TEST_F(ConfiguredTest, TheConfigurationNamesTheTypesAndOneObjectServesThem) {
  const Sections sections = {{"configured",
                              {{"types.a.x", "1"},
                               {"types.a.x", "2"},
                               {"types.a.y.inner", "deep"},
                               {"types.\"b.c\".z", "3"},
                               {"more", "d"},
                               {"diary", diary_}}}};
  const auto files = describe(folder_of("configured"), sections);
  ASSERT_EQ(files.size(), 1U);
  EXPECT_FALSE(files[0].refused) << refusal_line(files[0]);
  EXPECT_TRUE(files[0].types_by_config);
  EXPECT_EQ(files[0].types, (std::vector<std::string>{"b.c", "a", "d"}));
  EXPECT_EQ(support::read_file(diary_), "") << "describing must start nothing (S30)";
  {
    const Registry registry = Registry::load(folder_of("configured"), sections);
    EXPECT_EQ(registry.size(), 3U);
    EXPECT_EQ(run(registry, "a"), "x=1,2,-;y=deep;");
    EXPECT_EQ(run(registry, "b.c"), "z=3,-;");
    EXPECT_EQ(run(registry, "d"), "");
    EXPECT_EQ(run(registry, "e"), "unknown");
    EXPECT_EQ(support::read_file(diary_), "made\n");
  }
  EXPECT_EQ(support::read_file(diary_), "made\ndestroyed\n");
}

TEST_F(ConfiguredTest, WithoutTypesNoObjectIsMade) {
  const Sections sections = {{"configured", {{"diary", diary_}}}};
  const auto files = describe(folder_of("configured"), sections);
  EXPECT_FALSE(files[0].refused) << refusal_line(files[0]);
  EXPECT_TRUE(files[0].types.empty());
  const Registry registry = Registry::load(folder_of("configured"), sections);
  EXPECT_EQ(registry.size(), 0U);
  EXPECT_EQ(support::read_file(diary_), "");
}

TEST_F(ConfiguredTest, UnacceptedKeyIsReportedByTheProbe) {
  EXPECT_EQ(refusal({{"bad", "key x is not set"}}), "bad configuration: key x is not set");
  EXPECT_EQ(refusal({{"more", "a/b"}}),
            "bad type: the configuration names the type 'a/b'; 1 to 127 of A-Z a-z 0-9 . _ - are "
            "allowed, or a prefix followed by \".*\"");
  EXPECT_EQ(refusal({{"more", "a"}, {"types.a.x", "1"}}),
            "duplicate type: type 'a' is offered twice; keep one of them");
}

// One broken plugin must not leak the other handlers' states.
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
