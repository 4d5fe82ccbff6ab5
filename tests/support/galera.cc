// SPDX-License-Identifier: Apache-2.0
#include "support/galera.h"

#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include "support/eventually.h"

namespace allot::support {
namespace {

std::string provider() {
  const char* file = std::getenv("ALLOT_TEST_GALERA");
  return file == nullptr ? "" : file;
}

std::vector<std::string> node_settings(const std::string& members, const ReservedPort& group,
                                       const ReservedPort& transfer) {
  return {"--binlog-format=ROW",
          "--innodb-autoinc-lock-mode=2",
          "--wsrep-on=ON",
          "--wsrep-provider=" + provider(),
          "--wsrep-cluster-address=gcomm://" + members,
          "--wsrep-node-address=" + group.address(),
          "--wsrep-sst-method=bypass",
          "--wsrep-provider-options=gmcast.listen_addr=tcp://" + group.address() +
              ";ist.recv_addr=" + transfer.address() + ";gcache.size=256M"};
}

std::vector<std::string> environment() {
  const char* path = std::getenv("PATH");
  return {"PATH=" ALLOT_GALERA_TRANSFER ":" +
          std::string(path == nullptr ? "/usr/bin:/bin" : path)};
}

// A data folder that belongs to a cluster: nodes started on copies of it need no data transfer.
std::string prepare(const Database& founder) {
  for (const char* own : {"/galera.cache", "/gvwstate.dat"}) {
    std::filesystem::remove(founder.data() + own);
  }
  return founder.data();
}

}  // namespace

std::string why_no_galera() {
  if (on_mysql()) return "Galera runs on MariaDB";
  return provider().empty() ? "no Galera: eval \"$(tests/nightly/galera)\" first" : "";
}

GaleraCluster::GaleraCluster(const std::vector<std::string>& settings) {
  const std::string members =
      group_[0].address() + "," + group_[1].address() + "," + group_[2].address();
  const std::vector<std::string> bootstrap{"--wsrep-new-cluster"};
  const auto all_settings = [&](std::size_t i) {
    auto all = node_settings(members, group_.at(i), transfer_.at(i));
    all.insert(all.end(), settings.begin(), settings.end());
    return all;
  };
  Database founder(all_settings(0), Network::kTcp, environment(), {.settings = bootstrap});
  founder.stop();
  const std::string data = prepare(founder);
  for (std::size_t i = 0; i < kNodes; ++i) {
    nodes_.at(i) = std::make_unique<Database>(
        all_settings(i), Network::kTcp, environment(),
        FirstStart{i == 0 ? bootstrap : std::vector<std::string>{}, data});
  }
  if (!eventually([this] { return synced(0) && synced(1) && synced(2); },
                  std::chrono::seconds(60))) {
    throw std::runtime_error("the nodes do not meet:\n" + nodes_[0]->log());
  }
}

bool GaleraCluster::synced(std::size_t i, std::size_t nodes) const {
  const std::string wanted =
      "('wsrep_local_state_comment', 'Synced'), ('wsrep_cluster_status', 'Primary'),"
      " ('wsrep_cluster_size', '" +
      std::to_string(nodes) + "')";
  try {
    db::Connection db = node(i).connect();
    return number_of(db,
                     "SELECT COUNT(*) FROM information_schema.global_status"
                     " WHERE (variable_name, variable_value) IN (" +
                         wanted + ")") == 3;
  } catch (const db::DbError&) {
    return false;  // outside of the primary component a node rejects queries
  }
}

void GaleraCluster::rejoin(std::size_t i) {
  const std::string log = node(i).run_offline("--wsrep-recover");
  const std::string title = "Recovered position: ";
  const std::size_t at = log.rfind(title);
  if (at == std::string::npos) throw std::runtime_error("the node has no position:\n" + log);
  const std::size_t begin = at + title.size();
  node(i).start({"--wsrep-start-position=" + log.substr(begin, log.find('\n', begin) - begin)});
  if (!eventually([&] { return synced(i); }, std::chrono::seconds(60))) {
    throw std::runtime_error("the node does not rejoin:\n" + node(i).log());
  }
}

}  // namespace allot::support
