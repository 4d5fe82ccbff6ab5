// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace allot::gateway::ui {

// The name of an element or attribute. Only a literal of the source becomes one, so that no data
// can.
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

// The only way in which HTML leaves the gateway (S87): every text and every value of an attribute
// is escaped. What is not UTF-8, control characters, and characters that turn the direction of the
// text around them become U+FFFD. An address (href, action, src) has to be a path of this host: for
// any other, `#` is written.
class Html {
 public:
  // <name attributes>, whatever `inside` writes, </name>.
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
  // With a text inside.
  void leaf(Word name, Attributes attributes, std::string_view text);
  void leaf(Word name, std::string_view text) { leaf(name, {}, text); }
  // An element that has no end: meta, link, input, br.
  void empty(Word name, Attributes attributes = {}) { open(name, attributes); }
  void text(std::string_view text);

  [[nodiscard]] std::string take() { return std::move(out_); }

 private:
  void open(Word name, Attributes attributes);
  void close(Word name);
  std::string out_ = "<!doctype html>";
};

// `text` as it is escaped, for tests and for nothing else.
[[nodiscard]] std::string escaped_html(std::string_view text);

}  // namespace allot::gateway::ui
