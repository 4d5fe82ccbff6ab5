// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// Parses addresses and classifies them as public or special: pure functions.
namespace http_plugin {

// The bytes of an address in network order; IPv4 uses the first four.
struct Address {
  bool is_v6 = false;
  std::array<std::uint8_t, 16> bytes{};

  friend bool operator==(const Address&, const Address&) = default;
};

// Parses four decimal numbers without leading zeros, or an IPv6 address without brackets and zone.
// nullopt: any other notation.
std::optional<Address> parse_address(std::string_view text);
std::string text_of(const Address& address);

// Empty if the address is globally reachable according to IANA's registries; otherwise its name
// there. A NAT64 address is classified by its IPv4 address. Other forms that contain an IPv4
// address (mapped, compatible, 6to4, Teredo) are not globally reachable themselves and are always
// refused.
std::string special_purpose_of(const Address& address);

}  // namespace http_plugin
