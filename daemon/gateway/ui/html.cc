// SPDX-License-Identifier: Apache-2.0
#include "gateway/ui/html.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace allot::gateway::ui {
namespace {

// A UTF-8 code point and its length in bytes; 0 bytes: invalid.
struct Point {
  std::uint32_t value = 0;
  std::size_t bytes = 0;
};

Point point_at(std::string_view text) {
  constexpr std::array<std::uint32_t, 5> kLeast{0, 0, 0x80, 0x800, 0x10000};
  const auto first = static_cast<unsigned char>(text.front());
  if (first < 0x80) return {first, 1};
  const std::size_t bytes = first >= 0xf8   ? 0
                            : first >= 0xf0 ? 4
                            : first >= 0xe0 ? 3
                            : first >= 0xc0 ? 2
                                            : 0;
  if (bytes == 0 || text.size() < bytes) return {};
  std::uint32_t value = first & (0x7fU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xc0U) != 0x80) return {};
    value = value << 6U | (next & 0x3fU);
  }
  const bool surrogate = value >= 0xd800 && value <= 0xdfff;
  if (value < kLeast.at(bytes) || value > 0x10ffff || surrogate) return {};
  return {value, bytes};
}

// False for controls except tab and line feed, direction marks, and non-characters.
bool is_shown(std::uint32_t point) {
  if (point == '\t' || point == '\n') return true;
  if (point < 0x20 || (point >= 0x7f && point < 0xa0)) return false;
  if (point == 0x61c || point == 0x200e || point == 0x200f) return false;
  if ((point >= 0x202a && point <= 0x202e) || (point >= 0x2066 && point <= 0x2069)) return false;
  return point != 0xfeff && (point & 0xfffeU) != 0xfffe;
}

void append_escaped(std::string& out, std::string_view text) {
  while (!text.empty()) {
    const Point point = point_at(text);
    const std::string_view bytes = text.substr(0, point.bytes == 0 ? 1 : point.bytes);
    text.remove_prefix(bytes.size());
    if (point.bytes == 0 || !is_shown(point.value)) {
      out += kReplacement;
      continue;
    }
    switch (point.value) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += bytes;
    }
  }
}

bool is_address(std::string_view name) {
  return name == "href" || name == "action" || name == "src";
}

bool is_of_this_host(std::string_view address) {
  if (address.starts_with('#') || address.starts_with('?')) return true;
  return address.starts_with('/') && !address.starts_with("//") &&
         address.find('\\') == std::string_view::npos;
}

}  // namespace

void Html::open(Word name, Attributes attributes) {
  out_.append("<").append(name.text());
  for (const Attribute& each : attributes) {
    out_.append(" ").append(each.name.text()).append("=\"");
    const bool elsewhere = is_address(each.name.text()) && !is_of_this_host(each.value);
    append_escaped(out_, elsewhere ? "#" : each.value);
    out_.append("\"");
  }
  out_.append(">");
}

void Html::close(Word name) {
  out_.append("</").append(name.text()).append(">");
}

void Html::leaf(Word name, Attributes attributes, std::string_view text) {
  open(name, attributes);
  append_escaped(out_, text);
  close(name);
}

void Html::text(std::string_view text) {
  append_escaped(out_, text);
}

bool is_shown_whole(std::string_view text) {
  while (!text.empty()) {
    const Point point = point_at(text);
    if (point.bytes == 0 || !is_shown(point.value)) return false;
    text.remove_prefix(point.bytes);
  }
  return true;
}

std::string escaped_html(std::string_view text) {
  std::string out;
  append_escaped(out, text);
  return out;
}

}  // namespace allot::gateway::ui
