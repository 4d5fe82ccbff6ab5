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

// "jobs.example.com" of "Jobs.example.com.:8080", "::1" of "[::1]".
[[nodiscard]] std::string name_of_host(std::string_view host);

// Authenticates requests: by token, by the unix socket they came through, or by the user that a
// trusted proxy names. Constant after construction; reads only the wall clock, for the expiry of
// tokens. Any thread may call it.
class Access {
 public:
  explicit Access(const config::Gateway& settings);

  struct Verdict {
    std::optional<Caller> caller{};  // nullopt: the request is refused with:
    unsigned status = 0;             // 400, 401, 403 or 421
    std::string title{};             // what is wrong and how to fix it, without secrets
  };
  // A health request needs no role, but its Host must be a name of this gateway.
  [[nodiscard]] Verdict authorize(const http::Head& head) const;
  // The caller of this token, regardless of the connection.
  [[nodiscard]] Verdict by_token(std::string_view token) const;
  // A token of the configuration.
  struct NamedToken {
    std::string name;
    TokenHash hash{};
    std::optional<std::chrono::sys_seconds> expires_at;
    Caller caller;  // "token:NAME"
    [[nodiscard]] bool is_expired() const {
      return expires_at && *expires_at <= std::chrono::system_clock::now();
    }
  };
  // The current token of this name, to which a dashboard session refers. nullopt: no such token, or
  // it has expired.
  [[nodiscard]] std::optional<NamedToken> token_named(std::string_view name) const;
  // True if a browser follows a link here from a page of another site. Such a request carries no
  // SameSite=Strict cookie. The Host must be known already.
  [[nodiscard]] bool is_foreign_navigation(const http::Head& head) const;
  // Whether the peer with this address is a trusted proxy; empty: the peer at the unix socket.
  [[nodiscard]] bool is_trusted_proxy(const std::string& address) const;
  // Whether a program of this host sends the request over TCP and not through a proxy.
  [[nodiscard]] bool is_at_this_host(const http::Head& head) const;

 private:
  [[nodiscard]] bool asks_for_health(std::string_view path) const;
  // nullopt: the check passed.
  [[nodiscard]] std::optional<Verdict> check_url(const http::Head& head) const;
  [[nodiscard]] std::optional<Verdict> check_host(const http::Head& head) const;
  [[nodiscard]] std::optional<Verdict> check_site(const http::Head& head) const;
  [[nodiscard]] std::optional<Verdict> check_proxy(const http::Head& head) const;
  [[nodiscard]] Verdict by_user(const std::string& name) const;

  std::string base_path_;
  std::set<std::string, std::less<>> hosts_;
  std::vector<NamedToken> tokens_;
  std::map<std::string, std::array<Reach, kRoles>, std::less<>> users_;
  std::string user_field_;  // empty: not configured
  std::vector<config::Network> proxies_;
  bool proxy_on_socket_ = false;
  std::optional<std::array<Reach, kRoles>> grant_;  // nullopt: the unix socket needs a token, too
};

}  // namespace allot::gateway::access
