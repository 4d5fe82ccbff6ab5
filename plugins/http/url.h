// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

// Addresses of targets as people write them, read strictly: pure functions.
namespace http_plugin {

// Whom a connection is to, and by which protocol.
struct Origin {
  bool tls = false;
  std::string host;  // in lower case; an address of IPv6 without its brackets
  std::uint16_t port = 0;

  friend bool operator==(const Origin&, const Origin&) = default;
};

struct Url {
  Origin origin;
  std::string path;  // from "/" on, with its query
};

// Throws std::invalid_argument with what is wrong: another scheme than http and https, user and
// password, a fragment, a host that could be read in two ways (0x7f.1, 2130706433, 127.1), a
// character that has no place there.
Url parse_url(std::string_view text);
// The same without a path.
Origin parse_origin(std::string_view text);

// "https://example.com:443"
std::string text_of(const Origin& origin);
// The value of the field Host: without a port that goes without saying.
std::string host_field(const Origin& origin);

}  // namespace http_plugin
