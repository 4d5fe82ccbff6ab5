// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

// Pages over rows of several ordered sources, by time and number. Pure functions.
namespace allot::queue {

// Place of a row in a list: its time in milliseconds since 1970, and its number.
struct ListPlace {
  std::int64_t ms = 0;
  std::uint64_t id = 0;
  auto operator<=>(const ListPlace&) const = default;
};

struct ListedRow {
  ListPlace place;
  std::size_t source = 0;  // source that has the row
  std::uint64_t key = 0;   // its place in that source
  std::uint64_t bytes = 0;
};

struct ListPage {
  std::vector<ListedRow> rows{};
  std::optional<ListPlace> next{};  // the first row of the next page
};

struct ListAsk {
  bool latest_first = true;
  std::size_t limit = 100;
  std::optional<ListPlace> from{};  // the first row, or its former place
  // A page ends before it exceeds this many bytes, but has at least one row.
  std::uint64_t most_bytes = std::uint64_t{32} << 20;
};

// The first `most` rows of a source from the time of `ask.from` on, sorted by time only.
using FetchRows = std::function<std::vector<ListedRow>(std::size_t source, std::size_t most)>;

// Reads from each source only what the page needs, plus rows with the same millisecond as its end:
// sources are sorted by time only, the page by time and number.
[[nodiscard]] ListPage list_page(const ListAsk& ask, std::size_t sources, const FetchRows& fetch);

}  // namespace allot::queue
