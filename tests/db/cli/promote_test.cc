// SPDX-License-Identifier: Apache-2.0
// Rule: S52.
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/exit_codes.h"
#include "db/cli/fixture.h"
#include "queue/model/server_change.h"

namespace allot::cli {
namespace {

class PromoteTest : public OwnDatabaseTest {
 protected:
  // Uses the runtime folder of a daemon.
  PromoteTest() {
    must({"migrate"});
    std::filesystem::create_directory(folder_ / "run");
  }
};

TEST_F(PromoteTest, RaisesTheTermOfTheOnlyServer) {
  const std::string first = must({"promote"});
  EXPECT_TRUE(has(first, "is the writer, with term 2\n"));
  const auto report = nlohmann::json::parse(must({"promote", "--json"}));
  EXPECT_EQ(report["term"], 4);
  EXPECT_EQ(report["writer"], "socket " + server_.socket());
  EXPECT_TRUE(report["also_writable"].empty());
}

// The server was restored from a copy, and this host has seen a higher term.
TEST_F(PromoteTest, BringsARestoredServerAboveTheTermThatTheHostHasSeen) {
  queue::note_server(observer_);
  observer_.execute("UPDATE server_identity SET term = 7");
  must({"status"});
  observer_.execute("UPDATE server_identity SET term = 1");
  const auto refused = allot({"status"});
  EXPECT_EQ(refused.status.code, kExitUnavailable);
  EXPECT_TRUE(has(refused.err, "has term 1, and another server has term 7: not used"));
  EXPECT_TRUE(has(must({"promote"}), "is the writer, with term 9\n"));
  must({"status"});
}

TEST_F(PromoteTest, AServerHasToBeOfTheList) {
  const auto refused = allot({"promote", "db9"});
  EXPECT_EQ(refused.status.code, kExitUsage);
  EXPECT_TRUE(has(refused.err, "'db9': [database] has a socket, so there is one server"));
}

}  // namespace
}  // namespace allot::cli
