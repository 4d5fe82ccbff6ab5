// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string_view>
#include <vector>

namespace allot {

// The candidate, a std::string or a view, with the smallest Levenshtein distance (inserted, deleted
// or replaced characters) from a word; "": none is near.
template <typename Text>
std::string_view nearest(std::string_view word, const std::vector<Text>& candidates) {
  const auto distance = [word](std::string_view other) {
    std::vector<std::size_t> row(other.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= word.size(); ++i) {
      std::size_t diagonal = row[0];
      row[0] = i;
      for (std::size_t j = 1; j <= other.size(); ++j) {
        const std::size_t replaced = diagonal + (word[i - 1] == other[j - 1] ? 0 : 1);
        diagonal = row[j];
        row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
      }
    }
    return row[other.size()];
  };
  std::string_view best;
  std::size_t best_distance = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const std::string_view candidate : candidates) {
    const std::size_t here = distance(candidate);
    if (here >= best_distance || here >= candidate.size()) continue;
    best = candidate;
    best_distance = here;
  }
  return best;
}

}  // namespace allot
