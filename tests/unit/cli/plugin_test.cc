// SPDX-License-Identifier: Apache-2.0
// allot plugin; the project that it writes is built by tests/consumer.
#include <allot/plugin.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "base/exit_codes.h"
#include "support/document.h"
#include "support/process.h"

namespace allot::cli {
namespace {

using Words = std::vector<std::string>;

const std::string kAbi = "(ABI " + std::to_string(ALLOT_ABI_VERSION) + ")";

class PluginCommandTest : public testing::Test {
 protected:
  [[nodiscard]] support::Finished allot(Words words) const {
    words.insert(words.begin(), {ALLOT_PROGRAM, "plugin"});
    return support::run_program(words, {.directory = folder_.path()});
  }
  static std::string plugin(const std::string& name) {
    return ALLOT_TEST_PLUGINS "/" + name + "/" + name + ".so";
  }
  support::TempDir folder_;
};

TEST_F(PluginCommandTest, NewWritesAProjectNamedAsThePlugin) {
  const auto done = allot({"new", "make-thumbs"});
  ASSERT_EQ(done.status.code, kExitOk) << done.err;
  std::set<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder_ / "make-thumbs")) {
    files.insert(entry.path().filename());
    const std::string text = support::read_file(entry.path());
    EXPECT_EQ(text.find("ello"), std::string::npos) << entry.path();
    EXPECT_EQ(text.find("SPDX"), std::string::npos) << "the licence is the author's choice";
  }
  EXPECT_EQ(files, (std::set<std::string>{".gitignore", "CMakeLists.txt", "README.md",
                                          "make-thumbs.cc", "make-thumbs_test.cc"}));
  const std::string source = support::read_file(folder_ / "make-thumbs/make-thumbs.cc");
  EXPECT_NE(source.find("ALLOT_HANDLER(\"make-thumbs\", MakeThumbs)"), std::string::npos);
  EXPECT_NE(done.out.find("cmake -S make-thumbs -B make-thumbs/build"), std::string::npos);
}

TEST_F(PluginCommandTest, NewAsJson) {
  const auto made = nlohmann::json::parse(allot({"new", "thumbs", "--json"}).out);
  EXPECT_EQ(made.at("name"), "thumbs");
  EXPECT_EQ(made.at("folder"), "thumbs");
  ASSERT_EQ(made.at("files").size(), 5U);
  for (const std::string file : made.at("files")) {
    EXPECT_TRUE(std::filesystem::exists(folder_ / ("thumbs/" + file))) << file;
  }
}

TEST_F(PluginCommandTest, NewTakesAnotherFolderAndOverwritesNothing) {
  ASSERT_EQ(allot({"new", "thumbs", "--dir", "deep/er"}).status.code, kExitOk);
  EXPECT_NE(support::read_file(folder_ / "deep/er/thumbs.cc"), "");
  const auto again = allot({"new", "other", "--dir", "deep/er"});
  EXPECT_EQ(again.status.code, kExitCannotCreate);
  EXPECT_EQ(again.err, "allot: the folder deep/er is not empty; name another one with --dir\n");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "deep/er/other.cc"));
  const std::string file = folder_.write("file", "");
  EXPECT_EQ(allot({"new", "other", "--dir", file + "/x"}).status.code, kExitCannotCreate);
}

TEST_F(PluginCommandTest, CheckNeedsNoConfigurationAndJudgesEachFile) {
  const auto good = allot({"check", plugin("good")});
  EXPECT_EQ(good.status.code, kExitOk) << good.err;
  EXPECT_EQ(good.out, plugin("good") + ": variant 1.2 " + kAbi + ": test.variant\n");
  const auto both =
      allot({"check", plugin("wrong_magic"), plugin("good"), "--config", "/nonexistent"});
  EXPECT_EQ(both.status.code, kExitConfig);
  EXPECT_EQ(both.out, "plugin " + plugin("wrong_magic") +
                          " refused (wrong magic): not an Allot plugin; set magic = "
                          "ALLOT_PLUGIN_MAGIC\n" +
                          good.out);
}

TEST_F(PluginCommandTest, CheckAsJson) {
  const auto done = allot({"check", "--json", plugin("good"), plugin("wrong_magic")});
  EXPECT_EQ(done.status.code, kExitConfig);
  const auto list = nlohmann::json::parse(done.out);
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[0], (nlohmann::json{{"file", plugin("good")},
                                     {"name", "variant"},
                                     {"version", "1.2"},
                                     {"abi", ALLOT_ABI_VERSION},
                                     {"types", {"test.variant"}},
                                     {"types_by_config", false},
                                     {"refused", nullptr}}));
  EXPECT_EQ(list[1]["refused"]["reason"], "wrong magic");
}

TEST_F(PluginCommandTest, CheckWithInitMakesTheHandlers) {
  EXPECT_EQ(allot({"check", plugin("init_segv")}).status.code, kExitOk);
  const auto crashed = allot({"check", "--init", plugin("init_segv")});
  EXPECT_EQ(crashed.status.code, kExitConfig);
  EXPECT_NE(crashed.out.find("refused (crashes)"), std::string::npos) << crashed.out;

  const std::string config = folder_.write("allot.toml", "[plugins.init]\nkey = \"set\"\n");
  const auto thrown = allot({"check", "--init", "--config", config, plugin("init_fails")});
  EXPECT_NE(thrown.out.find("(init failed): handler of 'test.throws_int'"), std::string::npos)
      << thrown.out << thrown.err;
}

// The section was meant for a plugin, which does not get it.
TEST_F(PluginCommandTest, ASectionOfNoPluginIsAWarning) {
  const std::string config =
      folder_.write("allot.toml", "[plugins]\nfolder = \"" ALLOT_TEST_PLUGINS
                                  "/good\"\n[plugins.variant]\na = 1\n[plugins.varaint]\na = 1\n"
                                  "[plugins.other]\n");
  const std::string what = " does not belong to any plugin in " ALLOT_TEST_PLUGINS "/good";
  const auto listed = support::run_program({ALLOT_PROGRAM, "plugins", "--config", config});
  EXPECT_EQ(listed.status.code, kExitOk);
  EXPECT_EQ(listed.err, "allot-worker: " + config + ":7: [plugins.other]" + what +
                            "\nallot-worker: " + config + ":5: [plugins.varaint]" + what +
                            "; did you mean [plugins.variant]?\n");
  const auto checked =
      support::run_program({ALLOT_WORKER, "--check", "config", "--config", config});
  EXPECT_EQ(checked.status.code, kExitOk);
  EXPECT_NE(checked.err.find(config + ":5: [plugins.varaint]" + what), std::string::npos)
      << checked.err;
  EXPECT_EQ(checked.err.find("[plugins.variant]" + what), std::string::npos) << checked.err;
}

TEST_F(PluginCommandTest, TheExampleOfExecIsTaken) {
  const std::string example = support::first_example(ALLOT_SOURCE_DIR "/docs/exec.md", "toml");
  ASSERT_NE(example, "");
  const std::string config = folder_.write("allot.toml", example);
  const auto with = allot({"check", "--init", "--config", config, ALLOT_EXEC_PLUGIN});
  EXPECT_EQ(with.out, std::string(ALLOT_EXEC_PLUGIN) + ": exec 0.1.0 " + kAbi + ": thumbs.make\n")
      << with.err;
  const auto without = allot({"check", ALLOT_EXEC_PLUGIN});
  EXPECT_EQ(without.out, std::string(ALLOT_EXEC_PLUGIN) + ": exec 0.1.0 " + kAbi +
                             ": the types that [plugins.exec] names\n");
}

TEST_F(PluginCommandTest, TheExampleOfPipeIsTaken) {
  const std::string example =
      support::first_example(ALLOT_SOURCE_DIR "/docs/pipe-workers.md", "toml");
  ASSERT_NE(example, "");
  const std::string config = folder_.write("allot.toml", example);
  const auto with = allot({"check", "--init", "--config", config, ALLOT_PIPE_PLUGIN});
  EXPECT_EQ(with.out, std::string(ALLOT_PIPE_PLUGIN) + ": pipe 0.1.0 " + kAbi + ": mail.send\n")
      << with.err;
}

TEST_F(PluginCommandTest, AFileMayBeginWithADash) {
  std::filesystem::copy_file(plugin("good"), folder_ / "-x.so");
  EXPECT_EQ(allot({"check", "--", "-x.so"}).out,
            "./-x.so: variant 1.2 " + kAbi + ": test.variant\n");
}

}  // namespace
}  // namespace allot::cli
