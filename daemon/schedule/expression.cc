// SPDX-License-Identifier: Apache-2.0
#include "schedule/expression.h"

#include <algorithm>
#include <bit>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace allot::schedule {
namespace {

// One field of an expression.
struct Kind {
  const char* name;
  int low;
  int high;
  std::string_view names;  // three letters each, for the values from `low` on
};

constexpr Kind kSecond = {"second", 0, 59, ""};
constexpr Kind kMinute = {"minute", 0, 59, ""};
constexpr Kind kHour = {"hour", 0, 23, ""};
constexpr Kind kDay = {"day of month", 1, 31, ""};
constexpr Kind kMonth = {"month", 1, 12, "JANFEBMARAPRMAYJUNJULAUGSEPOCTNOVDEC"};
constexpr Kind kWeekday = {"day of week", 0, 6, "SUNMONTUEWEDTHUFRISAT"};

constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kShort = {{
    {"@hourly", "0 * * * *"},
    {"@daily", "0 0 * * *"},
    {"@midnight", "0 0 * * *"},
    {"@weekly", "0 0 * * 0"},
    {"@monthly", "0 0 1 * *"},
    {"@yearly", "0 0 1 1 *"},
    {"@annually", "0 0 1 1 *"},
}};

// Independent of the locale, unlike the functions of <cctype>.
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_space(char c) {
  return c == ' ' || c == '\t';
}
char upper(char c) {
  return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}
char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool is_number(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

// Exceeds all bounds if it has more digits than any of them.
std::int64_t number(std::string_view text) {
  std::int64_t value = 0;
  for (const char c : text.substr(0, 12)) value = value * 10 + (c - '0');
  return text.size() > 12 ? INT64_C(1'000'000'000'000) : value;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t at = 0;;) {
    const std::size_t end = text.find(separator, at);
    parts.push_back(text.substr(at, end - at));
    if (end == std::string_view::npos) return parts;
    at = end + 1;
  }
}

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    if (!is_space(c)) {
      words.back() += c;
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

// Reads one field, whose text is in upper case.
class FieldReader {
 public:
  FieldReader(const std::string& whole, const Kind& kind, std::string_view text)
      : whole_(whole), kind_(kind), text_(text) {}

  // Values of all items. The special items of the day fields are added to `fields`.
  std::uint64_t read(Fields& fields) const {
    std::uint64_t values = 0;
    for (const std::string_view item : split(text_, ',')) {
      if (item.empty()) fail("a value is missing in '" + std::string(text_) + "'");
      if (!special(item, fields)) values |= range(item);
    }
    return values;
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    throw Error("schedule '" + whole_ + "': " + kind_.name + ": " + why, kExitUsage);
  }

  [[nodiscard]] bool is(const Kind& kind) const { return kind.name == kind_.name; }

  // L, FRI#2 and 5L.
  bool special(std::string_view item, Fields& fields) const {
    if (is(kDay) && item == "L") return fields.last_day = true;
    if (!is(kWeekday)) return false;
    const std::size_t hash = item.find('#');
    if (hash != std::string_view::npos) {
      const std::string_view nth = item.substr(hash + 1);
      if (nth.size() != 1 || nth[0] < '1' || nth[0] > '5') {
        fail("'" + std::string(item) + "': # is followed by a number from 1 to 5");
      }
      const auto weekday = static_cast<std::size_t>(value(item.substr(0, hash)) % 7);
      fields.nth_weekday.at(weekday) |= static_cast<std::uint8_t>(1U << (nth[0] - '0'));
      return true;
    }
    if (item.front() != 'L' && item.back() != 'L') return false;
    if (item == "L") fail("L needs a day, as in 5L for the last Friday of the month");
    item = item.front() == 'L' ? item.substr(1) : item.substr(0, item.size() - 1);
    fields.last_weekday |= static_cast<std::uint8_t>(1U << (value(item) % 7));
    return true;
  }

  // A value, a range or *, each with an optional step.
  [[nodiscard]] std::uint64_t range(std::string_view item) const {
    const std::size_t slash = item.find('/');
    const std::string_view base = item.substr(0, slash);
    const std::size_t dash = base.find('-');
    int from = kind_.low;
    int to = kind_.high;
    if (base != "*") {
      from = value(base.substr(0, dash));
      if (dash != std::string_view::npos) {
        to = value(base.substr(dash + 1));
      } else if (slash == std::string_view::npos) {
        to = from;
      } else if (is(kWeekday)) {
        from %= 7;  // with a step, Sunday is the first day of the week
      }
    }
    // A week may end with Sunday: FRI-SUN.
    if (is(kWeekday) && dash != std::string_view::npos && to == 0 && from > 0) to = 7;
    if (from > to) fail("'" + std::string(item) + "' begins after its end");
    const int by = slash == std::string_view::npos ? 1 : step(item.substr(slash + 1));
    std::uint64_t values = 0;
    for (int at = from; at <= to; at += by) values |= UINT64_C(1) << (is(kWeekday) ? at % 7 : at);
    return values;
  }

  [[nodiscard]] int step(std::string_view text) const {
    const int most = kind_.high - kind_.low + 1;
    const std::int64_t by = is_number(text) ? number(text) : 0;
    if (by < 1 || by > most) {
      fail("'" + std::string(text) + "' is not a step: a step is a number from 1 to " +
           std::to_string(most));
    }
    return static_cast<int>(by);
  }

  [[nodiscard]] int value(std::string_view text) const {
    if (text.size() == 3) {
      for (std::size_t at = 0; at < kind_.names.size(); at += 3) {
        if (kind_.names.substr(at, 3) == text) return kind_.low + static_cast<int>(at / 3);
      }
    }
    const int high = is(kWeekday) ? 7 : kind_.high;  // 7 also means Sunday
    if (!is_number(text) || number(text) < kind_.low || number(text) > high) {
      fail("'" + std::string(text) + "' is not " +
           (kind_.names.empty() ? "" : "a name of one or ") + "a number from " +
           std::to_string(kind_.low) + " to " + std::to_string(high));
    }
    return static_cast<int>(number(text));
  }

  const std::string& whole_;
  const Kind& kind_;
  std::string_view text_;
};

std::uint64_t all_of(const Kind& kind) {
  std::uint64_t all = 0;
  for (int value = kind.low; value <= kind.high; ++value) all |= UINT64_C(1) << value;
  return all;
}

// True if a requested month has a requested day. If weekdays are requested, each month has some,
// and in some years even February has a fifth one.
bool ever_comes(const Fields& fields) {
  constexpr std::array<int, 13> kLongest = {0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  if (fields.asks_weekday || fields.last_day) return true;
  const int first = std::countr_zero(fields.days);
  for (std::size_t month = 1; month <= 12; ++month) {
    if ((fields.months >> month & 1) != 0 && first <= kLongest.at(month)) return true;
  }
  return false;
}

Fields read_fields(const std::string& whole, const std::vector<std::string>& words) {
  if (words.size() != 5 && words.size() != 6) {
    throw Error("schedule '" + whole + "': it has " + std::to_string(words.size()) +
                    " fields and needs 5 (minute, hour, day of month, month, day of week), or 6 "
                    "with the second first",
                kExitUsage);
  }
  const std::size_t at = words.size() - 5;
  Fields fields;
  const auto read = [&](const Kind& kind, const std::string& word) {
    return FieldReader(whole, kind, word).read(fields);
  };
  if (at == 1) fields.seconds = read(kSecond, words[0]);
  fields.minutes = read(kMinute, words[at]);
  fields.hours = read(kHour, words[at + 1]);
  fields.days = read(kDay, words[at + 2]);
  fields.months = read(kMonth, words[at + 3]);
  fields.weekdays = read(kWeekday, words[at + 4]);
  fields.asks_day = fields.days != all_of(kDay);
  fields.asks_weekday = fields.weekdays != all_of(kWeekday);
  fields.fixed_time = is_number(words[at]) && is_number(words[at + 1]);
  if (!ever_comes(fields)) {
    throw Error("schedule '" + whole + "': day of month: none of its months has the day " +
                    words[at + 2] + ", so it would never run",
                kExitUsage);
  }
  return fields;
}

// 90s, 5m, 1h30m, 2d.
std::int64_t read_period(const std::string& whole, std::string_view text) {
  constexpr std::int64_t kMost = INT64_C(3650) * 86400;
  const auto fail = [&whole](const std::string& why) {
    throw Error("schedule '" + whole + "': @every: " + why, kExitUsage);
  };
  std::int64_t period = 0;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is_digit(text[end])) ++end;
    constexpr std::string_view kUnits = "smhd";
    constexpr std::array<std::int64_t, 4> kSeconds = {1, 60, 3600, 86400};
    const std::size_t unit = end < text.size() ? kUnits.find(text[end]) : kUnits.npos;
    if (end == at || unit == kUnits.npos) {
      fail("'" + std::string(text) + "' is not a period, such as 90s, 5m, 1h30m or 2d");
    }
    const std::int64_t count = number(text.substr(at, end - at));
    period += std::min(count, kMost + 1) * kSeconds.at(unit);
    period = std::min(period, kMost + 1);
    at = end + 1;
  }
  if (period < 1) fail("the period is at least 1s");
  if (period > kMost) fail("the period is at most 3650d");
  return period;
}

}  // namespace

Expression Expression::parse(const std::string& text) {
  std::vector<std::string> words = words_of(text);
  const bool in_words = !words.empty() && words[0].front() == '@';
  for (std::string& word : words) {
    std::transform(word.begin(), word.end(), word.begin(), in_words ? lower : upper);
  }
  Expression made;
  made.text_ = joined(words);
  if (!in_words) {
    made.fields_ = read_fields(made.text_, words);
    return made;
  }
  if (words[0] == "@every" && words.size() == 2) {
    made.every_ = read_period(made.text_, words[1]);
    return made;
  }
  for (const auto& [name, meaning] : kShort) {
    if (made.text_ != name) continue;
    made.fields_ = read_fields(made.text_, words_of(std::string(meaning)));
    return made;
  }
  throw Error("schedule '" + made.text_ +
                  "': unknown word; allowed are @hourly, @daily, @midnight, @weekly, @monthly, "
                  "@yearly, @annually and '@every 90s'",
              kExitUsage);
}

}  // namespace allot::schedule
