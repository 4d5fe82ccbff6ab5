// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>

#include "support/database.h"
#include "support/reserved_port.h"

namespace allot::support {

// Why this run has no Galera, for GTEST_SKIP; empty when it has. tests/nightly/galera prints the
// variable that it needs.
std::string why_no_galera();

// Three nodes of a Galera cluster on MariaDB, all synced at the start; each of them listens on
// 127.0.0.1 (Database::tcp) and takes writes. Kill and freeze them with the operations of Database:
// kill9() and Stall. The others leave a silent node out after 5 s; a node that thaws returns by
// itself.
class GaleraCluster {
 public:
  static constexpr std::size_t kNodes = 3;

  // `settings` are further options of each server.
  explicit GaleraCluster(const std::vector<std::string>& settings = {});

  [[nodiscard]] Database& node(std::size_t i) { return *nodes_.at(i); }
  [[nodiscard]] const Database& node(std::size_t i) const { return *nodes_.at(i); }

  // The node is synced in the primary component, and sees so many nodes there.
  [[nodiscard]] bool synced(std::size_t i, std::size_t nodes = kNodes) const;
  // Starts a node again after kill9(), and waits until all nodes are synced.
  void rejoin(std::size_t i);

 private:
  std::array<ReservedPort, kNodes> group_;
  std::array<ReservedPort, kNodes> transfer_;
  std::array<std::unique_ptr<Database>, kNodes> nodes_;
};

}  // namespace allot::support
