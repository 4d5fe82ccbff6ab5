// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/unique_fd.h"

// Client for a server under test: it sends exactly the given bytes, valid or not.
namespace allot::support {

struct Answer {
  int status = 0;
  std::map<std::string, std::string> fields{};  // names in lower case
  std::string body{};                           // without chunk framing
};

// 0: no answer.
[[nodiscard]] inline int status_of(const std::optional<Answer>& answer) {
  return answer ? answer->status : 0;
}

// One connection. Every operation has a limit of 20 s.
class HttpClient {
 public:
  static HttpClient to_port(int port);
  static HttpClient to_socket(const std::string& path);
  explicit HttpClient(UniqueFd fd) : fd_(std::move(fd)) {}

  // False: the server reset the connection before all was sent.
  bool send(const std::string& bytes);
  // The next answer. nullopt: the connection ended, or the answer is invalid; the test checks its
  // expectation. `has_body` false: an answer to HEAD.
  std::optional<Answer> answer(bool has_body = true);
  // send() and answer().
  std::optional<Answer> ask(const std::string& bytes) {
    send(bytes);
    return answer();
  }
  // All bytes until the end of the connection.
  std::string rest();
  // True if the server ended the connection without sending more.
  bool is_closed();
  // One chunk of a body; empty: the last.
  std::optional<std::string> chunk();
  std::optional<Answer> head();
  void shut_sending();
  void close() { fd_.reset(); }
  [[nodiscard]] int fd() const { return fd_.get(); }

 private:
  bool read_more();
  std::optional<std::string> line();
  std::optional<std::string> exactly(std::size_t size);

  UniqueFd fd_;
  std::string in_;
};

}  // namespace allot::support
