// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/exit_codes.h"
#include "db/cli/fixture.h"
#include "queue/model/lease.h"
#include "queue/model/server_change.h"
#include "support/rewriting_proxy.h"
#include "support/text.h"

namespace allot::cli {
namespace {

using nlohmann::json;

class DoctorTest : public CliTest {
 protected:
  DoctorTest() {
    must({"migrate"});
    std::filesystem::create_directory(folder_ / "plugins");
    configure("[daemon]", "[plugins]\nfolder = \"plugins\"\n[daemon]");
    observer_.execute("SET GLOBAL max_allowed_packet = 67108864");
  }
  DoctorTest(const DoctorTest&) = delete;
  DoctorTest& operator=(const DoctorTest&) = delete;
  ~DoctorTest() override {
    observer_.execute("SET GLOBAL innodb_flush_log_at_trx_commit = " + flush_ +
                      ", sync_binlog = " + sync_);
    observer_.execute("SET GLOBAL max_allowed_packet = " + packet_);
  }

  json doctor(int code = kExitOk) {
    const auto done = allot({"doctor", "--json"});
    EXPECT_EQ(done.status.code, code) << done.out << done.err;
    json report = json::parse(done.out, nullptr, false);
    EXPECT_TRUE(report.is_object()) << done.out << done.err;
    EXPECT_EQ(report["exit_code"], code);
    return report["findings"];
  }
  // The finding about that; null if there is none.
  static json about(const json& findings, const std::string& what) {
    for (const json& finding : findings) {
      if (finding["check"] == what) return finding;
    }
    return nullptr;
  }

 private:
  std::string flush_ = value("SELECT @@global.innodb_flush_log_at_trx_commit");
  std::string sync_ = value("SELECT @@global.sync_binlog");
  std::string packet_ = value("SELECT @@global.max_allowed_packet");
};

// Like an old server without NOWAIT.
TEST_F(DoctorTest, AServerThatCannotKeepTheProtocolIsRefusedByAllThatStart) {
  const support::RewritingProxy proxy(folder_ / "p", server_.socket(), [](const std::string& sql) {
    return support::replaced(sql, "NOWAIT", "NOT WAIT");
  });
  configure("socket = \"" + server_.socket(), "socket = \"" + proxy.socket());
  const std::string reason = "it does not know NOWAIT as lease.sql uses it";
  const json finding = about(doctor(kExitConfig), "protocol");
  EXPECT_EQ(finding["level"], "fail");
  EXPECT_TRUE(has(finding["text"].get<std::string>(), reason));
  for (const char* command : {"migrate", "check"}) {
    const auto done = allot({command});
    EXPECT_EQ(done.status.code, kExitConfig) << command;
    EXPECT_TRUE(has(done.err, reason)) << command;
    EXPECT_TRUE(has(done.err, "docs/database.md, \"What a server must do\"")) << command;
  }
}

// S59
TEST_F(DoctorTest, AMissingLeaseRowIsSaidUntilMigrateFillsItIn) {
  observer_.execute(
      "DELETE FROM q_lock_table WHERE queue_id = (SELECT MAX(queue_id) FROM queue)"
      " AND partition_no = 0");
  const json finding = about(doctor(), "lease rows");
  EXPECT_EQ(finding["level"], "warn");
  EXPECT_TRUE(has(finding["text"].get<std::string>(), ": 1 are missing"));
  must({"migrate"});
  EXPECT_EQ(about(doctor(), "lease rows")["level"], "ok");
}

// Submitted while the clock was ahead by a day, and by a year.
TEST_F(DoctorTest, TasksThatAreDueFarAheadAreCounted) {
  EXPECT_EQ(about(doctor(), "far tasks")["text"], "none is due later than 12 hours from now");
  const auto put = [&](int days) {
    observer_.execute(
        "INSERT INTO task (queue_id, partition_no, prio, run_key, type, payload)"
        " SELECT MAX(queue_id), 0, 1, TIMESTAMPDIFF(MICROSECOND, '2025-01-01', UTC_TIMESTAMP(6)"
        " + INTERVAL " +
        std::to_string(days) + " DAY) << 12, 't', '' FROM queue");
  };
  put(1);
  put(2);
  json finding = about(doctor(), "far tasks");
  EXPECT_EQ(finding["level"], "ok");
  EXPECT_TRUE(finding["text"].get<std::string>().starts_with(
      "2 due later than 12 hours from now, the last one at 20"))
      << finding;
  put(365);
  finding = about(doctor(), "far tasks");
  EXPECT_EQ(finding["level"], "warn");
  EXPECT_TRUE(finding["text"].get<std::string>().starts_with("1 due later than 300 days"))
      << finding;
}

TEST_F(DoctorTest, LooksAtEverything) {
  observer_.execute("SET GLOBAL innodb_flush_log_at_trx_commit = 1, sync_binlog = 1");
  const json findings = doctor();
  for (const char* what : {"configuration", "runtime folder", "daemon", "server", "durability",
                           "max_allowed_packet", "time zone", "schema", "protocol", "clock",
                           "leases", "lease rows", "far tasks", "duties"}) {
    ASSERT_FALSE(about(findings, what).is_null()) << what;
    EXPECT_EQ(about(findings, what)["level"], "ok") << about(findings, what);
  }
  const std::string text = must({"doctor"});
  EXPECT_TRUE(has(text, "ok    durability: commits are on disk\n"));
  EXPECT_TRUE(has(text, "ok    time zone: the server's is "));
}

TEST_F(DoctorTest, SaysHowToFixTheServer) {
  observer_.execute("SET GLOBAL innodb_flush_log_at_trx_commit = 2");
  observer_.execute("SET GLOBAL max_allowed_packet = 16777216");
  const json findings = doctor();  // the command still works
  for (const char* what : {"durability", "max_allowed_packet"}) {
    EXPECT_EQ(about(findings, what)["level"], "warn");
  }
  EXPECT_TRUE(
      has(about(findings, "durability")["fix"], "SET GLOBAL innodb_flush_log_at_trx_commit = 1"));
  EXPECT_TRUE(has(must({"doctor"}),
                  "warn  max_allowed_packet: 16777216 bytes: too small for the largest payloads; "
                  "SET GLOBAL max_allowed_packet"));
}

// S76
TEST_F(DoctorTest, SaysHowACommitWakesWorkers) {
  const json polled = about(doctor(), "waking");
  EXPECT_EQ(polled["level"], "ok");
  const bool logged = support::number_of(observer_, "SELECT @@log_bin") != 0;
  EXPECT_TRUE(has(
      polled["text"].get<std::string>(),
      logged ? "binary log is on, but [wake] user is not set: with it half of these tasks would "
               "start within a few milliseconds"
             : "binary log is off: with log_bin, binlog_format = ROW and [wake] user"))
      << polled;
  configure("[daemon]", "[wake]\nuser = \"stranger\"\n[daemon]");
  const json refused = about(doctor(), "waking");
  EXPECT_EQ(refused["level"], "warn");
  EXPECT_TRUE(has(refused["text"].get<std::string>(), "stranger")) << refused;
}

// Allot does not set it (docs/decisions/0006).
TEST_F(DoctorTest, WarnsOfAChangedOptimizer) {
  observer_.execute("SET GLOBAL optimizer_switch = 'mrr_cost_based=off,index_merge=off'");
  const json found = about(doctor(), "optimizer_switch");
  observer_.execute("SET GLOBAL optimizer_switch = DEFAULT");
  EXPECT_EQ(found["level"], "warn");
  EXPECT_FALSE(has(must({"doctor"}), "optimizer_switch"));
}

// 32 MiB are two bytes for each byte of the largest payload, without space for the rest of the
// statement.
TEST_F(DoctorTest, TheLargestPayloadNeedsMoreThanTwiceItsSize) {
  observer_.execute("SET GLOBAL max_allowed_packet = 33554432");
  const json found = about(doctor(), "max_allowed_packet");
  EXPECT_EQ(found["level"], "warn");
  EXPECT_TRUE(has(found["fix"], "SET GLOBAL max_allowed_packet = 34603008"));
  observer_.execute("SET GLOBAL max_allowed_packet = 34603008");
  EXPECT_EQ(about(doctor(), "max_allowed_packet")["level"], "ok");
}

// S48: after each change takeovers are suspended for some time.
TEST_F(DoctorTest, WarnsOfServersThatTakeTurns) {
  EXPECT_EQ(about(doctor(), "last server")["text"], "it never changed");
  EXPECT_FALSE(queue::note_server(observer_));
  const auto another_wrote = [&] {
    observer_.execute(
        "UPDATE server_identity SET identity = 'db2:3306 2 /data' WHERE only_row = 1");
    EXPECT_TRUE(queue::note_server(observer_));
  };
  another_wrote();
  another_wrote();
  EXPECT_EQ(about(doctor(), "last server")["level"], "ok");
  another_wrote();
  const json found = about(doctor(), "last server");
  EXPECT_EQ(found["level"], "warn");
  EXPECT_TRUE(has(found["text"], ", after 3 server changes followed each other: "));
  EXPECT_EQ(found["fix"], "let all daemons use one server at a time");
  observer_.execute(
      "UPDATE server_identity SET since = since - INTERVAL 11 MINUTE WHERE only_row = 1");
  EXPECT_EQ(about(doctor(), "last server")["level"], "ok") << "it is over";
}

TEST_F(DoctorTest, ShowsWhatIsRaised) {
  EXPECT_EQ(about(doctor(), "notices")["level"], "ok");
  observer_.execute(
      "INSERT INTO notice (kind, subject, raised_at, detail) VALUES"
      " ('dead', 'mail', '2026-01-02 03:04:05', 'at least 1 dead')");
  EXPECT_EQ(about(doctor(), "notice")["text"],
            "dead mail: at least 1 dead (since 2026-01-02T03:04:05.000000Z)");
}

// E3: for the duties that this configuration needs.
TEST_F(DoctorTest, DutiesWithoutALeader) {
  must({"submit", "default", "t"});
  configure("[queues.default]", "[queues.default]\nhistory = \"1h\"");
  observer_.execute(
      "INSERT INTO queue_duty (queue_id, duty, free_at)"
      " SELECT queue_id, duty, UTC_TIMESTAMP(6) - INTERVAL 20 SECOND FROM queue,"
      " (SELECT 'purge' AS duty UNION SELECT 'stuck' UNION SELECT 'unique') AS duties;"
      "INSERT INTO queue_duty (queue_id, duty, free_at) VALUES (4711, 'purge', '2025-01-01')");
  EXPECT_EQ(about(doctor(), "duties")["level"], "ok") << "a daemon is being started again";
  observer_.execute("UPDATE queue_duty SET free_at = free_at - INTERVAL 1 MINUTE");
  const json left = about(doctor(), "duties");
  EXPECT_EQ(left["level"], "warn");
  const std::string text = left["text"];
  EXPECT_TRUE(has(text, "default/purge for ")) << text;
  EXPECT_FALSE(has(text, "stuck")) << "it has no on_stuck: " << text;
  EXPECT_FALSE(has(text, "4711")) << text;
  observer_.execute(
      "UPDATE queue_duty SET holder = 7, holder_host = 'h', holder_instance = 'i',"
      " free_at = UTC_TIMESTAMP(6) + INTERVAL 5 SECOND");
  EXPECT_EQ(about(doctor(), "duties")["level"], "ok");
  observer_.execute(
      "UPDATE queue_duty SET free_at = UTC_TIMESTAMP(6) + INTERVAL 5 SECOND,"
      " last_error = CONCAT('no ', duty)");
  const json failing = about(doctor(), "duties");
  EXPECT_EQ(failing["level"], "warn");
  EXPECT_EQ(failing["text"], "default/purge failed: no purge");
}

// S12: the command shows the leases, and does not change them.
TEST_F(DoctorTest, ShowsLeasesWhoseHolderIsGone) {
  support::Process gone({"true"});
  const auto pid = gone.pid();
  ASSERT_TRUE(gone.wait());
  std::filesystem::create_directory(folder_ / "run");
  (void)folder_.write("run/lock", "         1\n00000000000000ff\n");
  const auto holder = queue::make_holder("default", folder_ / "run", 0xff);
  const std::string lease =
      " lock_by = 7, lock_host = 'h', lock_instance = 'default', state = "
      "'LOCKED', expire_at = UTC_TIMESTAMP(6) + INTERVAL 1 HOUR, lock_pid = ";
  const std::string of_wide = " AND queue_id = (SELECT queue_id FROM queue WHERE name = 'wide')";
  const std::string own = ", lock_origin = " + std::to_string(holder.origin);
  observer_.execute("UPDATE q_lock_table SET" + lease + std::to_string(pid) + own +
                    " WHERE partition_no = 3" + of_wide);
  observer_.execute("UPDATE q_lock_table SET" + lease + std::to_string(getpid()) + own +
                    " WHERE partition_no = 4" + of_wide);
  observer_.execute("UPDATE q_lock_table SET" + lease + std::to_string(pid) +
                    ", lock_origin = 1 WHERE partition_no = 5" + of_wide);
  observer_.execute("UPDATE q_lock_table SET" + lease +
                    "1, lock_origin = 1,"
                    " expire_at = UTC_TIMESTAMP(6) - INTERVAL 1 HOUR WHERE partition_no = 6" +
                    of_wide);
  observer_.execute("UPDATE q_lock_table SET" + lease +
                    "2, lock_origin = 1, ttl_us = 8000000000 WHERE partition_no = 7" + of_wide);
  const std::string before = everything();
  const json leases = about(doctor(), "leases");
  EXPECT_EQ(leases["level"], "warn");
  const std::string text = leases["text"];
  EXPECT_TRUE(has(text, "3 of 5 seem to have lost their holders"));
  EXPECT_TRUE(has(text, "wide/7 of h/2 (silent since "));
  EXPECT_TRUE(has(text, "wide/3 of h/" + std::to_string(pid) + " (gone)"));
  EXPECT_TRUE(has(text, "wide/6 of h/1 (over since "));
  EXPECT_EQ(everything(), before);
}

TEST_F(DoctorTest, FailedChecksDecideTheExitCode) {
  observer_.execute("DELETE FROM allot_schema");
  const json behind = doctor(kExitConfig);
  EXPECT_EQ(about(behind, "schema")["level"], "fail");
  EXPECT_TRUE(has(about(behind, "schema")["text"], "allot migrate"));
  EXPECT_EQ(about(behind, "server")["level"], "ok") << "looked at all the same";
  configure(server_.socket(), "/nonexistent/socket");
  EXPECT_EQ(about(doctor(kExitUnavailable), "database")["level"], "fail");
  configure("[daemon]", "[demon]");
  EXPECT_EQ(about(doctor(kExitConfig), "configuration")["level"], "fail");
}

}  // namespace
}  // namespace allot::cli
