// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

// A login code stands for a token of the configuration for a minute, once (S92), so that an
// operator at this host opens the dashboard without the token. It is a file of the runtime folder,
// which only the daemon's account and root can write. `allot gateway code` makes it, and the
// gateway takes it.
namespace allot::gateway::access {

inline constexpr std::chrono::seconds kLoginCodeLength{60};

// A code that replaces the one before. Throws Error where the folder does not take the file.
[[nodiscard]] std::string make_login_code(const std::string& folder, const std::string& token_name,
                                          std::chrono::sys_seconds now);

// The name of the token, for the right code and for one caller only. nullopt: another code, an old
// one, or one that was taken.
[[nodiscard]] std::optional<std::string> take_login_code(const std::string& folder,
                                                         std::string_view code,
                                                         std::chrono::sys_seconds now);

}  // namespace allot::gateway::access
