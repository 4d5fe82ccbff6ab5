// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstring>

#include "base/log_format.h"

// Log of the supervisor: one line per event on standard error, in the format of log/log.h, without
// heap memory.
namespace allot::supervisor {

enum class Level { kInfo, kWarn, kError };
using enum Level;

// Before this call lines are text.
void set_log_format(LogFormat format);
const char* log_format_name();  // as in the configuration; "auto" until it is known

// `format` makes the key=value part, like printf; texts from outside have to go through Quoted.
[[gnu::format(printf, 3, 4)]] void log_event(Level level, const char* event, const char* format,
                                             ...);

// A line without room on standard error is dropped, so that this process never waits for a reader.
// The next line first reports how many were dropped; so does this, where lines are rare.
void tell_dropped();

// A text as the value of a field: in double quotes with escapes where needed, cut to fit.
class Quoted {
 public:
  explicit Quoted(const char* text);
  // For a field that another process wrote, perhaps without its end: reads at most N bytes.
  template <std::size_t N>
  static Quoted of(const char (&field)[N]) {
    char text[N + 1] = {};
    std::memcpy(text, field, N);
    return Quoted(static_cast<const char*>(text));
  }
  [[nodiscard]] const char* c_str() const { return buffer_; }

 private:
  char buffer_[512] = {};
};

}  // namespace allot::supervisor
