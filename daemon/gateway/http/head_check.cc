// SPDX-License-Identifier: Apache-2.0
#include "gateway/http/head_check.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/mutant.h"
#include "base/utf8.h"

namespace allot::gateway::http {
namespace {

using Fault = std::optional<HeadFault>;

constexpr std::string_view kLineEnd = "\r\n";
// Prevents an overflow in parsers: 8 EiB has 19 digits.
constexpr std::size_t kMostLengthDigits = 18;
constexpr std::size_t kMostMethod = 32;

// Fields that define the request, its target or its sender. A duplicate is an attempt to confuse.
// Each has a bit in `seen_`, so there are at most 32.
constexpr std::array<std::string_view, 13> kSingle = {"host",
                                                      "content-length",
                                                      "transfer-encoding",
                                                      "content-type",
                                                      "authorization",
                                                      "proxy-authorization",
                                                      "idempotency-key",
                                                      "origin",
                                                      "expect",
                                                      "sec-fetch-site",
                                                      "referer",
                                                      "user-agent",
                                                      "content-encoding"};
constexpr std::size_t kHost = 0;
constexpr std::size_t kContentLength = 1;
constexpr std::size_t kTransferEncoding = 2;

Fault fault(unsigned status, std::string title) {
  return HeadFault{status, std::move(title)};
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_alpha(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

// RFC 9110, 5.6.2.
bool is_token_char(char c) {
  return is_digit(c) || is_alpha(c) ||
         std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}
bool is_token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_token_char);
}

// A tab is white space; bytes above 127 occur in names of people.
bool is_value_char(char c) {
  return c == '\t' || (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// CR and LF are valid only together, at the end of a line.
bool has_bare_line_end(std::string_view head) {
  for (std::size_t at = 0; at < head.size(); ++at) {
    if (head[at] == '\n' && (at == 0 || head[at - 1] != '\r')) return true;
    if (head[at] == '\r' && (at + 1 == head.size() || head[at + 1] != '\n')) return true;
  }
  return false;
}

// Only the origin form, "/path?query": the other forms repeat the host, or name no resource.
Fault check_target(std::string_view target, const HeadBounds& bounds) {
  if (target.size() > bounds.target) {
    return fault(414, "the target is longer than " + std::to_string(bounds.target) + " bytes");
  }
  if (target.empty() || target.front() != '/') {
    return fault(400, "the target must be a path that begins with '/', without scheme and host");
  }
  for (std::size_t at = 0; at < target.size(); ++at) {
    const char c = target[at];
    const bool raw = static_cast<unsigned char>(c) >= 0x80 && bounds.raw_target;
    if (!raw && (c <= 0x20 || c >= 0x7f || c == '#')) {
      return fault(400, "the target has a byte that must be written as %XX");
    }
    if (c != '%') continue;
    if (at + 2 >= target.size() || !is_hex(target[at + 1]) || !is_hex(target[at + 2])) {
      return fault(400, "the target has a '%' that is not followed by two hexadecimal digits");
    }
    if (target[at + 1] == '0' && target[at + 2] == '0') {
      return fault(400, "the target has an escaped NUL byte");
    }
  }
  return {};
}

// "GET /path HTTP/1.1", with single spaces.
Fault check_request_line(std::string_view line, const HeadBounds& bounds, bool& is_1_1) {
  if (line.empty()) return fault(400, "the request begins with an empty line");
  const auto method_end = line.find(' ');
  const auto version_begin = line.rfind(' ');
  if (method_end == std::string_view::npos || version_begin == method_end) {
    return fault(400, "the request line must be METHOD TARGET VERSION, with one space between");
  }
  if (!is_token(line.substr(0, method_end)) || method_end > kMostMethod) {
    return fault(400, "the method is not a valid HTTP token");
  }
  const auto version = line.substr(version_begin + 1);
  is_1_1 = version == "HTTP/1.1";
  if (!is_1_1 && version != "HTTP/1.0") {
    return fault(version.starts_with("HTTP/") ? 505 : 400,
                 "the version must be HTTP/1.1 or HTTP/1.0");
  }
  return check_target(line.substr(method_end + 1, version_begin - method_end - 1), bounds);
}

// Checks fields one by one and records those that must be unique.
class FieldCheck {
 public:
  explicit FieldCheck(bool is_1_1) : is_1_1_(is_1_1) {}

  Fault check(std::string_view line) {
    if (line.front() == ' ' || line.front() == '\t') {
      return fault(400, "a field continues on a second line (obs-fold); write it on one line");
    }
    const auto colon = line.find(':');
    if (colon == std::string_view::npos) return fault(400, "a line of the head has no ':'");
    const auto name = line.substr(0, colon);
    if (!is_token(name)) {
      return fault(400,
                   "a field's name is empty, or has a character that is not allowed in a token");
    }
    const auto value = trimmed(line.substr(colon + 1));
    if (!std::all_of(value.begin(), value.end(), is_value_char)) {
      return fault(400, "a field's value has a control character");
    }
    const auto* const single = std::find(kSingle.begin(), kSingle.end(), lower(name));
    if (single == kSingle.end()) return {};
    return check_single(static_cast<std::size_t>(single - kSingle.begin()), value);
  }

  [[nodiscard]] Fault end() const {
    if (!seen(kHost)) return fault(400, "the field Host is missing; exactly one is required");
    if (seen(kTransferEncoding) && seen(kContentLength) && !mutant::removed("gateway_framing")) {
      return fault(400, "Content-Length and Transfer-Encoding contradict each other");
    }
    return {};
  }

 private:
  Fault check_single(std::size_t at, std::string_view value) {
    if (seen(at) && !mutant::removed("gateway_alone")) {
      return fault(400, "the field " + std::string(kSingle.at(at)) + " may occur only once");
    }
    seen_ |= 1U << at;
    if (at == kHost) return check_host(value);
    if (at == kContentLength) return check_length(value);
    if (at == kTransferEncoding) return check_coding(value);
    if (kSingle.at(at) == "expect" && lower(value) != "100-continue") {
      return fault(417, "the only expectation allowed is 100-continue");
    }
    return {};
  }

  // Checks only for one host with an optional port; the application interprets the name.
  static Fault check_host(std::string_view value) {
    const auto good = [](char c) {
      return is_digit(c) || is_alpha(c) ||
             std::string_view("-._~%!$&'()*+;=:[]").find(c) != std::string_view::npos;
    };
    if (value.empty() || !std::all_of(value.begin(), value.end(), good)) {
      return fault(400, "the field Host must be a host with an optional port");
    }
    return {};
  }

  static Fault check_length(std::string_view value) {
    if (value.empty() || value.size() > kMostLengthDigits ||
        !std::all_of(value.begin(), value.end(), is_digit)) {
      return fault(400, "the field Content-Length must be one number, of decimal digits only");
    }
    return {};
  }

  [[nodiscard]] Fault check_coding(std::string_view value) const {
    if (!is_1_1_) return fault(400, "Transfer-Encoding needs HTTP/1.1");
    if (lower(value) != "chunked") {
      return fault(501, "the only Transfer-Encoding allowed is a single chunked");
    }
    return {};
  }

  [[nodiscard]] bool seen(std::size_t at) const { return (seen_ >> at & 1U) != 0; }

  bool is_1_1_;
  std::uint32_t seen_ = 0;
};

}  // namespace

std::size_t head_length(std::string_view bytes, std::size_t seen) {
  // The searched bytes may end within a line end.
  std::size_t at = seen < 3 ? 0 : seen - 3;
  if (at == 0 && bytes.starts_with('\n')) return 1;
  if (at == 0 && bytes.starts_with(kLineEnd)) return kLineEnd.size();
  for (;;) {
    at = bytes.find('\n', at);
    if (at == std::string_view::npos) return 0;
    const auto rest = bytes.substr(++at);
    if (rest.starts_with('\n')) return at + 1;
    if (rest.starts_with(kLineEnd)) return at + kLineEnd.size();
  }
}

std::optional<HeadFault> check_head(std::string_view head, const HeadBounds& bounds) {
  if (head.size() > bounds.bytes) {
    return fault(431, "the head is longer than " + std::to_string(bounds.bytes) + " bytes");
  }
  if (has_bare_line_end(head)) return fault(400, "a line of the head does not end with CR LF");
  if (!head.ends_with("\r\n\r\n")) return fault(400, "the request begins with an empty line");

  auto line_end = head.find(kLineEnd);
  bool is_1_1 = false;
  if (auto bad = check_request_line(head.substr(0, line_end), bounds, is_1_1)) return bad;

  FieldCheck fields(is_1_1);
  std::size_t count = 0;
  for (;;) {
    head.remove_prefix(line_end + kLineEnd.size());
    line_end = head.find(kLineEnd);
    if (line_end == 0) return fields.end();
    if (++count > bounds.fields) {
      return fault(431, "the head has more than " + std::to_string(bounds.fields) + " fields");
    }
    if (auto bad = fields.check(head.substr(0, line_end))) return bad;
  }
}

}  // namespace allot::gateway::http
