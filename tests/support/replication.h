// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "support/database.h"

namespace allot::support {

struct PairOptions {
  // Time after which a commit succeeds without the replica; none: never.
  std::optional<std::chrono::milliseconds> timeout{};
  std::vector<std::string> settings{};  // additional options of both servers
};

// A primary and a replica that has every commit acknowledged by the primary: semi-synchronous
// replication by GTIDs, on MariaDB or MySQL. Both listen on 127.0.0.1 (Database::tcp). Kill, freeze
// and restart them with the operations of Database: kill9(), Stall, start(). The first server is
// writable after each start, and waits for a replica again, like a server with these settings in
// its configuration file.
class ReplicatedPair {
 public:
  // On return `second` follows `first`, is read-only, and each commit of `first` waits for it.
  explicit ReplicatedPair(const PairOptions& options = {});

  [[nodiscard]] Database& first() { return first_; }
  [[nodiscard]] Database& second() { return second_; }

  // Makes `second` writable: it applies everything received, and no longer follows `first`, which
  // may be dead, frozen or alive. Its own commits do not wait for a replica.
  void promote();
  // The reverse after promote(): `first` becomes a read-only replica of `second`, whose commits
  // then wait for it. False if `first` has commits that `second` lacks: such a server must be
  // rebuilt from a copy. `first` must run.
  [[nodiscard]] bool attach_first();

 private:
  Database first_;
  Database second_;
};

// SQL that creates the account `name` as an installation should: with all privileges except writes
// to a read-only server.
std::string account(const std::string& name);
// Value for [database] hosts that names the servers in this order, with its brackets.
std::string hosts(const std::vector<const Database*>& servers);

}  // namespace allot::support
