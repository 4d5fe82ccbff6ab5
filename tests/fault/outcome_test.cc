// SPDX-License-Identifier: Apache-2.0
// S55: a lost connection is never reported as a refusal, and an outcome is reported as unknown only
// where it is. Each case with and without TLS, with the same results.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "allot/client.h"
#include "base/exit_codes.h"
#include "e2e/daemon.h"
#include "e2e/gateway.h"
#include "fault/proxy.h"
#include "support/db_error.h"
#include "support/http_client.h"

namespace allot::fault {
namespace {

using e2e::Daemon;
using std::chrono::milliseconds;
using std::chrono::seconds;
using support::eventually;

class OutcomeTest : public testing::TestWithParam<Wire> {
 protected:
  [[nodiscard]] db::Connection connect(milliseconds patience = seconds(10)) const {
    auto options = proxy_.to_proxy(server_.options(database_));
    options.call_timeout = patience;
    return db::Connection(options);
  }
  [[nodiscard]] e2e::DaemonOptions daemon_options() const {
    e2e::DaemonOptions options;
    options.workers = 1;
    options.start = false;
    options.database_keys = proxy_.database_keys() + "\nuser = \"root\"";
    return options;
  }
  std::uint64_t rows() {
    auto direct = server_.connect(database_);
    return support::number_of(direct, "SELECT COUNT(*) FROM t");
  }
  // Executes `sql` during `trouble`, and expects a lost connection.
  static void lose(db::Connection& db, const std::string& sql, bool outcome_unknown) {
    const auto error = support::db_error_of([&] { db.execute(sql); });
    ASSERT_TRUE(error) << sql;
    EXPECT_EQ(error->error_class(), db::ErrorClass::kGone) << error->what();
    EXPECT_EQ(error->exit_code(), kExitUnavailable);
    EXPECT_EQ(error->outcome_unknown(), outcome_unknown) << error->what();
  }
  void lose_reply() { proxy_.begin(Trouble::kLoseReply, false, 0, seconds(20)); }
  // Cuts all connections when a session of `database` sleeps, and waits for its end.
  std::thread cut_in_a_sleep(const std::string& database) {
    return std::thread([this, database] {
      auto direct = server_.connect();
      const auto sleeps = [&] {
        return support::number_of(direct,
                                  "SELECT COUNT(*) FROM information_schema.processlist"
                                  " WHERE state = 'User sleep' AND db = '" +
                                      database + "'") != 0;
      };
      EXPECT_TRUE(eventually(sleeps));
      proxy_.begin(Trouble::kCut, true, 0, milliseconds(0));
      EXPECT_TRUE(eventually([&] { return !sleeps(); }));
    });
  }
  // Slows down the first INSERT of a unique key.
  static void slow_down(const Daemon& daemon) {
    daemon.connect().execute(
        "CREATE TRIGGER slow BEFORE INSERT ON task_unique FOR EACH ROW DO SLEEP(2)");
  }

  support::Database& server_ = support::Database::shared();
  support::TempDir folder_;
  Proxy proxy_{folder_ / "proxy", server_.socket(), GetParam()};
  std::string database_ = server_.make_empty_database();
};

TEST_P(OutcomeTest, ACutInTheHandshakeDoesNothing) {
  for (int i = 0; i < 5; ++i) {
    std::atomic<bool> over{false};
    std::thread cutter([&] {
      while (!over) proxy_.begin(Trouble::kCut, true, 0, milliseconds(1));
    });
    const auto error = support::db_error_of([&] {
      for (int tries = 0; tries < 1000; ++tries) (void)connect();
    });
    over = true;
    cutter.join();
    ASSERT_TRUE(error);
    EXPECT_EQ(error->error_class(), db::ErrorClass::kGone) << error->what();
    EXPECT_FALSE(error->outcome_unknown()) << error->what();
  }
}

TEST_P(OutcomeTest, AStatementOfAnOpenTransactionIsNotDone) {
  auto db = connect();
  db.execute("CREATE TABLE t (a INT) ENGINE=InnoDB; BEGIN; INSERT INTO t VALUES (1)");
  std::thread cutter = cut_in_a_sleep(database_);
  lose(db, "DO SLEEP(2)", false);
  cutter.join();
  EXPECT_EQ(rows(), 0U);
}

TEST_P(OutcomeTest, APacketThatOpensATransactionDoesNothing) {
  auto db = connect();
  db.execute("CREATE TABLE t (a INT) ENGINE=InnoDB");
  std::thread cutter = cut_in_a_sleep(database_);
  lose(db, "BEGIN; INSERT INTO t VALUES (1); DO SLEEP(2)", false);
  cutter.join();
  EXPECT_EQ(rows(), 0U);
}

TEST_P(OutcomeTest, AStatementThatCommitsByItselfMayBeDone) {
  auto db = connect();
  db.execute("CREATE TABLE t (a INT) ENGINE=InnoDB");
  lose_reply();
  lose(db, "INSERT INTO t VALUES (1)", true);
  EXPECT_EQ(rows(), 1U);
}

TEST_P(OutcomeTest, ACommitMayBeDone) {
  auto db = connect();
  db.execute("CREATE TABLE t (a INT) ENGINE=InnoDB; BEGIN; INSERT INTO t VALUES (1)");
  lose_reply();
  lose(db, "COMMIT", true);
  EXPECT_EQ(rows(), 1U);
}

// The server continues with the packet, whichever of its replies was lost.
TEST_P(OutcomeTest, APacketThatEndsWithACommitMayBeDone) {
  auto db = connect();
  db.execute("CREATE TABLE t (a INT) ENGINE=InnoDB");
  std::thread cutter = cut_in_a_sleep(database_);
  lose(db, "BEGIN; INSERT INTO t VALUES (1); DO SLEEP(2); COMMIT", true);
  cutter.join();
}

// The outcome of a transaction is unknown as long as a statement behind it has no reply.
TEST_P(OutcomeTest, ATransactionBeforeALostReplyMayBeDone) {
  auto db = connect();
  db.execute("CREATE TABLE t (a INT) ENGINE=InnoDB");
  constexpr sql::SqlText kInsert{"insert", "INSERT INTO t VALUES (1)"};
  constexpr sql::SqlText kSleep{"sleep", "DO SLEEP(2)"};
  const std::vector<db::Statement> insert{db::Statement(kInsert)};
  const db::Statement sleep(kSleep);
  std::thread cutter = cut_in_a_sleep(database_);
  const auto error = support::db_error_of([&] { db.transact(insert, {.after = &sleep}); });
  cutter.join();
  ASSERT_TRUE(error);
  EXPECT_EQ(error->error_class(), db::ErrorClass::kGone) << error->what();
  EXPECT_TRUE(error->outcome_unknown()) << error->what();
  EXPECT_EQ(rows(), 1U);
}

// The server reports that it stopped at the statement, so COMMIT was not executed.
TEST_P(OutcomeTest, ARefusedStatementIsNotDoneThoughACommitFollows) {
  auto db = connect();
  db.execute("CREATE TABLE t (a INT) ENGINE=InnoDB");
  // The second one fails after its columns have been sent, like a fence.
  for (const auto& [sql, error_class] :
       {std::pair("SELECT no_such_column", db::ErrorClass::kRefused),
        std::pair("SELECT ~0 + (COUNT(*) > 0) FROM t", db::ErrorClass::kFatal)}) {
    const std::string packet = "BEGIN; INSERT INTO t VALUES (1); " + std::string(sql) + "; COMMIT";
    const auto error = support::db_error_of([&] { db.execute(packet); });
    ASSERT_TRUE(error) << sql;
    EXPECT_EQ(error->error_class(), error_class) << error->what();
    EXPECT_FALSE(error->outcome_unknown()) << error->what();
    db.execute("ROLLBACK");
  }
  EXPECT_EQ(rows(), 0U);
}

TEST_P(OutcomeTest, AReplyThatIsTooLateSaysSo) {
  auto db = connect(seconds(1));
  const auto error = support::db_error_of([&] { db.execute("DO SLEEP(5)"); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->error_class(), db::ErrorClass::kGone) << error->what();
  EXPECT_TRUE(error->outcome_unknown());
  EXPECT_NE(std::string(error->what()).find("no response within 1 s"), std::string::npos)
      << error->what();
}

// In the handshake, before COMMIT and at COMMIT.
TEST_P(OutcomeTest, TheCommandLineTellsALostReplyFromWhatWasNotDone) {
  const Daemon daemon(daemon_options());
  daemon.must({"submit", "default", "t"});
  proxy_.begin(Trouble::kCut, false, 0, seconds(20));
  const auto away = daemon.allot({"submit", "default", "t"});
  EXPECT_EQ(away.status.code, kExitUnavailable) << away.err;
  EXPECT_EQ(daemon.count("task"), 1U);
  lose_reply();
  const auto lost = daemon.allot({"submit", "default", "t"});
  EXPECT_EQ(lost.status.code, kExitOutcomeUnknown) << lost.err;
  EXPECT_NE(lost.err.find("the outcome of submitting 1 task is unknown"), std::string::npos);
  EXPECT_EQ(daemon.count("task"), 2U);
  const std::string line = R"({"queue":"default","type":"t","unique_key":")";
  lose_reply();
  const auto many = daemon.allot({"submit", "--ndjson", "-"}, line + "a\"}\n" + line + "b\"}\n");
  EXPECT_EQ(many.status.code, kExitOutcomeUnknown) << many.err;
  EXPECT_EQ(daemon.count("task"), 4U);
  slow_down(daemon);
  std::thread cutter = cut_in_a_sleep(daemon.database());
  const auto undone = daemon.allot({"submit", "--ndjson", "-"}, line + "c\"}\n");
  cutter.join();
  EXPECT_EQ(undone.status.code, kExitUnavailable) << undone.err;
  EXPECT_NE(undone.err.find("line 1 not submitted"), std::string::npos) << undone.err;
  EXPECT_EQ(daemon.count("task"), 4U);
}

TEST_P(OutcomeTest, HttpTellsALostReplyFromWhatWasNotDone) {
  auto options = daemon_options();
  options.more = e2e::gateway_section();
  const Daemon daemon(options);
  daemon.must({"submit", "default", "t"});
  const auto gateway = e2e::start_gateway(daemon);
  e2e::wait_listening(daemon, *gateway);
  auto client = support::HttpClient::to_socket(e2e::gateway_socket(daemon));
  const auto ask = [&](const std::string& more) {
    const std::string body = R"({"queue":"default","type":"t")" + more + "}";
    return client.ask(e2e::submission(body)).value_or(support::Answer{});
  };
  ASSERT_EQ(ask("").status, 201);
  lose_reply();
  const auto lost = ask("");
  EXPECT_EQ(lost.status, 504) << lost.body;
  EXPECT_NE(lost.body.find("\"outcome_unknown\""), std::string::npos) << lost.body;
  EXPECT_EQ(daemon.count("task"), 3U);
  ASSERT_EQ(ask(R"(,"unique_key":"a")").status, 201);
  slow_down(daemon);
  std::thread cutter = cut_in_a_sleep(daemon.database());
  const auto undone = ask(R"(,"unique_key":"b")");
  cutter.join();
  EXPECT_EQ(undone.status, 503) << undone.body;
  EXPECT_EQ(daemon.count("task"), 4U);
}

TEST_P(OutcomeTest, TheClientLibraryTellsALostReply) {
  const Daemon daemon(daemon_options());
  daemon.must({"submit", "default", "t"});
  auto client = Client::from_file(daemon.config_file());
  NewTask task;
  task.queue = "default";
  task.type = "t";
  const std::string id = client.submit(task).id;
  const auto kind_of = [](const auto& call) -> std::optional<ErrorKind> {
    try {
      call();
      return std::nullopt;
    } catch (const ClientError& error) {
      return error.kind();
    }
  };
  lose_reply();
  EXPECT_EQ(kind_of([&] { client.submit(task); }), ErrorKind::kOutcomeUnknown);
  EXPECT_EQ(daemon.count("task"), 3U);
  lose_reply();
  EXPECT_EQ(kind_of([&] { client.cancel(id); }), ErrorKind::kOutcomeUnknown);
}

// systemd does not start it again after 78.
TEST_P(OutcomeTest, ADaemonStartsWhileConnectionsAreCut) {
  Daemon daemon(daemon_options());
  std::atomic<bool> over{false};
  std::thread cutter([&] {
    // In its login, or at successive points of its check.
    for (unsigned asked = 1; asked <= 6 && !over; ++asked) {
      EXPECT_TRUE(eventually([&] {
        const auto clients = proxy_.clients();
        return over || std::any_of(clients.begin(), clients.end(),
                                   [asked](const auto& client) { return client.asked >= asked; });
      }));
      proxy_.begin(Trouble::kCut, true, 0, milliseconds(0));
    }
  });
  daemon.start();
  // Each cut may hit a check of the database, and the pause before the next check doubles.
  EXPECT_TRUE(eventually([&] { return !daemon.ready_workers().empty(); }, std::chrono::minutes(2)))
      << daemon.log();
  over = true;
  cutter.join();
  EXPECT_EQ(daemon.stop(), (support::ExitStatus{0, 0})) << daemon.log();
}

TEST_P(OutcomeTest, AWaitForALockContinuesWhenItsConnectionIsCut) {
  const Daemon daemon(daemon_options());
  const std::vector<std::string> allot{e2e::program("allot"), "--config", daemon.config_file()};
  const auto run = [&](std::vector<std::string> words) {
    words.insert(words.begin(), allot.begin(), allot.end());
    return std::make_unique<support::Process>(std::move(words));
  };
  auto holder = run({"lock", "run", "l", "--ttl", "5s", "--", "/bin/sh", "-c",
                     "while [ ! -e " + daemon.gate() + " ]; do sleep 0.05; done"});
  ASSERT_TRUE(eventually([&] {
    return daemon.number("SELECT COUNT(*) FROM named_lock WHERE lock_by IS NOT NULL") == 1;
  })) << holder->err();
  auto waiter = run({"lock", "run", "l", "--wait", "60s", "--", "/bin/echo", "got it"});
  ASSERT_TRUE(eventually([&] { return daemon.count("lock_ticket") == 1; })) << waiter->err();
  for (int i = 0; i < 5; ++i) {
    proxy_.begin(Trouble::kCut, true, 0, milliseconds(1));
    ASSERT_TRUE(eventually([&] { return proxy_.clients().size() >= 2; })) << waiter->err();
  }
  daemon.open_gate();
  EXPECT_EQ(holder->wait(), (support::ExitStatus{0, 0})) << holder->err();
  EXPECT_EQ(waiter->wait(), (support::ExitStatus{0, 0})) << waiter->err();
  EXPECT_EQ(waiter->out(), "got it\n");
}

INSTANTIATE_TEST_SUITE_P(Wires, OutcomeTest, testing::Values(Wire::kPlain, Wire::kTls),
                         [](const auto& wire) {
                           return wire.param == Wire::kTls ? "Tls" : "Plain";
                         });

}  // namespace
}  // namespace allot::fault
