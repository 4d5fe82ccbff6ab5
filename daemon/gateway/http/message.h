// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <charconv>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Requests and answers without socket, parser or thread, for all code behind the server.
namespace allot::gateway::http {

struct Field {
  std::string name;  // lower case
  std::string value;
};

// Sender of a request, as known from the connection.
struct Peer {
  std::string address;         // "127.0.0.1"; empty: the unix socket
  std::optional<uid_t> uid{};  // uid of the process at the other end of the unix socket
  bool encrypted = false;
};

// A request without its body. The server has checked it (head_check.h): it has one Host, and no
// duplicate of a field that must be unique.
struct Head {
  std::string method;  // "GET"; unknown methods are passed on
  std::string path;    // begins with '/', keeps its escapes, excludes the query
  std::string query;   // text after '?', with its escapes; may be empty
  std::vector<Field> fields{};
  Peer peer{};

  // The value of a field, by its name in lower case; nullptr: missing.
  [[nodiscard]] const std::string* field(std::string_view name) const {
    for (const Field& each : fields) {
      if (each.name == name) return &each.value;
    }
    return nullptr;
  }
};

// Decodes %XX in a part of a target; any other '%' stays.
[[nodiscard]] inline std::string unescaped(std::string_view text, bool plus_is_space) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned byte = 0;
    const char* const digits = text.data() + i + 1;
    const bool escape = text[i] == '%' && i + 2 < text.size() &&
                        std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2;
    if (escape) i += 2;
    out += escape ? static_cast<char>(byte) : plus_is_space && text[i] == '+' ? ' ' : text[i];
  }
  return out;
}

struct Request {
  Head head;
  std::string body{};
};

struct Response {
  unsigned status = 200;
  std::string type = "application/json";  // Content-Type; empty: no body
  std::string body{};
  // Additional fields: Location, Retry-After, ... Without a cache-control the answer is not stored.
  std::vector<Field> fields{};
  bool closes = false;  // closes the connection, even if the peer would keep it
};

}  // namespace allot::gateway::http
