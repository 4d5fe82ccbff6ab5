// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "address.h"
#include "url.h"

namespace http_plugin {

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

}  // namespace http_plugin
