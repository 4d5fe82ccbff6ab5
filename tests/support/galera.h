// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>

#include "support/database.h"
#include "support/reserved_port.h"

namespace allot::support {

// Reason why this run has no Galera, for GTEST_SKIP; empty if it has. tests/nightly/galera prints
// the required variable.
std::string why_no_galera();

// Three nodes of a Galera cluster on MariaDB, all synced at the start; each of them listens on
// 127.0.0.1 (Database::tcp) and accepts writes. Kill and freeze them with the operations of
// Database: kill9() and Stall. The others exclude a silent node after 5 s; a node that thaws
// returns by itself.
class GaleraCluster {
 public:
  static constexpr std::size_t kNodes = 3;

  // `settings` are additional options of each server.
  explicit GaleraCluster(const std::vector<std::string>& settings = {});

  [[nodiscard]] Database& node(std::size_t i) { return *nodes_.at(i); }
  [[nodiscard]] const Database& node(std::size_t i) const { return *nodes_.at(i); }

  // True if the node is synced in the primary component, and sees `nodes` nodes there.
  [[nodiscard]] bool synced(std::size_t i, std::size_t nodes = kNodes) const;
  // Starts a node again after kill9(), and waits until all nodes are synced.
  void rejoin(std::size_t i);

 private:
  std::array<ReservedPort, kNodes> group_;
  std::array<ReservedPort, kNodes> transfer_;
  std::array<std::unique_ptr<Database>, kNodes> nodes_;
};

}  // namespace allot::support
