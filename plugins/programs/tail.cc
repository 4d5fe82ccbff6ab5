// SPDX-License-Identifier: Apache-2.0
#include "programs/tail.h"

#include <algorithm>
#include <utility>

namespace programs {

void Tail::add(const char* data, std::size_t size) {
  bytes_.append(data, size);
  if (bytes_.size() > 2 * kSize) bytes_.erase(0, bytes_.size() - kSize);
}

std::string Tail::last(std::size_t most) const {
  most = std::min(most, kSize);
  std::size_t begin = bytes_.size() > most ? bytes_.size() - most : 0;
  const auto continues = [this](std::size_t at) {
    return at < bytes_.size() && (static_cast<unsigned char>(bytes_[at]) & 0xC0U) == 0x80U;
  };
  for (int i = 0; begin > 0 && i < 3 && continues(begin); ++i) ++begin;
  std::string text = bytes_.substr(begin);
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  return text;
}

std::string with_output(std::string what, const Tail& said) {
  what.resize(std::min(what.size(), Tail::kSize - 1));
  const std::string text = said.last(Tail::kSize - what.size() - 1);
  return text.empty() ? what : std::move(what) + "\n" + text;
}

}  // namespace programs
