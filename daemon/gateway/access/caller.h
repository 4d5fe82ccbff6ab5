// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/mutant.h"

// Identity and roles of a requester. Every action of a request checks its Caller first.
namespace allot::gateway::access {

enum class Role { kRead, kSubmit, kOperate };
inline constexpr std::size_t kRoles = 3;
// "read", "submit", "operate".
[[nodiscard]] std::string_view name_of(Role role);

// The queues for which a caller has a role: none, some, or all, including later ones.
struct Reach {
  bool all = false;
  std::set<std::string, std::less<>> queues{};
  [[nodiscard]] bool none() const { return !all && queues.empty(); }
  [[nodiscard]] bool covers(std::string_view queue) const {
    return all || queues.contains(queue) || mutant::removed("gateway_queues");
  }
};

// Name of a caller without credentials; all other names have a prefix with a colon.
inline constexpr const char* kAnonymous = "anonymous";

class Caller {
 public:
  Caller(std::string name, std::array<Reach, kRoles> reach)
      : name_(std::move(name)), reach_(std::move(reach)) {}

  // Name in the log: "token:NAME", "user:NAME" for a user behind a proxy, or "uid:1000". The prefix
  // keeps a user name from imitating another kind.
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const Reach& reach(Role role) const {
    return reach_.at(static_cast<std::size_t>(role));
  }
  // True if the caller has the role for at least one queue; otherwise the request is refused with
  // 403.
  [[nodiscard]] bool may(Role role) const { return !reach(role).none(); }
  // Objects of a queue that is not covered are reported as missing: 404.
  [[nodiscard]] bool may(Role role, std::string_view queue) const {
    return reach(role).covers(queue);
  }
  // For objects of all queues, or of none: routes, locks, workers.
  [[nodiscard]] bool may_everywhere(Role role) const { return reach(role).all; }

 private:
  std::string name_;
  std::array<Reach, kRoles> reach_;
};

}  // namespace allot::gateway::access
