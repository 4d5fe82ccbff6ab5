// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>

#include "operations/document.h"

namespace allot::cli {

class Local;

// A request as of the HTTP API.
struct Request {
  std::string method;
  std::string path;  // after "/api/v1"
  std::string body{};
  std::string type{"application/json"};  // of the body
  bool only_counts = false;              // a POST without side effects
  std::string compression{};             // of a payload; only in this process

  [[nodiscard]] bool writes() const { return method != "GET" && !only_counts; }
  [[nodiscard]] bool has_body() const { return method == "POST" || method == "PUT"; }
};

// The refusal that a problem document describes.
[[nodiscard]] operations::Refusal refusal_of(unsigned status, const nlohmann::json& problem);

// The operations of Allot, which a command calls in its own process (Local) or through a gateway
// (remote::Session). Used by one thread.
class Operations {
 public:
  // `reason` is sent with changes by post(), put() and remove().
  explicit Operations(std::string reason) : reason_(std::move(reason)) {}
  Operations(const Operations&) = delete;
  Operations& operator=(const Operations&) = delete;
  virtual ~Operations() = default;

  // Throws Error unless the operation succeeded: Refusal, in the words of the operation;
  // kExitUnavailable, nothing was changed; kExitOutcomeUnknown, the reply to a change was lost.
  [[nodiscard]] virtual operations::Document ask(const Request& request) const = 0;
  // The answer as a document. These throw as ask() does.
  [[nodiscard]] virtual nlohmann::json send(const Request& request) const = 0;
  [[nodiscard]] nlohmann::json read(const std::string& path) const;
  [[nodiscard]] nlohmann::json post(const std::string& path, const nlohmann::json& options) const;
  [[nodiscard]] nlohmann::json put(const std::string& path, const nlohmann::json& options) const;
  [[nodiscard]] nlohmann::json remove(const std::string& path) const;

  [[nodiscard]] const std::string& reason() const { return reason_; }
  // For what a command does on its own host in addition; nullptr: through a gateway.
  [[nodiscard]] virtual const Local* local() const { return nullptr; }

 private:
  std::string reason_;
};

// Serialises a request body. Throws Error(kExitBadInput) for values that JSON cannot represent.
[[nodiscard]] std::string body_of(const nlohmann::json& options);

}  // namespace allot::cli
