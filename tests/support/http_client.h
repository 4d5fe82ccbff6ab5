// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/unique_fd.h"

// The other side of a server under test: it sends bytes as they are told, right or wrong.
namespace allot::support {

struct Answer {
  int status = 0;
  std::map<std::string, std::string> fields{};  // names in lower case
  std::string body{};                           // without its chunks
};

// 0: there is none.
[[nodiscard]] inline int status_of(const std::optional<Answer>& answer) {
  return answer ? answer->status : 0;
}

// One connection. Everything waits 20 s at most.
class HttpClient {
 public:
  static HttpClient to_port(int port);
  static HttpClient to_socket(const std::string& path);
  explicit HttpClient(UniqueFd fd) : fd_(std::move(fd)) {}

  // False: the server has reset the connection before all was sent.
  bool send(const std::string& bytes);
  // The next answer. Nothing: the connection ended, or the answer is none; the test says which it
  // expected. `has_body` false: it is one to HEAD.
  std::optional<Answer> answer(bool has_body = true);
  // Both.
  std::optional<Answer> ask(const std::string& bytes) {
    send(bytes);
    return answer();
  }
  // All that comes until it ends.
  std::string rest();
  // The server ended the connection, and sent nothing more.
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
