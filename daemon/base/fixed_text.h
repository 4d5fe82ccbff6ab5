// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

namespace allot {

// The text in a field that processes share. Another one may change it during the copy, so the
// length is limited here.
template <std::size_t N>
std::string text_of(const char (&field)[N]) {
  return {field, strnlen(field, N)};
}
// A row that another program wrote may have a longer name: its start is copied.
template <std::size_t N>
void copy_text(char (&to)[N], std::string_view from) {
  const std::size_t size = std::min(from.size(), N - 1);
  std::memcpy(to, from.data(), size);
  to[size] = '\0';
}

}  // namespace allot
