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

// Reads one request: first its head, then its body as it arrives. Works on bytes, without a socket.
// Wraps Beast's parser and adds the limits that it lacks.
class RequestParser {
 public:
  // `head` passed check_head(). Without a fault, the functions below return its contents.
  RequestParser();
  RequestParser(const RequestParser&) = delete;
  RequestParser& operator=(const RequestParser&) = delete;
  ~RequestParser();

  [[nodiscard]] std::optional<HeadFault> read_head(std::string_view head);
  [[nodiscard]] Head take_head();
  [[nodiscard]] bool is_1_1() const;
  [[nodiscard]] bool keeps_alive() const;
  [[nodiscard]] bool expects_continue() const;
  // The value of Content-Length; nullopt for a chunked body.
  [[nodiscard]] std::optional<std::uint64_t> content_length() const;

  // True when the body, and so the request, is complete.
  [[nodiscard]] bool done() const;
  // Limits the body to this size; without a call it is unlimited.
  void bound_body(std::uint64_t bytes);

  struct Step {
    std::size_t used = 0;  // number of bytes consumed; pass the rest again, followed by new bytes
    std::optional<HeadFault> fault{};
  };
  [[nodiscard]] Step read_body(std::string_view bytes);
  // The part of the body that was read and not yet taken.
  [[nodiscard]] std::string& body();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace allot::gateway::http
