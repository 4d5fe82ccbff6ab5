// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "config/settings.h"
#include "db/connection.h"

namespace allot::cli {

// Detects submissions of types that no handler of this host's daemon accepts, in queues that the
// daemon serves: usually a typing error. The types are read from the file that the daemon wrote at
// its start; without the file nothing is detected. The task is submitted in any case, because
// another host, or the next version of a plugin, may know its type.
class KnownTypes {
 public:
  explicit KnownTypes(const config::Settings& settings);

  void submitted(const std::string& queue, const std::string& type);
  // Prints one warning line for each type on standard error, and one for each queue that is not
  // served by a pool of any running daemon, if this account may read the daemons.
  void warn(db::Connection& db) const;

 private:
  const config::Settings& settings_;
  std::optional<std::vector<std::string>> types_;
  std::map<std::string, std::uint64_t> unknown_;  // number of tasks by type
  std::set<std::string> queues_;
};

}  // namespace allot::cli
