// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace allot::gateway::ui {

// Name of an element or attribute. Only a string literal converts to it, so data cannot become
// markup.
class Word {
 public:
  consteval Word(const char* text) : text_(text) {}  // NOLINT(google-explicit-constructor)
  [[nodiscard]] constexpr std::string_view text() const { return text_; }

 private:
  const char* text_;
};

struct Attribute {
  Word name;
  std::string_view value;
};
using Attributes = std::initializer_list<Attribute>;

// Writes all HTML of the gateway (S87): every text and attribute value is escaped. Invalid UTF-8,
// control characters, and direction marks become U+FFFD. An address (href, action, src) must be a
// path of this host; any other is replaced by `#`.
class Html {
 public:
  // Writes <name attributes>, the output of `inside`, and </name>.
  template <typename Inside>
  void in(Word name, Attributes attributes, Inside&& inside) {
    open(name, attributes);
    inside();
    close(name);
  }
  template <typename Inside>
  void in(Word name, Inside&& inside) {
    in(name, {}, std::forward<Inside>(inside));
  }
  // An element that contains only text.
  void leaf(Word name, Attributes attributes, std::string_view text);
  void leaf(Word name, std::string_view text) { leaf(name, {}, text); }
  // An element without an end tag: meta, link, input, br.
  void empty(Word name, Attributes attributes = {}) { open(name, attributes); }
  void text(std::string_view text);

  [[nodiscard]] std::string take() { return std::move(out_); }

 private:
  void open(Word name, Attributes attributes);
  void close(Word name);
  std::string out_ = "<!doctype html>";
};

// Written instead of what Html does not write.
inline constexpr std::string_view kReplacement = "\xef\xbf\xbd";
// Whether Html writes this text without a replacement.
[[nodiscard]] bool is_shown_whole(std::string_view text);

// `text` escaped; only for tests.
[[nodiscard]] std::string escaped_html(std::string_view text);

}  // namespace allot::gateway::ui
