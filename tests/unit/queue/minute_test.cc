// SPDX-License-Identifier: Apache-2.0
#include "queue/minutes/minute.h"

#include <gtest/gtest.h>

#include <string>

namespace allot::queue {
namespace {

MinuteTotal done(std::uint64_t count) {
  MinuteTotal total;
  total.counts[MinuteColumn::kDone] = count;
  return total;
}

std::uint64_t done_in(const std::vector<MinuteRow>& rows, const std::string& type) {
  std::uint64_t all = 0;
  for (const MinuteRow& row : rows) {
    if (row.key.type == type) all += row.counts[MinuteColumn::kDone];
  }
  return all;
}

TEST(Minute, ARowIsWhatIsNew) {
  const MinuteWrite first = since({}, {{{"q", "a"}, done(5)}, {{"q", "b"}, done(0)}});
  ASSERT_EQ(first.rows.size(), 1U) << "b has nothing to say";
  EXPECT_EQ(done_in(first.rows, "a"), 5U);
  const MinuteWrite second = since(first.marks, {{{"q", "a"}, done(7)}, {{"q", "b"}, done(1)}});
  EXPECT_EQ(done_in(second.rows, "a"), 2U);
  EXPECT_EQ(done_in(second.rows, "b"), 1U);
  EXPECT_TRUE(since(second.marks, {{{"q", "a"}, done(7)}, {{"q", "b"}, done(1)}}).rows.empty());
}

TEST(Minute, DecreasingCounterIsIgnored) {
  const MinuteMarks marks = since({}, {{{"q", "a"}, done(9)}}).marks;
  const MinuteWrite fallen = since(marks, {{{"q", "a"}, done(4)}});
  EXPECT_TRUE(fallen.rows.empty());
  EXPECT_EQ(done_in(since(fallen.marks, {{{"q", "a"}, done(10)}}).rows, "a"), 1U);
}

std::uint64_t done_in_all(const std::vector<MinuteRow>& rows) {
  std::uint64_t all = 0;
  for (const MinuteRow& row : rows) all += row.counts[MinuteColumn::kDone];
  return all;
}

// S85
TEST(Minute, EachWriteNamesTheBusiestAndTheRestIsOther) {
  MinuteTotals totals;
  for (std::size_t i = 0; i < 900; ++i) totals[{"q", "t" + std::to_string(i)}] = done(2);
  totals[{"q", "early"}] = done(100);
  const MinuteWrite first = since({}, totals);
  EXPECT_EQ(first.rows.size(), kMinutePairs + 1);
  EXPECT_EQ(done_in(first.rows, "early"), 100U);
  EXPECT_EQ(done_in(first.rows, "other"), 2 * (901U - kMinutePairs));
  EXPECT_EQ(done_in_all(first.rows), 900U * 2 + 100U);
  for (auto& [key, total] : totals) total = done(total.counts[MinuteColumn::kDone] + 3);
  totals[{"q", "early"}] = done(101);
  totals[{"q", "late"}] = done(1000);
  const MinuteWrite second = since(first.marks, totals);
  EXPECT_EQ(second.rows.size(), kMinutePairs + 1);
  EXPECT_EQ(done_in(second.rows, "late"), 1000U) << "which the run has not seen before";
  EXPECT_EQ(done_in(second.rows, "early"), 0U) << "others were busier in this minute";
  EXPECT_EQ(done_in_all(second.rows), 900U * 3 + 1 + 1000) << "each once";
}

TEST(Minute, UnmarkedTotalsAreOther) {
  MinuteTotals totals;
  for (std::size_t i = 0; i < kMinuteMarks + 100; ++i) {
    totals[{"q", "t" + std::to_string(i)}] = done(1);
  }
  totals[{"q", "busy"}] = done(100);
  const MinuteWrite first = since({}, totals);
  EXPECT_EQ(first.marks.size(), kMinuteMarks + 1);
  EXPECT_EQ(done_in_all(first.rows), kMinuteMarks + 200U);
  for (auto& [key, total] : totals) total = done(total.counts[MinuteColumn::kDone] + 3);
  totals[{"q", "late"}] = done(1000);
  const MinuteWrite second = since(first.marks, totals);
  EXPECT_EQ(second.marks.size(), kMinuteMarks + 1);
  EXPECT_EQ(done_in(second.rows, "late"), 0U);
  EXPECT_EQ(done_in_all(second.rows), 3 * (kMinuteMarks + 101U) + 1000U) << "each once";
}

TEST(Minute, ErrorsHaveNamesOfTheirOwn) {
  MinuteTotals totals;
  for (std::size_t i = 0; i < 300; ++i) {
    totals[{"q", "t" + std::to_string(i)}] = done(1);
    totals[{"q", "t", "group" + std::to_string(i)}] = {done(1).counts, "no way"};
  }
  const MinuteWrite write = since({}, totals);
  EXPECT_EQ(write.rows.size(), kMinutePairs + kMinuteErrors + 2);
  std::size_t errors = 0;
  for (const MinuteRow& row : write.rows) {
    if (row.key.error_group.empty()) continue;
    ++errors;
    EXPECT_EQ(row.error, row.key.error_group == kMinuteOther ? "" : "no way");
  }
  EXPECT_EQ(errors, kMinuteErrors + 1);
}

TEST(Minute, TheMarksAreReadAsTheyWereWritten) {
  MinuteTotals totals{{{"q", "a\tb\nc"}, done(5)}, {{"q\xff", std::string(80, 'x'), "g"}, done(7)}};
  const MinuteMarks marks = since({}, totals).marks;
  EXPECT_EQ(marks_of(text_of_marks(marks)), marks);
  EXPECT_TRUE(marks.contains({"q", "a?b?c"}));
  EXPECT_TRUE(since({}, {{{"q", "caf\xc3\xa9"}, done(1)}}).marks.contains({"q", "caf??"}));
  EXPECT_TRUE(since(marks_of(text_of_marks(marks)), totals).rows.empty());
  EXPECT_TRUE(marks_of("").empty());
}

}  // namespace
}  // namespace allot::queue
