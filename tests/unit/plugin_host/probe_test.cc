// SPDX-License-Identifier: Apache-2.0
// Plugins that harm the process that opens them.
#include "plugin_host/probe.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <cerrno>

#include "support/temp_dir.h"
#include "unit/plugin_host/fixture.h"

namespace allot::plugin_host {
namespace {

using std::chrono::milliseconds;

std::string file_of(const std::string& plugin) {
  return folder_of(plugin) + "/" + plugin + ".so";
}

PluginFile probe_one(const std::string& plugin, const ProbeOptions& options = {}) {
  const auto files = probe({file_of(plugin)}, options);
  return files.size() == 1 ? files[0] : PluginFile{};
}

struct Fatal {
  const char* plugin;
  Refusal refusal;
  const char* says;
  // A plugin that hangs in its second step has to finish its first one in this time.
  milliseconds patience = std::chrono::seconds(30);
};

void PrintTo(const Fatal& it, std::ostream* out) {
  *out << it.plugin;
}

class ProbeTest : public testing::TestWithParam<Fatal> {};

TEST_P(ProbeTest, NamesThePluginAndWhatItDid) {
  const PluginFile file =
      probe_one(GetParam().plugin, {.patience = GetParam().patience, .init = true});
  ASSERT_TRUE(file.refused);
  EXPECT_EQ(file.path, file_of(GetParam().plugin));
  EXPECT_EQ(file.refused->refusal, GetParam().refusal);
  EXPECT_NE(file.refused->text.find(GetParam().says), std::string::npos) << file.refused->text;
}

INSTANTIATE_TEST_SUITE_P(
    Starts, ProbeTest,
    testing::Values(
        Fatal{"load_segv", Refusal::kCrashes, "died of 'Segmentation fault' while it was opened"},
        Fatal{"load_leave", Refusal::kCrashes, "with exit code 3 while it was opened"},
        Fatal{"load_fork_and_leave", Refusal::kCrashes, "with exit code 4 while it was opened"},
        Fatal{"load_hang", Refusal::kHangs, "did not finish in time while it was opened",
              milliseconds(500)},
        Fatal{"init_segv", Refusal::kCrashes,
              "'Segmentation fault' while its handlers were created"},
        Fatal{"init_leave", Refusal::kCrashes, "with exit code 3 while its handlers were created"},
        Fatal{"init_fork_and_leave", Refusal::kCrashes, "code 4 while its handlers were created"},
        Fatal{"init_hang", Refusal::kHangs,
              "did not finish in time while its handlers were created", milliseconds(5'000)}),
    [](const auto& it) { return std::string(it.param.plugin); });

// S30
TEST(Probe, WithoutInitNoHandlerIsMade) {
  for (const char* plugin : {"init_segv", "init_hang", "init_fails"}) {
    const PluginFile file = probe_one(plugin);
    EXPECT_FALSE(file.refused) << refusal_line(file);
    EXPECT_FALSE(file.types.empty());
  }
}

TEST(Probe, InitGetsTheSectionAndSaysWhatWasThrown) {
  const PluginFile without = probe_one("init_fails", {.init = true});
  ASSERT_TRUE(without.refused);
  EXPECT_EQ(without.refused->refusal, Refusal::kInitFailed);
  EXPECT_NE(without.refused->text.find("key is not set"), std::string::npos);
  const PluginFile with =
      probe_one("init_fails", {.init = true, .sections = {{"init", {{"key", "set"}}}}});
  ASSERT_TRUE(with.refused);
  EXPECT_NE(with.refused->text.find("threw an object"), std::string::npos) << with.refused->text;
}

TEST(Probe, InitDestroysWhatItMade) {
  const support::TempDir folder;
  const auto farewell = folder / "farewell";
  const PluginFile file =
      probe_one("observe", {.init = true, .sections = {{"watcher", {{"farewell", farewell}}}}});
  EXPECT_FALSE(file.refused) << refusal_line(file);
  EXPECT_EQ(support::read_file(farewell), "destroyed\n");
}

TEST(Probe, EachFileIsJudgedByItself) {
  const auto files = probe({file_of("good"), file_of("load_segv"), file_of("good")});
  ASSERT_EQ(files.size(), 3U);
  EXPECT_EQ(files[0].types, (std::vector<std::string>{"test.variant"}));
  EXPECT_EQ(files[0].version, "1.2");
  EXPECT_EQ(files[0].abi_version, ALLOT_ABI_VERSION);
  EXPECT_FALSE(files[0].refused);
  EXPECT_TRUE(files[1].refused);
  EXPECT_FALSE(files[2].refused);
}

TEST(Probe, APluginThatHangsTakesNoTimeFromTheOthers) {
  const auto files =
      probe({file_of("load_hang"), file_of("good")}, {.patience = milliseconds(5'000)});
  ASSERT_EQ(files.size(), 2U);
  ASSERT_TRUE(files[0].refused);
  EXPECT_EQ(files[0].refused->refusal, Refusal::kHangs);
  EXPECT_FALSE(files[1].refused) << refusal_line(files[1]);
}

TEST(Probe, AFolderWithABadStartIsDescribed) {
  for (const char* plugin : {"load_segv", "load_leave"}) {
    const auto files = describe(folder_of(plugin));
    ASSERT_EQ(files.size(), 1U);
    ASSERT_TRUE(files[0].refused);
    EXPECT_EQ(files[0].refused->refusal, Refusal::kCrashes);
  }
}

TEST(Probe, LeavesNoChildBehind) {
  (void)probe({file_of("load_hang"), file_of("load_segv"), file_of("good")},
              {.patience = milliseconds(200)});
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

// Some programs start others with SIGCHLD ignored.
TEST(Probe, AnIgnoredSigchldIsNotAnObstacle) {
  const auto before = ::signal(SIGCHLD, SIG_IGN);
  const auto files = probe({file_of("good"), file_of("load_segv")});
  ::signal(SIGCHLD, before);
  EXPECT_FALSE(files[0].refused) << refusal_line(files[0]);
  ASSERT_TRUE(files[1].refused);
  EXPECT_EQ(files[1].refused->refusal, Refusal::kCrashes);
}

}  // namespace
}  // namespace allot::plugin_host
