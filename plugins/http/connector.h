// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "address.h"
#include "base/unique_fd.h"
#include "resolver.h"
#include "url.h"
#include "watchdog.h"

namespace http_plugin {

using allot::UniqueFd;

// Time limits for the phases of a request.
struct Limits {
  std::chrono::milliseconds name = std::chrono::seconds(5);
  std::chrono::milliseconds connect = std::chrono::seconds(5);
  std::chrono::milliseconds all = std::chrono::minutes(1);
};

// The permitted targets of requests: scheme, host and port. Constant after construction; any thread
// may call it.
class AllowList {
 public:
  AllowList() = default;
  // Throws std::invalid_argument that names the entry.
  explicit AllowList(const std::vector<std::string>& entries);

  [[nodiscard]] const std::vector<Origin>& entries() const { return entries_; }
  [[nodiscard]] bool has(const Origin& origin) const;
  // The reason why a connection to this address is refused for `origin`; empty: permitted. An
  // address that is not globally reachable needs its own entry, with the scheme and port of the
  // target.
  [[nodiscard]] std::string refusal(const Origin& origin, const Address& address) const;

 private:
  std::vector<Origin> entries_;
};

// Opens connections to permitted targets. Any thread may call it.
class Connector {
 public:
  explicit Connector(AllowList allowed, Lookup lookup = look_up);

  // Returns a blocking socket connected to an address of the origin. Each name is resolved once,
  // and the checked addresses are used for the connection, so that a DNS server cannot change the
  // answer in between. Throws Trouble.
  UniqueFd connect(const Origin& origin, const Limits& limits, const Watch& watch);

 private:
  AllowList allowed_;
  Resolver resolver_;
};

}  // namespace http_plugin
