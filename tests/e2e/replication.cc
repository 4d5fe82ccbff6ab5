// SPDX-License-Identifier: Apache-2.0
#include "e2e/replication.h"

#include <stdexcept>

#include "support/eventually.h"

namespace allot::e2e {
namespace {

using support::on_mysql;

struct Words {
  const char* enable;   // at the primary, a commit waits for the replica
  const char* clients;  // the counter of replicas that it waits for
  const char* follow;   // before the port
  const char* from;     // after it
  const char* stop;
  const char* applied;
};
constexpr Words kMariadb{
    "SET GLOBAL rpl_semi_sync_master_enabled = 1",
    "Rpl_semi_sync_master_clients",
    "CHANGE MASTER TO master_host = '127.0.0.1', master_user = 'repl', master_port = ",
    ", master_use_gtid = slave_pos; START SLAVE",
    "STOP SLAVE",
    "SELECT COUNT(*) FROM information_schema.processlist"
    " WHERE state LIKE 'Slave has read all relay log%'"};
// What it has read is applied by other threads.
constexpr Words kMysql{
    "SET GLOBAL rpl_semi_sync_source_enabled = 1",
    "Rpl_semi_sync_source_clients",
    "CHANGE REPLICATION SOURCE TO source_host = '127.0.0.1', source_user = 'repl', source_port = ",
    ", source_auto_position = 1, get_source_public_key = 1; START REPLICA",
    "STOP REPLICA",
    "SELECT GTID_SUBSET(received_transaction_set, @@GLOBAL.gtid_executed)"
    " FROM performance_schema.replication_connection_status"};

const Words& words() {
  return on_mysql() ? kMysql : kMariadb;
}

}  // namespace

std::vector<std::string> primary_settings() {
  if (on_mysql()) {
    return {"--gtid-mode=ON", "--enforce-gtid-consistency=ON",
            "--rpl-semi-sync-source-wait-point=AFTER_SYNC"};
  }
  return {"--log-bin", "--server-id=1", "--binlog-format=ROW",
          "--rpl-semi-sync-master-wait-point=AFTER_SYNC"};
}

std::vector<std::string> replica_settings() {
  if (on_mysql()) {
    return {"--gtid-mode=ON", "--enforce-gtid-consistency=ON", "--server-id=2",
            "--plugin-load-add=semisync_replica.so", "--rpl-semi-sync-replica-enabled=1"};
  }
  return {"--log-bin", "--server-id=2", "--rpl-semi-sync-slave-enabled=1"};
}

void replicate(support::Database& primary, db::Connection& at_replica) {
  db::Connection at_primary = primary.connect();
  at_primary.execute(
      "CREATE USER repl@'127.0.0.1'; GRANT REPLICATION SLAVE ON *.* TO repl@'127.0.0.1'");
  // Not before: without a replica a commit would wait.
  at_primary.execute(words().enable);
  at_replica.execute(words().follow + std::to_string(primary.tcp().port) + words().from +
                     "; SET GLOBAL read_only = 1");
  if (!support::eventually(
          [&] { return support::server_counter(at_primary, words().clients) == 1; })) {
    throw std::runtime_error("the replica does not follow its primary");
  }
}

bool all_is_applied(db::Connection& at_replica) {
  return support::number_of(at_replica, words().applied) == 1;
}

void promote(db::Connection& at_replica) {
  at_replica.execute(std::string(words().stop) + "; SET GLOBAL read_only = 0");
}

std::string account(const std::string& name) {
  return "CREATE USER " + name + "; GRANT ALL ON *.* TO " + name + "; REVOKE SUPER, " +
         (on_mysql() ? "CONNECTION_ADMIN" : "READ_ONLY ADMIN") + " ON *.* FROM " + name;
}

}  // namespace allot::e2e
