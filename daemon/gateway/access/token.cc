// SPDX-License-Identifier: Apache-2.0
#include "gateway/access/token.h"

#include <openssl/crypto.h>
#include <openssl/sha.h>
#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/error.h"

namespace allot::gateway::access {
namespace {

constexpr std::size_t kRandomBytes = 32;
constexpr std::size_t kLetters = (kRandomBytes * 8 + 5) / 6;  // 6 bits each
constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr std::string_view kDigits = "0123456789abcdef";

// base64url without padding.
std::string letters_of(const std::array<unsigned char, kRandomBytes>& bytes) {
  std::string text;
  std::uint32_t bits = 0;
  unsigned count = 0;
  for (const unsigned char byte : bytes) {
    bits = bits << 8U | byte;
    for (count += 8; count >= 6; count -= 6) text += kAlphabet[bits >> (count - 6) & 63U];
  }
  if (count > 0) text += kAlphabet[bits << (6 - count) & 63U];
  return text;
}

}  // namespace

std::string make_token() {
  std::array<unsigned char, kRandomBytes> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    throw Error("no random numbers: " + std::string(std::strerror(errno)), kExitSoftware);
  }
  return std::string(kTokenPrefix) + letters_of(bytes);
}

bool looks_like_token(std::string_view text) {
  return text.size() == kTokenPrefix.size() + kLetters && text.starts_with(kTokenPrefix) &&
         text.find_first_not_of(kAlphabet, kTokenPrefix.size()) == std::string_view::npos;
}

TokenHash hash_of(std::string_view token) {
  TokenHash hash{};
  ::SHA256(reinterpret_cast<const unsigned char*>(token.data()), token.size(), hash.data());
  return hash;
}

std::string hex_of(const TokenHash& hash) {
  std::string text;
  for (const unsigned char byte : hash) {
    text.append(1, kDigits[byte >> 4U]).append(1, kDigits[byte & 0xfU]);
  }
  return text;
}

std::optional<TokenHash> parse_hash(std::string_view hex) {
  TokenHash hash{};
  if (hex.size() != 2 * hash.size()) return std::nullopt;
  for (std::size_t i = 0; i < hash.size(); ++i) {
    const std::size_t high = kDigits.find(hex[2 * i]);
    const std::size_t low = kDigits.find(hex[2 * i + 1]);
    if (high == kDigits.npos || low == kDigits.npos) return std::nullopt;
    hash.at(i) = static_cast<unsigned char>(high << 4U | low);
  }
  return hash;
}

bool same(const TokenHash& a, const TokenHash& b) {
  return ::CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace allot::gateway::access
