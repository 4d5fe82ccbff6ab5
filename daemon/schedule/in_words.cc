// SPDX-License-Identifier: Apache-2.0
#include "schedule/in_words.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <utility>
#include <vector>

#include "base/error.h"
#include "schedule/expression.h"

namespace allot::schedule {
namespace {

using Numbers = std::vector<int>;
using Namer = std::function<std::string(int)>;

constexpr std::size_t kMostTimes = 6;  // maximum number of times of a day that are listed

constexpr std::array<const char*, 7> kWeekdays{"Sunday",   "Monday", "Tuesday", "Wednesday",
                                               "Thursday", "Friday", "Saturday"};
constexpr std::array<const char*, 12> kMonths{"January",   "February", "March",    "April",
                                              "May",       "June",     "July",     "August",
                                              "September", "October",  "November", "December"};
constexpr std::array<const char*, 6> kNth{"", "first", "second", "third", "fourth", "fifth"};

// Values that one field admits.
struct Field {
  Numbers values;
  bool all = false;
  int step = 0;  // above 1: a step, from the lowest value

  [[nodiscard]] bool is(int value) const { return values.size() == 1 && values[0] == value; }
  [[nodiscard]] bool single() const { return values.size() == 1; }
  [[nodiscard]] bool in_a_row() const {
    return values.size() > 2 &&
           values.back() - values.front() == static_cast<int>(values.size()) - 1;
  }
};

Field field_of(std::uint64_t bits, int low, int high) {
  Field field;
  for (int value = low; value <= high; ++value) {
    if ((bits >> static_cast<unsigned>(value) & 1U) != 0) field.values.push_back(value);
  }
  const Numbers& values = field.values;
  field.all = static_cast<int>(values.size()) == high - low + 1;
  if (values.size() < 2 || values.front() != low) return field;
  const int step = values[1] - values[0];
  for (std::size_t i = 1; i < values.size(); ++i) {
    if (values[i] - values[i - 1] != step) return field;
  }
  if (values.back() + step > high && step > 1) field.step = step;
  return field;
}

std::string two_digits(int value) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "%02d", value);
  return text.data();
}

std::string clock(int hour, int minute) {
  return two_digits(hour) + ":" + two_digits(minute);
}

// "1 to 5, 8 and 12".
std::string list(const Numbers& values, const Namer& name) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < values.size();) {
    std::size_t end = i;
    while (end + 1 < values.size() && values[end + 1] == values[end] + 1) ++end;
    const bool range = end - i >= 2;
    parts.push_back(range ? name(values[i]) + " to " + name(values[end]) : name(values[i]));
    i = range ? end + 1 : i + 1;
  }
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    text += (i == 0 ? "" : i + 1 == parts.size() ? " and " : ", ") + parts[i];
  }
  return text;
}

std::string plain(const Numbers& values) {
  return list(values, [](int value) { return std::to_string(value); });
}

std::string every(std::int64_t count, const std::string& unit) {
  return count == 1 ? "every " + unit : "every " + std::to_string(count) + " " + unit + "s";
}

std::string every_span(std::int64_t seconds) {
  for (const auto& [size, unit] :
       {std::pair{86'400, "day"}, std::pair{3'600, "hour"}, std::pair{60, "minute"}}) {
    if (seconds % size == 0) return every(seconds / size, unit);
  }
  return every(seconds, "second");
}

// Hours to which a schedule that runs several times an hour is limited; begins with a blank.
std::string within(const Field& hours) {
  if (hours.all) return {};
  if (hours.single())
    return " from " + clock(hours.values[0], 0) + " to " + clock(hours.values[0], 59);
  if (hours.in_a_row()) {
    return " from " + clock(hours.values.front(), 0) + " to " + clock(hours.values.back(), 59);
  }
  return " in the hours " + plain(hours.values);
}

// "at 03:15"; a summary if it runs more than a few times a day.
std::string minutes_in_words(const Field& minutes, const Field& hours) {
  if (minutes.all) return "every minute" + within(hours);
  if (minutes.step > 0) return every(minutes.step, "minute") + within(hours);
  const std::string at_minute =
      minutes.is(0) ? ""
                    : (minutes.single() ? ", at minute " : ", at minutes ") + plain(minutes.values);
  if (hours.all) return "every hour" + at_minute;
  if (hours.step > 0) return every(hours.step, "hour") + at_minute;
  if (minutes.values.size() * hours.values.size() <= kMostTimes) {
    std::string times;
    for (const int hour : hours.values) {
      for (const int minute : minutes.values) {
        times += (times.empty() ? "at " : ", ") + clock(hour, minute);
      }
    }
    return times;
  }
  if (minutes.single() && hours.in_a_row()) {
    return "every hour from " + clock(hours.values.front(), minutes.values[0]) + " to " +
           clock(hours.values.back(), minutes.values[0]);
  }
  return (minutes.single() ? "at minute " : "at minutes ") + plain(minutes.values) +
         " of the hours " + plain(hours.values);
}

std::string time_in_words(const Fields& fields) {
  const Field seconds = field_of(fields.seconds, 0, 59);
  const Field minutes = field_of(fields.minutes, 0, 59);
  const Field hours = field_of(fields.hours, 0, 23);
  if (seconds.is(0)) return minutes_in_words(minutes, hours);
  if (seconds.single() && minutes.single() && hours.single()) {
    return "at " + clock(hours.values[0], minutes.values[0]) + ":" + two_digits(seconds.values[0]);
  }
  if ((seconds.all || seconds.step > 0) && minutes.all) {
    return every(seconds.all ? 1 : seconds.step, "second") + within(hours);
  }
  return minutes_in_words(minutes, hours) + (seconds.single() ? ", at second " : ", at seconds ") +
         plain(seconds.values);
}

// Days of one of the two day fields; empty: unrestricted.
std::string days_in_words(const Fields& fields) {
  if (!fields.asks_day) return {};
  const Field days = field_of(fields.days, 1, 31);
  std::string text;
  if (!days.values.empty()) {
    text = (days.single() ? "on day " : "on days ") + plain(days.values) + " of the month";
  }
  if (fields.last_day) text += (text.empty() ? "on" : " and on") + std::string(" its last day");
  return text == "on its last day" ? "on the last day of the month" : text;
}

std::string weekdays_in_words(const Fields& fields) {
  if (!fields.asks_weekday) return {};
  const auto name = [](int day) {
    return std::string(kWeekdays.at(static_cast<std::size_t>(day % 7)));
  };
  Numbers days = field_of(fields.weekdays, 0, 6).values;
  // In a week that begins on Monday the weekend is contiguous.
  if (days.size() > 1 && days.front() == 0) {
    days.erase(days.begin());
    days.push_back(7);
  }
  std::string text = list(days, name);
  const auto add = [&](const std::string& words) { text += (text.empty() ? "" : " or ") + words; };
  for (std::size_t day = 0; day < kWeekdays.size(); ++day) {
    for (std::size_t nth = 1; nth < kNth.size(); ++nth) {
      if ((static_cast<unsigned>(fields.nth_weekday.at(day)) >> nth & 1U) == 0) continue;
      add("on the " + std::string(kNth.at(nth)) + " " + kWeekdays.at(day) + " of the month");
    }
    if ((static_cast<unsigned>(fields.last_weekday) >> day & 1U) != 0) {
      add("on the last " + std::string(kWeekdays.at(day)) + " of the month");
    }
  }
  return text;
}

std::string fields_in_words(const Fields& fields) {
  const std::string time = time_in_words(fields);
  const std::string days = days_in_words(fields);
  const std::string weekdays = weekdays_in_words(fields);
  const Field months = field_of(fields.months, 1, 12);
  std::string which = days + (days.empty() || weekdays.empty() ? "" : " or ") + weekdays;
  std::string text = time;
  if (time.starts_with("at ")) {
    text = (which.empty() ? "every day" : which) + " " + time;
  } else if (!which.empty()) {
    text += ", " + which;
  }
  if (months.all) return text;
  return text + ", in " + list(months.values, [](int month) {
           return std::string(kMonths.at(static_cast<std::size_t>(month - 1)));
         });
}

}  // namespace

std::string in_words(const std::string& expression) {
  try {
    const Expression read = Expression::parse(expression);
    return read.every() > 0 ? every_span(read.every()) : fields_in_words(read.fields());
  } catch (const Error&) {
    return expression;
  }
}

}  // namespace allot::schedule
