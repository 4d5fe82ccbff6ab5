// SPDX-License-Identifier: Apache-2.0
#include "gateway/fireworq/allowed.h"

#include <algorithm>

#include "base/utf8.h"
#include "config/number.h"
#include "gateway/fireworq/answer.h"

namespace allot::gateway::fireworq {
namespace {

[[noreturn]] void refuse(const std::string& why) {
  throw Refused(400, "url: " + why);
}

// Limit of the plugin for a path after escaping to %XX.
constexpr std::size_t kMaxPath = 8000;

std::size_t sent_size(std::string_view path) {
  const auto escaped = std::count_if(path.begin(), path.end(), [](char c) {
    return static_cast<unsigned char>(c) >= 0x80 ||
           std::string_view(" \"<>\\^`{|}").find(c) != std::string_view::npos;
  });
  const std::size_t slash = path.starts_with('/') ? 0 : 1;
  return path.size() + slash + 2 * static_cast<std::size_t>(escaped);
}

// Port 0 would mean any port.
bool is_port(std::string_view text) {
  return config::whole_number<std::uint16_t>(text) && text.front() != '0';
}

}  // namespace

std::string origin_of(std::string_view url) {
  const std::size_t scheme_end = url.find("://");
  const std::string scheme = lower(url.substr(0, std::min(scheme_end, url.size())));
  if (scheme_end == std::string_view::npos || (scheme != "http" && scheme != "https")) {
    refuse("it must begin with http:// or https://");
  }
  const bool odd = std::any_of(url.begin(), url.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7f;
  });
  if (odd) refuse("it has a control character");
  std::string_view rest = url.substr(scheme_end + 3);
  rest = rest.substr(0, rest.find('#'));
  const std::size_t end = std::min(rest.find_first_of("/?"), rest.size());
  std::string authority = lower(rest.substr(0, end));
  if (authority.find('@') != std::string::npos) refuse("it must not have a user or a password");
  const std::size_t bracket = authority.rfind(']');
  const std::size_t colon = authority.find(':', bracket == std::string::npos ? 0 : bracket);
  std::string port = colon == std::string::npos ? "" : authority.substr(colon + 1);
  const std::string host = authority.substr(0, colon);
  if (host.empty()) refuse("it has no host");
  if (authority.find_first_of(" \\") != std::string::npos) {
    refuse("its host has a space or a backslash");
  }
  if (colon == std::string::npos) port = scheme == "https" ? "443" : "80";
  if (!is_port(port)) refuse("its port is not a number from 1 to 65535");
  if (sent_size(rest.substr(end)) > kMaxPath) refuse("its path is longer than 8000 characters");
  return scheme + "://" + host + ":" + port;
}

Allowed::Allowed(const config::Plugins& plugins) {
  const auto section = plugins.sections.find("http");
  if (section == plugins.sections.end()) return;
  origins_.emplace();
  const auto [begin, end] = section->second.equal_range("allow");
  for (auto entry = begin; entry != end; ++entry) {
    try {
      origins_->insert(origin_of(entry->second));
    } catch (const Refused&) {
      // The plugin reports invalid entries.
    }
  }
}

void Allowed::check(std::string_view url) const {
  const std::string origin = origin_of(url);
  if (!origins_ || origins_->contains(origin)) return;
  refuse(origin + " is not an allowed target: write it into allow of [plugins.http]");
}

}  // namespace allot::gateway::fireworq
