// SPDX-License-Identifier: Apache-2.0
#include "config/roff.h"

#include <algorithm>
#include <cctype>
#include <string>

namespace allot::config {
namespace {

// Escapes backslashes, characters that would start a request, and hyphens, which must not become a
// dash.
std::string escaped(std::string_view text) {
  std::string out;
  bool at_begin = true;
  for (const char c : text) {
    if (at_begin && (c == '.' || c == '\'')) out += "\\&";
    at_begin = c == '\n';
    if (c == '-') {
      out += "\\-";
    } else if (c == '\\') {
      out += "\\e";
    } else {
      out += c;
    }
  }
  return out;
}

std::string upper(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return out;
}

bool is_capital(char c) {
  return c >= 'A' && c <= 'Z';
}

// Sets words in capitals in italics, and words to type in bold.
std::string marked(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const bool wordy = std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '-';
    std::size_t end = at + 1;
    while (wordy && end < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[end])) != 0 || text[end] == '-' ||
            text[end] == '_')) {
      ++end;
    }
    const std::string_view word = text.substr(at, end - at);
    if (!wordy) {
      out += escaped(word);
    } else if (std::all_of(word.begin(), word.end(), is_capital)) {
      out += "\\fI" + escaped(word) + "\\fR";
    } else {
      out += "\\fB" + escaped(word) + "\\fR";
    }
    at = end;
  }
  return out;
}

}  // namespace

ManualPage::ManualPage(std::string_view name, int section, const Edition& edition,
                       std::string_view what) {
  text_ = ".\\\" SPDX-License-Identifier: Apache-2.0\n.\\\" Generated. Do not edit.\n.TH " +
          upper(name) + " " + std::to_string(section) + " \"" + edition.date + "\" \"Allot " +
          edition.version + "\"\n";
  heading("NAME");
  text_ += std::string(escaped(name)) + " \\- " + escaped(what) + "\n";
}

ManualPage& ManualPage::heading(std::string_view text) {
  text_ += ".SH " + escaped(text) + "\n";
  return *this;
}

// Here .PP would add a second space.
bool ManualPage::after_heading() const {
  const std::size_t line = text_.rfind('\n', text_.size() - 2) + 1;
  return text_.compare(line, 3, ".SH") == 0 || text_.compare(line, 3, ".SS") == 0;
}

ManualPage& ManualPage::subheading(std::string_view text) {
  text_ += ".SS \"" + escaped(text) + "\"\n";
  return *this;
}

ManualPage& ManualPage::paragraph(std::string_view text) {
  text_ += (after_heading() ? "" : ".PP\n") + escaped(text) + "\n";
  return *this;
}

ManualPage& ManualPage::synopsis(std::string_view text) {
  text_ += (after_heading() ? "" : ".br\n") + marked(text) + "\n";
  return *this;
}

ManualPage& ManualPage::term(std::string_view term, std::string_view meaning) {
  const std::size_t value = std::min(term.find(" = "), term.size());  // verbatim from here
  text_ += ".TP\n" + marked(term.substr(0, value)) + escaped(term.substr(value)) + "\n" +
           escaped(meaning) + "\n";
  return *this;
}

ManualPage& ManualPage::verbatim(std::string_view text) {
  text_ += std::string(after_heading() ? "" : ".PP\n") + ".nf\n" + escaped(text) +
           (text.ends_with('\n') ? "" : "\n") + ".fi\n";
  return *this;
}

}  // namespace allot::config
