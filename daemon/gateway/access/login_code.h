// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

// A login code replaces a token of the configuration once, within a minute (S92), so that an
// operator at this host opens the dashboard without the token. It is a file of the runtime folder,
// which only the daemon's account and root can write. `allot gateway code` creates it, and the
// gateway redeems it.
namespace allot::gateway::access {

inline constexpr std::chrono::seconds kLoginCodeLength{60};

// Creates a code that replaces the previous one. Throws Error if the folder is not writable.
[[nodiscard]] std::string make_login_code(const std::string& folder, const std::string& token_name,
                                          std::chrono::sys_seconds now);

// Redeems the code and returns the name of its token, for one caller only. nullopt: the code is
// wrong, expired or already redeemed.
[[nodiscard]] std::optional<std::string> take_login_code(const std::string& folder,
                                                         std::string_view code,
                                                         std::chrono::sys_seconds now);

}  // namespace allot::gateway::access
