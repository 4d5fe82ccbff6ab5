// SPDX-License-Identifier: Apache-2.0
#include "queue/minutes/minute.h"

#include <algorithm>
#include <charconv>

#include "base/mutant.h"
#include "base/names.h"
#include "queue/model/error_text.h"

namespace allot::queue {
namespace {

constexpr std::size_t kMostGroup = 31;    // of an error group
constexpr std::size_t kMostSample = 127;  // of an error pattern
constexpr char kBetween = '\t';

// Valid UTF-8 without the separators of words and lines of the marks.
std::string word_of(std::string_view raw, std::size_t most) {
  std::string text = error_text(raw, most);
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c >= 0 && c < ' '; }, '?');
  return text;
}

// A type is ASCII; a Fireworq category, shown instead of it, is any bytes.
std::string type_of(std::string_view raw) {
  std::string text(raw.substr(0, kMaxTypeName));
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return text;
}

MinuteKey clean(const MinuteKey& key) {
  return {word_of(key.queue, kMaxQueueName), type_of(key.type),
          word_of(key.error_group, kMostGroup)};
}

MinuteKey other_than(const MinuteKey& key) {
  const std::string other(kMinuteOther);
  return {other, other, key.error_group.empty() ? "" : other};
}

void add(MinuteCounts& to, const MinuteCounts& from) {
  for (std::size_t i = 0; i < to.columns.size(); ++i) to.columns[i] += from.columns[i];
}

std::size_t names_in(const MinuteMarks& marks, bool of_errors) {
  return static_cast<std::size_t>(std::count_if(marks.begin(), marks.end(), [&](const auto& mark) {
    return mark.first.error_group.empty() != of_errors && mark.first != other_than(mark.first);
  }));
}

// Names totals that have no name yet, busiest first, while names are left.
void name_new(MinuteMarks& marks, const MinuteTotals& totals) {
  std::vector<const MinuteTotals::value_type*> fresh;
  for (const auto& total : totals) {
    if (!marks.contains(total.first) && total.second.counts.any()) fresh.push_back(&total);
  }
  std::stable_sort(fresh.begin(), fresh.end(), [](const auto* a, const auto* b) {
    return a->second.counts.attempts() > b->second.counts.attempts();
  });
  std::size_t free[] = {kMinuteMarks - std::min(kMinuteMarks, names_in(marks, false)),
                        kMinuteMarks - std::min(kMinuteMarks, names_in(marks, true))};
  for (const auto* total : fresh) {
    const MinuteKey& key = total->first;
    std::size_t& left = free[key.error_group.empty() ? 0 : 1];
    if (left == 0 || key == other_than(key)) continue;
    --left;
    marks[key];
  }
}

// Totals by the names in the marks.
MinuteTotals named(const MinuteMarks& marks, const MinuteTotals& totals) {
  MinuteTotals all;
  for (const auto& [key, total] : totals) {
    const bool has_name = marks.contains(key);
    MinuteTotal& into = all[has_name ? key : other_than(key)];
    add(into.counts, total.counts);
    if (has_name) into.error = word_of(total.error, kMostSample);
  }
  return all;
}

// The busiest rows of each kind, and the others as one row each.
std::vector<MinuteRow> busiest(std::vector<MinuteRow> rows) {
  std::stable_sort(rows.begin(), rows.end(), [](const MinuteRow& a, const MinuteRow& b) {
    return a.counts.attempts() > b.counts.attempts();
  });
  std::vector<MinuteRow> shown;
  MinuteTotals rest;
  std::size_t left[] = {kMinutePairs, kMinuteErrors};
  for (MinuteRow& row : rows) {
    std::size_t& room = left[row.key.error_group.empty() ? 0 : 1];
    const MinuteKey other = other_than(row.key);
    if (room == 0 || row.key == other) {
      if (!mutant::removed("minute_rest")) add(rest[other].counts, row.counts);
      continue;
    }
    --room;
    shown.push_back(std::move(row));
  }
  for (const auto& [key, total] : rest) shown.push_back({key, "", total.counts});
  return shown;
}

// False: not a number. Nothing before a blank is 0.
bool read_number(std::string_view& line, std::uint64_t& number) {
  if (line.starts_with(' ')) {
    line.remove_prefix(1);
    return true;
  }
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), number);
  if (error != std::errc{}) return false;
  line.remove_prefix(static_cast<std::size_t>(end - line.data()));
  if (line.starts_with(' ')) line.remove_prefix(1);
  return true;
}

std::string_view take_until(std::string_view& text, char end) {
  const std::size_t at = std::min(text.find(end), text.size());
  const std::string_view word = text.substr(0, at);
  text.remove_prefix(std::min(at + 1, text.size()));
  return word;
}

}  // namespace

std::uint64_t MinuteCounts::attempts() const {
  std::uint64_t all = 0;
  for (std::size_t i = 0; i <= static_cast<std::size_t>(MinuteColumn::kCancels); ++i) {
    all += columns[i];
  }
  return all;
}

std::uint64_t MinuteCounts::out() const {
  return (*this)[MinuteColumn::kDone] + (*this)[MinuteColumn::kDead] +
         (*this)[MinuteColumn::kCancels];
}

bool MinuteCounts::any() const {
  return std::any_of(columns.begin(), columns.end(), [](auto count) { return count != 0; });
}

// One line each: queue, type, error group, and the columns up to the last that is not 0. Other
// zeros, which are most, are left out between their blanks.
std::string text_of_marks(const MinuteMarks& marks) {
  std::string text;
  for (const auto& [key, counts] : marks) {
    for (const std::string* word : {&key.queue, &key.type, &key.error_group}) {
      text += *word + kBetween;
    }
    std::size_t columns = counts.columns.size();
    while (columns > 0 && counts.columns.at(columns - 1) == 0) --columns;
    for (std::size_t i = 0; i < columns; ++i) {
      if (counts.columns.at(i) != 0) text += std::to_string(counts.columns.at(i));
      text += ' ';
    }
    text += '\n';
  }
  return text;
}

MinuteMarks marks_of(std::string_view text) {
  MinuteMarks marks;
  while (!text.empty()) {
    std::string_view line = take_until(text, '\n');
    MinuteKey key;
    for (std::string* word : {&key.queue, &key.type, &key.error_group}) {
      *word = take_until(line, kBetween);
    }
    MinuteCounts& counts = marks[std::move(key)];
    for (std::uint64_t& count : counts.columns) {
      if (!read_number(line, count)) break;
    }
  }
  return marks;
}

MinuteWrite since(const MinuteMarks& marks, const MinuteTotals& raw) {
  MinuteTotals totals;
  for (const auto& [key, total] : raw) {
    MinuteTotal& into = totals[clean(key)];
    add(into.counts, total.counts);
    into.error = total.error;
  }
  MinuteWrite write{{}, marks};
  name_new(write.marks, totals);
  for (const auto& [key, total] : named(write.marks, totals)) {
    MinuteCounts& mark = write.marks[key];
    MinuteRow row{key, total.error, {}};
    for (std::size_t i = 0; i < mark.columns.size(); ++i) {
      if (total.counts.columns[i] == mark.columns[i]) continue;
      if (total.counts.columns[i] < mark.columns[i]) {
        if (mutant::removed("minute_fall")) mark.columns[i] = total.counts.columns[i];
        continue;
      }
      row.counts.columns[i] = total.counts.columns[i] - mark.columns[i];
      mark.columns[i] = total.counts.columns[i];
    }
    if (row.counts.any()) write.rows.push_back(std::move(row));
  }
  write.rows = busiest(std::move(write.rows));
  return write;
}

}  // namespace allot::queue
