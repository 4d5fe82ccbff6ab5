// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "address.h"
#include "url.h"

namespace http_plugin {

// The targets that requests may go to: scheme, host and port of each. Never changes, so that any
// thread may ask.
class AllowList {
 public:
  AllowList() = default;
  // Throws std::invalid_argument that names the entry.
  explicit AllowList(const std::vector<std::string>& entries);

  [[nodiscard]] const std::vector<Origin>& entries() const { return entries_; }
  [[nodiscard]] bool has(const Origin& origin) const;
  // Why no connection to this address may be made for `origin`; empty: it may. An address that is
  // not globally reachable needs an entry of its own, with the scheme and port of the target.
  [[nodiscard]] std::string refusal(const Origin& origin, const Address& address) const;

 private:
  std::vector<Origin> entries_;
};

}  // namespace http_plugin
