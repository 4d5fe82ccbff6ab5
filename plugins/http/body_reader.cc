// SPDX-License-Identifier: Apache-2.0
#include "body_reader.h"

#include <algorithm>
#include <array>

#include "trouble.h"

namespace http_plugin {
namespace {

constexpr std::size_t kMaxLine = 4096;  // limit of a chunk header and of a trailer
constexpr int kMaxTrailers = 100;

[[noreturn]] void broke_off() {
  throw Trouble("the answer broke off");
}

unsigned long long size_of_chunk(const std::string& line) {
  constexpr std::size_t kMaxDigits = 15;
  const std::size_t end = std::min(line.find_first_not_of("0123456789abcdefABCDEF"), line.size());
  const bool extended = end < line.size() && (line[end] == ';' || line[end] == ' ');
  if (end == 0 || end > kMaxDigits || (end < line.size() && !extended)) {
    throw Trouble("the answer has no chunk size where one is required");
  }
  return std::stoull(line.substr(0, end), nullptr, 16);
}

}  // namespace

bool BodyReader::append(unsigned long long size, bool may_end) {
  if (size == 0) return true;
  std::array<char, 16384> part{};
  while (size > 0) {
    // Reads one byte beyond the limit, to distinguish a body of exactly this length from a longer
    // one.
    const std::size_t room = most_ - body_.size();
    const auto wanted = std::min<unsigned long long>({size, part.size(), room + 1});
    const std::size_t got = read_(part.data(), static_cast<std::size_t>(wanted));
    if (got == 0 && may_end) return true;
    if (got == 0) broke_off();
    body_.append(part.data(), std::min(got, room));
    if (got > room) return false;
    size -= got;
  }
  return true;
}

std::string BodyReader::line() {
  std::string line;
  for (char c = 0; line.size() < kMaxLine; line += c) {
    if (read_(&c, 1) == 0) broke_off();
    if (c != '\n') continue;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    return line;
  }
  throw Trouble("the answer has a line that is too long");
}

bool BodyReader::chunks() {
  while (true) {
    const auto size = size_of_chunk(line());
    if (size == 0) break;
    if (!append(size, false)) return false;
    if (!line().empty()) throw Trouble("the answer has a chunk whose size is wrong");
  }
  for (int trailers = 0; trailers < kMaxTrailers; ++trailers) {
    if (line().empty()) return true;
  }
  throw Trouble("the answer has too many trailers");
}

}  // namespace http_plugin
