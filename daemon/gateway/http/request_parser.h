// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "gateway/http/head_check.h"
#include "gateway/http/message.h"

namespace allot::gateway::http {

// Reads one request: first its head, then its body as it comes. It knows bytes only, no socket.
// Beast's parser does the reading; this class bounds what that does not.
class RequestParser {
 public:
  // `head` passed check_head(). Without a fault, the functions below say what was in it.
  RequestParser();
  RequestParser(const RequestParser&) = delete;
  RequestParser& operator=(const RequestParser&) = delete;
  ~RequestParser();

  [[nodiscard]] std::optional<HeadFault> read_head(std::string_view head);
  [[nodiscard]] Head take_head();
  [[nodiscard]] bool is_1_1() const;
  [[nodiscard]] bool keeps_alive() const;
  [[nodiscard]] bool expects_continue() const;
  // What Content-Length says; nothing where the body comes in chunks.
  [[nodiscard]] std::optional<std::uint64_t> content_length() const;

  // The body is whole, and so is the request.
  [[nodiscard]] bool done() const;
  // At most so many bytes; without a call there is no bound.
  void bound_body(std::uint64_t bytes);

  struct Step {
    std::size_t used = 0;  // bytes that are done with; the rest is shown again, with more behind it
    std::optional<HeadFault> fault{};
  };
  [[nodiscard]] Step read_body(std::string_view bytes);
  // What was read of the body and not taken yet.
  [[nodiscard]] std::string& body();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace allot::gateway::http
