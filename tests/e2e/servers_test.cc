// SPDX-License-Identifier: Apache-2.0
// The daemon and its database: servers that change their roles.
#include <gtest/gtest.h>

#include "e2e/daemon.h"
#include "support/replication.h"

namespace allot::e2e::servers_test {
namespace {

using support::Database;
using support::eventually;

std::string place(const Database& server) {
  return "127.0.0.1:" + std::to_string(server.tcp().port);
}

void add_account(Database& server) {
  server.connect().execute(support::account("app@'127.0.0.1'"));
}

// S2, with idle workers: they only read, and only rows of their old server. Nothing is replicated
// here, so a task that runs was read on the new one.
TEST(Servers, IdleWorkersAndSubmittersFollowTheWritableOne) {
  Database first({}, support::Network::kTcp);
  Database second({}, support::Network::kTcp);
  add_account(first);
  add_account(second);
  db::Connection at_first = first.connect();
  db::Connection at_second = second.connect(second.make_database());
  at_second.execute("SET GLOBAL read_only = 1");
  Daemon daemon({.workers = 1,  // a second one might connect after the change
                 .server = &first,
                 .database_keys = "hosts = [\"127.0.0.1:1\", \"" + place(first) + "\", \"" +
                                  place(second) + "\"]\nuser = \"app\""});
  // Rows of a replica.
  at_second.execute("INSERT INTO server_identity VALUES (1, 'first', 1, '2025-01-01', 0)");
  (void)daemon.submit("test.write", "a");
  ASSERT_TRUE(eventually([&] { return daemon.drained(); })) << daemon.log();
  EXPECT_TRUE(daemon.logged("database.connected server=" + place(first))) << daemon.log();
  EXPECT_TRUE(daemon.logged("database.skipped server=" + place(first) +
                            " text=\"database at 127.0.0.1:1: connect: "))
      << daemon.log();

  at_first.execute("SET GLOBAL read_only = 1");
  at_second.execute("SET GLOBAL read_only = 0");
  (void)daemon.submit("test.write", "b");
  const auto left = [&] { return support::number_of(at_second, "SELECT COUNT(*) FROM task"); };
  ASSERT_TRUE(eventually([&] { return daemon.written().size() == 2 && left() == 0; }))
      << daemon.log();
  EXPECT_EQ(daemon.written(), (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(daemon.logged("error=\"database at " + place(first) + " is read-only: not used\""))
      << daemon.log();
  EXPECT_EQ(daemon.stop()->code, 0);
}

}  // namespace
}  // namespace allot::e2e::servers_test
