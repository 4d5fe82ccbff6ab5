// SPDX-License-Identifier: Apache-2.0
// Submissions share transactions, and each gets its own answer.
#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <future>
#include <set>
#include <thread>

#include "base/unique_fd.h"
#include "db/gateway/fixture.h"
#include "peer/doorbell.h"
#include "support/commit_stop.h"
#include "support/temp_dir.h"

namespace allot::gateway::api {
namespace {

class CombineTest : public GatewayTest {
 protected:
  using GatewayTest::GatewayTest;

  std::future<Answered> begin(const std::string& fields, const std::string& queue = "mail") {
    return api::begin(*application_, {"POST", "/api/v1/tasks",
                                      R"({"queue":")" + queue + R"(","type":"t")" + fields + "}"});
  }
  std::uint64_t commits() { return support::server_counter(observer_, "Com_commit"); }
  // Statements that wait for a row locked by another session.
  bool lock_waits(std::uint64_t count) { return support::wait_for_lock_waits(observer_, count); }
};

// While commits are blocked, one submission is executing and all others wait for it: then one
// transaction takes them.
TEST_F(CombineTest, ConcurrentSubmissionsShareATransaction) {
  db::Connection stopper = server_.connect(name_);
  std::vector<std::future<Answered>> answers;
  std::uint64_t before = 0;
  {
    support::CommitStop stop(stopper);
    answers.push_back(begin(""));
    ASSERT_TRUE(support::eventually([&] { return stop.waiting("%INSERT INTO task%") == 1; }));
    for (int i = 0; i < 50; ++i) answers.push_back(begin(""));
    for (auto& answer : answers) {
      EXPECT_EQ(answer.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
    }
    before = commits();
  }
  std::set<std::string> ids;
  for (auto& answer : answers) {
    const Answered made = answer.get();
    EXPECT_EQ(made.status(), 201U) << made;
    ids.insert(made.document()["id"]);
  }
  EXPECT_EQ(ids.size(), 51U);
  EXPECT_EQ(number("SELECT COUNT(*) FROM task"), 51U);
  // The first one is a single statement with autocommit.
  EXPECT_EQ(commits() - before, 1U);
}

TEST_F(CombineTest, EachGetsTheIdOfItsOwnTask) {
  std::vector<std::pair<int, std::future<Answered>>> answers;
  for (int i = 0; i < 300; ++i) {
    answers.emplace_back(
        i, begin(",\"payload\":\"" + std::to_string(i) + "\",\"prio\":" + std::to_string(i % 4),
                 i % 3 == 0 ? "other" : "mail"));
  }
  for (auto& [i, answer] : answers) {
    const Answered made = answer.get();
    ASSERT_EQ(made.status(), 201U) << made;
    const Answered shown = get(made.field("location"));
    EXPECT_EQ(shown.document()["payload"], std::to_string(i));
    EXPECT_EQ(shown.document()["queue"], i % 3 == 0 ? "other" : "mail");
  }
}

TEST_F(CombineTest, AWrongOneIsRefusedAlone) {
  db::Connection stopper = server_.connect(name_);
  std::vector<std::future<Answered>> good;
  std::vector<std::future<Answered>> wrong;
  {
    support::CommitStop stop(stopper);
    good.push_back(begin(""));
    ASSERT_TRUE(support::eventually([&] { return stop.waiting("%INSERT INTO task%") == 1; }));
    for (int i = 0; i < 10; ++i) {
      good.push_back(begin(""));
      wrong.push_back(begin("", "none"));
      wrong.push_back(begin("", "ordered"));
    }
  }
  for (auto& answer : good) EXPECT_EQ(answer.get().status(), 201U);
  for (auto& answer : wrong) EXPECT_EQ(answer.get().status(), 400U);
  EXPECT_EQ(number("SELECT COUNT(*) FROM task"), 11U);
}

// The server refuses one row, and with it the transaction of all.
TEST_F(CombineTest, AfterARefusalEachIsTriedAlone) {
  observer_.execute(
      "CREATE TRIGGER no_bad BEFORE INSERT ON task FOR EACH ROW IF NEW.type = 'bad' THEN SIGNAL "
      "SQLSTATE '45000' SET MESSAGE_TEXT = 'bad'; END IF");
  db::Connection stopper = server_.connect(name_);
  std::vector<std::future<Answered>> good;
  std::future<Answered> bad;
  {
    support::CommitStop stop(stopper);
    good.push_back(begin(""));
    ASSERT_TRUE(support::eventually([&] { return stop.waiting("%INSERT INTO task%") == 1; }));
    for (int i = 0; i < 5; ++i) good.push_back(begin(""));
    bad = api::begin(*application_, {"POST", "/api/v1/tasks", R"({"queue":"mail","type":"bad"})"});
    for (int i = 0; i < 5; ++i) good.push_back(begin(""));
  }
  for (auto& answer : good) EXPECT_EQ(answer.get().status(), 201U);
  EXPECT_EQ(bad.get().status(), 500U);
  EXPECT_EQ(number("SELECT COUNT(*) FROM task"), 11U);
  observer_.execute("DROP TRIGGER no_bad");
}

// An open transaction of an application has a unique key; submitters with this key wait, all others
// do not.
TEST_F(CombineTest, AnOpenTransactionOnAKeyStallsNoOtherClient) {
  const Answered owner = begin(R"(,"unique_key":"k")").get();
  ASSERT_EQ(owner.status(), 201U);
  db::Connection his = server_.connect(name_);
  his.execute("BEGIN; SELECT * FROM task_unique FOR UPDATE");
  // More than the number of threads in the pool.
  std::vector<std::future<Answered>> waiting;
  for (int i = 0; i < 8; ++i) waiting.push_back(begin(R"(,"unique_key":"k")"));
  ASSERT_TRUE(lock_waits(2));
  for (int i = 0; i < 20; ++i) EXPECT_EQ(begin("").get().status(), 201U);
  EXPECT_EQ(get(owner.field("location")).status(), 200U);
  his.execute("ROLLBACK");
  for (auto& answer : waiting) {
    const Answered again = answer.get();
    EXPECT_EQ(again.status(), 200U) << again;
    EXPECT_EQ(again.document()["id"], owner.document()["id"]);
  }
}

TEST_F(CombineTest, TooMuchIsSaidSo) {
  Service small = service();
  small.threads = 1;
  small.most_waiting = 2;
  application_ = std::make_unique<Application>(small, authorize);
  db::Connection his = server_.connect(name_);
  put("mail", R"(,"unique_key":"k")");
  his.execute("BEGIN; SELECT * FROM task_unique FOR UPDATE");
  auto held = begin(R"(,"unique_key":"k")");
  ASSERT_TRUE(lock_waits(1));
  std::vector<std::future<Answered>> looks;
  for (int i = 0; i < 3; ++i) {
    looks.push_back(api::begin(*application_, {"GET", "/api/v1/queues"}));
  }
  const Answered refused = looks.back().get();
  EXPECT_EQ(refused.status(), 503U);
  EXPECT_EQ(refused.field("retry-after"), "1");
  his.execute("ROLLBACK");
  EXPECT_EQ(held.get().status(), 200U);
  EXPECT_EQ(looks[0].get().status(), 200U);
  EXPECT_EQ(looks[1].get().status(), 200U);
}

// The workers of this host are informed of new tasks, whichever lane they took.
TEST_F(CombineTest, TheDoorbellIsRung) {
  const support::TempDir folder;
  const UniqueFd file(open((folder / "board").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  ipc::Board blank{};
  std::memcpy(blank.magic, ipc::kBoardMagic, sizeof blank.magic);
  blank.version = ipc::kBoardVersion;
  for (auto& word : blank.pools[0].queues) word = UINT64_MAX;  // the pool serves all queues
  ASSERT_EQ(pwrite(file.get(), &blank, sizeof blank, 0), static_cast<ssize_t>(sizeof blank));
  const ipc::Board* board = peer::map_board(file.get());
  ASSERT_NE(board, nullptr);
  const auto rings = [&] { return board->pools[0].bell.rings.load(); };
  Service here = service();
  here.runtime_dir = folder.path();
  application_ = std::make_unique<Application>(here, authorize);
  put();
  EXPECT_EQ(rings(), 1U);
  put("mail", R"(,"unique_key":"k")");
  EXPECT_EQ(rings(), 2U);
  EXPECT_EQ(begin(R"(,"unique_key":"k")").get().status(), 200U);
  EXPECT_EQ(rings(), 2U) << "nothing new is waiting";
  application_.reset();
}

// Waiting requests are answered before the end.
TEST_F(CombineTest, AnEndAnswersEverything) {
  std::vector<std::future<Answered>> answers;
  for (int i = 0; i < 200; ++i) answers.push_back(begin(i % 2 == 0 ? "" : R"(,"unique_key":"k")"));
  application_.reset();
  std::uint64_t made = 0;
  for (auto& answer : answers) {
    const Answered told = answer.get();
    EXPECT_TRUE(told.status() == 201 || told.status() == 200 || told.status() == 503) << told;
    if (told.status() == 201) ++made;
  }
  EXPECT_EQ(number("SELECT COUNT(*) FROM task"), made);
}

// Uses a private server, which is killed.
class KilledServerTest : public testing::Test {
 protected:
  KilledServerTest() : name_(server_.make_database()) {
    db::Connection db = server_.connect(name_);
    queue::ensure_queue(db, "mail", {4, queue::Placement::kSpread, 1});
    start(4);
  }
  void start(unsigned threads) {
    Service service;
    service.database = server_.options(name_);
    service.threads = threads;
    application_ = std::make_unique<Application>(service, authorize);
  }
  std::future<Answered> submit(const std::string& payload, const std::string& type = "t",
                               const std::string& queue = "mail") {
    return api::begin(*application_, {"POST", "/api/v1/tasks",
                                      R"({"queue":")" + queue + R"(","type":")" + type +
                                          R"(","payload":")" + payload + "\"}"});
  }

  support::Database server_;
  std::string name_;
  std::unique_ptr<Application> application_;
};

// Requests answered with success exist once; with 503 they do not exist; with 504 at most once.
TEST_F(KilledServerTest, EachAnswerIsTrue) {
  std::vector<std::future<Answered>> answers;
  int at = 0;
  for (; at < 200; ++at) answers.push_back(submit(std::to_string(at)));
  // Some are answered, so that the kill comes in between.
  ASSERT_EQ(answers.front().wait_for(std::chrono::seconds(20)), std::future_status::ready);
  server_.kill9();
  for (; at < 220; ++at) answers.push_back(submit(std::to_string(at)));
  std::vector<unsigned> statuses;
  for (auto& answer : answers) statuses.push_back(answer.get().status());
  server_.start();
  db::Connection db = server_.connect(name_);
  for (std::size_t i = 0; i < statuses.size(); ++i) {
    const auto count = support::number_of(
        db, "SELECT COUNT(*) FROM task WHERE payload = '" + std::to_string(i) + "'");
    if (statuses[i] == 201) {
      EXPECT_EQ(count, 1U) << i;
    } else if (statuses[i] == 503) {
      EXPECT_EQ(count, 0U) << i;
    } else {
      EXPECT_EQ(statuses[i], 504U) << i;
      EXPECT_LE(count, 1U) << i;
    }
  }
  // It continues by itself.
  ASSERT_TRUE(support::eventually([&] { return submit("after").get().status() == 201; }));
}

// A client that gets 503 knows that nothing was sent.
TEST_F(KilledServerTest, WithoutAServerNothingIsSubmitted) {
  ASSERT_EQ(submit("before").get().status(), 201U);
  server_.kill9();
  // The outcome is unknown for requests sent on an open connection, of which each thread had one.
  int refused = 0;
  EXPECT_TRUE(support::eventually([&] {
    const unsigned status = submit("x").get().status();
    EXPECT_NE(status, 201U);
    refused = status == 503 ? refused + 1 : 0;
    return refused == 10;
  }));
  server_.start();
}

// The connection is killed in the look-up of the queue: again nothing was sent.
TEST_F(KilledServerTest, AConnectionThatIsLostBeforeItsTaskSubmitsNothing) {
  start(1);
  // The single connection is open, and has not looked up the other queue.
  ASSERT_EQ(submit("x").get().status(), 201U);
  db::Connection keeper = server_.connect(name_);
  db::Connection look = server_.connect(name_);
  keeper.execute("LOCK TABLES queue WRITE");
  std::future<Answered> answer = submit("x", "t", "other");
  ASSERT_TRUE(support::eventually([&] {
    return support::number_of(
               look, "SELECT COUNT(*) FROM information_schema.processlist WHERE db = '" + name_ +
                         "' AND state LIKE 'Waiting for table%'") == 1;
  }));
  // The reply to the queue search is lost, without any message from the server.
  server_.kill9();
  EXPECT_EQ(answer.get().status(), 503U);
  server_.start();
  db::Connection db = server_.connect(name_);
  EXPECT_EQ(support::number_of(db, "SELECT COUNT(*) FROM task"), 1U);
}

// The connection is lost while a shared transaction commits: the outcome is unknown, and nothing is
// sent again.
TEST_F(KilledServerTest, ALostReplyIsUnknownToAllOfItsTransaction) {
  db::Connection gates = server_.connect(name_);
  // Each type waits for a lock of its name, so that the test controls the time.
  gates.execute(
      "CREATE TRIGGER gate BEFORE INSERT ON task FOR EACH ROW DO GET_LOCK(NEW.type, 20); "
      "DO GET_LOCK('first', 1), GET_LOCK('later', 1)");
  const auto waits = [&] {
    return support::eventually([&] {
      return support::number_of(gates,
                                "SELECT COUNT(*) FROM information_schema.processlist WHERE state = "
                                "'User lock'") == 1;
    });
  };
  std::vector<std::future<Answered>> answers;
  answers.push_back(submit("x", "first"));
  ASSERT_TRUE(waits());
  for (int i = 0; i < 10; ++i) answers.push_back(submit("x", "later"));
  gates.execute("DO RELEASE_LOCK('first')");
  EXPECT_EQ(answers.front().get().status(), 201U);
  ASSERT_TRUE(waits());
  {
    db::Connection stopper = server_.connect(name_);
    support::CommitStop stop(stopper);
    gates.execute("DO RELEASE_LOCK('later')");
    ASSERT_TRUE(support::eventually([&] { return stop.waiting("COMMIT%") == 1; }));
    server_.kill9();
  }
  for (std::size_t i = 1; i < answers.size(); ++i) {
    const Answered told = answers[i].get();
    EXPECT_EQ(told.status(), 504U) << told;
    EXPECT_EQ(told.kind(), "outcome_unknown");
  }
  server_.start();
  db::Connection db = server_.connect(name_);
  const auto count = support::number_of(db, "SELECT COUNT(*) FROM task WHERE type = 'later'");
  EXPECT_TRUE(count == 0 || count == 10) << count;
}

}  // namespace
}  // namespace allot::gateway::api
