// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

// A token is the prefix and 256 random bits; a configuration has its SHA-256 only, so that whoever
// reads a file or a backup cannot use it. So many random bits need no slow hash.
namespace allot::gateway::access {

// By it a search for secrets finds a token, wherever it lies.
inline constexpr std::string_view kTokenPrefix = "allot_";

using TokenHash = std::array<unsigned char, 32>;

// Throws Error(kExitSoftware) without randomness.
[[nodiscard]] std::string make_token();
[[nodiscard]] bool looks_like_token(std::string_view text);

[[nodiscard]] TokenHash hash_of(std::string_view token);
[[nodiscard]] std::string hex_of(const TokenHash& hash);
// 64 hexadecimal digits.
[[nodiscard]] std::optional<TokenHash> parse_hash(std::string_view hex);
// Takes the same time wherever they differ.
[[nodiscard]] bool same(const TokenHash& a, const TokenHash& b);

}  // namespace allot::gateway::access
