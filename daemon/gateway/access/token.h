// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

// A token is the prefix and 256 random bits. The configuration has only its SHA-256, so that a
// leaked file or backup is useless; 256 random bits need no slow hash.
namespace allot::gateway::access {

// Lets a search for secrets find leaked tokens.
inline constexpr std::string_view kTokenPrefix = "allot_";

using TokenHash = std::array<unsigned char, 32>;

// Throws Error(kExitSoftware) if the system has no randomness.
[[nodiscard]] std::string make_token();
[[nodiscard]] bool looks_like_token(std::string_view text);

[[nodiscard]] TokenHash hash_of(std::string_view token);
[[nodiscard]] std::string hex_of(const TokenHash& hash);
// 64 hexadecimal digits.
[[nodiscard]] std::optional<TokenHash> parse_hash(std::string_view hex);
// Compares in constant time.
[[nodiscard]] bool same(const TokenHash& a, const TokenHash& b);

}  // namespace allot::gateway::access
