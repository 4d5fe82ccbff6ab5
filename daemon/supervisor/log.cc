// SPDX-License-Identifier: Apache-2.0
#include "supervisor/log.h"

#include <unistd.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <ctime>

#include "base/posix.h"

namespace allot::supervisor {
namespace {

const char* word_of(Level level) {
  switch (level) {
    case Level::kInfo:
      return "INFO ";
    case Level::kWarn:
      return "WARN ";
    case Level::kError:
      return "ERROR";
  }
  return "?????";
}

bool plain(const char* text) {
  if (*text == '\0') return false;
  for (; *text != '\0'; ++text) {
    const auto c = static_cast<unsigned char>(*text);
    if (c <= ' ' || c >= 0x7f || c == '"' || c == '\\' || c == '=') return false;
  }
  return true;
}

}  // namespace

void log_event(Level level, const char* event, const char* format, ...) {
  char line[2048];
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  tm utc{};
  gmtime_r(&now.tv_sec, &utc);
  std::size_t size = std::strftime(line, sizeof line, "%Y-%m-%dT%H:%M:%S", &utc);
  const std::size_t most = sizeof line - 1;  // room for the line break
  const auto add = [&](int written) {
    if (written > 0) size = std::min(size + static_cast<std::size_t>(written), most - 1);
  };
  add(std::snprintf(line + size, most - size, ".%03ldZ %s supervisor %s", now.tv_nsec / 1'000'000,
                    word_of(level), event));
  if (*format != '\0') add(std::snprintf(line + size, most - size, " "));
  va_list arguments;
  va_start(arguments, format);
  add(std::vsnprintf(line + size, most - size, format, arguments));
  va_end(arguments);
  line[size++] = '\n';
  write_all(STDERR_FILENO, line, size);
}

Quoted::Quoted(const char* text) {
  if (plain(text)) {
    std::snprintf(buffer_, sizeof buffer_, "%s", text);
    return;
  }
  char* to = buffer_;
  char* const end = buffer_ + sizeof buffer_ - 6;
  *to++ = '"';
  for (; *text != '\0' && to < end; ++text) {
    const auto c = static_cast<unsigned char>(*text);
    if (c == '"' || c == '\\') {
      *to++ = '\\';
      *to++ = *text;
    } else if (c < ' ' || c == 0x7f) {
      to += std::snprintf(to, 5, "\\x%02x", c);
    } else {
      *to++ = *text;
    }
  }
  *to++ = '"';
  *to = '\0';
}

}  // namespace allot::supervisor
