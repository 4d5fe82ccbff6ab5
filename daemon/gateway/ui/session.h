// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "gateway/access/access.h"
#include "gateway/http/message.h"

// Sessions of people who logged in with a token, and form tokens (S86, S87). Both are signatures,
// so the gateway stores no list of them.
namespace allot::gateway::ui {

using Seconds = std::chrono::sys_seconds;

inline constexpr std::string_view kCookieName = "allot_session";
inline constexpr std::chrono::hours kSessionLength{12};

class Signer {
 public:
  explicit Signer(std::string key) : key_(std::move(key)) {}

  // The cookie value: the token's name, the end of the session, and a signature over both and the
  // token's hash. Therefore a session ends with its token, even if a new token has the same name.
  [[nodiscard]] std::string session(const access::Access::NamedToken& token, Seconds ends) const;

  struct Session {
    access::Caller caller;
    std::string id;  // binds the form tokens
  };
  // nullopt: no session, or it is expired, forged, or of a removed token.
  [[nodiscard]] std::optional<Session> session_of(const http::Head& head,
                                                  const access::Access& access, Seconds now) const;

  // For the forms of one caller in one session (empty: none), valid today and tomorrow.
  [[nodiscard]] std::string form_token(std::string_view caller, std::string_view session,
                                       Seconds now) const;
  [[nodiscard]] bool is_form_token(std::string_view text, std::string_view caller,
                                   std::string_view session, Seconds now) const;

 private:
  [[nodiscard]] std::string sign(std::string_view text) const;
  const std::string key_;
};

// The value of a request's cookie; nullopt: missing, or repeated.
[[nodiscard]] std::optional<std::string> cookie_of(const http::Head& head, std::string_view name);

// The key from `file` (cookie_key_file), else from cookie.key in `folder`, which is created if
// missing. Empty: not available, with the cause in `why`.
[[nodiscard]] std::string cookie_key(const std::string& file, const std::string& folder,
                                     std::string& why);
// A key for this process only.
[[nodiscard]] std::string random_key();

// Address after the login: `next` if it is a path below `base`/ui/, else the overview.
[[nodiscard]] std::string next_of(std::string_view next, std::string_view base);

}  // namespace allot::gateway::ui
