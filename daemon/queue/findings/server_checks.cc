// SPDX-License-Identifier: Apache-2.0
// Checks of the server: settings, clock and identity.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "db/binlog_stream.h"
#include "db/from_settings.h"
#include "db/procedures.h"
#include "db/writer.h"
#include "queue/findings/checks.h"
#include "queue/model/server_change.h"
#include "queue/server/rehearsal.h"
#include "queue/server/variables.h"
#include "queue/submit/submit.h"

namespace allot::queue {
namespace {

constexpr double kClockSeconds = 2;
constexpr std::uint32_t kManyChanges = 3;
constexpr std::chrono::minutes kChangesAgo{10};

Finding well(const std::string& check, const std::string& text) {
  return {Level::kOk, check, text};
}

Finding warning(const std::string& check, const std::string& text, const std::string& fix) {
  return {Level::kWarn, check, text, fix};
}

Finding failure(const Error& error, const std::string& check) {
  return {Level::kFail, check, error.what(), {}, {}, error.exit_code()};
}

void add_durability(Findings& all, const ServerFacts& variables) {
  const std::string flush = value_in(variables, "innodb_flush_log_at_trx_commit");
  const std::string doublewrite = value_in(variables, "innodb_doublewrite");
  const std::string sync = value_in(variables, "sync_binlog");
  const bool synced = value_in(variables, "log_bin") != "ON" || sync == "1";
  if (flush != "1") {
    all.push_back(warning(
        "durability",
        "innodb_flush_log_at_trx_commit is " + flush +
            ": commits of the last second may be lost if the server dies",
        "SET GLOBAL innodb_flush_log_at_trx_commit = 1, and in the server's configuration"));
  }
  if (doublewrite == "OFF") {
    all.push_back(warning("durability", "innodb_doublewrite is OFF: a partly written page is lost",
                          "turn it on in the server's configuration, unless the file system writes "
                          "pages atomically"));
  }
  if (!synced) {
    all.push_back(warning("durability", "sync_binlog is " + sync + ": replicas may miss commits",
                          "SET GLOBAL sync_binlog = 1, and in the server's configuration"));
  }
  if (flush == "1" && doublewrite != "OFF" && synced) {
    all.push_back(well("durability", "commits are on disk"));
  }
}

}  // namespace

Findings check_server(db::Connection& db, const Observer& /*by*/) {
  const ServerFacts variables = server_variables(db);
  // A connection refuses a read-only server (S2).
  Findings all{well("server", value_in(variables, "version") + " at " + db.where() + ", writable")};
  add_durability(all, variables);
  const std::string packet = value_in(variables, "max_allowed_packet");
  if (std::strtoull(packet.c_str(), nullptr, 10) < kWantedPacket) {
    all.push_back(warning("max_allowed_packet",
                          packet + " bytes: too small for the largest payloads",
                          "SET GLOBAL max_allowed_packet = " + std::to_string(kWantedPacket) +
                              ", and in the server's configuration"));
  } else {
    all.push_back(well("max_allowed_packet", packet + " bytes"));
  }
  if (optimizer_switch_changed(db)) {
    all.push_back(
        warning("optimizer_switch",
                "it was changed on this server, so query plans may differ from the tested ones",
                "SET GLOBAL optimizer_switch = DEFAULT, and in the server's configuration"));
  }
  if (value_in(variables, "wsrep_on") == "ON") {
    all.push_back(well("Galera", "this node is the writer"));
  }
  all.push_back(well("time zone", "the server's is " + value_in(variables, "time_zone") +
                                      "; Allot's sessions use UTC"));
  return all;
}

// S76
Findings check_waking(db::Connection& db, const Observer& by) {
  const std::string polled = "workers poll: a task committed in SQL starts within a second";
  if (by.settings.wake.user.empty()) {
    const bool logged = value_in(server_variables(db), "log_bin") == "ON";
    return {well("waking", polled + "; the server's binary log is " +
                               (logged ? "on, but [wake] user is not set: with it"
                                       : "off: with log_bin, binlog_format = ROW and [wake] user") +
                               " half of these tasks would start within a few milliseconds "
                               "(docs/database.md, Waking)")};
  }
  try {
    const auto options = db::to_same_server(db::log_reader_from(by.settings), db);
    const db::BinlogStream stream(options, by.settings.database.name);
    return {well("waking",
                 "each commit of a task wakes a worker, by the binary log of " + stream.where())};
  } catch (const db::DbError& error) {
    return {warning("waking", polled + ", for the binary log cannot be read: " + error.what(),
                    "see docs/database.md, Waking")};
  }
}

Findings check_procedures(db::Connection& db, const Observer& /*by*/) {
  const auto trouble = db::trouble_with_procedures(db);
  if (trouble) return {warning("procedures", trouble->text, trouble->fix)};
  return {well("procedures", "they belong to this version of Allot, and can be called")};
}

Findings check_protocol(db::Connection& db, const Observer& by) {
  try {
    rehearse(db, db::from_settings(by.settings));
    return {well("protocol", "sessions, fences and skipped locks are as Allot needs them")};
  } catch (const db::DbError& error) {
    if (error.number() == db::kUnfitServer) return {failure(error, "protocol")};
    return {warning("protocol", std::string("the rehearsal failed: ") + error.what(),
                    "run this command with the daemon's account")};
  }
}

Findings check_clock(db::Connection& db, const Observer& /*by*/) {
  using std::chrono::system_clock;
  const auto before = system_clock::now();
  const auto database = database_now(db);
  const auto middle = before + (system_clock::now() - before) / 2;
  const double ahead = std::chrono::duration<double>(database - middle).count();
  char text[80];
  std::snprintf(text, sizeof text, "the database's is %.3f s %s this host's",
                ahead < 0 ? -ahead : ahead, ahead < 0 ? "behind" : "ahead of");
  if (ahead <= kClockSeconds && ahead >= -kClockSeconds) return {well("clock", text)};
  return {
      warning("clock", text, "tasks are due by the database's clock; synchronize both with NTP")};
}

// S48: after each change no lease is taken over for some time, so a proxy that alternates between
// servers prevents takeovers by all hosts.
Findings check_last_server(db::Connection& db, const Observer& /*by*/) {
  const auto last = last_server_change(db);
  if (!last || last->number < 2) return {well("last server", "it never changed")};
  const std::string text = last->server + " since " + last->since;
  if (last->streak < kManyChanges || last->ago > kChangesAgo) return {well("last server", text)};
  return {
      warning("last server",
              text + ", after " + std::to_string(last->streak) +
                  " server changes followed each other: leases of dead hosts are not taken over",
              "let all daemons use one server at a time")};
}

// S52, S53. With equal terms on two servers, the connection would already have been refused.
Findings check_writers(db::Connection& db, const Observer& by) {
  const db::ConnectOptions options = db::from_settings(by.settings);
  if (!options.socket.empty() || options.servers.size() < 2) return {};
  Findings all;
  for (const db::ServerAnswer& answer : db::ask_servers(options, db::Asked::kAll, db::kAskWithin)) {
    if (!answer.connection || answer.where == db.where()) continue;
    if (answer.connection->standing().galera) continue;
    all.push_back({Level::kFail,
                   "second writer",
                   answer.where + " accepts writes, too, with term " +
                       std::to_string(answer.connection->standing().term.value_or(0)),
                   "make it read-only, or attach it as a replica",
                   {},
                   kExitUnavailable});
  }
  if (!all.empty()) return all;
  return {well("writer", db.where() + " is the only server in the list that accepts writes")};
}

const std::vector<Check>& checks_of_each_minute() {
  static const std::vector<Check> kChecks{check_server,        check_procedures, check_clock,
                                          check_last_server,   check_leases,     check_lease_rows,
                                          check_failed_duties, check_served};
  return kChecks;
}

}  // namespace allot::queue
