// SPDX-License-Identifier: Apache-2.0
#include "gateway/fireworq/authenticator.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/utf8.h"
#include "gateway/fireworq/answer.h"
#include "json/base64.h"

namespace allot::gateway::fireworq {
namespace {

// The Bearer token, or the password of Basic; nullopt: none.
std::optional<std::string> token_of(const std::string& authorization) {
  const std::string scheme = lower(authorization.substr(0, authorization.find(' ')));
  if (scheme.size() == authorization.size()) return std::nullopt;
  const std::string_view rest = std::string_view(authorization).substr(scheme.size() + 1);
  if (scheme == "bearer") return std::string(rest);
  if (scheme != "basic") return std::nullopt;
  const auto pair = as_json::from_base64(rest);
  if (!pair) return std::nullopt;
  const std::size_t colon = pair->find(':');
  if (colon == std::string::npos) return std::nullopt;
  return pair->substr(colon + 1);
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

access::Caller anybody() {
  const access::Reach all{true, {}};
  return {access::kAnonymous, {all, all, all}};
}

}  // namespace

Authenticator::Authenticator(const config::GatewayFireworq& settings, OfToken of_token)
    : of_token_(std::move(of_token)), anonymous_(settings.anonymous) {
  std::vector<std::string> allowed = settings.allow_from;
  if (allowed.empty()) allowed = {"127.0.0.0/8", "::1"};
  for (const std::string& text : allowed) {
    if (const auto network = config::parse_network(text)) networks_.push_back(*network);
  }
  for (const std::string& origin : settings.allow_origins) origins_.insert(lower(origin));
  for (const std::string& name : settings.names) names_.insert(access::name_of_host(name));
}

access::Caller Authenticator::authenticate(const http::Head& head) const {
  check_origin(head);
  check_host(head);
  if (needs_no_token(head)) return anybody();
  const std::string* authorization = head.field("authorization");
  const auto token = authorization == nullptr ? std::nullopt : token_of(*authorization);
  if (!token) {
    throw Refused(401,
                  "a token is needed, as Bearer or as the password of Basic: allot gateway "
                  "token makes one");
  }
  access::Access::Verdict verdict = of_token_(*token);
  if (!verdict.caller) throw Refused(verdict.status, verdict.title);
  return std::move(*verdict.caller);
}

void Authenticator::check_origin(const http::Head& head) const {
  const std::string* site = head.field("sec-fetch-site");
  const std::string word = site == nullptr ? "" : lower(*site);
  if (word == "cross-site" || word == "same-site") {
    throw Refused(403, "a page of another site made the browser send this request");
  }
  const std::string* origin = head.field("origin");
  if (origin == nullptr || word == "same-origin" || origins_.contains(lower(*origin))) return;
  throw Refused(403,
                "the page that made the browser send this request is not in allow_origins of "
                "[gateway.fireworq]");
}

// Prevents DNS rebinding: a page that rebinds its own name to this address sends that name as Host.
void Authenticator::check_host(const http::Head& head) const {
  const std::string* host = head.field("host");
  const std::string name = host == nullptr ? std::string() : access::name_of_host(*host);
  if (names_.contains(name) || config::parse_address(name)) return;
  throw Refused(403,
                "this host is not known by that name: use localhost or an address, or add it "
                "to names of [gateway.fireworq]");
}

// A proxy sends from its own address, so the forwarded addresses are checked as well.
bool Authenticator::needs_no_token(const http::Head& head) const {
  if (!anonymous_ || !is_allowed(head.peer.address)) return false;
  return std::all_of(head.fields.begin(), head.fields.end(), [&](const http::Field& field) {
    if (field.name == "forwarded") return false;
    return field.name != "x-forwarded-for" || are_allowed(field.value);
  });
}

// Checks each address of a non-empty list.
bool Authenticator::are_allowed(std::string_view list) const {
  for (;;) {
    const std::size_t comma = list.find(',');
    if (!is_allowed(trimmed(list.substr(0, comma)))) return false;
    if (comma == std::string_view::npos) return true;
    list.remove_prefix(comma + 1);
  }
}

bool Authenticator::is_allowed(std::string_view text) const {
  const auto address = config::parse_address(text);
  return address && std::any_of(networks_.begin(), networks_.end(),
                                [&](const auto& network) { return network.covers(*address); });
}

}  // namespace allot::gateway::fireworq
