// SPDX-License-Identifier: Apache-2.0
// Builds the programs of docs/client.md outside of this repository, from the installed tree, and
// runs them.
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <sstream>

#include "consumer/installed.h"
#include "support/database.h"
#include "support/document.h"

namespace allot {
namespace {

using support::Database;

const std::string kDocument = ALLOT_SOURCE_DIR "/docs/client.md";

class ClientConsumerTest : public InstalledTest {
 protected:
  void SetUp() override {
    if (!std::string(ALLOT_SANITIZERS).empty()) {
      GTEST_SKIP()
          << "a stranger's program has no sanitizer, and the library of this build has one";
    }
    std::filesystem::create_directory(project_);
    name_ = Database::shared().make_database();
    config_ = work_.write("allot.toml", "[database]\nsocket = \"" + Database::shared().socket() +
                                            "\"\nuser = \"root\"\nname = \"" + name_ + "\"\n");
  }
  [[nodiscard]] static std::string example(std::size_t number) {
    return support::examples(kDocument, "cpp").at(number);
  }
  // Runs a shell in the project's folder, which finds the installed tree where it looks for it.
  [[nodiscard]] std::string shell(const std::string& command) const {
    support::ProcessOptions options;
    const std::string libraries = prefix() + "/" ALLOT_INSTALLED_LIBRARIES;
    options.environment = {"ALLOT_CONFIG=" + config_, "LD_LIBRARY_PATH=" + libraries,
                           "PKG_CONFIG_PATH=" + libraries + "/pkgconfig"};
    options.directory = project_;
    return must({"sh", "-ec", command}, options);
  }
  static void expect_greeting(const std::string& out) {
    EXPECT_TRUE(std::regex_match(out, std::regex("[0-9a-z]+\nhello is delayed\ncancelled\n")))
        << out;
  }
  [[nodiscard]] std::string value(const std::string& sql) const {
    db::Connection db = Database::shared().connect(name_);
    return support::value_of(db, sql);
  }

  std::string project_ = work_ / "project";
  std::string name_;
  std::string config_;
};

TEST_F(ClientConsumerTest, TheFirstProgramBuildsAndSubmits) {
  (void)work_.write("project/greeter.cc", example(0));
  (void)work_.write("project/CMakeLists.txt", support::first_example(kDocument, "cmake"));
  const std::string built = build(project_);
  expect_greeting(must({built + "/greeter"}, {.environment = {"ALLOT_CONFIG=" + config_}}));
  EXPECT_EQ(value("SELECT payload FROM task"), "world");
}

TEST_F(ClientConsumerTest, WithoutCmakeToo) {
  (void)work_.write("project/greeter.cc", example(0));
  (void)shell(support::first_example(kDocument, "sh"));
  expect_greeting(shell("./greeter"));
}

TEST_F(ClientConsumerTest, AnOrderAndItsMailAreOneTransaction) {
  (void)work_.write("project/order.cc", example(1) + R"(
#include <cstdlib>
int main() {
  MYSQL* shop = mysql_init(nullptr);
  if (mysql_real_connect(shop, nullptr, "root", "", getenv("NAME"), 0, getenv("SOCKET"), 0) == nullptr)
    return 1;
  must(shop, "CREATE TABLE orders (number INT PRIMARY KEY) ENGINE=InnoDB");
  allot::Client client = allot::Client::from_file();
  place_order(shop, client, 4711);
  try {
    place_order(shop, client, 4711);
    return 2;
  } catch (const std::runtime_error&) {
  }
  mysql_close(shop);
}
)");
  (void)shell(
      "g++ -std=c++20 -Wall -Wextra -Werror order.cc -o order $(pkg-config --cflags --libs"
      " allot-client mysqlclient) && SOCKET=" +
      Database::shared().socket() + " NAME=" + name_ + " ./order");
  EXPECT_EQ(value("SELECT COUNT(*) FROM orders"), "1");
  EXPECT_EQ(value("SELECT GROUP_CONCAT(type, payload) FROM task"), "mail4711");
}

TEST_F(ClientConsumerTest, TheSettingsOfTheDocumentCompile) {
  (void)work_.write("project/settings.cc", example(2));
  (void)shell(
      "g++ -std=c++20 -Wall -Wextra -Werror -c settings.cc $(pkg-config --cflags allot-client)");
  EXPECT_EQ(support::examples(kDocument, "cpp").size(), 3U) << "another one is not tested here";
}

// An application needs only the header: it includes nothing else of ours, and no other library.
TEST_F(ClientConsumerTest, TheLibraryShowsItsOwnSymbolsOnly) {
  const std::string symbols =
      must({"nm", "-DC", "--defined-only",
            prefix() + "/" ALLOT_INSTALLED_LIBRARIES "/liballot-client.so"});
  std::istringstream lines(symbols);
  int shown = 0;
  for (std::string line; std::getline(lines, line); ++shown) {
    EXPECT_TRUE(std::regex_search(
        line, std::regex("allot::(Client(Error)?|Lock)::|allot::name_of\\(allot::TaskState\\)|"
                         " for allot::ClientError@|A ALLOT_CLIENT$")))
        << line;
  }
  EXPECT_GT(shown, 15);
}

}  // namespace
}  // namespace allot
