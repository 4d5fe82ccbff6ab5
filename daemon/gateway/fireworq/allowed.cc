// SPDX-License-Identifier: Apache-2.0
#include "gateway/fireworq/allowed.h"

#include <algorithm>

#include "gateway/fireworq/answer.h"
#include "gateway/fireworq/text.h"

namespace allot::gateway::fireworq {
namespace {

[[noreturn]] void refuse(const std::string& why) {
  throw Refused(400, "url: " + why);
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
    return byte <= 0x20 || byte == 0x7f || c == '\\';
  });
  if (odd) refuse("it has a space, a control character or a backslash");
  std::string_view rest = url.substr(scheme_end + 3);
  std::string authority = lower(rest.substr(0, rest.find_first_of("/?#")));
  if (authority.find('@') != std::string::npos) refuse("it must not have a user or a password");
  const std::size_t bracket = authority.rfind(']');
  const std::size_t colon = authority.find(':', bracket == std::string::npos ? 0 : bracket);
  std::string port = colon == std::string::npos ? "" : authority.substr(colon + 1);
  const std::string host = authority.substr(0, colon);
  if (host.empty()) refuse("it has no host");
  if (port.find_first_not_of("0123456789") != std::string::npos || port.size() > 5) {
    refuse("its port is no number");
  }
  if (port.empty()) port = scheme == "https" ? "443" : "80";
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
      // The plugin says what is wrong with it.
    }
  }
}

void Allowed::look_at(std::string_view url) const {
  const std::string origin = origin_of(url);
  if (!origins_ || origins_->contains(origin)) return;
  refuse(origin + " is no allowed target: write it into allow of [plugins.http]");
}

}  // namespace allot::gateway::fireworq
