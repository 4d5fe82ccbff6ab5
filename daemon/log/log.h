// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <variant>

#include "base/log_format.h"

// One line per event, for every program: UTC, level, program, event, then key=value, in one of the
// formats of base/log_format.h. Each line is one write(2) to a file opened with O_APPEND, so
// several processes can share a file. A call waits only briefly for a slow reader: lines without
// room are dropped, and the next line first reports how many. Any thread may call every function.
namespace allot::log {

enum class Level { kDebug, kInfo, kWarn, kError };

// Knows debug, info, warn and error. Throws Error(kExitConfig) on another word.
[[nodiscard]] Level parse_level(std::string_view word);

// Value of a field. It holds views, so it must not outlive the call that it is written in.
class Value {
 public:
  // NOLINTBEGIN(google-explicit-constructor): a field is written {"key", value}.
  Value(std::string_view text) : value_(text) {}
  Value(const std::string& text) : Value(std::string_view(text)) {}
  // nullptr is written as an empty text.
  Value(const char* text) : Value(text == nullptr ? std::string_view() : std::string_view(text)) {}
  Value(bool flag) : value_(flag) {}
  Value(std::signed_integral auto number) : value_(std::int64_t{number}) {}
  Value(std::unsigned_integral auto number) : value_(std::uint64_t{number}) {}
  Value(std::floating_point auto number) : value_(static_cast<double>(number)) {}
  // NOLINTEND(google-explicit-constructor)

  // Appends the value in text form. A text is unchanged, or in double quotes with backslash escapes
  // if it is empty or holds a space, quote, '=', backslash, control character, or bytes that are
  // not UTF-8.
  void append_to(std::string& line) const;
  // The same as JSON: a number, true, false, or a string. Bytes that are not UTF-8 become U+FFFD.
  void append_json_to(std::string& line) const;

 private:
  std::variant<std::string_view, bool, std::int64_t, std::uint64_t, double> value_;
};

// A field without a key is left out: for optional parts of a line.
struct Field {
  std::string_view key;
  Value value;
};
using Fields = std::initializer_list<Field>;

// Knows text, json, journald and auto. auto is journald if lines go to standard error and that is a
// stream to the journal ($JOURNAL_STREAM), else text. Throws Error(kExitConfig) on another word.
[[nodiscard]] LogFormat parse_format(std::string_view word, const std::string& file = {});

// Call it once, before other threads start. Before that, lines of info and above go to standard
// error under the name "allot". An empty file means standard error. Throws
// Error(kExitCannotCreate).
void setup(std::string_view program, Level level, const std::string& file = {},
           LogFormat format = LogFormat::kText);

// Opens the file again by its name, after logrotate moved it, and redirects standard output and
// error there if they went to it. False: it keeps the old file.
bool reopen();

// Reports the number of dropped lines, if there are any and there is room again. For a thread that
// wakes regularly, where lines are rare.
void tell_dropped();

[[nodiscard]] bool enabled(Level level);

void write(Level level, std::string_view event, Fields fields);
inline void debug(std::string_view event, Fields fields = {}) {
  write(Level::kDebug, event, fields);
}
inline void info(std::string_view event, Fields fields = {}) {
  write(Level::kInfo, event, fields);
}
inline void warn(std::string_view event, Fields fields = {}) {
  write(Level::kWarn, event, fields);
}
inline void error(std::string_view event, Fields fields = {}) {
  write(Level::kError, event, fields);
}

}  // namespace allot::log
