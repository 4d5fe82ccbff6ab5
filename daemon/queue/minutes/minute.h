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

// Counts of an instance, and what of them is new since the last write (decision 0024). Pure: no
// database, no clock.
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
// Upper bounds of the columns from kRan10Ms on, except the last.
inline constexpr std::array<std::uint64_t, 5> kMinuteBoundsMs{10, 100, 1'000, 10'000, 60'000};

// Upper bounds of both histograms of type_hour; one more bucket follows the last.
inline constexpr std::array<std::uint64_t, 19> kHourBoundsMs{
    1,     2,     5,      10,     20,     50,      100,     200,       500,       1'000,
    2'000, 5'000, 10'000, 30'000, 60'000, 300'000, 900'000, 3'600'000, 14'400'000};
inline constexpr std::size_t kHourBuckets = kHourBoundsMs.size() + 1;

struct MinuteCounts {
  // The columns of attempt_minute, then the two histograms of type_hour: runtimes and waits.
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
  [[nodiscard]] std::uint64_t attempts() const;
  // Tasks that left their queue.
  [[nodiscard]] std::uint64_t out() const;
  [[nodiscard]] bool any() const;
  bool operator==(const MinuteCounts&) const = default;
};

// error_group empty: all attempts of the queue and type. Otherwise the failed ones among them with
// an error of that group, counted once more.
struct MinuteKey {
  std::string queue;
  std::string type;
  std::string error_group{};
  auto operator<=>(const MinuteKey&) const = default;
};

// Rows of one write: the busiest pairs of queue and type, and the busiest error groups since the
// last write. All others are one row of each kind, named kMinuteOther, with an exact sum (S85).
inline constexpr std::size_t kMinutePairs = 256;
inline constexpr std::size_t kMinuteErrors = 32;
// Limit of names of each kind for which an instance keeps marks, and so may write a row: the first
// ones in a run of its allotd.
inline constexpr std::size_t kMinuteMarks = 4096;
inline constexpr std::string_view kMinuteOther = "other";

// Cumulative since allotd of the instance started.
struct MinuteTotal {
  MinuteCounts counts{};
  std::string error{};  // pattern of the errors of the group
};
using MinuteTotals = std::map<MinuteKey, MinuteTotal>;

// Totals at the last write.
using MinuteMarks = std::map<MinuteKey, MinuteCounts>;
[[nodiscard]] std::string text_of_marks(const MinuteMarks& marks);
[[nodiscard]] MinuteMarks marks_of(std::string_view text);

struct MinuteRow {
  MinuteKey key;
  std::string error;
  MinuteCounts counts;
};
struct MinuteWrite {
  std::vector<MinuteRow> rows;  // those with a count
  MinuteMarks marks;            // valid after the write
};
// A total below its mark is ignored: a meter file could not be read, and will be read again.
[[nodiscard]] MinuteWrite since(const MinuteMarks& marks, const MinuteTotals& totals);

}  // namespace allot::queue
