// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "config/networks.h"
#include "config/settings.h"
#include "gateway/access/caller.h"
#include "gateway/access/token.h"
#include "gateway/http/message.h"

namespace allot::gateway::access {

// Finds out who sends a request: by its token, by the unix socket that it came through, or by what
// a trusted proxy says. Pure but for the wall clock, by which tokens expire; any thread may ask.
class Access {
 public:
  explicit Access(const config::Gateway& settings);

  struct Verdict {
    std::optional<Caller> caller{};  // without one, the request is refused with:
    unsigned status = 0;             // 400, 401, 403 or 421
    std::string title{};             // what is wrong and how to fix it, without a secret
  };
  // A caller that asks for the health has no role and needs none, but has to ask for a host that
  // this gateway has.
  [[nodiscard]] Verdict judge(const http::Head& head) const;
  // The caller that has this token, however it came.
  [[nodiscard]] Verdict by_token(std::string_view token) const;
  // A token as a session of the dashboard refers to it: by its name, with the hash of the token
  // that has this name now. nullopt: there is none, or it has expired.
  struct NamedToken {
    std::string name;  // without "token:"
    TokenHash hash{};
    Caller caller;
  };
  [[nodiscard]] std::optional<NamedToken> token_named(std::string_view name) const;
  // Whether a browser follows a link on a page of another site to here. Such a request carries no
  // cookie that is SameSite=Strict. The host is a known one.
  [[nodiscard]] bool is_foreign_navigation(const http::Head& head) const;
  // Whether the peer at that address speaks for others; empty: that at the unix socket.
  [[nodiscard]] bool is_trusted_proxy(const std::string& address) const;
  // Whether a program of this host asks, over TCP and for itself: no proxy speaks for another one.
  [[nodiscard]] bool is_at_this_host(const http::Head& head) const;

 private:
  struct Token {
    TokenHash hash{};
    std::optional<std::chrono::sys_seconds> expires_at;
    Caller caller;
  };

  [[nodiscard]] bool asks_for_health(std::string_view path) const;
  // Nothing: the request may go on.
  [[nodiscard]] std::optional<Verdict> look_at_url(const http::Head& head) const;
  [[nodiscard]] std::optional<Verdict> look_at_host(const http::Head& head) const;
  [[nodiscard]] std::optional<Verdict> look_at_site(const http::Head& head) const;
  [[nodiscard]] std::optional<Verdict> look_at_proxy(const http::Head& head) const;
  [[nodiscard]] Verdict by_bearer(std::string_view authorization) const;
  [[nodiscard]] Verdict by_user(const std::string& name) const;

  std::string base_path_;
  std::set<std::string, std::less<>> hosts_;
  std::vector<Token> tokens_;
  std::map<std::string, std::array<Reach, kRoles>, std::less<>> users_;
  std::string user_field_;  // empty: none
  std::vector<config::Network> proxies_;
  bool proxy_on_socket_ = false;
  std::optional<std::array<Reach, kRoles>> grant_;  // nullopt: the unix socket needs a token, too
};

}  // namespace allot::gateway::access
