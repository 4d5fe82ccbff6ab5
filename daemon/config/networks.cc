// SPDX-License-Identifier: Apache-2.0
#include "config/networks.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cstddef>
#include <string>

#include "config/number.h"

namespace allot::config {
namespace {

constexpr unsigned kMappedBits = 96;  // in front of an IPv4 address

}  // namespace

std::optional<Address> parse_address(std::string_view text) {
  const std::string plain(text.substr(0, text.find('%')));
  Address address{};
  if (::inet_pton(AF_INET6, plain.c_str(), address.data()) == 1) return address;
  address = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  if (::inet_pton(AF_INET, plain.c_str(), address.data() + kMappedBits / 8) == 1) return address;
  return std::nullopt;
}

bool is_loopback(const Address& address) {
  return parse_network("127.0.0.0/8")->covers(address) || parse_network("::1")->covers(address);
}

bool Network::covers(const Address& other) const {
  const std::size_t whole = bits / 8;
  if (!std::equal(address.begin(), address.begin() + static_cast<std::ptrdiff_t>(whole),
                  other.begin())) {
    return false;
  }
  if (bits % 8 == 0) return true;
  const unsigned mask = 0xffU << (8 - bits % 8) & 0xffU;
  return (address.at(whole) & mask) == (other.at(whole) & mask);
}

std::optional<Network> parse_network(std::string_view text) {
  const std::size_t slash = text.find('/');
  const auto address = parse_address(text.substr(0, slash));
  if (!address) return std::nullopt;
  if (slash == std::string_view::npos) return Network{*address};
  const unsigned before =
      text.substr(0, slash).find(':') == std::string_view::npos ? kMappedBits : 0;
  const auto bits = whole_number<unsigned>(text.substr(slash + 1));
  if (!bits || *bits > 128 - before) return std::nullopt;
  return Network{*address, before + *bits};
}

}  // namespace allot::config
