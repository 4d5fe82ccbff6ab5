// SPDX-License-Identifier: Apache-2.0
#include "json/due.h"

#include <regex>

#include "base/error.h"
#include "config/rows.h"
#include "json/printable.h"

namespace allot::as_json {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr std::size_t kShownText = 60;

[[noreturn]] void refuse(const std::string& field, const std::string& text, const char* why) {
  throw Error("'" + field + "' is \"" + printable(text, kShownText) + "\": " + why, kExitBadInput);
}

microseconds fraction(std::string digits) {
  digits.resize(6, '0');
  return microseconds(std::stoi(digits));
}

}  // namespace

microseconds parse_delay(const std::string& field, const std::string& text) {
  const auto delay = config::parse_duration(text);
  if (!delay) refuse(field, text, "not a duration, such as 300ms, 30s, 5m, 2h");
  return *delay;
}

queue::Moment parse_moment(const std::string& field, const std::string& text) {
  static const std::regex kForm(
      R"((\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:\.(\d{1,6})\d*)?(?:[Zz]|([+-])(\d\d):(\d\d)))");
  constexpr const char* kWanted =
      "not a time with a zone, such as 2026-12-24T18:00:00Z or 2026-12-24T19:00:00+01:00";
  std::smatch at;
  if (!std::regex_match(text, at, kForm)) refuse(field, text, kWanted);
  const auto number = [&](std::size_t group) { return std::stoi("0" + at[group].str()); };
  const std::chrono::year_month_day day(std::chrono::year(number(1)),
                                        std::chrono::month(static_cast<unsigned>(number(2))),
                                        std::chrono::day(static_cast<unsigned>(number(3))));
  if (!day.ok() || number(4) > 23 || number(5) > 59 || number(6) > 60 || number(9) > 23 ||
      number(10) > 59) {
    refuse(field, text, "no such day or time");
  }
  const minutes offset = hours(number(9)) + minutes(number(10));
  return std::chrono::sys_days(day) + hours(number(4)) + minutes(number(5)) + seconds(number(6)) +
         fraction(at[7].str()) - (at[8] == "-" ? -offset : offset);
}

}  // namespace allot::as_json
