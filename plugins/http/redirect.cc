// SPDX-License-Identifier: Apache-2.0
#include "redirect.h"

#include <algorithm>
#include <stdexcept>

#include "trouble.h"

namespace http_plugin {
namespace {

bool has_scheme(std::string_view text) {
  const std::size_t colon = text.find(':');
  return colon != std::string_view::npos && colon < text.find_first_of("/?#");
}

// Resolves a reference relative to its URL.
std::string whole(const Url& from, const std::string& location) {
  if (has_scheme(location)) return location;
  if (location.starts_with("//")) return (from.origin.tls ? "https:" : "http:") + location;
  const std::string origin = text_of(from.origin);
  if (location.starts_with('/')) return origin + location;
  const std::string path = from.path.substr(0, from.path.find('?'));
  if (location.empty() || location.starts_with('?')) return origin + path + location;
  return origin + path.substr(0, path.rfind('/') + 1) + location;
}

// Escapes as Fireworq does: characters not permitted in a URL become %XX. A host with such a byte
// remains invalid.
std::string escaped(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80 && std::string_view(" \"<>\\^`{|}").find(c) == std::string_view::npos) {
      out += c;
      continue;
    }
    out += '%';
    out += kDigits[byte >> 4U];
    out += kDigits[byte & 0xfU];
  }
  return out;
}

}  // namespace

Url parse_url_of_job(std::string_view text) {
  return parse_url(escaped(text.substr(0, text.find('#'))));
}

std::optional<Hop> next_hop(const Hop& from, const Answer& answer) {
  const int status = answer.status;
  const bool again = status == 307 || status == 308;
  if (!again && (status < 301 || status > 303)) return std::nullopt;
  if (answer.location.empty()) return std::nullopt;  // an ordinary answer
  const std::string where = "the redirect " + std::to_string(status);
  try {
    const std::string location = answer.location.substr(0, answer.location.find('#'));
    return Hop{parse_url_of_job(whole(from.url, location)), again && from.posts};
  } catch (const std::invalid_argument& error) {
    throw Trouble(where + " to '" + answer.location + "': " + error.what());
  }
}

}  // namespace http_plugin
