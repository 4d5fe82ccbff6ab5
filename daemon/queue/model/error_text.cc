// SPDX-License-Identifier: Apache-2.0
#include "queue/model/error_text.h"

#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "base/utf8.h"

namespace allot::queue {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";

constexpr std::size_t kMostPattern = 200;

// Bytes of UTF-8 sequences beyond ASCII are parts of words.
bool in_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || static_cast<unsigned char>(c) >= 0x80;
}

// End of the text that the quote at `open` begins; npos if it is not a quotation ("can't").
std::size_t closing_quote(std::string_view line, std::size_t open) {
  const char quote = line[open];
  if (quote != '\'' && quote != '"' && quote != '`') return std::string_view::npos;
  if (open > 0 && in_word(line[open - 1])) return std::string_view::npos;
  return line.find(quote, open + 1);
}

std::string_view word_at(std::string_view line, std::size_t begin) {
  std::size_t end = begin;
  // 10.0.0.1:3306, host-3, 2026-11-21T05:00:00, 550e8400-e29b: characters that join two words also
  // join numbers.
  constexpr std::string_view kJoins = "-_.:/";
  while (end < line.size() &&
         (in_word(line[end]) || (end > begin && kJoins.find(line[end]) != std::string_view::npos &&
                                 end + 1 < line.size() && in_word(line[end + 1])))) {
    ++end;
  }
  return line.substr(begin, end - begin);
}

void cut(std::string& text, std::size_t most) {
  if (text.size() <= most) return;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xc0U) == 0x80) --most;
  text.resize(most);
}

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

std::string error_pattern(std::string_view error) {
  const std::size_t begin = std::min(error.find_first_not_of(" \t\r\n"), error.size());
  const std::string_view line = error.substr(begin, error.find('\n', begin) - begin);
  std::string pattern;
  for (std::size_t i = 0; i < line.size();) {
    if (const std::size_t close = closing_quote(line, i); close != std::string_view::npos) {
      pattern.append(1, line[i]).append("...").append(1, line[i]);
      i = close + 1;
    } else if (in_word(line[i])) {
      const std::string_view word = word_at(line, i);
      const bool number = word.find_first_of("0123456789") != std::string_view::npos;
      pattern += number ? "#" : word;
      i += word.size();
    } else {
      pattern += line[i++];
    }
  }
  cut(pattern, kMostPattern);
  return pattern;
}

std::string fault_of(std::string_view error, std::string_view fault) {
  return fault.empty() ? error_pattern(error_text(error, kMostMessage))
                       : error_text(fault, kMostFault);
}

ErrorGroup error_group(std::uint32_t queue_id, std::string_view type, std::string_view cause,
                       std::string_view fault) {
  std::string sample = std::string(cause) + ": " + std::string(fault);
  const std::string text = std::to_string(queue_id) + " " + std::string(type) + " " +
                           std::string(cause) + " " + std::string(fault);
  std::array<unsigned char, SHA256_DIGEST_LENGTH> hash{};
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), hash.data());
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string group;
  for (std::size_t i = 0; group.size() < kGroupDigits; ++i) {
    group += {kDigits[hash.at(i) >> 4U], kDigits[hash.at(i) & 0xfU]};
  }
  return {std::move(group), std::move(sample)};
}

}  // namespace allot::queue
