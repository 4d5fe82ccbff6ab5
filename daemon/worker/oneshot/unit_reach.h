// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace allot::worker {

// Files that the service of this host can reach, for a check by root, who can reach everything.
class UnitReach {
 public:
  // Properties of the unit as systemctl(1) shows them.
  using Properties = std::map<std::string, std::string>;

  // For the unit that systemd has loaded; without one, for the account `allot`. nullopt: this
  // process is not root's, or there is neither.
  static std::optional<UnitReach> find();
  // nullopt: the unit's account or one of its groups does not exist here.
  static std::optional<UnitReach> of(const Properties& unit);

  // Obstacle between the service and the path; empty if there is none, and if the path does not
  // exist. `mode` as for access(2).
  [[nodiscard]] std::string trouble_with(const std::string& path, int mode) const;

 private:
  // The folder whose parents systemd makes for the service; empty: they are this host's folders.
  // nullopt: the service does not see the path.
  [[nodiscard]] std::optional<std::string> seen_from(const std::string& path) const;

  std::string account_;
  uid_t user_ = 0;
  std::vector<gid_t> groups_;       // the first one is the primary
  std::string protect_home_;        // the value of ProtectHome=
  std::vector<std::string> bound_;  // folders that BindPaths= and BindReadOnlyPaths= show
};

}  // namespace allot::worker
