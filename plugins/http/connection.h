// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "programs/fd.h"
#include "tls.h"

namespace http_plugin {

using programs::Fd;

constexpr std::size_t kMaxAnswer = std::size_t{1} << 20;

struct Answer {
  int status = 0;
  std::string retry_after{};  // the fields of these names; empty: there is none
  std::string date{};
  std::string location{};
  std::string body{};                 // at most kMaxAnswer bytes of it
  bool is_whole = true;               // false: the body is longer, and the rest was not read
  bool ends_with_connection = false;  // nothing else says where the body ends
};

// A connection to a target, for one request after the other. It never connects by itself, and
// waits in its socket without limit: a Watch ends that. One thread at a time uses it.
class Connection {
 public:
  // Takes a connected socket. Throws Trouble.
  explicit Connection(Fd socket);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  // What a Watch guards.
  [[nodiscard]] std::shared_ptr<const Fd> socket() const { return handle_; }
  // The handshake. Throws Trouble.
  void secure(const Tls& tls);
  // Sends a request and reads the answer to it. Throws Trouble.
  Answer ask(const std::string& head, std::string_view body);

  // Of the last request: a byte of an answer has come.
  [[nodiscard]] bool was_heard() const { return heard_; }
  // Another request may follow.
  [[nodiscard]] bool may_be_kept() const { return may_be_kept_; }
  // Nothing has come since, nor has the other side ended it.
  [[nodiscard]] bool is_quiet() const;

 private:
  class Session;
  std::string send(const std::string& head, std::string_view body);
  bool read_head(std::string& head);
  Answer read_answer();
  void read_body(Answer& answer, bool chunked, long long length);

  std::shared_ptr<const Fd> handle_;  // a descriptor of its own for the same socket
  std::unique_ptr<Session> session_;
  bool heard_ = false;
  bool may_be_kept_ = false;
  int status_ = 0;  // of an answer whose whole head has come
};

}  // namespace http_plugin
