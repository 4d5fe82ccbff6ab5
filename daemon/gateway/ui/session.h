// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "gateway/access/access.h"
#include "gateway/http/message.h"

// Sessions of people who logged in by a token, and the tokens of forms (S86, S87). Both are
// signatures, so the gateway keeps no list of them.
namespace allot::gateway::ui {

using Seconds = std::chrono::sys_seconds;

inline constexpr std::string_view kCookieName = "allot_session";
inline constexpr std::chrono::hours kSessionLength{12};

class Signer {
 public:
  explicit Signer(std::string key) : key_(std::move(key)) {}

  // The value of the cookie: the token's name, when the session ends, and a signature over these
  // and the token's hash. So a session ends with its token, also where another token has its name.
  [[nodiscard]] std::string session(const access::Access::NamedToken& token, Seconds ends) const;

  struct Session {
    access::Caller caller;
    std::string id;  // what the form tokens are bound to
  };
  // nullopt: no session, or one that is over, forged, or of a token that is gone.
  [[nodiscard]] std::optional<Session> session_of(const http::Head& head,
                                                  const access::Access& access, Seconds now) const;

  // For the forms of one caller in one session (empty: it has none), today and tomorrow.
  [[nodiscard]] std::string form_token(std::string_view caller, std::string_view session,
                                       Seconds now) const;
  [[nodiscard]] bool is_form_token(std::string_view text, std::string_view caller,
                                   std::string_view session, Seconds now) const;

 private:
  [[nodiscard]] std::string sign(std::string_view text) const;
  const std::string key_;
};

// The value of a cookie of a request; nullopt: it has none of this name, or several.
[[nodiscard]] std::optional<std::string> cookie_of(const http::Head& head, std::string_view name);

// The key: that of `file` (cookie_key_file), else that of cookie.key in `folder`, which is made
// where it is missing. Empty: it cannot be had there, `why` says for what reason.
[[nodiscard]] std::string cookie_key(const std::string& file, const std::string& folder,
                                     std::string& why);
// One that lasts as long as this process.
[[nodiscard]] std::string random_key();

// Where to go after the login: `next` if it is a path below `base`/ui/, else the overview.
[[nodiscard]] std::string next_of(std::string_view next, std::string_view base);

}  // namespace allot::gateway::ui
