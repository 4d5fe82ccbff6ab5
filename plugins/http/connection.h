// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/unique_fd.h"
#include "tls.h"

namespace http_plugin {

using allot::UniqueFd;

constexpr std::size_t kMaxAnswer = std::size_t{1} << 20;

struct Answer {
  int status = 0;
  std::string retry_after{};  // response fields of these names; empty: missing
  std::string date{};
  std::string location{};
  std::string body{};                 // the first kMaxAnswer bytes of it
  bool is_whole = true;               // false: the body is longer, and the rest was not read
  bool ends_with_connection = false;  // only the end of the connection marks the end of the body
};

// A connection to a target, for sequential requests. It never connects by itself, because the
// library would resolve the name again, and use an unchecked address. It waits in its socket
// without a limit: a Watch ends that. One thread at a time uses it.
class Connection {
 public:
  // Takes a connected socket. Throws Trouble.
  explicit Connection(UniqueFd socket);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  // The socket, for a Watch.
  [[nodiscard]] std::shared_ptr<const UniqueFd> socket() const { return handle_; }
  // Performs the TLS handshake. Throws Trouble.
  void secure(const Tls& tls);
  // Sends a request and reads its answer. Throws Trouble.
  Answer ask(const std::string& head, std::string_view body);

  // Whether a byte of the answer to the last request has arrived.
  [[nodiscard]] bool was_heard() const { return heard_; }
  // Whether another request may follow.
  [[nodiscard]] bool may_be_kept() const { return may_be_kept_; }
  // Whether the idle connection is still open and has no unexpected input.
  [[nodiscard]] bool is_quiet() const;

 private:
  void write(std::string_view bytes);
  // Reads more input if there is none in the buffer. False: end of input.
  bool fill();
  std::size_t take(char* to, std::size_t size);
  std::string send(const std::string& head, std::string_view body);
  bool read_head(std::string& head);
  Answer read_answer();
  void read_body(Answer& answer, bool chunked, long long length);

  std::shared_ptr<const UniqueFd> handle_;           // a duplicate descriptor of the same socket
  std::unique_ptr<Poco::Net::StreamSocket> socket_;  // with or without TLS
  std::string buffer_ = std::string(4096, '\0');     // input, consumed up to at_
  std::size_t at_ = 0;
  std::size_t filled_ = 0;
  bool heard_ = false;
  bool may_be_kept_ = false;
  int status_ = 0;  // of an answer with a complete head
};

}  // namespace http_plugin
