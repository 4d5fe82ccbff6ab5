// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

// Schedule expression as written by a person (docs/decisions/0019-schedules.md).
namespace allot::schedule {

// Values that each field of an expression admits: bit N represents the value N.
struct Fields {
  std::uint64_t seconds = 1;
  std::uint64_t minutes = 0;
  std::uint64_t hours = 0;
  std::uint64_t days = 0;
  bool last_day = false;
  std::uint64_t months = 0;
  std::uint64_t weekdays = 0;                 // 0 is Sunday
  std::array<std::uint8_t, 7> nth_weekday{};  // of each weekday: bits 1 to 5 for its occurrences
  std::uint8_t last_weekday = 0;              // weekdays whose last one of the month counts
  // A field that admits every day is not a restriction. If both fields restrict the day, one match
  // is enough.
  bool asks_day = false;
  bool asks_weekday = false;
  // Hour and minute are a single number each: a time of day, which occurs once a day.
  bool fixed_time = false;
};

class Expression {
 public:
  // Throws an Error that names the invalid field, or the value that never occurs.
  static Expression parse(const std::string& text);

  // Normalised text, with one space between fields and names in one case.
  [[nodiscard]] const std::string& text() const { return text_; }
  // Seconds between two runs of an `@every`; 0 for all others.
  [[nodiscard]] std::int64_t every() const { return every_; }
  [[nodiscard]] const Fields& fields() const { return fields_; }

 private:
  std::string text_;
  std::int64_t every_ = 0;
  Fields fields_;
};

}  // namespace allot::schedule
