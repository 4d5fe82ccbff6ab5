// SPDX-License-Identifier: Apache-2.0
// Rule: S72.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "plugin_host/plugin_library.h"
#include "support/temp_dir.h"
#include "unit/plugin_host/fixture.h"

namespace allot::plugin_host {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kSelf = 1000;
constexpr uid_t kOther = 1001;

// A real plugin in a real folder, as any user.
class UnsafePluginTest : public testing::Test {
 protected:
  UnsafePluginTest() {
    fs::create_directories(above_ + "/plugins");
    fs::copy_file(folder_of("good") + "/good.so", file_);
    for (const std::string& folder : {above_, plugins_}) mode(folder, 0755);
    mode(file_, 0755);
    mode(root_.path(), 0755);
  }
  static void mode(const std::string& path, mode_t mode) {
    ASSERT_EQ(::chmod(path.c_str(), mode), 0) << path;
  }
  static void owner(const std::string& path, uid_t uid) {
    ASSERT_EQ(::chown(path.c_str(), uid, static_cast<gid_t>(-1)), 0) << path;
  }
  // Reason why describing and loading refuse the folder's only plugin.
  [[nodiscard]] std::string refusal() const {
    const auto files = describe(plugins_);
    if (files.size() != 1) return "not one file";
    const auto error = load_failure(plugins_);
    if (!files[0].refused) return error ? error->what() : "";
    const std::string line = refusal_line(files[0]);
    EXPECT_TRUE(error && error->what() == line) << line;
    return line;
  }
  [[nodiscard]] std::string line(const std::string& reason) const {
    return "plugin " + plugins_ + "/a.so refused (" + reason;
  }

  support::TempDir root_;
  const std::string above_ = root_ / "above";
  const std::string plugins_ = above_ + "/plugins";
  const std::string file_ = plugins_ + "/a.so";
};

TEST_F(UnsafePluginTest, IsTakenWhenNoOtherUserCanChangeIt) {
  EXPECT_EQ(refusal(), "");
}

TEST_F(UnsafePluginTest, AWorldWritableFileIsRefused) {
  mode(file_, 0757);
  EXPECT_EQ(refusal(),
            line("world-writable file): every account may change it; chmod o-w " + file_));
}

TEST_F(UnsafePluginTest, AWorldWritableFolderIsRefused) {
  for (const mode_t bits : {0757U, 01777U}) {
    mode(plugins_, bits);
    EXPECT_EQ(refusal(),
              line("world-writable folder): every account may put files into the folder " +
                   plugins_ + "; chmod o-w " + plugins_));
  }
}

TEST_F(UnsafePluginTest, AWorldWritableFolderAboveIsRefused) {
  mode(above_, 0777);
  EXPECT_EQ(refusal(),
            line("world-writable folder): every account may replace files in the folder " + above_ +
                 " above it; chmod o-w " + above_));
  mode(above_, 01777);
  EXPECT_EQ(refusal(), "");
}

TEST_F(UnsafePluginTest, ALinkIsAsSafeAsWhatItPointsTo) {
  fs::create_directory(root_ / "elsewhere");
  const std::string elsewhere = root_ / "elsewhere";
  mode(elsewhere, 0755);
  fs::rename(file_, elsewhere + "/b.so.1");
  fs::create_symlink(elsewhere + "/b.so.1", file_);
  EXPECT_EQ(refusal(), "");
  mode(elsewhere, 0777);
  EXPECT_EQ(refusal().rfind(line("world-writable folder)"), 0), 0U) << refusal();
  mode(elsewhere, 0755);
  mode(elsewhere + "/b.so.1", 0666);
  EXPECT_EQ(refusal().rfind(line("world-writable file)"), 0), 0U) << refusal();
  mode(elsewhere + "/b.so.1", 0644);
  mode(plugins_, 0777);
  EXPECT_EQ(refusal().rfind(line("world-writable folder)"), 0), 0U) << refusal();
}

// Only root can change the owner of a file.
class ForeignPluginTest : public UnsafePluginTest {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  }
  // refusal() as this user, in a child.
  [[nodiscard]] std::string refusal_as(uid_t uid) const {
    int ends[2];
    if (::pipe(ends) != 0) return "no pipe";
    const pid_t pid = ::fork();
    if (pid == 0) {
      std::string said = "no user";
      if (::setresuid(uid, uid, uid) == 0) said = refusal();
      const bool written = ::write(ends[1], said.data(), said.size()) >= 0;
      ::_exit(written ? 0 : 1);
    }
    ::close(ends[1]);
    std::string said;
    char buffer[4096];
    for (ssize_t got = 0; (got = ::read(ends[0], buffer, sizeof buffer)) > 0;) {
      said.append(buffer, static_cast<std::size_t>(got));
    }
    ::close(ends[0]);
    int status = -1;
    ::waitpid(pid, &status, 0);
    return status == 0 ? said : "the child died";
  }
};

TEST_F(ForeignPluginTest, AnothersFileIsRefused) {
  owner(file_, kOther);
  EXPECT_EQ(refusal(),
            line("wrong owner): it belongs to uid 1001, not to root; chown root " + file_));
  EXPECT_EQ(refusal_as(kSelf), line("wrong owner): it belongs to uid 1001, not to root or uid 1000 "
                                    "who runs this; chown root " +
                                    file_));
}

TEST_F(ForeignPluginTest, AnothersFolderIsRefused) {
  owner(plugins_, kOther);
  const std::string start =
      line("wrong owner of the folder): the folder " + plugins_ + " belongs to uid 1001, not to ");
  EXPECT_EQ(refusal(), start + "root; chown root " + plugins_);
  EXPECT_EQ(refusal_as(kSelf), start + "root or uid 1000 who runs this; chown root " + plugins_);
}

TEST_F(ForeignPluginTest, AnothersFolderAboveIsRefused) {
  owner(above_, kOther);
  EXPECT_EQ(refusal(), line("wrong owner of the folder): the folder " + above_ +
                            " above it belongs to uid 1001, not to root; chown root " + above_));
}

TEST_F(ForeignPluginTest, AUserTakesRootsAndItsOwn) {
  EXPECT_EQ(refusal_as(kSelf), "");
  owner(plugins_, kSelf);
  owner(file_, kSelf);
  EXPECT_EQ(refusal_as(kSelf), "");
}

}  // namespace
}  // namespace allot::plugin_host
