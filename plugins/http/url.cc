// SPDX-License-Identifier: Apache-2.0
#include "url.h"

#include <algorithm>
#include <stdexcept>

#include "address.h"
#include "base/utf8.h"

namespace http_plugin {
namespace {

constexpr std::size_t kMaxHost = 253;
constexpr std::size_t kMaxLabel = 63;
constexpr std::size_t kMaxPath = 8000;

[[noreturn]] void fail(const std::string& what) {
  throw std::invalid_argument(what);
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// True if some library parses it as a number, so that the host may be an address.
bool may_be_number(std::string_view label) {
  if (std::all_of(label.begin(), label.end(), is_digit)) return true;
  return label.starts_with("0x") && label.find_first_not_of("0123456789abcdef", 2) == label.npos;
}

void check_label(std::string_view label, const std::string& host) {
  const auto is_fine = [](char c) {
    return (c >= 'a' && c <= 'z') || is_digit(c) || c == '-' || c == '_';
  };
  if (label.empty() || label.size() > kMaxLabel ||
      !std::all_of(label.begin(), label.end(), is_fine)) {
    fail("'" + host +
         "' is not a host name: letters, digits, '-' and single dots (xn--... for others)");
  }
}

void check_name(const std::string& host) {
  if (host.empty() || host.size() > kMaxHost) fail("the host is missing or too long");
  std::string_view rest = host;
  std::string_view label;
  do {
    const std::size_t dot = std::min(rest.find('.'), rest.size());
    label = rest.substr(0, dot);
    check_label(label, host);
    if (dot == rest.size()) break;
    rest.remove_prefix(dot + 1);
  } while (true);
  if (may_be_number(label) && !parse_address(host)) {
    fail("'" + host + "' is not a host: write an address as four decimal numbers, 192.0.2.1");
  }
}

std::uint16_t port_of(std::string_view text) {
  unsigned port = 0;
  for (const char c : text) {
    if (!is_digit(c) || text.size() > 5) fail("'" + std::string(text) + "' is not a port");
    port = port * 10 + static_cast<unsigned>(c - '0');
  }
  if (text.empty() || text.front() == '0' || port > 65535) {
    fail("'" + std::string(text) + "' is not a port, which is 1 to 65535");
  }
  return static_cast<std::uint16_t>(port);
}

// The host; `rest` is the text behind it.
std::string host_of(std::string_view authority, std::string_view& rest) {
  if (!authority.starts_with('[')) {
    const std::size_t end = std::min(authority.find(':'), authority.size());
    rest = authority.substr(end);
    std::string host = allot::lower(authority.substr(0, end));
    check_name(host);
    return host;
  }
  const std::size_t end = authority.find(']');
  const auto address =
      end == authority.npos ? std::nullopt : parse_address(authority.substr(1, end - 1));
  if (!address || !address->is_v6) fail("the brackets do not contain an IPv6 address");
  rest = authority.substr(end + 1);
  return text_of(*address);
}

Origin origin_of(std::string_view authority, bool tls) {
  if (authority.find('@') != authority.npos) fail("it must not contain a user or a password");
  Origin origin;
  origin.tls = tls;
  std::string_view rest;
  origin.host = host_of(authority, rest);
  origin.port = tls ? 443 : 80;
  if (rest.empty()) return origin;
  if (rest.front() != ':') fail("what follows the host is not a port");
  origin.port = port_of(rest.substr(1));
  return origin;
}

// Removes the scheme.
bool is_tls(std::string_view& text) {
  for (const std::string_view scheme : {"https://", "http://"}) {
    if (allot::lower(text.substr(0, scheme.size())) != scheme) continue;
    text.remove_prefix(scheme.size());
    return scheme == "https://";
  }
  fail("it must begin with https:// or http://");
}

std::string in_url(const std::string& host) {
  return host.find(':') != std::string::npos ? "[" + host + "]" : host;
}

}  // namespace

Url parse_url(std::string_view text) {
  const auto is_fine = [](char c) {
    return c > ' ' && c < '\x7f' &&
           std::string_view("\"<>\\^`{|}").find(c) == std::string_view::npos;
  };
  if (!std::all_of(text.begin(), text.end(), is_fine)) {
    fail("it has a character that must be written as %XX");
  }
  if (text.find('#') != text.npos) fail("it has a fragment (#), which is never sent to a server");
  const bool tls = is_tls(text);
  const std::size_t end = std::min(text.find_first_of("/?"), text.size());
  Url url;
  url.origin = origin_of(text.substr(0, end), tls);
  url.path = text.substr(end);
  if (!url.path.starts_with('/')) url.path.insert(0, 1, '/');
  if (url.path.size() > kMaxPath) fail("it is longer than 8000 characters");
  return url;
}

Origin parse_origin(std::string_view text) {
  std::string_view rest = text;
  const bool tls = is_tls(rest);
  return origin_of(rest, tls);
}

std::string text_of(const Origin& origin) {
  return (origin.tls ? "https://" : "http://") + in_url(origin.host) + ":" +
         std::to_string(origin.port);
}

std::string host_field(const Origin& origin) {
  const std::string host = in_url(origin.host);
  return origin.port == (origin.tls ? 443 : 80) ? host : host + ":" + std::to_string(origin.port);
}

}  // namespace http_plugin
