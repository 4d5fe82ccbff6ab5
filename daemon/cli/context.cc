// SPDX-License-Identifier: Apache-2.0
#include "cli/context.h"

#include <algorithm>
#include <cstdio>
#include <numeric>

#include "db/from_settings.h"
#include "db/migrate.h"

namespace allot::cli {
namespace {

// Levenshtein's distance: the fewest single-character edits between two words.
std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0U);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0U : 1U)});
      diagonal = above;
    }
  }
  return row.back();
}

}  // namespace

db::Connection Context::connect(const config::Settings& settings) {
  db::Connection connection(db::from_settings(settings.database));
  db::require_schema(connection);
  return connection;
}

std::string printable(std::string_view text, std::size_t most) {
  std::string out;
  for (const char c : text) {
    if (out.size() >= most) return out + "...";
    if (c >= ' ' && c < 0x7f) {
      out += c;
    } else {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\x%02x", static_cast<unsigned char>(c));
      out += escaped;
    }
  }
  return out;
}

std::string did_you_mean(const std::string& word, const std::vector<std::string>& known) {
  const auto nearest = std::min_element(known.begin(), known.end(), [&](auto& a, auto& b) {
    return distance(word, a) < distance(word, b);
  });
  if (nearest == known.end() || distance(word, *nearest) > 2) return {};
  return "; did you mean '" + *nearest + "'?";
}

}  // namespace allot::cli
