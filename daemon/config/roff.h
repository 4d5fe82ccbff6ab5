// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

// Manual pages in the man(7) macros, so that man, groff and mandoc all read them.
namespace allot::config {

// Text of the head and foot of a page.
struct Edition {
  std::string version;
  std::string date;  // 2026-11-22
};

// One page. Texts are plain; the class escapes the characters that roff would interpret.
class ManualPage {
 public:
  // "allot", 1, ..., "what it does".
  ManualPage(std::string_view name, int section, const Edition& edition, std::string_view what);

  ManualPage& heading(std::string_view text);     // .SH
  ManualPage& subheading(std::string_view text);  // .SS
  ManualPage& paragraph(std::string_view text);
  ManualPage& synopsis(std::string_view text);  // words in capitals are placeholders
  // A term and its meaning. `term` has the format of synopsis().
  ManualPage& term(std::string_view term, std::string_view meaning);
  // The text unchanged, line by line.
  ManualPage& verbatim(std::string_view text);

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  [[nodiscard]] bool after_heading() const;

  std::string text_;
};

}  // namespace allot::config
