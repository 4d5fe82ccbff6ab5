// SPDX-License-Identifier: Apache-2.0
#include "gateway/http/response_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <ctime>

#include "base/error.h"

namespace allot::gateway::http {
namespace {

struct Reason {
  unsigned status;
  std::string_view text;
};
constexpr std::array kReasons = {
    Reason{200, "OK"},
    Reason{201, "Created"},
    Reason{202, "Accepted"},
    Reason{204, "No Content"},
    Reason{301, "Moved Permanently"},
    Reason{303, "See Other"},
    Reason{304, "Not Modified"},
    Reason{400, "Bad Request"},
    Reason{401, "Unauthorized"},
    Reason{403, "Forbidden"},
    Reason{404, "Not Found"},
    Reason{405, "Method Not Allowed"},
    Reason{406, "Not Acceptable"},
    Reason{408, "Request Timeout"},
    Reason{409, "Conflict"},
    Reason{411, "Length Required"},
    Reason{412, "Precondition Failed"},
    Reason{413, "Content Too Large"},
    Reason{414, "URI Too Long"},
    Reason{415, "Unsupported Media Type"},
    Reason{417, "Expectation Failed"},
    Reason{421, "Misdirected Request"},
    Reason{422, "Unprocessable Content"},
    Reason{429, "Too Many Requests"},
    Reason{431, "Request Header Fields Too Large"},
    Reason{500, "Internal Server Error"},
    Reason{501, "Not Implemented"},
    Reason{503, "Service Unavailable"},
    Reason{504, "Gateway Timeout"},
    Reason{505, "HTTP Version Not Supported"},
};

// "Tue, 24 Nov 2026 03:44:29 GMT": no program of Allot sets a locale.
std::string date_of(std::time_t now) {
  std::tm utc{};
  gmtime_r(&now, &utc);
  std::array<char, 40> text{};
  return {text.data(), std::strftime(text.data(), text.size(), "%a, %d %b %Y %H:%M:%S GMT", &utc)};
}

// Generated once a second.
const std::string& date_now() {
  thread_local std::time_t made_at = 0;
  thread_local std::string made;
  const std::time_t now = std::time(nullptr);
  if (now != made_at) made = date_of(now);
  made_at = now;
  return made;
}

bool is_name(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
  });
}

bool is_value(std::string_view value) {
  return std::all_of(value.begin(), value.end(), [](char c) {
    return c == '\t' || (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
  });
}

void append_field(std::string& head, std::string_view name, std::string_view value) {
  if (!is_name(name) || !is_value(value)) {
    throw Error("defect: an answer's field " + std::string(is_name(name) ? name : "(bad name)") +
                    " has a character that would end it",
                kExitSoftware);
  }
  head.append(name).append(": ").append(value).append("\r\n");
}

}  // namespace

std::string_view reason_of(unsigned status) {
  for (const Reason& each : kReasons) {
    if (each.status == status) return each.text;
  }
  return "Status";
}

bool may_have_body(unsigned status) {
  return status >= 200 && status != 204 && status != 304;
}

std::string response_head(const Response& response, const Framing& framing) {
  std::string head;
  head.reserve(384);
  head.append("HTTP/1.1 ").append(std::to_string(response.status)).append(" ");
  head.append(reason_of(response.status)).append("\r\n");
  append_field(head, "Date", date_now());
  if (!response.type.empty() && may_have_body(response.status)) {
    append_field(head, "Content-Type", response.type);
  }
  if (framing.form == BodyForm::kChunked) append_field(head, "Transfer-Encoding", "chunked");
  if (framing.form == BodyForm::kCounted && may_have_body(response.status)) {
    append_field(head, "Content-Length", std::to_string(response.body.size()));
  }
  append_field(head, "X-Content-Type-Options", "nosniff");
  const auto is_cache = [](const Field& each) { return each.name == "cache-control"; };
  if (std::none_of(response.fields.begin(), response.fields.end(), is_cache)) {
    append_field(head, "Cache-Control", "no-store");
  }
  for (const Field& each : response.fields) append_field(head, each.name, each.value);
  if (framing.closes) append_field(head, "Connection", "close");
  if (!framing.closes && framing.tells_open) append_field(head, "Connection", "keep-alive");
  return head.append("\r\n");
}

std::string chunk_of(std::string_view text) {
  std::array<char, 16> size{};
  const auto end = std::to_chars(size.data(), size.data() + size.size(), text.size(), 16).ptr;
  std::string chunk(size.data(), end);
  chunk.reserve(chunk.size() + text.size() + 4);
  return chunk.append("\r\n").append(text).append("\r\n");
}

}  // namespace allot::gateway::http
