// SPDX-License-Identifier: Apache-2.0
#include "gateway/fireworq/json_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/utf8.h"
#include "config/number.h"

namespace allot::gateway::fireworq {
namespace {

constexpr std::string_view kSpace = " \t\r\n";
constexpr std::string_view kReplacement = "\xef\xbf\xbd";

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Number of bytes at the start of a string's content that need no decoding. Most of a large payload
// is such bytes, and is skipped in one run.
std::size_t plain_length(std::string_view text) {
  const auto plain = [](char c) {
    return c >= 0x20 && static_cast<unsigned char>(c) < 0x80 && c != '"' && c != '\\';
  };
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end && plain(*at)) ++at;
  return static_cast<std::size_t>(at - text.data());
}

// Scans values without interpreting them.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  [[nodiscard]] std::size_t at() const { return at_; }

  void skip_space() { at_ = std::min(text_.find_first_not_of(kSpace, at_), text_.size()); }

  // Scans one value, from its first byte.
  void value() {
    bool begins = true;
    while (begins || !open_.empty()) begins = begins ? begin_value() : continue_value();
  }

  void string() {
    expect('"');
    for (;;) {
      at_ += plain_length(text_.substr(at_));
      const char c = take();
      if (c == '"') return;
      if (static_cast<unsigned char>(c) < 0x20) bad("a control character in a string");
      if (c != '\\') continue;
      const char escaped = take();
      if (escaped == 'u') {
        for (int i = 0; i < 4; ++i) {
          if (std::string_view("0123456789abcdefABCDEF").find(take()) == std::string_view::npos) {
            bad("\\u without four hexadecimal digits");
          }
        }
      } else if (std::string_view("\"\\/bfnrt").find(escaped) == std::string_view::npos) {
        bad("an unknown escape in a string");
      }
    }
  }

  void expect(char wanted) {
    if (take() != wanted) bad(std::string("'") + wanted + "' is missing");
  }

 private:
  [[noreturn]] void bad(const std::string& what) const {
    throw BadJson("invalid JSON at byte " + std::to_string(at_) + ": " + what);
  }

  char take() {
    if (at_ >= text_.size()) throw BadJson("unexpected EOF");
    return text_[at_++];
  }
  [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  void word(std::string_view wanted) {
    for (const char c : wanted) expect(c);
  }

  void digits() {
    if (!is_digit(peek())) {
      if (at_ >= text_.size()) throw BadJson("unexpected EOF");
      bad("a digit is missing");
    }
    while (is_digit(peek())) ++at_;
  }

  void number() {
    if (peek() == '-') ++at_;
    if (peek() == '0') {
      ++at_;
    } else {
      digits();
    }
    if (peek() == '.') {
      ++at_;
      digits();
    }
    if (peek() != 'e' && peek() != 'E') return;
    ++at_;
    if (peek() == '+' || peek() == '-') ++at_;
    digits();
  }

  void key() {
    string();
    skip_space();
    expect(':');
    skip_space();
  }

  // Scans a whole value, or the start of an object or a list up to its first value; then returns
  // true.
  bool begin_value() {
    const char c = peek();
    if (c == '{' || c == '[') return open(c);
    if (c == '"') {
      string();
    } else if (c == 't') {
      word("true");
    } else if (c == 'f') {
      word("false");
    } else if (c == 'n') {
      word("null");
    } else {
      number();
    }
    return false;
  }

  bool open(char c) {
    if (open_.size() == kMostDepth) bad("deeper than 10000 levels");
    ++at_;
    skip_space();
    const char close = c == '{' ? '}' : ']';
    if (peek() == close) {
      ++at_;
      return false;
    }
    open_.push_back(close);
    if (c == '{') key();
    return true;
  }

  // Continues after a value of an open object or list. True: another one begins.
  bool continue_value() {
    skip_space();
    const char c = take();
    if (c == open_.back()) {
      open_.pop_back();
      return false;
    }
    if (c != ',') {
      --at_;
      bad(std::string("',' or '") + open_.back() + "' is missing");
    }
    skip_space();
    if (open_.back() == '}') key();
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<char> open_{};
};

void append_utf8(std::string& out, std::uint32_t code) {
  const auto add = [&](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (code < 0x80) return add(code);
  if (code < 0x800) {
    add(0xc0 | code >> 6U);
  } else if (code < 0x10000) {
    add(0xe0 | code >> 12U);
    add(0x80 | (code >> 6U & 0x3fU));
  } else {
    add(0xf0 | code >> 18U);
    add(0x80 | (code >> 12U & 0x3fU));
    add(0x80 | (code >> 6U & 0x3fU));
  }
  add(0x80 | (code & 0x3fU));
}

std::uint32_t hex_of(std::string_view four) {
  std::uint32_t code = 0;
  std::from_chars(four.data(), four.data() + 4, code, 16);
  return code;
}

// The code point after "\u"; also consumes the second half of a surrogate pair.
std::uint32_t surrogates(std::string_view& left) {
  const std::uint32_t first = hex_of(left.substr(0, 4));
  left.remove_prefix(4);
  if (first < 0xd800 || first > 0xdfff) return first;
  if (first < 0xdc00 && left.starts_with("\\u")) {
    const std::uint32_t second = hex_of(left.substr(2, 4));
    if (second >= 0xdc00 && second <= 0xdfff) {
      left.remove_prefix(6);
      return 0x10000 + ((first - 0xd800) << 10U) + (second - 0xdc00);
    }
  }
  return 0xfffd;
}

// Decodes the content of a scanned string.
std::string unescaped(std::string_view left) {
  std::string out;
  out.reserve(left.size());
  for (;;) {
    const std::size_t plain = plain_length(left);
    out.append(left.substr(0, plain));
    left.remove_prefix(plain);
    if (left.empty()) return out;
    if (left.front() != '\\') {
      const std::size_t length = utf8_length(left);
      out.append(length == 0 ? kReplacement : left.substr(0, length));
      left.remove_prefix(std::max<std::size_t>(1, length));
      continue;
    }
    const char c = left[1];
    left.remove_prefix(2);
    constexpr std::string_view kLetters = "bfnrt";
    constexpr std::string_view kMeant = "\b\f\n\r\t";
    if (c == 'u') {
      append_utf8(out, surrogates(left));
    } else if (const auto at = kLetters.find(c); at != std::string_view::npos) {
      out += kMeant[at];
    } else {
      out += c;
    }
  }
}

}  // namespace

std::string_view first_value(std::string_view text) {
  Scanner scanner(text);
  scanner.skip_space();
  const std::size_t begin = scanner.at();
  if (begin == text.size()) throw BadJson("EOF");
  scanner.value();
  return text.substr(begin, scanner.at() - begin);
}

bool is_json(std::string_view text) {
  try {
    const std::string_view value = first_value(text);
    const auto end = static_cast<std::size_t>(value.data() - text.data()) + value.size();
    return text.find_first_not_of(kSpace, end) == std::string_view::npos;
  } catch (const BadJson&) {
    return false;
  }
}

Members::Members(std::string_view object) : left_(object.substr(1)) {}

// The object was scanned before, so this cannot fail.
bool Members::next() {
  // Only space and a comma precede either character, so the search is short.
  const std::size_t begin = left_.find_first_of("\"}");
  if (begin == std::string_view::npos || left_[begin] == '}') return false;
  left_.remove_prefix(begin);
  Scanner key(left_);
  key.string();
  key_ = unescaped(left_.substr(1, key.at() - 2));
  left_.remove_prefix(left_.find(':', key.at()) + 1);
  value_ = first_value(left_);
  left_.remove_prefix(static_cast<std::size_t>(value_.data() - left_.data()) + value_.size());
  return true;
}

bool same_key(std::string_view a, std::string_view b) {
  return lower(a) == lower(b);
}

std::optional<std::string> string_of(std::string_view value) {
  if (!value.starts_with('"')) return std::nullopt;
  return unescaped(value.substr(1, value.size() - 2));
}

std::optional<double> number_of(std::string_view value) {
  const auto number = config::whole_number<double>(value);
  return number && std::isfinite(*number) ? number : std::nullopt;
}

std::string json_string(std::string_view text) {
  const nlohmann::json json(text);
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace allot::gateway::fireworq
