// SPDX-License-Identifier: Apache-2.0
#include "address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <vector>

namespace http_plugin {
namespace {

// A block of addresses with the first `bits` bits of `first`.
struct Block {
  Address first;
  unsigned bits = 0;
  const char* name = "";

  [[nodiscard]] bool has(const Address& address) const {
    if (address.is_v6 != first.is_v6) return false;
    for (unsigned bit = 0; bit < bits; ++bit) {
      const unsigned mask = 0x80U >> (bit % 8);
      if (((address.bytes[bit / 8] ^ first.bytes[bit / 8]) & mask) != 0) return false;
    }
    return true;
  }
};

Block block(const char* first, unsigned bits, const char* name) {
  return {parse_address(first).value(), bits, name};
}

// The first block that has an address decides; without a name it is globally reachable. Source: the
// registries as of 2026-11: https://www.iana.org/assignments/iana-ipv4-special-registry and
// iana-ipv6-special-registry.
const std::vector<Block>& blocks() {
  static const std::vector<Block> all = {
      block("192.0.0.9", 32, ""),     // Port Control Protocol anycast
      block("192.0.0.10", 32, ""),    // TURN anycast
      block("2001:1::1", 128, ""),    // Port Control Protocol anycast
      block("2001:1::2", 128, ""),    // TURN anycast
      block("2001:1::3", 128, ""),    // DNS-SD service registration anycast
      block("2001:3::", 32, ""),      // AMT
      block("2001:4:112::", 48, ""),  // AS112
      block("2001:20::", 28, ""),     // ORCHIDv2
      block("2001:30::", 28, ""),     // drone remote identification
      block("0.0.0.0", 8, "this network"),
      block("10.0.0.0", 8, "private use"),
      block("100.64.0.0", 10, "shared address space"),
      block("127.0.0.0", 8, "loopback"),
      block("169.254.0.0", 16, "link-local"),
      block("172.16.0.0", 12, "private use"),
      block("192.0.0.0", 24, "IETF protocol assignments"),
      block("192.0.2.0", 24, "documentation"),
      block("192.88.99.0", 24, "6to4 relays"),
      block("192.168.0.0", 16, "private use"),
      block("198.18.0.0", 15, "benchmarking"),
      block("198.51.100.0", 24, "documentation"),
      block("203.0.113.0", 24, "documentation"),
      block("224.0.0.0", 4, "multicast"),
      block("240.0.0.0", 4, "reserved"),
      block("::1", 128, "loopback"),
      block("::", 128, "unspecified"),
      block("::ffff:0:0", 96, "mapped from IPv4"),
      block("::", 96, "compatible with IPv4"),
      block("64:ff9b:1::", 48, "NAT64 of a network's own"),
      block("100::", 64, "discard only"),
      block("100:0:0:1::", 64, "dummy prefix"),
      block("2001::", 32, "Teredo"),
      block("2001::", 23, "IETF protocol assignments"),
      block("2001:db8::", 32, "documentation"),
      block("2002::", 16, "6to4"),
      block("3fff::", 20, "documentation"),
      block("5f00::", 16, "segment routing"),
      block("fc00::", 7, "unique local"),
      block("fe80::", 10, "link-local"),
      block("fec0::", 10, "site-local"),
      block("ff00::", 8, "multicast"),
      block("0.0.0.0", 0, ""),  // the rest of IPv4
      block("2000::", 3, ""),   // global unicast
      block("::", 0, "not assigned"),
  };
  return all;
}

}  // namespace

std::optional<Address> parse_address(std::string_view text) {
  const std::string copy(text);  // NUL-terminated
  if (copy.find('\0') != std::string::npos) return std::nullopt;
  Address address;
  address.is_v6 = copy.find(':') != std::string::npos;
  const int family = address.is_v6 ? AF_INET6 : AF_INET;
  if (::inet_pton(family, copy.c_str(), address.bytes.data()) != 1) return std::nullopt;
  return address;
}

std::string text_of(const Address& address) {
  char text[INET6_ADDRSTRLEN] = {};
  ::inet_ntop(address.is_v6 ? AF_INET6 : AF_INET, address.bytes.data(), text, sizeof text);
  return text;
}

std::string special_purpose_of(const Address& address) {
  const auto has = [&address](const Block& one) { return one.has(address); };
  static const Block nat64 = block("64:ff9b::", 96, "NAT64");
  if (nat64.has(address)) {
    Address inside;
    std::copy_n(address.bytes.begin() + 12, 4, inside.bytes.begin());
    const std::string why = special_purpose_of(inside);
    return why.empty() ? why : "NAT64 of " + text_of(inside) + ", " + why;
  }
  return std::find_if(blocks().begin(), blocks().end(), has)->name;
}

}  // namespace http_plugin
