// SPDX-License-Identifier: Apache-2.0
#include "queue/model/error_text.h"

#include <cstdint>

namespace allot::queue {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";

// Length of the sequence that begins with `lead`; 0: not a lead byte.
std::size_t length_after(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead <= 0xdf) return 2;
  if (lead >= 0xe0 && lead <= 0xef) return 3;
  if (lead >= 0xf0 && lead <= 0xf4) return 4;
  return 0;
}

// Length of the well-formed sequence at the start of `text` (Unicode, table 3-7); 0: none.
std::size_t sequence(std::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const std::size_t length = length_after(byte(0));
  if (length == 0 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  if (length < 3) return length;
  // Refuses overlong forms, surrogates, and everything beyond U+10FFFF.
  if (byte(0) == 0xe0 && byte(1) < 0xa0) return 0;
  if (byte(0) == 0xed && byte(1) > 0x9f) return 0;
  if (byte(0) == 0xf0 && byte(1) < 0x90) return 0;
  if (byte(0) == 0xf4 && byte(1) > 0x8f) return 0;
  return length;
}

}  // namespace

std::string error_text(std::string_view raw, std::size_t most) {
  std::string kept;
  while (!raw.empty()) {
    const std::size_t length = sequence(raw);
    const std::string_view next = length > 0 ? raw.substr(0, length) : kReplacement;
    if (kept.size() + next.size() > most) break;
    kept += next;
    raw.remove_prefix(length > 0 ? length : 1);
  }
  return kept;
}

}  // namespace allot::queue
