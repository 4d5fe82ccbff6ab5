// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// Addresses, and which of them are anybody's: pure functions.
namespace http_plugin {

// The bytes of an address in the order of the network; those of IPv4 are the first four.
struct Address {
  bool is_v6 = false;
  std::array<std::uint8_t, 16> bytes{};

  friend bool operator==(const Address&, const Address&) = default;
};

// Four decimal numbers without leading zeros, or an address of IPv6 without brackets and zone.
// Nothing for any other way to write one.
std::optional<Address> parse_address(std::string_view text);
std::string text_of(const Address& address);

// Empty when IANA's registries call the address globally reachable; else what they call it. Of an
// address that stands for one of IPv4 (NAT64), that one decides. The forms that carry one of IPv4
// and are not globally reachable themselves (mapped, compatible, 6to4, Teredo) are refused as such,
// whatever they carry.
std::string special_purpose_of(const Address& address);

}  // namespace http_plugin
