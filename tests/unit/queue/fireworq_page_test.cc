// SPDX-License-Identifier: Apache-2.0
// Pages over several sources list each row once.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "queue/fireworq/definition.h"
#include "queue/fireworq/page.h"

namespace allot::queue {
namespace {

class FireworqPage : public testing::Test {
 protected:
  // Rows of each source, ordered by time alone, as the page requires.
  ListPage page(const ListAsk& ask) {
    return list_page(ask, sources_.size(), [&](std::size_t source, std::size_t most) {
      std::vector<ListedRow> rows = sources_[source];
      std::stable_sort(rows.begin(), rows.end(), [&](const ListedRow& a, const ListedRow& b) {
        return ask.latest_first ? b.place.ms < a.place.ms : a.place.ms < b.place.ms;
      });
      if (ask.from) {
        std::erase_if(rows, [&](const ListedRow& row) {
          return ask.latest_first ? row.place.ms > ask.from->ms : row.place.ms < ask.from->ms;
        });
      }
      rows.resize(std::min(rows.size(), most));
      read_ += rows.size();
      return rows;
    });
  }
  std::vector<ListPlace> walk(ListAsk ask) {
    std::vector<ListPlace> places;
    for (;;) {
      const ListPage got = page(ask);
      for (const ListedRow& row : got.rows) places.push_back(row.place);
      if (!got.next) return places;
      ask.from = got.next;
    }
  }

  std::vector<std::vector<ListedRow>> sources_;
  std::size_t read_ = 0;
};

TEST_F(FireworqPage, EachRowOnceInBothOrders) {
  std::mt19937 random(7);
  for (const int spread : {1, 5, 1000}) {
    sources_.assign(3, {});
    std::vector<ListPlace> all;
    for (std::uint64_t id = 1; id <= 200; ++id) {
      const ListPlace place{static_cast<std::int64_t>(random() % static_cast<unsigned>(spread)),
                            201 - id};
      const std::size_t source = random() % 3;
      sources_[source].push_back({place, source, id, 1});
      all.push_back(place);
    }
    std::sort(all.begin(), all.end());
    for (const std::size_t limit : {1U, 7U, 1000U}) {
      EXPECT_EQ(walk({.latest_first = false, .limit = limit}), all) << spread << " " << limit;
      std::vector<ListPlace> back(all.rbegin(), all.rend());
      EXPECT_EQ(walk({.latest_first = true, .limit = limit}), back) << spread << " " << limit;
    }
  }
}

TEST_F(FireworqPage, AHeadReadsLittle) {
  sources_.assign(4, {});
  for (std::uint64_t id = 1; id <= 40'000; ++id) {
    sources_[id % 4].push_back({{static_cast<std::int64_t>(id), id}, id % 4, id, 1});
  }
  const ListPage head = page({.latest_first = false, .limit = 1});
  ASSERT_EQ(head.rows.size(), 1U);
  EXPECT_EQ(head.rows[0].place.id, 1U);
  EXPECT_EQ(head.next->id, 2U);
  EXPECT_LE(read_, 12U) << "three of each";
}

TEST_F(FireworqPage, LimitsOfRowsAndBytes) {
  sources_ = {{{{1, 1}, 0, 1, 60}, {{2, 2}, 0, 2, 60}, {{3, 3}, 0, 3, 200}}};
  const ListPage none = page({.latest_first = false, .limit = 0});
  EXPECT_TRUE(none.rows.empty());
  EXPECT_EQ(none.next->id, 1U);
  const ListPage bounded = page({.latest_first = false, .limit = 9, .most_bytes = 100});
  EXPECT_EQ(bounded.rows.size(), 1U);
  EXPECT_EQ(bounded.next->id, 2U);
  EXPECT_EQ(walk({.latest_first = false, .limit = 9, .most_bytes = 100}).size(), 3U);
  sources_ = {{}};
  EXPECT_FALSE(page({.limit = 0}).next);
}

TEST(FireworqDefinition, NamesAndPartitions) {
  EXPECT_EQ(own_name("mail"), "mail");
  EXPECT_EQ(own_name("My::Queue").substr(0, 9), "fireworq.");
  EXPECT_NE(own_name("a b"), own_name("a  b"));
  EXPECT_EQ(partitions_for(1), 1U);
  EXPECT_EQ(partitions_for(64), 1U);
  EXPECT_EQ(partitions_for(65), 2U);
}

}  // namespace
}  // namespace allot::queue
