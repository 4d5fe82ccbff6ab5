// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "allow_list.h"
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

// Opens connections to permitted targets. Any thread may call it.
class Connector {
 public:
  explicit Connector(AllowList allowed, Lookup lookup = look_up);

  // Returns a blocking socket connected to an address of the origin. Each name is resolved once,
  // and the checked addresses are used for the connection, so that a DNS server cannot change the
  // answer in between. Throws Trouble.
  UniqueFd connect(const Origin& origin, const Limits& limits, const Watch& watch);

 private:
  [[nodiscard]] std::vector<Address> allowed_of(const std::vector<Address>& addresses,
                                                const Origin& origin) const;

  AllowList allowed_;
  Resolver resolver_;
};

}  // namespace http_plugin
