// SPDX-License-Identifier: Apache-2.0
#include "support/group_replication.h"

#include <stdexcept>

#include "support/eventually.h"

namespace allot::support {
namespace {

using std::chrono::seconds;

std::vector<std::string> member_settings(std::size_t i, const std::string& local,
                                         const std::string& seeds) {
  return {"--server-id=" + std::to_string(i + 1),
          "--gtid-mode=ON",
          "--enforce-gtid-consistency=ON",
          "--performance-schema=ON",  // provides the view of the group
          "--report-host=127.0.0.1",
          "--plugin-load-add=group_replication.so",
          "--group-replication-group-name=6f0c2e5a-93b4-4c1e-9d57-48a1f9d3b7c2",
          "--group-replication-local-address=" + local,
          "--group-replication-group-seeds=" + seeds,
          "--group-replication-recovery-get-public-key=ON",
          "--group-replication-start-on-boot=OFF"};
}

constexpr const char* kRecoveryAccount =
    "CREATE USER repl@'127.0.0.1'; GRANT REPLICATION SLAVE, BACKUP_ADMIN, CONNECTION_ADMIN,"
    " GROUP_REPLICATION_STREAM ON *.* TO repl@'127.0.0.1'";

}  // namespace

std::string why_no_group_replication() {
  return on_mysql() ? "" : "Group Replication runs on MySQL: eval \"$(scripts/mysql)\" first";
}

ReplicationGroup::ReplicationGroup(const std::vector<std::string>& settings) {
  const std::string seeds =
      group_[0].address() + "," + group_[1].address() + "," + group_[2].address();
  for (std::size_t i = 0; i < kNodes; ++i) {
    auto all = member_settings(i, group_.at(i).address(), seeds);
    all.insert(all.end(), settings.begin(), settings.end());
    nodes_.at(i) = std::make_unique<Database>(all, Network::kTcp);
    join(i, i == 0);
    if (i == 0) node(0).administer(kRecoveryAccount);
  }
  if (!eventually([this] { return online(0) == kNodes; }, seconds(60))) {
    throw std::runtime_error("the members do not meet:\n" + nodes_[0]->log());
  }
}

void ReplicationGroup::join(std::size_t i, bool founds) {
  node(i).administer(
      "SET GLOBAL group_replication_bootstrap_group = " + std::string(founds ? "ON" : "OFF") +
      "; START GROUP_REPLICATION USER = 'repl';"
      "SET GLOBAL group_replication_bootstrap_group = OFF");
}

// A newly elected member is read-only until it has applied everything.
bool ReplicationGroup::is_primary(std::size_t i) {
  return node(i).administer(
             "SELECT COUNT(*) FROM performance_schema.replication_group_members"
             " WHERE member_id = @@GLOBAL.server_uuid AND member_role = 'PRIMARY'"
             " AND member_state = 'ONLINE' AND NOT @@GLOBAL.super_read_only") == "1\n";
}

std::size_t ReplicationGroup::online(std::size_t i) {
  return std::stoul(
      node(i).administer("SELECT COUNT(*) FROM performance_schema.replication_group_members"
                         " WHERE member_state = 'ONLINE'"));
}

std::size_t ReplicationGroup::primary_without(std::size_t silent) {
  std::size_t found = kNodes;
  const auto look = [&] {
    for (std::size_t i = 0; i < kNodes && found == kNodes; ++i) {
      if (i != silent && is_primary(i)) found = i;
    }
    return found < kNodes;
  };
  if (eventually(look, seconds(60))) return found;
  throw std::runtime_error("the members elect no primary:\n" + node(silent == 0 ? 1 : 0).log());
}

void ReplicationGroup::rejoin(std::size_t i) {
  node(i).start();
  join(i, false);
  if (!eventually([&] { return online(i) == kNodes; }, seconds(60))) {
    throw std::runtime_error("the member does not rejoin:\n" + node(i).log());
  }
}

}  // namespace allot::support
