// SPDX-License-Identifier: Apache-2.0
#include "config/servers.h"

#include <algorithm>

#include "config/number.h"
#include "config/rows.h"

namespace allot::config {
namespace {

// A name that a resolver can look up. The connector would read a comma as a list.
bool is_host(std::string_view host) {
  return is_word(host, ".-_:%");
}

std::optional<std::uint16_t> parse_port(std::string_view text) {
  const auto port = whole_number<std::uint16_t>(text);
  return port == 0 ? std::nullopt : port;
}

}  // namespace

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
