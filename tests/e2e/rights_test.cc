// SPDX-License-Identifier: Apache-2.0
// The accounts of sql/grants, which `allot grants` prints, over verified TLS.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <sstream>

#include "base/exit_codes.h"
#include "e2e/daemon.h"
#include "support/certificates.h"
#include "support/document.h"
#include "support/text.h"

namespace allot::e2e::rights_test {
namespace {

using support::eventually;

struct Server {
  support::Authority authority;
  support::Authority::Files files = authority.issue("server", "IP:127.0.0.1");
  support::Database database{{"--ssl-ca=" + authority.ca(), "--ssl-cert=" + files.cert,
                              "--ssl-key=" + files.key, "--require-secure-transport"},
                             support::Network::kTcp};
};

struct Right {
  std::string privilege;
  std::string table;
};

class RightsTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { server_ = new Server; }
  static void TearDownTestSuite() {
    delete server_;
    server_ = nullptr;
  }

  RightsTest() : root_(server_->database.connect()) {
    const std::string secret = folder_.write("secret", "change-me\n");
    EXPECT_EQ(::chmod(secret.c_str(), 0600), 0);
    const std::string keys =
        "host = \"127.0.0.1\"\nport = " + std::to_string(server_->database.tcp().port) +
        "\nuser = \"allot_worker\"\npassword_file = \"" + secret +
        "\"\ntls = \"verify\"\ntls_ca = \"" + server_->authority.ca() + "\"";
    daemon_ = std::make_unique<Daemon>(
        DaemonOptions{.queue_keys = "max_attempts = 3\ndetach_after = \"1ms\"",
                      .more = "[queues.still]\ndetach_after = \"0s\"\n"
                              "[queues.tenants]\nplacement = \"fair\"\npartitions = 2\n",
                      .migrate = false,
                      .start = false,
                      .server = &server_->database,
                      .database_keys = keys});
    make("allot_migrate");
    const auto migrated = as("allot_migrate", {"migrate"});
    EXPECT_EQ(migrated.status.code, kExitOk) << migrated.err;
    for (const char* account : {"allot_worker", "allot_submit", "allot_fair", "allot_lock",
                                "allot_reader", "allot_operator"}) {
      make(account);
    }
  }
  RightsTest(const RightsTest&) = delete;
  RightsTest& operator=(const RightsTest&) = delete;
  ~RightsTest() override {
    daemon_.reset();
    for (const std::string& account : made_) root_.execute("DROP USER '" + account + "'@'%'");
  }

  // `allot` with the configuration of the daemon, but another account.
  [[nodiscard]] support::Finished as(const std::string& account,
                                     std::vector<std::string> words) const {
    const std::string config = support::replaced_first(support::read_file(daemon_->config_file()),
                                                       "allot_worker", account);
    words.insert(words.begin(), {program("allot"), "--config", folder_.write(account, config)});
    return support::run_program(std::move(words));
  }

  [[nodiscard]] std::vector<std::string> statements_of(const std::string& account) const {
    return support::grants(account.substr(6), daemon_->database());  // behind "allot_"
  }
  // Every privilege of the account, one by one.
  [[nodiscard]] std::vector<Right> rights(const std::string& account) const {
    std::vector<Right> all;
    const std::string of_ours = " ON " + daemon_->database() + ".";
    for (const std::string& statement : statements_of(account)) {
      const std::size_t on = statement.find(of_ours);
      if (on == std::string::npos) continue;
      const std::size_t table_at = on + of_ours.size();
      const std::string table =
          statement.substr(table_at, statement.find(' ', table_at) - table_at);
      std::istringstream privileges(statement.substr(6, on - 6));
      for (std::string privilege; std::getline(privileges >> std::ws, privilege, ',');) {
        all.push_back({privilege, table});
      }
    }
    return all;
  }

  // Messages that refuse the account, without each of its privileges in turn.
  void expect_each_to_be_missed(const std::string& account, const std::vector<std::string>& words) {
    for (const Right& right : rights(account)) {
      if (right.privilege == "EXECUTE") continue;  // missed by a warning
      const std::string place = " ON " + daemon_->database() + "." + right.table;
      const std::string who = " '" + account + "'@'%'";
      root_.execute("REVOKE " + right.privilege + place + " FROM" + who);
      const auto done = as(account, words);
      root_.execute("GRANT " + right.privilege + place + " TO" + who);
      EXPECT_EQ(done.status.code, kExitConfig) << right.privilege << place;
      EXPECT_NE(done.err.find("GRANT " + right.privilege + " ON `" + daemon_->database() + "`.`" +
                              right.table + "` TO" + who),
                std::string::npos)
          << right.privilege << place << ": " << done.err;
      EXPECT_EQ(std::count(done.err.begin(), done.err.end(), '\n'), 1) << done.err;
    }
  }

  static Server* server_;
  support::TempDir folder_;
  db::Connection root_;
  std::unique_ptr<Daemon> daemon_;

 private:
  void make(const std::string& account) {
    for (const std::string& statement : statements_of(account)) root_.execute(statement);
    made_.push_back(account);
  }

  std::vector<std::string> made_;
};
Server* RightsTest::server_ = nullptr;

// Every path of a task, the death of a worker, and the death of the whole daemon.
TEST_F(RightsTest, TheRightsOfItsRoleAreEnough) {
  Daemon& daemon = *daemon_;
  daemon.start();
  for (const auto& [type, payload] : {std::pair{"test.write", "a"},
                                      {"test.retry", "no"},
                                      {"test.fail", "never"},
                                      {"test.crash", "segv"},
                                      {"no.such", "x"}}) {
    const auto done = as("allot_submit", {"submit", "default", type, payload});
    ASSERT_EQ(done.status.code, kExitOk) << done.err;
  }
  ASSERT_TRUE(eventually([&] { return daemon.count("task_dead") == 3; })) << daemon.log();
  ASSERT_TRUE(eventually([&] { return daemon.logged("task.no_handler"); })) << daemon.log();
  // Tasks that run when everything dies are found by the next run, and run with care, detached or
  // not.
  for (const char* queue : {"default", "still"}) {
    ASSERT_EQ(as("allot_submit", {"submit", queue, "test.spin", ""}).status.code, kExitOk);
  }
  ASSERT_TRUE(eventually([&] {
    return daemon.busy_workers().size() == 2 && daemon.count("task_running") == 1;
  })) << daemon.log();
  const auto workers = daemon.workers();
  daemon.process().kill9();
  for (const pid_t worker : workers) support::send_signal(worker, SIGKILL);
  daemon.start();
  ASSERT_TRUE(eventually([&] { return daemon.busy_workers().size() == 2; })) << daemon.log();
  EXPECT_TRUE(daemon.logged("lease.reclaimed")) << daemon.log();
  EXPECT_TRUE(daemon.logged("task.recovered")) << daemon.log();
  EXPECT_FALSE(daemon.logged("denied")) << daemon.log();
  daemon.stop(SIGQUIT);
  EXPECT_EQ(daemon.written(), (std::vector<std::string>{"a"}));

  for (const char* account : {"allot_reader", "allot_operator"}) {
    const auto dead = as(account, {"dead", "list", "--json"});
    EXPECT_EQ(nlohmann::json::parse(dead.out).size(), 3U) << dead.err;
    EXPECT_EQ(as(account, {"dead", "groups"}).status.code, kExitOk);
    EXPECT_EQ(as(account, {"status"}).status.code, kExitOk);
  }
}

TEST_F(RightsTest, AnOperatorsRightsAreEnough) {
  Daemon& daemon = *daemon_;
  daemon.start();
  for (int i = 0; i < 2; ++i) {
    const auto done = as("allot_submit", {"submit", "default", "test.fail", "never"});
    ASSERT_EQ(done.status.code, kExitOk) << done.err;
  }
  ASSERT_TRUE(eventually([&] { return daemon.count("task_dead") == 2; })) << daemon.log();
  const std::string id =
      nlohmann::json::parse(as("allot_reader", {"dead", "list", "--json"}).out).at(0).at("task");
  EXPECT_EQ(as("allot_reader", {"dead", "retry", id}).status.code, kExitConfig);
  daemon.stop();
  std::string needless = as("allot_submit", {"submit", "default", "test.fail", "never"}).out;
  needless.pop_back();
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"task", "cancel", needless, "--as-done"},
        {"queue", "pause", "default"},
        {"queue", "pause", "default", "--reason", "again"},
        {"queue", "resume", "default"},
        {"schedule", "add", "s", "@yearly", "default", "test.fail", "--unique-key", "k"},
        {"schedule", "add", "s", "@monthly", "default", "test.fail", "--replace"},
        {"schedule", "pause", "s"},
        {"schedule", "resume", "s"},
        {"schedule", "run-now", "s"},
        {"schedule", "show", "s"},
        {"schedule", "remove", "s", "--yes"},
        {"dead", "retry", id},
        {"why", id},
        {"task", "cancel", id},
        {"dead", "retry", id},
        {"dead", "discard", "--queue", "default", "--all", "--yes"},
        {"queue", "resize", "default", "40"},
        {"route", "set", "t.*", "still", "--from", "default", "--yes"},
        {"route", "set", "t.*", "default", "--any-queue"},
        {"route", "remove", "t.*", "--from", "default", "--yes"},
        {"queue", "move", "default", "still", "--yes"}}) {
    const auto done = as("allot_operator", words);
    EXPECT_EQ(done.status.code, kExitOk) << done.err;
  }
  EXPECT_EQ(daemon.count("task"), 2U) << "one of the schedule";
  EXPECT_EQ(daemon.count("task_dead"), 0U);
}

TEST_F(RightsTest, EachRightOfTheDaemonIsMissedByNameBeforeItStarts) {
  EXPECT_EQ(rights("allot_worker").size(), 101U);
  root_.execute("DELETE FROM " + daemon_->database() + ".queue");  // so that it is created again
  expect_each_to_be_missed("allot_worker", {"check"});
  const auto checked = as("allot_worker", {"check"});
  EXPECT_EQ(checked.status.code, kExitOk);
  EXPECT_FALSE(support::has(checked.err, "procedures")) << checked.err;
  root_.execute("REVOKE EXECUTE ON " + daemon_->database() + ".* FROM 'allot_worker'@'%'");
  const auto blind = as("allot_worker", {"check"});
  EXPECT_EQ(blind.status.code, kExitOk);
  EXPECT_TRUE(support::has(blind.err, "GRANT EXECUTE ON `" + daemon_->database() + "`.* TO"))
      << blind.err;
}

TEST_F(RightsTest, EachRightOfASubmitterIsMissedByName) {
  root_.execute("UPDATE " + daemon_->database() + ".queue SET routed = 1");  // so that he looks
  expect_each_to_be_missed("allot_submit", {"submit", "default", "t", "p", "--unique-key", "k"});
  const auto reading = as("allot_submit", {"tasks"});
  EXPECT_EQ(reading.status.code, kExitConfig);
  EXPECT_NE(reading.err.find("to allow it: GRANT SELECT ON"), std::string::npos) << reading.err;
}

TEST_F(RightsTest, EachRightOfWhoTakesLocksIsMissedByName) {
  expect_each_to_be_missed("allot_lock", {"lock", "run", "x", "--", "true"});
  const auto done = as("allot_lock", {"lock", "run", "x", "--wait", "1m", "--", "true"});
  EXPECT_EQ(done.status.code, kExitOk) << done.err << "which waits for the ticket of who failed";
}

TEST_F(RightsTest, ASubmitterToFairQueuesMayDoWhatHeMust) {
  for (const char* key : {"a", "b", "c", "a"}) {
    const auto done = as("allot_fair", {"submit", "tenants", "t", "p", "--partition-key", key});
    EXPECT_EQ(done.status.code, kExitOk) << done.err;
  }
  EXPECT_EQ(daemon_->count("fair_partition"), 4U) << "three keys, and the lock";
  const auto reading = as("allot_fair", {"tasks"});
  EXPECT_EQ(reading.status.code, kExitConfig) << reading.out;
}

}  // namespace
}  // namespace allot::e2e::rights_test
