// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "support/database.h"

namespace allot::support {

struct PairOptions {
  // How long a commit waits for the replica before it succeeds without it; none: forever.
  std::optional<std::chrono::milliseconds> timeout{};
  std::vector<std::string> settings{};  // further options of both servers
};

// A primary and a replica that has every commit which the primary acknowledged: semi-synchronous
// replication by GTIDs, on MariaDB or MySQL. Both listen on 127.0.0.1 (Database::tcp). Kill, freeze
// and restart them with the operations of Database: kill9(), Stall, start(). The first server is
// writable after each start, and waits for a replica again, as a server does whose configuration
// file says so.
class ReplicatedPair {
 public:
  // On return `second` follows `first`, is read-only, and each commit of `first` waits for it.
  explicit ReplicatedPair(const PairOptions& options = {});

  [[nodiscard]] Database& first() { return first_; }
  [[nodiscard]] Database& second() { return second_; }

  // Makes `second` writable: it applies what it has received, and no longer follows `first`, which
  // may be dead, frozen or alive. Its own commits wait for no replica.
  void promote();
  // The reverse after promote(): `first` becomes a read-only replica of `second`, whose commits
  // then wait for it. False when `first` has commits that `second` has not: such a server has to
  // be built again from a copy. `first` must run.
  [[nodiscard]] bool attach_first();

 private:
  Database first_;
  Database second_;
};

// SQL that creates the account `name` as an installation should have it: with all rights except
// those to write to a read-only server.
std::string account(const std::string& name);
// The value for [database] hosts that names the servers in this order, with its brackets.
std::string hosts(const std::vector<const Database*>& servers);

}  // namespace allot::support
