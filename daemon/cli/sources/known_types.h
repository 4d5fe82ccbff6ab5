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

// Notices submissions of types that no handler of this host's daemon takes, in queues that it
// serves: a typing error, most of the time. It knows the types from the file that the daemon wrote
// when it started; without that it notices nothing. The task is submitted all the same, because
// another host, or the next version of a plugin, may know its type.
class KnownTypes {
 public:
  explicit KnownTypes(const config::Settings& settings);

  void submitted(const std::string& queue, const std::string& type);
  // Says on standard error what was noticed, in one line for each type; and each queue that no pool
  // of a running daemon serves, on whichever host, if this account may read that.
  void warn(db::Connection& db) const;

 private:
  const config::Settings& settings_;
  std::optional<std::vector<std::string>> types_;
  std::map<std::string, std::uint64_t> unknown_;  // tasks by their type
  std::set<std::string> queues_;
};

}  // namespace allot::cli
