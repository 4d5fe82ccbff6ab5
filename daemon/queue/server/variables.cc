// SPDX-License-Identifier: Apache-2.0
#include "queue/server/variables.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <string_view>

#include "db/error.h"
#include "sql/queries.h"

namespace allot::queue {
namespace {

// A commit that waits a day for a replica is in effect not acknowledged without an operator.
// MySQL's maximum is 49 days, MariaDB's is larger.
constexpr std::uint64_t kEndlessMs = 86'400'000;

// Names of the settings on each kind of server.
struct SemiSync {
  const char* enabled;
  const char* timeout;
  const char* waits_without_replica;  // also while no replica is connected
  const char* replicas;
};
constexpr SemiSync kMariadb{"rpl_semi_sync_master_enabled", "rpl_semi_sync_master_timeout",
                            "rpl_semi_sync_master_wait_no_slave", "rpl_semi_sync_master_clients"};
constexpr SemiSync kMysql{"rpl_semi_sync_source_enabled", "rpl_semi_sync_source_timeout",
                          "rpl_semi_sync_source_wait_no_replica", "rpl_semi_sync_source_clients"};

std::uint64_t number(const ServerFacts& facts, const std::string& name) {
  const std::string digits = value_in(facts, name);
  std::uint64_t number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

void demand(std::vector<std::string>& gaps, bool met, const std::string& text) {
  if (!met) gaps.push_back(text);
}

std::vector<std::string> semi_sync_gaps(const ServerFacts& facts, const SemiSync& names) {
  std::vector<std::string> gaps;
  if (value_in(facts, names.enabled) != "ON") {
    return {"no commit waits for a replica: set " + std::string(names.enabled) + " = ON"};
  }
  demand(gaps, number(facts, names.timeout) >= kEndlessMs,
         "a commit stops waiting for a replica after " + value_in(facts, names.timeout) +
             " ms: set " + names.timeout + " to a day (86400000) or more");
  demand(gaps, value_in(facts, names.waits_without_replica) == "ON",
         "no commit waits while no replica is connected: set " +
             std::string(names.waits_without_replica) + " = ON");
  demand(gaps, number(facts, names.replicas) > 0, "no replica is connected that confirms commits");
  return gaps;
}

// A replica may have commits that its primary loses, and then cannot follow it.
void demand_disk(std::vector<std::string>& gaps, const ServerFacts& facts) {
  demand(gaps, value_in(facts, "sync_binlog") == "1",
         "a crash may lose the end of the binary log: set sync_binlog = 1");
  demand(gaps, value_in(facts, "innodb_flush_log_at_trx_commit") == "1",
         "a crash may lose the last second: set innodb_flush_log_at_trx_commit = 1");
}

}  // namespace

bool optimizer_switch_changed(db::Connection& db) {
  try {
    return db.read_number(db::Statement(sql::k_changed_switch)) != 0;
  } catch (const db::DbError& error) {
    if (error.error_class() != db::ErrorClass::kRefused) throw;
    return false;
  }
}

ServerFacts server_variables(db::Connection& db, bool with_replicas) {
  ServerFacts facts;
  const auto add = [&](const db::Row& row) {
    std::string name = row.string(0);
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return std::tolower(c); });
    facts[name] = row.text(1);
  };
  db.each_row(db::Statement(sql::k_server_variables), add);
  if (with_replicas) db.each_row(db::Statement(sql::k_replication_status), add);
  return facts;
}

std::string value_in(const ServerFacts& facts, const std::string& name) {
  const auto found = facts.find(name);
  return found == facts.end() ? std::string() : found->second;
}

void require_rights(db::Connection& db) {
  db.run({db::Statement(sql::k_require_rights)});
}

std::uint64_t connections_allowed(db::Connection& db) {
  std::uint64_t all = 0;
  std::uint64_t mine = 0;
  db.run({db::Statement(sql::k_connections_allowed)}).front().one().read(0, all, mine);
  return mine == 0 ? all : std::min(all, mine);
}

std::vector<std::string> replication_gaps(const ServerFacts& facts) {
  std::vector<std::string> gaps;
  if (value_in(facts, "wsrep_on") == "ON") {
    demand(gaps, number(facts, "wsrep_cluster_size") > 1, "the Galera cluster has one node");
    return gaps;
  }
  // A member acknowledges commits that a majority of its group has received.
  if (!value_in(facts, "group_replication_group_name").empty()) return gaps;
  const bool mariadb = value_in(facts, "version").find("MariaDB") != std::string::npos;
  gaps = semi_sync_gaps(facts, mariadb ? kMariadb : kMysql);
  demand_disk(gaps, facts);
  return gaps;
}

void require_replicated(db::Connection& db) {
  const std::string reasons = db::joined(
      replication_gaps(server_variables(db, true)), [](const std::string& gap) { return gap; },
      "; ");
  if (reasons.empty()) return;
  throw db::DbError(db::kUnfitServer,
                    "database at " + db.where() +
                        ": an acknowledged commit may be lost with this server, and [database] "
                        "required is \"replicated\": " +
                        reasons,
                    db::Phase::kConnect);
}

}  // namespace allot::queue
