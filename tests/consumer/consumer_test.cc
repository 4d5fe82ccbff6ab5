// SPDX-License-Identifier: Apache-2.0
// F3: plain cmake builds a plugin outside the repository, from the installed tree alone.
#include <allot/plugin.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "consumer/installed.h"
#include "support/document.h"

namespace allot {
namespace {

const std::string kAbi = "(ABI " + std::to_string(ALLOT_ABI_VERSION) + ")";

class ConsumerTest : public InstalledTest {
 protected:
  // The answer of the installed `allot plugins` for a folder.
  [[nodiscard]] std::string plugins_in(const std::string& folder) const {
    const std::string config =
        work_.write("allot.toml", "[plugins]\nfolder = \"" + folder + "\"\n");
    return must({prefix() + "/bin/allot", "--config", config, "plugins"});
  }
};

// The project as docs/plugins.md shows it.
TEST_F(ConsumerTest, TheProjectOfTheDocumentBuildsInstallsAndLoads) {
  const std::string document = ALLOT_SOURCE_DIR "/docs/plugins.md";
  const std::string project = work_ / "project";
  std::filesystem::create_directory(project);
  const std::string lists = support::first_example(document, "cmake");
  ASSERT_NE(lists.find("find_package(Allot"), std::string::npos) << lists;
  (void)work_.write("project/CMakeLists.txt", lists);
  (void)work_.write("project/hello.cc", support::first_example(document, "cpp"));

  const std::string built = build(project);
  EXPECT_EQ(plugins_in(built), built + "/hello.so: hello 1.0 " + kAbi + ": hello\n");

  must({ALLOT_CMAKE, "--install", built});
  const std::string folder = prefix() + "/" ALLOT_INSTALLED_PLUGINS;
  EXPECT_NE(plugins_in(folder).find("\n" + folder + "/hello.so: hello 1.0"), std::string::npos)
      << plugins_in(folder);
}

TEST_F(ConsumerTest, AnotherPluginFolderMayBeNamed) {
  const std::string project = work_ / "project";
  std::filesystem::create_directory(project);
  (void)work_.write("project/CMakeLists.txt",
                    support::first_example(ALLOT_SOURCE_DIR "/docs/plugins.md", "cmake"));
  (void)work_.write("project/hello.cc",
                    support::first_example(ALLOT_SOURCE_DIR "/docs/first-steps.md", "cpp"));
  must({ALLOT_CMAKE, "--install",
        build(project, {"-DALLOT_PLUGIN_FOLDER=" + (work_ / "my/plugins")})});
  EXPECT_EQ(plugins_in(work_ / "my/plugins"),
            (work_ / "my/plugins/hello.so") + ": hello " + kAbi + ": hello\n");
}

// F2: from nothing to a plugin in the folder of the daemon.
TEST_F(ConsumerTest, ANewPluginBuildsTestsChecksAndInstalls) {
  const std::string allot = prefix() + "/bin/allot";
  const std::string project = work_ / "make_thumbs";
  must({allot, "plugin", "new", "make_thumbs"}, {.directory = work_.path()});
  const std::string built = build(project);
  const std::string tests = must({"ctest", "--test-dir", built, "--verbose"});
  EXPECT_NE(tests.find("[  PASSED  ] 4 tests."), std::string::npos) << tests;
  const std::string line = "make_thumbs.so: make_thumbs 0.1.0 " + kAbi + ": make_thumbs\n";
  EXPECT_EQ(must({allot, "plugin", "check", built + "/make_thumbs.so"}), built + "/" + line);
  must({ALLOT_CMAKE, "--install", built});
  const std::string folder = prefix() + "/" ALLOT_INSTALLED_PLUGINS;
  EXPECT_NE(plugins_in(folder).find(folder + "/" + line), std::string::npos);
}

TEST_F(ConsumerTest, AnInstalledTreeNamesNoFolderOfItsBuild) {
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(prefix() + "/lib")) {
    if (entry.path().extension() != ".cmake") continue;
    ++files;
    const std::string text = support::read_file(entry.path());
    EXPECT_EQ(text.find(ALLOT_SOURCE_DIR), std::string::npos) << entry.path();
    EXPECT_EQ(text.find(prefix()), std::string::npos) << entry.path() << " cannot be moved";
  }
  EXPECT_GE(files, 4U);
}

}  // namespace
}  // namespace allot
