// SPDX-License-Identifier: Apache-2.0
#include "queue/model/error_text.h"

#include "base/utf8.h"

namespace allot::queue {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";

}  // namespace

std::string error_text(std::string_view raw, std::size_t most) {
  std::string kept;
  while (!raw.empty()) {
    const std::size_t length = utf8_length(raw);
    const std::string_view next = length > 0 ? raw.substr(0, length) : kReplacement;
    if (kept.size() + next.size() > most) break;
    kept += next;
    raw.remove_prefix(length > 0 ? length : 1);
  }
  return kept;
}

}  // namespace allot::queue
