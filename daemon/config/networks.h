// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "config/settings.h"

// Servers by name, and addresses as numbers. IPv4 addresses are mapped to IPv6, so that one
// comparison covers both.
namespace allot::config {

using Address = std::array<std::uint8_t, 16>;

// "192.0.2.7", "2001:db8::1", "fe80::1%eth0".
[[nodiscard]] std::optional<Address> parse_address(std::string_view text);

// True for this host: 127.0.0.0/8 and ::1.
[[nodiscard]] bool is_loopback(const Address& address);

struct Network {
  Address address{};
  unsigned bits = 128;  // common prefix in bits
  [[nodiscard]] bool covers(const Address& other) const;
};

// Parses "192.0.2.0/24", or a plain address.
[[nodiscard]] std::optional<Network> parse_network(std::string_view text);

// Parses "db1", "db1:3307", "::1", "[::1]:3307". nullopt for any other text.
[[nodiscard]] std::optional<Server> parse_server(std::string_view text, std::uint16_t default_port);

}  // namespace allot::config
