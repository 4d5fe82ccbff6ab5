// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace allot::cli::remote {

// Address of a gateway, as given by --url.
struct Address {
  bool tls = false;
  std::string host{};  // empty: the socket
  std::uint16_t port = 0;
  std::string base_path{};  // for example "" or "/jobs"
  std::string socket{};     // path of a socket file
};

// Reads "https://host:port/base", "http://…" or "unix:/path". Throws Error(kExitUsage) that names
// the mistake.
[[nodiscard]] Address read_address(const std::string& url);

}  // namespace allot::cli::remote
