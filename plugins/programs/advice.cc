// SPDX-License-Identifier: Apache-2.0
#include "programs/advice.h"

#include <algorithm>
#include <numeric>
#include <string_view>

namespace programs {
namespace {

// Levenshtein distance: inserted, deleted or replaced characters.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

// The most similar key, or an empty text.
std::string nearest(const std::string& name, const std::vector<std::string>& known) {
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(2, name.size() / 3) + 1;
  for (const std::string& key : known) {
    const std::size_t here = distance(name, key);
    if (here >= best_distance || here >= key.size()) continue;
    best = key;
    best_distance = here;
  }
  return best;
}

}  // namespace

std::string unknown_key(const std::string& name, const std::vector<std::string>& known) {
  const std::string text = "unknown key '" + name + "'; ";
  const std::string near = nearest(name, known);
  if (!near.empty()) return text + "did you mean '" + near + "'?";
  std::string list;
  for (const std::string& key : known) list += (list.empty() ? "" : ", ") + key;
  return text + "known: " + list;
}

std::string unknown_in_type(const std::string& group, const std::string& type,
                            const allot::Config& section, const std::string& name,
                            const std::vector<std::string>& known) {
  std::string whole = type;
  std::string inner = name;
  allot::Config table = section.section(inner);
  if (table.names().empty() || !nearest(name, known).empty()) return unknown_key(name, known);
  while (!table.names().empty()) {
    whole += "." + inner;
    inner = table.names().front();
    table = table.section(inner);
  }
  return "a type with a dot needs quotes, as in [" + group + ".\"" + whole + "\"]";
}

}  // namespace programs
