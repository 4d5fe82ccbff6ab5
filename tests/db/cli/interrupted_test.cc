// SPDX-License-Identifier: Apache-2.0
// Bulk submission that ends early: lines that are stored, that are not, and that are unknown.
#include <algorithm>
#include <csignal>

#include "base/exit_codes.h"
#include "db/cli/fixture.h"

namespace allot::cli {
namespace {

class InterruptedTest : public CliTest {
 protected:
  InterruptedTest() { must({"migrate"}); }
  explicit InterruptedTest(support::Database& server) : CliTest(server) { must({"migrate"}); }

  // An `allot` that has submitted lines 1 to 10 and waits for more.
  std::unique_ptr<Fed> after_ten_lines() {
    auto fed = std::make_unique<Fed>(config(), Words{"submit", "--ndjson", "-", "--batch", "10"});
    fed->feed(numbered(1, 10, "wide"));
    EXPECT_TRUE(support::eventually([&] { return count("task") == 10; })) << fed->process().err();
    // The tasks become visible before their reply has arrived. An `allot` that continues to read
    // has it.
    fed->feed(" ");
    EXPECT_TRUE(support::eventually([&] { return fed->all_read(); }));
    return fed;
  }
};

TEST_F(InterruptedTest, AfterASignalTheProgressIsReported) {
  for (const int signal : {SIGINT, SIGTERM}) {
    observer_.execute("DELETE FROM task");
    auto fed = after_ten_lines();
    fed->feed(numbered(11, 15, "wide") + "{\"que");
    ASSERT_TRUE(support::eventually([&] { return fed->all_read(); }));
    fed->process().signal(signal);
    const auto done = fed->finish();
    EXPECT_EQ(done.status, (support::ExitStatus{kExitFailure, 0})) << done.err;
    EXPECT_EQ(done.err,
              "allot: interrupted; lines 1 to 10 submitted (10 tasks), nothing from line 11 on; "
              "continue with --from-line 11\n");
    EXPECT_EQ(count("task"), 10U);
  }
}

// A reader of the ids knows all stored tasks, even if kill -9 comes next.
TEST_F(InterruptedTest, IdsArePrintedWithTheirBatch) {
  Fed fed(config(), {"submit", "--ndjson", "-", "--batch", "10", "--ids"});
  fed.feed(numbered(1, 15, "wide"));
  EXPECT_TRUE(support::eventually([&] {
    const std::string out = fed.process().out();
    return std::count(out.begin(), out.end(), '\n') == 10;
  }));
  fed.process().kill9();
  EXPECT_EQ(count("task"), 10U);
}

TEST_F(InterruptedTest, ALostReplyIsReportedAndNotSentAgain) {
  configure("call_timeout = \"10s\"", "call_timeout = \"1s\"");
  auto fed = after_ten_lines();
  block_commits();
  fed->feed(numbered(11, 30, "wide"));
  const auto done = fed->finish();
  unblock_commits();
  EXPECT_EQ(done.status.code, kExitOutcomeUnknown) << done.err;
  EXPECT_TRUE(has(done.err, "stdin: lines 11 to 20: outcome unknown: "));
  EXPECT_TRUE(has(done.err, "lines 1 to 10 submitted (10 tasks), nothing from line 11 on"));
  EXPECT_TRUE(has(done.err, "continue with --from-line 21 if so, with --from-line 11 if not\n"));
  const std::uint64_t now = count("task");
  EXPECT_TRUE(now == 10 || now == 20) << now << ": all of the batch or nothing, and once";
}

// The kill comes while an INSERT of the batch waits for a lock: COMMIT was not sent, so the outcome
// is known.
TEST_F(InterruptedTest, AConnectionLostBeforeCommitSubmitsNothingOfItsBatch) {
  auto fed = after_ten_lines();
  db::Connection blocking = server_.connect(name_);
  blocking.execute(
      "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ; BEGIN;"
      "SELECT * FROM task WHERE partition_no = 7 FOR UPDATE");
  fed->feed(numbered(11, 20, "wide"));
  const std::string waiting =
      "SELECT COALESCE(MAX(id), 0) FROM information_schema.processlist"
      " WHERE db = '" +
      name_ + "' AND info LIKE 'INSERT%'";
  ASSERT_TRUE(support::eventually([&] { return value(waiting) != "0"; }));
  observer_.execute("KILL " + value(waiting));
  const auto done = fed->finish();
  blocking.execute("ROLLBACK");
  EXPECT_EQ(done.status.code, kExitUnavailable) << done.err;
  EXPECT_TRUE(has(done.err, "stdin: lines 11 to 20 not submitted: "));
  EXPECT_TRUE(has(done.err,
                  "lines 1 to 10 submitted (10 tasks), nothing from line 11 on; "
                  "continue with --from-line 11\n"));
  EXPECT_EQ(count("task"), 10U);
}

class OwnServerTest : public InterruptedTest {
 protected:
  OwnServerTest() : InterruptedTest(server()) {}
  static support::Database& server() {
    static support::Database database;
    return database;
  }
  // Line 11 alone, if half a second has passed since its queue was looked up: it is looked up
  // again.
  static bool refused_from_line_11(const std::string& error, const std::string& last) {
    return error.find("stdin: lines 11 to " + last + " not submitted: ") != std::string::npos ||
           error.find("stdin: line 11 not submitted: ") != std::string::npos;
  }
};

TEST_F(OwnServerTest, ADatabaseThatGoesAwayBetweenBatches) {
  auto fed = after_ten_lines();
  server_.kill9();
  fed->feed(numbered(11, 25, "wide"));
  const auto done = fed->finish();
  EXPECT_EQ(done.status.code, kExitUnavailable) << done.err;
  EXPECT_TRUE(refused_from_line_11(done.err, "20")) << done.err;
  EXPECT_TRUE(has(done.err, "continue with --from-line 11\n"));
  server_.start();
  observer_ = server_.connect(name_);
  EXPECT_EQ(count("task"), 10U) << "what was submitted outlives kill -9";
}

TEST_F(OwnServerTest, ADatabaseThatGoesAwayBeforeAQueueIsLookedUp) {
  auto fed = after_ten_lines();
  server_.kill9();
  fed->feed(numbered(11, 19, "wide") + numbered(20, 20, "default"));
  const auto done = fed->finish();
  EXPECT_EQ(done.status.code, kExitUnavailable) << done.err;
  EXPECT_TRUE(refused_from_line_11(done.err, "20")) << done.err;
  EXPECT_TRUE(has(done.err, "continue with --from-line 11\n"));
  server_.start();
}

}  // namespace
}  // namespace allot::cli
