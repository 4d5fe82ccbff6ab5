// SPDX-License-Identifier: Apache-2.0
#include "support/replication.h"

#include <sstream>
#include <stdexcept>

#include "support/eventually.h"

namespace allot::support {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

struct Words {
  const char* wait;     // makes a commit wait for a replica: before 0 or 1
  const char* clients;  // counter of replicas that a commit may wait for
  const char* follow;   // text before the port
  const char* from;     // text after the port
  const char* stop_receiver;
  const char* received;  // 1 when all received events are applied
  const char* forget;    // stops being a replica
  const char* status;
};
constexpr Words kMariadb{
    "SET GLOBAL rpl_semi_sync_master_enabled = ",
    "Rpl_semi_sync_master_clients",
    "SET GLOBAL gtid_slave_pos = @@GLOBAL.gtid_current_pos;"
    "CHANGE MASTER TO master_host = '127.0.0.1', master_user = 'repl', master_port = ",
    ", master_use_gtid = slave_pos, master_connect_retry = 1; START SLAVE",
    "STOP SLAVE IO_THREAD",
    "SELECT COUNT(*) FROM information_schema.processlist"
    " WHERE state LIKE 'Slave has read all relay log%'",
    "STOP SLAVE; RESET SLAVE ALL",
    "SHOW SLAVE STATUS"};
// Received events are applied by other threads.
constexpr Words kMysql{
    "SET GLOBAL rpl_semi_sync_source_enabled = ",
    "Rpl_semi_sync_source_clients",
    "CHANGE REPLICATION SOURCE TO source_host = '127.0.0.1', source_user = 'repl', source_port = ",
    ", source_auto_position = 1, get_source_public_key = 1, source_connect_retry = 1;"
    "START REPLICA",
    "STOP REPLICA IO_THREAD",
    "SELECT GTID_SUBSET(received_transaction_set, @@GLOBAL.gtid_executed)"
    " FROM performance_schema.replication_connection_status",
    "STOP REPLICA; RESET REPLICA ALL",
    "SHOW REPLICA STATUS"};

const Words& words() {
  return on_mysql() ? kMysql : kMariadb;
}

// Either server can be a primary and a replica.
std::vector<std::string> settings(int number, const PairOptions& options) {
  std::vector<std::string> all{"--log-bin", "--server-id=" + std::to_string(number),
                               "--binlog-format=ROW"};
  const bool waits = number == 1;
  // The largest time-out of MySQL: 49 days.
  const auto timeout = std::to_string(options.timeout ? options.timeout->count() : 4294967295);
  if (on_mysql()) {
    all.insert(
        all.end(),
        {"--gtid-mode=ON", "--enforce-gtid-consistency=ON", "--plugin-load-add=semisync_replica.so",
         "--rpl-semi-sync-replica-enabled=1", "--rpl-semi-sync-source-wait-point=AFTER_SYNC",
         "--rpl-semi-sync-source-timeout=" + timeout,
         "--rpl-semi-sync-source-enabled=" + std::to_string(waits)});
  } else {
    all.insert(all.end(), {"--log-slave-updates", "--rpl-semi-sync-slave-enabled=1",
                           "--rpl-semi-sync-master-wait-point=AFTER_SYNC",
                           "--rpl-semi-sync-master-timeout=" + timeout,
                           "--rpl-semi-sync-master-enabled=" + std::to_string(waits)});
  }
  all.insert(all.end(), options.settings.begin(), options.settings.end());
  return all;
}

// True if the primary refused the replica's request.
bool receiver_stopped(const Database& replica) {
  constexpr int kReceiverRuns = 10;
  std::istringstream columns(replica.administer(words().status));
  std::string column;
  for (int i = 0; i <= kReceiverRuns; ++i) std::getline(columns, column, '\t');
  return column == "No";
}

void wait_for_replica(const Database& server, bool wait) {
  server.administer(words().wait + std::string(wait ? "1" : "0"));
}

// MySQL accepts a replica with commits of its own.
bool has_all_of(const Database& replica, const Database& primary) {
  const std::string executed = replica.administer("SELECT @@GLOBAL.gtid_executed");
  return primary.administer("SELECT GTID_SUBSET('" + executed + "', @@GLOBAL.gtid_executed)") ==
         "1\n";
}

// False if the primary refuses, because the replica has commits that the primary lacks.
bool follow(const Database& primary, const Database& replica) {
  // First: a replica requests semi-synchronous replication only from a primary that has it enabled.
  wait_for_replica(primary, true);
  replica.administer("SET GLOBAL read_only = 1;" + std::string(words().follow) +
                     std::to_string(primary.tcp().port) + words().from);
  const std::string one = std::string(words().clients) + "\t1\n";
  const auto counts = [&] {
    return primary.administer("SHOW GLOBAL STATUS LIKE '" + std::string(words().clients) + "'") ==
           one;
  };
  bool refused = false;
  const bool follows = eventually(
      [&] {
        if (counts()) return true;
        refused = receiver_stopped(replica);
        return refused;
      },
      seconds(60));
  if (!follows) throw std::runtime_error("the replica does not follow its primary");
  return !refused;
}

}  // namespace

ReplicatedPair::ReplicatedPair(const PairOptions& options)
    : first_(settings(1, options), Network::kTcp), second_(settings(2, options), Network::kTcp) {
  wait_for_replica(first_, false);  // none exists yet
  first_.administer(
      "CREATE USER repl@'127.0.0.1'; GRANT REPLICATION SLAVE ON *.* TO repl@'127.0.0.1'");
  if (!follow(first_, second_)) {
    throw std::runtime_error("a new replica is refused by its primary:\n" + second_.log());
  }
}

void ReplicatedPair::promote() {
  second_.administer(words().stop_receiver);
  const auto applied = [this] { return second_.administer(words().received) == "1\n"; };
  if (!eventually(applied, seconds(60))) {
    throw std::runtime_error("the replica does not apply what it received");
  }
  second_.administer(words().forget);
  second_.administer("SET GLOBAL read_only = 0");
}

bool ReplicatedPair::attach_first() {
  wait_for_replica(first_, false);
  if (on_mysql() && !has_all_of(first_, second_)) return false;
  return follow(second_, first_);
}

std::string account(const std::string& name) {
  return "CREATE USER " + name + "; GRANT ALL ON *.* TO " + name + "; REVOKE SUPER, " +
         (on_mysql() ? "CONNECTION_ADMIN" : "READ_ONLY ADMIN") + " ON *.* FROM " + name;
}

std::string hosts(const std::vector<const Database*>& servers) {
  std::string list;
  for (const Database* server : servers) {
    list += (list.empty() ? "[\"" : ", \"") + server->tcp().host + ":" +
            std::to_string(server->tcp().port) + "\"";
  }
  return list + "]";
}

}  // namespace allot::support
