// SPDX-License-Identifier: Apache-2.0
#include "gateway/access/token.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace allot::gateway::access {
namespace {

TEST(Token, IsAPrefixAndRandom) {
  std::set<std::string> made;
  for (int i = 0; i < 100; ++i) {
    const std::string token = make_token();
    EXPECT_TRUE(looks_like_token(token)) << token;
    EXPECT_TRUE(made.insert(token).second);
  }
  const std::string token = *made.begin();
  EXPECT_EQ(token.size(), 49U);
  EXPECT_FALSE(looks_like_token(token + "A"));
  EXPECT_FALSE(looks_like_token(token.substr(1)));
  EXPECT_FALSE(looks_like_token("allot_" + std::string(42, 'a') + "="));
}

// The hash equals the output of sha256sum.
TEST(Token, IsKeptAsItsSha256) {
  const TokenHash hash = hash_of("abc");
  const std::string hex = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
  EXPECT_EQ(hex_of(hash), hex);
  ASSERT_TRUE(parse_hash(hex));
  EXPECT_TRUE(same(*parse_hash(hex), hash));
  EXPECT_FALSE(same(hash_of("abd"), hash));
  EXPECT_FALSE(parse_hash(hex.substr(1)));
  EXPECT_FALSE(parse_hash("x" + hex.substr(1)));
}

}  // namespace
}  // namespace allot::gateway::access
