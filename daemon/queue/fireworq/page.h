// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

// Pages over rows that several ordered sources have, by time and number: pure.
namespace allot::queue {

// A row's place in a list: its time in milliseconds since 1970, and its number.
struct ListPlace {
  std::int64_t ms = 0;
  std::uint64_t id = 0;
  auto operator<=>(const ListPlace&) const = default;
};

struct ListedRow {
  ListPlace place;
  std::size_t source = 0;  // which of the sources has it
  std::uint64_t key = 0;   // where it stands there
  std::uint64_t bytes = 0;
};

struct ListPage {
  std::vector<ListedRow> rows{};
  std::optional<ListPlace> next{};  // the first row of the next page
};

struct ListAsk {
  bool latest_first = true;
  std::size_t limit = 100;
  std::optional<ListPlace> from{};  // the first row, or where it stood
  // A page ends before it has more bytes, but has one row at least.
  std::uint64_t most_bytes = std::uint64_t{32} << 20;
};

// The first `most` rows of a source, by time alone, from the time of `ask.from` on.
using FetchRows = std::function<std::vector<ListedRow>(std::size_t source, std::size_t most)>;

// Reads no more of each source than the page needs, and what has the same millisecond as its end:
// rows are in order by time alone there, and by time and number in the page.
[[nodiscard]] ListPage list_page(const ListAsk& ask, std::size_t sources, const FetchRows& fetch);

}  // namespace allot::queue
