// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

// What an instance has counted, and what of it is new since it was written last (decision 0024).
// Pure: no database, no clock.
namespace allot::queue {

// In the order of the columns of attempt_minute.
enum class MinuteColumn : std::uint8_t {
  kDone,
  kRetried,
  kSnoozed,
  kInterrupted,
  kDead,
  kCancels,
  kCrashed,
  kRanUs,
  kRan10Ms,
  kRan100Ms,
  kRan1S,
  kRan10S,
  kRan1Min,
  kRanLonger,
  kColumns
};
inline constexpr std::size_t kMinuteColumns = static_cast<std::size_t>(MinuteColumn::kColumns);
// Upper bounds of the columns from kRan10Ms on, but the last.
inline constexpr std::array<std::uint64_t, 5> kMinuteBoundsMs{10, 100, 1'000, 10'000, 60'000};

// Of both histograms of type_hour: upper bounds; above the last there is one more bucket.
inline constexpr std::array<std::uint64_t, 19> kHourBoundsMs{
    1,     2,     5,      10,     20,     50,      100,     200,       500,       1'000,
    2'000, 5'000, 10'000, 30'000, 60'000, 300'000, 900'000, 3'600'000, 14'400'000};
inline constexpr std::size_t kHourBuckets = kHourBoundsMs.size() + 1;

struct MinuteCounts {
  // Those of attempt_minute, and the histograms of type_hour: of runtimes, and of waits.
  std::array<std::uint64_t, kMinuteColumns + 2 * kHourBuckets> columns{};

  std::uint64_t& operator[](MinuteColumn column) {
    return columns[static_cast<std::size_t>(column)];
  }
  std::uint64_t operator[](MinuteColumn column) const {
    return columns[static_cast<std::size_t>(column)];
  }
  std::uint64_t& ran(std::size_t bucket) { return columns.at(kMinuteColumns + bucket); }
  [[nodiscard]] std::uint64_t ran(std::size_t bucket) const {
    return columns.at(kMinuteColumns + bucket);
  }
  std::uint64_t& waited(std::size_t bucket) { return ran(kHourBuckets + bucket); }
  [[nodiscard]] std::uint64_t waited(std::size_t bucket) const {
    return ran(kHourBuckets + bucket);
  }
  // Attempts that ended.
  [[nodiscard]] std::uint64_t attempts() const;
  // Tasks that left their queue.
  [[nodiscard]] std::uint64_t out() const;
  [[nodiscard]] bool any() const;
  bool operator==(const MinuteCounts&) const = default;
};

// error_group empty: all attempts of the queue and type. Otherwise the failed ones among them with
// errors of that group, once more.
struct MinuteKey {
  std::string queue;
  std::string type;
  std::string error_group{};
  auto operator<=>(const MinuteKey&) const = default;
};

// Rows of one write: the busiest pairs of queue and type and the busiest groups of errors since the
// write before. All others are one row of each kind, named kMinuteOther, and its sum is exact
// (S85).
inline constexpr std::size_t kMinutePairs = 256;
inline constexpr std::size_t kMinuteErrors = 32;
// Names of each kind that an instance has marks for, and so may give a row: the first that it meets
// in a run of its allotd.
inline constexpr std::size_t kMinuteMarks = 4096;
inline constexpr std::string_view kMinuteOther = "other";

// Cumulative: since allotd of the instance started.
struct MinuteTotal {
  MinuteCounts counts{};
  std::string error{};  // what errors of the group look like
};
using MinuteTotals = std::map<MinuteKey, MinuteTotal>;

// What had been counted by the last write.
using MinuteMarks = std::map<MinuteKey, MinuteCounts>;
[[nodiscard]] std::string text_of_marks(const MinuteMarks& marks);
[[nodiscard]] MinuteMarks marks_of(std::string_view text);

struct MinuteRow {
  MinuteKey key;
  std::string error;
  MinuteCounts counts;
};
struct MinuteWrite {
  std::vector<MinuteRow> rows;  // those with any count
  MinuteMarks marks;            // behind the write
};
// A count that has fallen since the marks is not believed: a file of the meters could not be read,
// and will be again.
[[nodiscard]] MinuteWrite since(const MinuteMarks& marks, const MinuteTotals& totals);

}  // namespace allot::queue
