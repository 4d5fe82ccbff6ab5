// SPDX-License-Identifier: Apache-2.0
#include "config/networks.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cstddef>
#include <string>

#include "config/number.h"
#include "config/rows.h"

namespace allot::config {
namespace {

constexpr unsigned kMappedBits = 96;  // in front of an IPv4 address

// A name that a resolver can look up. The connector would read a comma as a list.
bool is_host(std::string_view host) {
  return is_word(host, ".-_:%");
}

std::optional<std::uint16_t> parse_port(std::string_view text) {
  const auto port = whole_number<std::uint16_t>(text);
  return port == 0 ? std::nullopt : port;
}

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

std::optional<Server> parse_server(std::string_view text, std::uint16_t default_port) {
  std::string_view host = text;
  std::optional<std::uint16_t> port = default_port;
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    host = text.substr(1, end - 1);
    text.remove_prefix(end + 1);
    if (text.starts_with(':')) {
      port = parse_port(text.substr(1));
    } else if (!text.empty()) {
      return std::nullopt;
    }
  } else if (std::count(text.begin(), text.end(), ':') == 1) {
    host = text.substr(0, text.find(':'));
    port = parse_port(text.substr(host.size() + 1));
  }
  if (!is_host(host) || !port) return std::nullopt;
  return Server{std::string(host), *port};
}

}  // namespace allot::config
