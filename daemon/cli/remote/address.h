// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace allot::cli::remote {

// Where a gateway listens, as --url says it.
struct Address {
  bool tls = false;
  std::string host{};  // empty: the socket
  std::uint16_t port = 0;
  std::string base_path{};  // "" or "/jobs"
  std::string socket{};     // a file
};

// Reads "https://host:port/base", "http://…" or "unix:/path". Throws Error(kExitUsage) that says
// what is wrong.
[[nodiscard]] Address read_address(const std::string& url);

// As one segment of a path, or as a value of a query.
[[nodiscard]] std::string escaped(std::string_view text);

}  // namespace allot::cli::remote
