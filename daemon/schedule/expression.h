// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

// What a person writes to say when a schedule runs (docs/decisions/0019-schedules.md).
namespace allot::schedule {

// The values that each field of an expression admits: bit N stands for the value N.
struct Fields {
  std::uint64_t seconds = 1;
  std::uint64_t minutes = 0;
  std::uint64_t hours = 0;
  std::uint64_t days = 0;
  bool last_day = false;
  std::uint64_t months = 0;
  std::uint64_t weekdays = 0;                 // 0 is Sunday
  std::array<std::uint8_t, 7> nth_weekday{};  // of each weekday: bit 1 to 5 its first to fifth one
  std::uint8_t last_weekday = 0;              // the weekdays whose last one of the month counts
  // A field that admits every day asks for nothing. If both ask, either of them is enough.
  bool asks_day = false;
  bool asks_weekday = false;
  // Hour and minute are one number each, so that it is a time of day, which comes once a day.
  bool fixed_time = false;
};

class Expression {
 public:
  // Throws an Error that names the field which cannot be read, or what can never come.
  static Expression parse(const std::string& text);

  // As it was written, with one space between fields and with names in one case.
  [[nodiscard]] const std::string& text() const { return text_; }
  // The seconds from one run to the next of an `@every`; 0 for all others.
  [[nodiscard]] std::int64_t every() const { return every_; }
  [[nodiscard]] const Fields& fields() const { return fields_; }

 private:
  std::string text_;
  std::int64_t every_ = 0;
  Fields fields_;
};

}  // namespace allot::schedule
