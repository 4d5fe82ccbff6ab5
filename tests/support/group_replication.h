// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>

#include "support/database.h"
#include "support/reserved_port.h"

namespace allot::support {

// Reason why this run has no Group Replication, for GTEST_SKIP; empty if it has.
std::string why_no_group_replication();

// Three members of a MySQL group with a single primary, all ONLINE at the start, with node 0 as the
// primary; each of them listens on 127.0.0.1 (Database::tcp). Kill and freeze them with the
// operations of Database: kill9() and Stall. The others expel a silent member after about 10 s and
// elect another primary. A member that thaws returns by itself, and is read-only until then.
class ReplicationGroup {
 public:
  static constexpr std::size_t kNodes = 3;

  // `settings` are additional options of each server.
  explicit ReplicationGroup(const std::vector<std::string>& settings = {});

  [[nodiscard]] Database& node(std::size_t i) { return *nodes_.at(i); }

  // True if node `i` reports itself as the primary, ONLINE and writable; and the number of members
  // that it knows to be ONLINE. The node must answer: neither dead nor frozen.
  [[nodiscard]] bool is_primary(std::size_t i);
  [[nodiscard]] std::size_t online(std::size_t i);
  // Waits for the primary that the others elect without node `silent`.
  std::size_t primary_without(std::size_t silent);
  // Starts a node again after kill9(), and waits until all members are ONLINE.
  void rejoin(std::size_t i);

 private:
  void join(std::size_t i, bool founds);

  std::array<ReservedPort, kNodes> group_;
  std::array<std::unique_ptr<Database>, kNodes> nodes_;
};

}  // namespace allot::support
