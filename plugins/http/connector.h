// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "allow_list.h"
#include "programs/fd.h"
#include "resolver.h"
#include "url.h"
#include "watchdog.h"

namespace http_plugin {

using programs::Fd;

// How long the parts of a request may take.
struct Limits {
  std::chrono::milliseconds name = std::chrono::seconds(5);
  std::chrono::milliseconds connect = std::chrono::seconds(5);
  std::chrono::milliseconds all = std::chrono::minutes(1);
};

// Makes connections to targets that are allowed. Any thread may ask for one.
class Connector {
 public:
  explicit Connector(AllowList allowed, Lookup lookup = look_up);

  // A blocking socket that is connected to an address of the origin. What was looked up is checked,
  // and the connection is made to what was checked: no name is looked up twice, so that nobody can
  // answer differently in between. Throws Trouble.
  Fd connect(const Origin& origin, const Limits& limits, const Watch& watch);

 private:
  [[nodiscard]] std::vector<Address> allowed_of(const std::vector<Address>& addresses,
                                                const Origin& origin) const;

  AllowList allowed_;
  Resolver resolver_;
};

}  // namespace http_plugin
