// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace allot::worker {

// What the service of this host can reach, for a check by root, who can reach everything.
class UnitReach {
 public:
  // As systemctl(1) shows the unit.
  using Properties = std::map<std::string, std::string>;

  // Of the unit that systemd has loaded; without one, of the account `allot`. nullopt: this process
  // is not root's, or there is neither.
  static std::optional<UnitReach> find();
  // nullopt: the unit's account or one of its groups does not exist here.
  static std::optional<UnitReach> of(const Properties& unit);

  // What keeps the service from it; empty when nothing does, and when it does not exist. `mode` is
  // that of access(2).
  [[nodiscard]] std::string trouble_with(const std::string& path, int mode) const;

 private:
  // The folder whose parents systemd makes for the service; empty: they are those of this host.
  // nullopt: the service does not see the path.
  [[nodiscard]] std::optional<std::string> seen_from(const std::string& path) const;

  std::string account_;
  uid_t user_ = 0;
  std::vector<gid_t> groups_;       // the first one is the primary
  std::string protect_home_;        // the value of ProtectHome=
  std::vector<std::string> bound_;  // folders that BindPaths= and BindReadOnlyPaths= show
};

}  // namespace allot::worker
