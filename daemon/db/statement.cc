// SPDX-License-Identifier: Apache-2.0
#include "db/statement.h"

#include <array>

#include "base/error.h"
#include "db/mutation.h"

namespace allot::db {
namespace {

bool starts_name(char c) {
  return c >= 'a' && c <= 'z';
}
bool continues_name(char c) {
  return starts_name(c) || c == '_' || (c >= '0' && c <= '9');
}

// Character after a backslash that stands for each character; 0: none is needed.
constexpr auto kEscapes = [] {
  std::array<char, 256> escapes{};
  for (const auto& [character, escape] : kEscaped) {
    escapes[static_cast<unsigned char>(character)] = escape;
  }
  return escapes;
}();

[[noreturn]] void defect(std::string_view sql, std::string_view what, std::string_view name) {
  throw Error(
      "defect: " + std::string(sql) + ".sql: " + std::string(what) + " '" + std::string(name) + "'",
      kExitSoftware);
}

// End of the comment or quoted literal that starts at `at`; `at` itself if there is none.
std::size_t skip_literal(std::string_view text, std::size_t at) {
  if (text[at] == '\'') {
    const std::size_t end = text.find('\'', at + 1);
    return end == std::string_view::npos ? text.size() : end + 1;
  }
  if (text.substr(at, 3) == "-- ") {
    const std::size_t end = text.find('\n', at);
    return end == std::string_view::npos ? text.size() : end;
  }
  return at;
}

}  // namespace

std::string Statement::quoted(std::string_view text) {
  std::string out;
  out.reserve(text.size() + text.size() / 16 + 2);
  out += '\'';
  for (const char c : text) {
    if (const char escape = kEscapes[static_cast<unsigned char>(c)]; escape != 0) {
      out += '\\';
      out += escape;
    } else {
      out += c;
    }
  }
  out += '\'';
  return out;
}

std::string Statement::render() const {
  const auto held = mutated(sql_->name, sql_->text);  // a view, except in a build with mutants
  const std::string_view text = held;
  std::string out;
  std::size_t reserve = text.size();
  for (const auto& [name, value] : values_) reserve += value.size();
  out.reserve(reserve);
  std::vector<bool> used(values_.size(), false);
  std::size_t at = 0;
  while (at < text.size()) {
    if (const std::size_t end = skip_literal(text, at); end != at) {
      if (text[at] == '\'') out += text.substr(at, end - at);
      at = end;
      continue;
    }
    if (text[at] != ':' || at + 1 == text.size() || !starts_name(text[at + 1])) {
      out += text[at++];
      continue;
    }
    std::size_t end = at + 1;
    while (end < text.size() && continues_name(text[end])) ++end;
    const std::string_view name = text.substr(at + 1, end - at - 1);
    std::size_t i = 0;
    while (i < values_.size() && values_[i].first != name) ++i;
    if (i == values_.size()) defect(sql_->name, "no value for placeholder", name);
    out += values_[i].second;
    used[i] = true;
    at = end;
  }
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (!used[i]) defect(sql_->name, "no placeholder for value", values_[i].first);
  }
  while (!out.empty() && (out.back() == '\n' || out.back() == ' ' || out.back() == ';')) {
    out.pop_back();
  }
  return out;
}

std::size_t statements_in(std::string_view sql) {
  std::size_t count = 1;
  bool quoted = false;
  for (std::size_t at = 0; at < sql.size(); ++at) {
    if (quoted && sql[at] == '\\') {
      ++at;
    } else if (sql[at] == '\'') {
      quoted = !quoted;
    } else if (sql[at] == ';' && !quoted) {
      ++count;
    }
  }
  return count;
}

}  // namespace allot::db
