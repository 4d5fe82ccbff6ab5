// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

// Strict parser for target URLs: pure functions.
namespace http_plugin {

// Endpoint and protocol of a connection.
struct Origin {
  bool tls = false;
  std::string host;  // in lower case; an IPv6 address without brackets
  std::uint16_t port = 0;

  friend auto operator<=>(const Origin&, const Origin&) = default;
};

struct Url {
  Origin origin;
  std::string path;  // from the first "/", including the query
};

// Throws std::invalid_argument with the error: a scheme other than http and https, user and
// password, a fragment, an ambiguous host (0x7f.1, 2130706433, 127.1), an illegal character.
Url parse_url(std::string_view text);
// A URL without a path.
Origin parse_origin(std::string_view text);

// "https://example.com:443"
std::string text_of(const Origin& origin);
// The value of the Host field, without the default port.
std::string host_field(const Origin& origin);

}  // namespace http_plugin
