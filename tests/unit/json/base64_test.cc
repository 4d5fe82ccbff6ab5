// SPDX-License-Identifier: Apache-2.0
#include "json/base64.h"

#include <gtest/gtest.h>

namespace allot::as_json {
namespace {

TEST(Base64, TheExamplesOfTheStandard) {
  const std::pair<const char*, const char*> cases[] = {{"", ""},
                                                       {"f", "Zg=="},
                                                       {"fo", "Zm8="},
                                                       {"foo", "Zm9v"},
                                                       {"foob", "Zm9vYg=="},
                                                       {"fooba", "Zm9vYmE="},
                                                       {"foobar", "Zm9vYmFy"}};
  for (const auto& [bytes, text] : cases) {
    EXPECT_EQ(to_base64(bytes), text);
    EXPECT_EQ(from_base64(text), bytes);
  }
}

TEST(Base64, EveryByteComesBack) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  for (std::size_t size = 0; size < all.size(); ++size) {
    const std::string bytes = all.substr(all.size() - size);
    EXPECT_EQ(from_base64(to_base64(bytes)), bytes);
    EXPECT_EQ(from_base64url(to_base64url(bytes)), bytes);
    EXPECT_EQ(to_base64url(bytes).find_first_of("+/="), std::string::npos);
  }
}

TEST(Base64, InvalidBase64IsRefused) {
  for (const char* text : {"Z", "Zg", "Zg=", "Zg===", "Z===", "====", "Zm9v\n", "Zm 9",
                           "Zh==", "Zm9=", "Zm-v", "Z=g=", "\xff\xff\xff\xff"}) {
    EXPECT_FALSE(from_base64(text)) << text;
  }
  for (const char* text : {"Z", "Zg==", "Zm+v", "Zh"}) EXPECT_FALSE(from_base64url(text)) << text;
}

}  // namespace
}  // namespace allot::as_json
