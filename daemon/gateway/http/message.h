// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Requests and answers as everything behind the server sees them: no socket, no parser, no thread.
namespace allot::gateway::http {

struct Field {
  std::string name;  // lower case
  std::string value;
};

// Who sent a request, as far as the connection says.
struct Peer {
  std::string address;         // "127.0.0.1"; empty: it came through the unix socket
  std::optional<uid_t> uid{};  // of the process at the other end of the unix socket
  bool encrypted = false;
};

// A request without its body. The server has checked it (head_check.h): it has one Host and no
// field twice that must stand alone.
struct Head {
  std::string method;  // "GET"; what is unknown is passed on
  std::string path;    // with its escapes, begins with '/'; without the query
  std::string query;   // what follows '?', with its escapes; may be empty
  std::vector<Field> fields{};
  Peer peer{};

  // The value of a field, by its name in lower case; nullptr: there is none.
  [[nodiscard]] const std::string* field(std::string_view name) const;
};

struct Request {
  Head head;
  std::string body{};
};

struct Response {
  unsigned status = 200;
  std::string type = "application/json";  // Content-Type; empty: there is no body
  std::string body{};
  // Further ones: Location, Retry-After, ... Without a cache-control the answer is not stored.
  std::vector<Field> fields{};
  bool closes = false;  // the connection, also where the peer would go on
};

}  // namespace allot::gateway::http
