// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "config/networks.h"
#include "config/settings.h"
#include "gateway/access/access.h"
#include "gateway/http/message.h"

namespace allot::gateway::fireworq {

// Authenticates clients. Bodies are accepted with any content type, so that any web page could make
// a browser send one: therefore the browser's origin headers are checked first. Any thread may call
// it.
class Authenticator {
 public:
  // Looks up the caller of a token, see access::Access.
  using OfToken = std::function<access::Access::Verdict(std::string_view token)>;
  Authenticator(const config::GatewayFireworq& settings, OfToken of_token);

  // A caller that needs no token has the name access::kAnonymous. Throws Refused: 401 or 403.
  [[nodiscard]] access::Caller authenticate(const http::Head& head) const;

 private:
  void check_origin(const http::Head& head) const;
  void check_host(const http::Head& head) const;
  [[nodiscard]] bool needs_no_token(const http::Head& head) const;
  [[nodiscard]] bool are_allowed(std::string_view list) const;
  [[nodiscard]] bool is_allowed(std::string_view address) const;

  OfToken of_token_;
  bool anonymous_;
  std::vector<config::Network> networks_;
  std::set<std::string, std::less<>> origins_;
  std::set<std::string, std::less<>> names_{"localhost"};
};

}  // namespace allot::gateway::fireworq
