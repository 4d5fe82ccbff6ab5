// SPDX-License-Identifier: Apache-2.0
#include "queue/fireworq/page.h"

#include <utility>

namespace allot::queue {
namespace {

// Rows of one source in one millisecond; beyond this limit they are not sorted by number.
constexpr std::size_t kMostOfSource = 200'000;

struct Source {
  std::vector<ListedRow> rows;
  std::size_t asked = 0;
  [[nodiscard]] bool whole() const { return rows.size() < asked || asked >= kMostOfSource; }
};

class Lister {
 public:
  Lister(const ListAsk& ask, std::size_t sources, const FetchRows& fetch)
      : ask_(ask), fetch_(fetch), sources_(sources) {}

  ListPage page() {
    std::size_t most = ask_.limit + 2;
    for (;; most *= 2) {
      for (std::size_t i = 0; i < sources_.size(); ++i) {
        if (sources_[i].asked != 0 && sources_[i].whole()) continue;
        sources_[i].asked = most;
        sources_[i].rows = fetch_(i, most);
      }
      std::vector<ListedRow> known = known_rows();
      const bool all = std::all_of(sources_.begin(), sources_.end(),
                                   [](const Source& source) { return source.whole(); });
      if (all || known.size() > ask_.limit) return cut(std::move(known));
    }
  }

 private:
  [[nodiscard]] bool before(const ListPlace& a, const ListPlace& b) const {
    return ask_.latest_first ? b < a : a < b;
  }
  [[nodiscard]] bool earlier(std::int64_t a, std::int64_t b) const {
    return ask_.latest_first ? b < a : a < b;
  }

  // Rows before which no source can have another one.
  [[nodiscard]] std::vector<ListedRow> known_rows() const {
    std::optional<std::int64_t> until;
    for (const Source& source : sources_) {
      if (source.whole() || source.rows.empty()) continue;
      const std::int64_t last = source.rows.back().place.ms;
      if (!until || earlier(last, *until)) until = last;
    }
    std::vector<ListedRow> rows;
    for (const Source& source : sources_) {
      for (const ListedRow& row : source.rows) {
        if (until && !earlier(row.place.ms, *until)) continue;
        if (ask_.from && before(row.place, *ask_.from)) continue;
        rows.push_back(row);
      }
    }
    std::sort(rows.begin(), rows.end(),
              [this](const ListedRow& a, const ListedRow& b) { return before(a.place, b.place); });
    return rows;
  }

  [[nodiscard]] ListPage cut(std::vector<ListedRow> rows) const {
    ListPage page;
    std::size_t count = 0;
    std::uint64_t bytes = 0;
    while (count < rows.size() && count < ask_.limit) {
      bytes += rows[count].bytes;
      if (count > 0 && bytes > ask_.most_bytes) break;
      ++count;
    }
    if (count < rows.size()) page.next = rows[count].place;
    rows.resize(count);
    page.rows = std::move(rows);
    return page;
  }

  const ListAsk& ask_;
  const FetchRows& fetch_;
  std::vector<Source> sources_;
};

}  // namespace

ListPage list_page(const ListAsk& ask, std::size_t sources, const FetchRows& fetch) {
  return Lister(ask, sources, fetch).page();
}

}  // namespace allot::queue
