// SPDX-License-Identifier: Apache-2.0
// Statements of idle hosts, from the server's own log of statements: three daemons with one
// database and 1,000 yearly schedules, and the gateway of one of them, which was used before.
// Prints a table for docs/benchmarks.md.
//   ALLOT_TEST_WORKERS=64: workers of each daemon
//   ALLOT_TEST_ROUNDS=16: number of leadership renewals that are counted
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "e2e/gateway.h"
#include "support/environment.h"
#include "support/text.h"

namespace allot::e2e::idle_test {
namespace {

using std::chrono::seconds;
using support::environment_or;
using support::eventually;
using support::has;
using support::number_of;

constexpr int kDaemons = 3;
constexpr int kScheduleCount = 1'000;

// Limits given in docs/benchmarks.md, in statements per second of all daemons together.
constexpr double kMostLeading = 3;
constexpr double kMostOfAQueue = 0.3;
constexpr double kMostOfTheGateway = 12.0 / 60;

// The gateway's account, which identifies its statements in the log.
constexpr const char* kGatewayUser = "idle_gateway";

DaemonOptions options(const std::string& database, int number) {
  return {
      .workers = environment_or("ALLOT_TEST_WORKERS", 1U),
      .daemon_keys = "instance = \"d" + std::to_string(number) + "\"",
      .pool_keys = "queues = [\"default\", \"kept\", \"watched\"]",
      .more = std::string("[queues.kept]\nhistory = \"1h\"\n"
                          "[queues.watched]\non_stuck = \"ops/alert\"\non_dead = \"ops/alert\"\n"
                          "[queues.ops]\npartitions = 4\n") +
              (number == 0 ? gateway_section({}, kGatewayUser) : std::string()),
      .log_level = "info",
      .migrate = database.empty(),
      .start = false,
      .database = database};
}

void make_schedules(const Daemon& daemon) {
  const std::string file = daemon.folder() + "/schedules.toml";
  std::ofstream out(file);
  for (int i = 0; i < kScheduleCount; ++i) {
    out << "[schedules.s" << i
        << "]\nexpression = \"0 0 1 1 *\"\nqueue = \"ops\"\ntype = \"test.tick\"\npayload = "
           "\"{}\"\n";
  }
  out.close();
  const support::Finished applied = daemon.allot({"schedule", "apply", file});
  ASSERT_EQ(applied.status.code, 0) << applied.err;
}

// True if the gateway answered a query about the queues, for which it asks the database.
bool asks_gateway(const std::string& socket) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, socket.c_str(), sizeof address.sun_path - 1);
  const UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return false;
  }
  const std::string request =
      "GET /api/v1/queues HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
  if (::send(fd.get(), request.data(), request.size(), MSG_NOSIGNAL) < 0) return false;
  char answer[13] = {};
  return ::recv(fd.get(), answer, 12, MSG_WAITALL) == 12 && has(answer, "200");
}

// Purpose of a statement. Each is in one file of sql/queries, by whose words it is recognised.
enum class Purpose {
  kLeading,
  kSchedules,
  kKept,
  kWatched,
  kNotices,
  kLayouts,
  kLocks,
  kLeaseRows,
  kBulk,
  kMinutes,
  kFindings,
  kSession,
  kRest
};
constexpr const char* kNames[] = {"who leads",
                                  "schedules",
                                  "a queue with history",
                                  "a queue with on_stuck and on_dead",
                                  "notices",
                                  "resized queues",
                                  "named locks",
                                  "lease rows",
                                  "bulk actions",
                                  "minutes",
                                  "findings",
                                  "the connection's own",
                                  "anything else"};
constexpr std::size_t kPurposes = std::size(kNames);

bool has_any(const std::string& text, std::initializer_list<const char*> parts) {
  return std::any_of(parts.begin(), parts.end(), [&](const char* part) { return has(text, part); });
}

Purpose purpose_of(const std::string& statement) {
  if (has(statement, "@@global.read_only")) return Purpose::kSession;
  // MySQL logs each statement of a transaction that is sent in one piece, including its frame.
  if (statement == "BEGIN;" || statement == "COMMIT") return Purpose::kSession;
  // Includes the purge of the audit, by the same host.
  if (has_any(statement, {"bulk_action", "FROM audit"})) return Purpose::kBulk;
  // Statements only of the database checks; shared statements are counted with their other users,
  // too.
  if (has_any(statement, {"FROM finding", "INTO finding", "'finding'", "@@global.optimizer_switch",
                          "SHOW GLOBAL VARIABLES"})) {
    return Purpose::kFindings;
  }
  // Includes the counts of the backlogs, their queues, and the data shown for hosts.
  if (has_any(statement, {"FROM instance", "INTO instance", "UPDATE instance", "_minute",
                          "AS bounded", "SECOND(UTC_TIMESTAMP())", "rate.burst", "type_hour",
                          "host_snapshot", "deployment"})) {
    return Purpose::kMinutes;
  }
  // Duties without a leader, dead tasks, waiting tasks, failing purges and ticks.
  if (has_any(statement, {"FROM notice", "queue_duty.holder IS NOT NULL", "OFFSET", "AS served",
                          "COALESCE(schedule.error, last_tick.reason)"}) ||
      (has(statement, "FROM task_history") && has(statement, "FROM task_dead"))) {
    return Purpose::kNotices;
  }
  if (has(statement, "queue_duty")) return Purpose::kLeading;
  if (has(statement, "schedule")) return Purpose::kSchedules;
  if (has_any(statement, {"task_history", "task_dead"})) return Purpose::kKept;
  if (has_any(statement, {"task_running", "head_key"})) return Purpose::kWatched;
  if (has(statement, "queue.layout SECOND")) return Purpose::kLayouts;
  if (has_any(statement, {"named_lock", "lock_ticket"})) return Purpose::kLocks;
  if (has_any(statement, {"rows_of.wanted", "INTERVAL 1 SECOND\n LIMIT", "FROM deferred_type"}))
    return Purpose::kLeaseRows;
  return Purpose::kRest;
}

class Idle : public testing::Test {
 protected:
  void SetUp() override {
    for (int i = 0; i < kDaemons; ++i) {
      daemons_.push_back(
          std::make_unique<Daemon>(options(i == 0 ? "" : daemons_[0]->database(), i)));
    }
    ASSERT_EQ(first().allot({"migrate"}).status.code, 0);
    make_schedules(first());
    db_ = std::make_unique<db::Connection>(first().connect());
    db_->execute(
        "SET GLOBAL log_output = 'TABLE'; TRUNCATE mysql.general_log;"
        " SET GLOBAL general_log = ON");
    allowed_ = support::value_of(*db_, "SELECT @@global.max_connections");
    db_->execute("SET GLOBAL max_connections = 2000");  // for many workers
    db_->execute(std::string("CREATE USER ") + kGatewayUser + "@localhost; GRANT ALL ON " +
                 first().database() + ".* TO " + kGatewayUser + "@localhost");
    start_all(daemons_, environment_or("ALLOT_TEST_WORKERS", 1U));
  }
  void TearDown() override {
    if (db_) db_->execute("SET GLOBAL general_log = OFF; TRUNCATE mysql.general_log");
    stop_all(daemons_);
    db_->execute(std::string("DROP USER ") + kGatewayUser + "@localhost");
    if (!allowed_.empty()) db_->execute("SET GLOBAL max_connections = " + allowed_);
  }

  [[nodiscard]] Daemon& first() { return *daemons_.front(); }
  [[nodiscard]] std::uint64_t number(const std::string& sql) { return number_of(*db_, sql); }

  // Maximum number of renewals in the log over all leaders.
  [[nodiscard]] std::uint64_t renewals() {
    return number(
        "SELECT COALESCE(MAX(renewals), 0) FROM (SELECT COUNT(*) AS renewals"
        "  FROM mysql.general_log WHERE thread_id <> CONNECTION_ID() AND argument LIKE"
        "  'UPDATE%queue_duty%last_run = IF(%' AND argument NOT LIKE '%WHERE FALSE%'"
        "  GROUP BY thread_id) AS leaders");
  }
  [[nodiscard]] std::uint64_t of_gateway() {
    return number(std::string("SELECT COUNT(*) FROM mysql.general_log WHERE user_host LIKE '") +
                  kGatewayUser + "%'");
  }
  // Polls once a second, because a poll scans the log.
  [[nodiscard]] bool wait_for_renewals(std::uint64_t count) {
    std::uint64_t asked = 0;
    return eventually(
        [&] {
          const std::uint64_t now = number("SELECT UNIX_TIMESTAMP()");
          if (now == asked) return false;
          asked = now;
          return renewals() >= count;
        },
        seconds(60 + 10 * count));
  }

  std::vector<std::unique_ptr<Daemon>> daemons_;
  std::unique_ptr<db::Connection> db_;
  std::string allowed_;  // previous limit of connections
};

TEST_F(Idle, HostsWithAThousandSchedulesSendFewStatements) {
  ASSERT_TRUE(eventually([&] { return asks_gateway(gateway_socket(first())); })) << first().log();
  ASSERT_TRUE(wait_for_renewals(2));
  EXPECT_GT(of_gateway(), 0U) << "it is known by its account";
  db_->execute("TRUNCATE mysql.general_log");
  const std::uint64_t begin = number("SELECT CAST(UNIX_TIMESTAMP(NOW(6)) * 1000000 AS UNSIGNED)");
  ASSERT_TRUE(wait_for_renewals(environment_or("ALLOT_TEST_ROUNDS", 16U)));
  db_->execute("SET GLOBAL general_log = OFF");
  const double length =
      static_cast<double>(number("SELECT CAST(UNIX_TIMESTAMP(NOW(6)) * 1000000 AS UNSIGNED)") -
                          begin) /
      1e6;

  auto rows = db_->execute(
      "SELECT thread_id, CONVERT(argument USING utf8mb4) FROM mysql.general_log"
      " WHERE command_type IN ('Query', 'Execute') AND thread_id <> CONNECTION_ID()");
  std::vector<std::pair<std::uint64_t, std::string>> sent;
  std::set<std::uint64_t> stewards;
  while (const auto row = rows.front().next()) {
    sent.emplace_back(row->u64(0), std::string(row->text(1)));
    if (purpose_of(sent.back().second) == Purpose::kLeading) stewards.insert(sent.back().first);
  }
  EXPECT_EQ(stewards.size(), static_cast<std::size_t>(kDaemons));

  double counts[kPurposes] = {};
  double of_workers = 0;
  for (const auto& [thread, statement] : sent) {
    const Purpose purpose = purpose_of(statement);
    if (stewards.count(thread) == 0) {
      ++of_workers;
      EXPECT_TRUE(purpose != Purpose::kLeading && purpose != Purpose::kSchedules) << statement;
      continue;
    }
    ++counts[static_cast<std::size_t>(purpose)];
    if (purpose == Purpose::kRest) std::printf("unknown: %s\n", statement.substr(0, 200).c_str());
  }
  std::printf("%d daemons of %u workers, %d schedules, %.1f s: statements a second\n", kDaemons,
              environment_or("ALLOT_TEST_WORKERS", 1U), kScheduleCount, length);
  for (std::size_t i = 0; i < kPurposes; ++i) {
    std::printf("%-36s %8.2f\n", kNames[i], counts[i] / length);
  }
  std::printf("%-36s %8.2f\n", "of the workers", of_workers / length);
  const double of_gateway_s = static_cast<double>(of_gateway()) / length;
  std::printf("%-36s %8.2f\n", "of the gateway", of_gateway_s);
  EXPECT_LE(of_gateway_s, kMostOfTheGateway);
  const auto rate = [&](Purpose purpose) {
    return counts[static_cast<std::size_t>(purpose)] / length;
  };
  // The counted statements must exist.
  EXPECT_GT(rate(Purpose::kLeading), 0.5);
  EXPECT_GT(rate(Purpose::kSchedules), 0.1);
  EXPECT_GT(rate(Purpose::kKept), 0);
  EXPECT_GT(rate(Purpose::kWatched), 0);
  EXPECT_LE(rate(Purpose::kLeading) + rate(Purpose::kSchedules), kMostLeading);
  EXPECT_LE(rate(Purpose::kKept), kMostOfAQueue);
  EXPECT_LE(rate(Purpose::kWatched), kMostOfAQueue);
  EXPECT_LE(rate(Purpose::kNotices), 1);
  EXPECT_LE(rate(Purpose::kLocks), 0.3);
  EXPECT_LE(rate(Purpose::kLeaseRows), 0.2);
  EXPECT_GT(rate(Purpose::kBulk), 0);
  EXPECT_LE(rate(Purpose::kBulk), 0.3);
  EXPECT_LE(rate(Purpose::kMinutes), 2);
  EXPECT_LE(rate(Purpose::kFindings), 0.5);
  EXPECT_EQ(rate(Purpose::kRest), 0);
}

}  // namespace
}  // namespace allot::e2e::idle_test
