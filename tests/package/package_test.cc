// SPDX-License-Identifier: Apache-2.0
// The content of the Debian packages. tests/nightly/packages shows that they install, upgrade and
// purge.
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <regex>
#include <set>
#include <sstream>

#include "support/process.h"
#include "support/temp_dir.h"

namespace allot {
namespace {

using Words = std::vector<std::string>;
const std::string kPrefix = ALLOT_PREFIX;
const char* const kPackages[] = {"allot", "allot-dev", "allot-plugins", ALLOT_CLIENT_PACKAGE};

std::string must(const Words& words) {
  const auto done = support::run_program(words, {}, std::chrono::seconds(240));
  EXPECT_EQ(done.status, (support::ExitStatus{0, 0})) << testing::PrintToString(words) << "\n"
                                                      << done.out << done.err;
  return done.out;
}

std::set<std::string> lines_of(const std::string& text) {
  std::set<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.insert(line);
  return lines;
}

// The packages of this build, made once and unpacked next to each other.
class Packages {
 public:
  Packages() {
    const std::string settings = ALLOT_BUILD_DIR "/CPackConfig.cmake";
    must({ALLOT_CPACK, "-G", "DEB", "--config", settings, "-B", folder_.path(), "-D",
          "CPACK_DEBIAN_COMPRESSION_TYPE=gzip"});
    for (const auto& file : std::filesystem::directory_iterator(folder_.path())) {
      if (file.path().extension() == ".deb") files_.push_back(file.path().string());
    }
    for (const std::string& file : files_) must({"dpkg-deb", "-R", file, unpacked(name(file))});
  }
  // "allot" of "/folder/allot_0.1.0-1_amd64.deb".
  static std::string name(const std::string& file) {
    const std::string base = std::filesystem::path(file).filename().string();
    return base.substr(0, base.find('_'));
  }
  [[nodiscard]] const Words& files() const { return files_; }
  // The folder that has the package's files, and DEBIAN/ with the control files.
  [[nodiscard]] std::string unpacked(const std::string& package) const {
    return folder_ / ("unpacked-" + package);
  }

 private:
  support::TempDir folder_;
  Words files_;
};

class PackageTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { packages_ = std::make_unique<Packages>(); }
  static void TearDownTestSuite() { packages_.reset(); }

  [[nodiscard]] static const Packages& packages() { return *packages_; }
  // All regular files of a package, as paths of the machine where it will be.
  [[nodiscard]] static std::set<std::string> content(const std::string& package) {
    const std::string top = packages().unpacked(package);
    std::set<std::string> found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(top)) {
      const std::string path = entry.path().string().substr(top.size());
      if (!entry.is_directory() && path.rfind("/DEBIAN/", 0) != 0) found.insert(path);
    }
    return found;
  }
  [[nodiscard]] static std::string control(const std::string& package, const std::string& field) {
    return must({"dpkg-deb", "-f", file_of(package), field});
  }
  [[nodiscard]] static std::string file_of(const std::string& package) {
    for (const std::string& file : packages().files()) {
      if (Packages::name(file) == package) return file;
    }
    ADD_FAILURE() << "no package " << package;
    return {};
  }

 private:
  static inline std::unique_ptr<Packages> packages_;
};

TEST_F(PackageTest, ThereAreFour) {
  std::set<std::string> names;
  for (const std::string& file : packages().files()) names.insert(Packages::name(file));
  EXPECT_EQ(names, (std::set<std::string>(std::begin(kPackages), std::end(kPackages))));
}

TEST_F(PackageTest, HoldTheProgramsThePluginsAndTheHeaders) {
  const auto daemon = content("allot");
  for (const char* path :
       {"/sbin/allotd", "/bin/allot", "/libexec/allot/allot-worker",
        "/libexec/allot/allot-embedded", "/libexec/allot/allot-gateway",
        "/lib/systemd/system/allotd.service", "/lib/systemd/system/allot-gateway.service",
        "/lib/sysusers.d/allot.conf", "/lib/tmpfiles.d/allot.conf", "/share/man/man1/allot.1.gz",
        "/share/man/man5/allot.toml.5.gz", "/share/man/man5/allot-ndjson.5.gz",
        "/share/man/man8/allotd.8.gz", "/share/man/man8/allot-worker.8.gz",
        "/share/man/man8/allot-embedded.8.gz", "/share/man/man8/allot-gateway.8.gz",
        "/share/bash-completion/completions/allot"}) {
    EXPECT_EQ(daemon.count(kPrefix + path), 1U) << path;
  }
  const std::string zsh = kPrefix == "/usr" ? "vendor-completions" : "site-functions";
  EXPECT_EQ(daemon.count(kPrefix + "/share/zsh/" + zsh + "/_allot"), 1U);
  const std::string plugins = kPrefix + "/" ALLOT_INSTALLED_PLUGINS "/";
  EXPECT_EQ(content("allot-plugins").count(plugins + "exec.so"), 1U);
  EXPECT_EQ(content("allot-plugins").count(plugins + "http.so"), 1U);
  EXPECT_EQ(content("allot-plugins").count(plugins + "digest.so"), 1U);
  EXPECT_EQ(content("allot-plugins").count(plugins + "pipe.so"), 1U);
  for (const char* path : {"allot_pipe.py", "allot_pipe.php", "allot_pipe.rb", "allot_pipe.js",
                           "AllotPipe.pm", "examples/greet.py", "examples/greet.pl"}) {
    EXPECT_EQ(content("allot-plugins").count(kPrefix + "/share/allot/pipe/" + path), 1U) << path;
  }
  for (const char* path : {"/include/allot/plugin.hpp", "/include/allot/client.h",
                           "/include/allot/submit_options.h"}) {
    EXPECT_EQ(content("allot-dev").count(kPrefix + path), 1U) << path;
  }
}

// Programs that link it stay with the package of its soname; only builders need the other one.
TEST_F(PackageTest, TheClientLibraryIsOfItsSoname) {
  const std::string folder = kPrefix + "/" ALLOT_INSTALLED_LIBRARIES "/";
  const std::string library = folder + "liballot-client.so." ALLOT_CLIENT_SOVERSION;
  EXPECT_EQ(content(ALLOT_CLIENT_PACKAGE).count(library), 1U);
  EXPECT_EQ(content(ALLOT_CLIENT_PACKAGE).count(folder + "liballot-client.so"), 0U);
  EXPECT_EQ(content("allot-dev").count(folder + "liballot-client.so"), 1U);
  EXPECT_EQ(content("allot-dev").count(folder + "pkgconfig/allot-client.pc"), 1U);
  const std::string top = packages().unpacked(ALLOT_CLIENT_PACKAGE);
  EXPECT_NE(must({"readelf", "-dW", top + library})
                .find("[liballot-client.so." ALLOT_CLIENT_SOVERSION "]"),
            std::string::npos);
  EXPECT_NE(support::read_file(top + "/DEBIAN/shlibs")
                .find("liballot-client " ALLOT_CLIENT_SOVERSION " " ALLOT_CLIENT_PACKAGE),
            std::string::npos)
      << support::read_file(top + "/DEBIAN/shlibs");
  EXPECT_EQ(support::read_file(top + "/DEBIAN/triggers"), "activate-noawait ldconfig\n");
  EXPECT_NE(control("allot-dev", "Depends").find(ALLOT_CLIENT_PACKAGE " (= " ALLOT_VERSION),
            std::string::npos);
  EXPECT_NE(control(ALLOT_CLIENT_PACKAGE, "Depends").find("libmariadb3"), std::string::npos);
}

TEST_F(PackageTest, HaveNothingOutsideThePrefixButConfiguration) {
  for (const char* package : kPackages) {
    for (const std::string& path : content(package)) {
      EXPECT_TRUE(path.rfind(kPrefix + "/", 0) == 0 || path.rfind("/etc/", 0) == 0) << path;
    }
  }
}

// A file that is missing here would overwrite what an administrator wrote.
TEST_F(PackageTest, EveryFileBelowEtcIsAConffile) {
  for (const char* package : kPackages) {
    std::set<std::string> configuration;
    for (const std::string& path : content(package)) {
      if (path.rfind("/etc/", 0) == 0) configuration.insert(path);
    }
    EXPECT_EQ(configuration,
              lines_of(support::read_file(packages().unpacked(package) + "/DEBIAN/conffiles")))
        << package;
  }
  EXPECT_EQ(content("allot").count("/etc/allot/allot.toml"), 1U);
}

TEST_F(PackageTest, HaveCopyrightAndChangelog) {
  for (const std::string package : kPackages) {
    const std::string folder = kPrefix + "/share/doc/" + package + "/";
    EXPECT_EQ(content(package).count(folder + "copyright"), 1U) << package;
    const std::string changes = packages().unpacked(package) + folder + "changelog.Debian.gz";
    EXPECT_EQ(must({"gzip", "-dc", changes}).rfind("allot (" ALLOT_VERSION "-", 0), 0U);
    EXPECT_EQ(control(package, "Version").rfind(ALLOT_VERSION "-", 0), 0U);
  }
  const std::string changelog = support::read_file(ALLOT_SOURCE_DIR "/CHANGELOG.md");
  EXPECT_NE(changelog.find("\n## " ALLOT_VERSION), std::string::npos)
      << "the version of CMakeLists.txt has no section in CHANGELOG.md";
}

TEST_F(PackageTest, DependOnWhatTheyLoadAndOnNoServer) {
  EXPECT_NE(control("allot", "Depends").find("libmariadb3"), std::string::npos);
  EXPECT_NE(control("allot-plugins", "Depends").find("libpocofoundation"), std::string::npos);
  for (const char* field : {"Depends", "Recommends", "Pre-Depends"}) {
    EXPECT_EQ(control("allot", field).find("-server"), std::string::npos) << field;
  }
}

TEST_F(PackageTest, AreStrippedAndNameNoFolderOfThisMachine) {
  for (const char* package : kPackages) {
    const std::string top = packages().unpacked(package);
    for (const std::string& path : content(package)) {
      const std::string bytes = support::read_file(top + path);
      EXPECT_EQ(bytes.find(ALLOT_SOURCE_DIR), std::string::npos) << path;
      if (bytes.rfind("\x7f"
                      "ELF",
                      0) != 0)
        continue;
      EXPECT_EQ(must({"readelf", "-SW", top + path}).find(".symtab"), std::string::npos) << path;
    }
  }
}

TEST_F(PackageTest, TheUnitsStartProgramsThatAreInstalled) {
  for (const std::string name : {"allotd", "allot-gateway"}) {
    const std::string unit = support::read_file(packages().unpacked("allot") + kPrefix +
                                                "/lib/systemd/system/" + name + ".service");
    std::smatch program;
    ASSERT_TRUE(std::regex_search(unit, program, std::regex("ExecStart=(\\S+)"))) << unit;
    EXPECT_EQ(content("allot").count(program[1]), 1U) << program[1];
  }
}

// With this, a package that brings a plugin has the workers reloaded.
TEST_F(PackageTest, ThePluginFolderIsWatched) {
  const std::string triggers =
      support::read_file(packages().unpacked("allot") + "/DEBIAN/triggers");
  EXPECT_NE(triggers.find("interest-noawait " + kPrefix + "/" ALLOT_INSTALLED_PLUGINS "\n"),
            std::string::npos)
      << triggers;
}

TEST_F(PackageTest, TheScriptsParse) {
  for (const char* script : {"postinst", "prerm", "postrm"}) {
    must({"sh", "-n", packages().unpacked("allot") + "/DEBIAN/" + script});
  }
}

}  // namespace
}  // namespace allot
