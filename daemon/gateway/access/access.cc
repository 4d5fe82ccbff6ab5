// SPDX-License-Identifier: Apache-2.0
// Rule: S86.
#include "gateway/access/access.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/mutant.h"
#include "base/utf8.h"

namespace allot::gateway::access {
namespace {

using Verdict = Access::Verdict;
using Reaches = std::array<Reach, kRoles>;

Verdict refused(unsigned status, std::string title) {
  return {std::nullopt, status, std::move(title)};
}

// Host and port without the default port of the scheme.
std::string plain_authority(std::string_view authority, std::string_view scheme) {
  std::string text = lower(authority);
  const std::string_view usual = scheme == "https" ? ":443" : ":80";
  if (text.ends_with(usual)) text.erase(text.size() - usual.size());
  return text;
}

bool is_same_origin(const std::string& origin, const std::string& host) {
  const std::size_t colon = origin.find("://");
  if (colon == std::string::npos) return false;  // for example "null"
  const std::string scheme = lower(origin.substr(0, colon));
  return plain_authority(origin.substr(colon + 3), scheme) == plain_authority(host, scheme);
}

bool is_forwarded(const http::Head& head) {
  return std::any_of(head.fields.begin(), head.fields.end(), [](const http::Field& field) {
    return field.name == "forwarded" || field.name.starts_with("x-forwarded-");
  });
}

Reach reach_of(const std::vector<std::string>& queues) {
  Reach reach;
  reach.all = queues == std::vector<std::string>{"*"};
  if (!reach.all) reach.queues.insert(queues.begin(), queues.end());
  return reach;
}

template <typename Roles>
Reaches reaches_of(const Roles& in, bool read_only) {
  if (read_only) return {reach_of(in.read), Reach(), Reach()};
  return {reach_of(in.read), reach_of(in.submit), reach_of(in.operate)};
}

// Each role includes the roles before it.
Reaches granted(const std::string& word, bool read_only) {
  const Reach all{true, {}};
  Reaches reaches{all, Reach(), Reach()};
  if (!read_only && word != "read") reaches[static_cast<std::size_t>(Role::kSubmit)] = all;
  if (!read_only && word == "operate") reaches[static_cast<std::size_t>(Role::kOperate)] = all;
  return reaches;
}

constexpr std::string_view kHowToSend =
    "send it as Authorization: Bearer allot_...; allot gateway token makes one";

}  // namespace

std::string name_of_host(std::string_view host) {
  if (host.starts_with('[')) return lower(host.substr(1, host.find(']') - 1));
  std::string name = lower(host.substr(0, host.find(':')));
  if (name.ends_with('.')) name.pop_back();
  return name;
}

std::string_view name_of(Role role) {
  constexpr std::array<std::string_view, kRoles> kNames = {"read", "submit", "operate"};
  return kNames.at(static_cast<std::size_t>(role));
}

Access::Access(const config::Gateway& settings)
    : base_path_(settings.base_path), hosts_{"localhost"}, user_field_(settings.user_header) {
  for (const std::string& name : settings.hosts) hosts_.insert(name_of_host(name));
  for (const config::GatewayToken& token : settings.tokens) {
    const auto hash = parse_hash(token.sha256);
    if (!hash) continue;  // refused by the check of the configuration
    tokens_.push_back({token.name, *hash, token.expires_at,
                       Caller("token:" + token.name, reaches_of(token, settings.read_only))});
  }
  for (const config::GatewayUser& user : settings.users) {
    users_.emplace(user.name, reaches_of(user, settings.read_only));
  }
  for (const std::string& text : settings.trusted_proxies) {
    if (text == "unix") proxy_on_socket_ = true;
    if (const auto network = config::parse_network(text)) proxies_.push_back(*network);
  }
  if (settings.grant != "none") grant_ = granted(settings.grant, settings.read_only);
}

Verdict Access::authorize(const http::Head& head) const {
  if (asks_for_health(head.path)) {
    if (auto refusal = check_host(head)) return *std::move(refusal);
    return {Caller(kAnonymous, {})};
  }
  for (const auto check :
       {&Access::check_url, &Access::check_host, &Access::check_site, &Access::check_proxy}) {
    if (auto refusal = (this->*check)(head)) return *std::move(refusal);
  }
  const bool local = head.peer.address.empty();
  const std::string* user = user_field_.empty() ? nullptr : head.field(user_field_);
  const std::string* authorization = head.field("authorization");
  // With a user field, a scheme other than Bearer is the proxy's own password, which the proxy
  // passes on.
  constexpr std::size_t kScheme = std::string_view("Bearer ").size();
  if (authorization != nullptr && lower(authorization->substr(0, kScheme)) == "bearer ") {
    return by_token(std::string_view(*authorization).substr(kScheme));
  }
  if (authorization != nullptr && user == nullptr) {
    return refused(401, "Authorization must have the scheme Bearer: " + std::string(kHowToSend));
  }
  if (user != nullptr) return by_user(*user);
  if (local && grant_ && head.peer.uid) {
    return {Caller("uid:" + std::to_string(*head.peer.uid), *grant_)};
  }
  return refused(401, "this request needs a token: " + std::string(kHowToSend));
}

bool Access::asks_for_health(std::string_view path) const {
  if (path.starts_with(base_path_)) path.remove_prefix(base_path_.size());
  return path.starts_with("/health/");
}

// URLs end up in logs, histories and the Referer of the next request.
std::optional<Verdict> Access::check_url(const http::Head& head) const {
  std::string_view left = head.query;
  while (!left.empty()) {
    const std::string_view pair = left.substr(0, left.find('&'));
    left.remove_prefix(std::min(left.size(), pair.size() + 1));
    const std::size_t equals = std::min(pair.find('='), pair.size());
    const std::string name = http::unescaped(pair.substr(0, equals), false);
    const std::string value =
        http::unescaped(pair.substr(std::min(equals + 1, pair.size())), false);
    if (name != "access_token" && !looks_like_token(value)) continue;
    return refused(400,
                   "a token must not be sent in a URL, where others can see it: remove it from the "
                   "configuration, make a new one, and " +
                       std::string(kHowToSend.substr(0, kHowToSend.find(';'))));
  }
  return std::nullopt;
}

// Prevents DNS rebinding: a page that rebinds its own name to this address sends that name as Host.
// An address cannot be rebound.
std::optional<Verdict> Access::check_host(const http::Head& head) const {
  const std::string* host = head.field("host");
  const std::string name = host == nullptr ? std::string() : name_of_host(*host);
  if (hosts_.contains(name) || config::parse_address(name) || mutant::removed("gateway_host")) {
    return std::nullopt;
  }
  return refused(421, "the gateway does not have the host name '" + name +
                          "': use localhost or an address, or add the name to hosts in [gateway]");
}

// Prevents cross-site requests, which would use the victim's network access or proxy login. A
// browser names the site of the page that sends a request.
std::optional<Verdict> Access::check_site(const http::Head& head) const {
  const std::string* site = head.field("sec-fetch-site");
  const std::string* origin = head.field("origin");
  const std::string* host = head.field("host");
  const bool foreign = site != nullptr && *site != "same-origin" && *site != "none";
  if (!foreign && (origin == nullptr || (host != nullptr && is_same_origin(*origin, *host)))) {
    return std::nullopt;
  }
  return refused(403, "a page of another site made the browser send this request");
}

std::optional<Verdict> Access::check_proxy(const http::Head& head) const {
  const bool local = head.peer.address.empty();
  const auto users =
      std::count_if(head.fields.begin(), head.fields.end(),
                    [this](const http::Field& field) { return field.name == user_field_; });
  if (users > 1) return refused(400, user_field_ + " occurs more than once");
  if (users == 1 && !is_trusted_proxy(head.peer.address) && !mutant::removed("gateway_proxy")) {
    return refused(
        403,
        user_field_ + " is accepted only from a trusted proxy: see trusted_proxies in [gateway]");
  }
  if (!local || !grant_) return std::nullopt;
  // Users behind the proxy would get the roles of the socket.
  if (!is_forwarded(head)) return std::nullopt;
  return refused(403,
                 "a proxy sent this request through a unix socket that grants its role to every "
                 "client: set grant = \"none\" in [gateway]");
}

Verdict Access::by_token(std::string_view text) const {
  const TokenHash hash = hash_of(text);
  const NamedToken* found = nullptr;
  for (const NamedToken& token :
       tokens_) {  // always all, so that the time does not reveal the match
    if (same(token.hash, hash) || mutant::removed("gateway_token")) found = &token;
  }
  if (found == nullptr) return refused(401, "unknown token");
  if (found->is_expired()) {
    return refused(401, "the token has expired; allot gateway token makes another one");
  }
  return {found->caller};
}

std::optional<Access::NamedToken> Access::token_named(std::string_view name) const {
  const auto found = std::find_if(tokens_.begin(), tokens_.end(),
                                  [name](const auto& token) { return token.name == name; });
  if (found == tokens_.end() || found->is_expired()) return std::nullopt;
  return *found;
}

bool Access::is_foreign_navigation(const http::Head& head) const {
  const std::string* site = head.field("sec-fetch-site");
  const std::string* mode = head.field("sec-fetch-mode");
  return head.method == "GET" && site != nullptr && *site != "same-origin" && *site != "none" &&
         mode != nullptr && *mode == "navigate" && head.field("origin") == nullptr &&
         !check_host(head) && !check_url(head);
}

Verdict Access::by_user(const std::string& name) const {
  auto found = users_.find(name);
  if (found == users_.end()) found = users_.find("*");
  if (found == users_.end() || name.empty()) {
    return refused(403, "this user has no role: see [gateway.users.NAME]");
  }
  return {Caller("user:" + name, found->second)};
}

bool Access::is_trusted_proxy(const std::string& address) const {
  if (address.empty()) return proxy_on_socket_;
  const auto parsed = config::parse_address(address);
  return parsed && std::any_of(proxies_.begin(), proxies_.end(),
                               [&](const auto& network) { return network.covers(*parsed); });
}

bool Access::is_at_this_host(const http::Head& head) const {
  const auto is_own = [](std::string_view name) {
    const auto address = config::parse_address(name);
    return address && config::is_loopback(*address);
  };
  const std::string* host = head.field("host");
  if (host == nullptr || !is_own(head.peer.address)) return false;
  const std::string name = name_of_host(*host);
  const bool passed_on = is_forwarded(head) || head.field("via") != nullptr ||
                         head.field("x-real-ip") != nullptr || is_trusted_proxy(head.peer.address);
  return (name == "localhost" || is_own(name)) && !passed_on;
}

}  // namespace allot::gateway::access
