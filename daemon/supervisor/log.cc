// SPDX-License-Identifier: Apache-2.0
// Rule: S71.
#include "supervisor/log.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <utility>

#include "base/posix.h"

namespace allot::supervisor {
namespace {

LogFormat log_format = LogFormat::kText;
const char* format_name = "auto";
unsigned dropped = 0;  // lines

struct Words {
  const char* text;
  const char* json;
  const char* journald;  // sd-daemon(3): the priority of the line
};
constexpr Words kWords[] = {
    {"INFO ", "info", "<6>"}, {"WARN ", "warn", "<4>"}, {"ERROR", "error", "<3>"}};

constexpr char kJsonHead[] =
    R"({"time":"%s.%03ldZ","level":"%s","program":"supervisor","event":"%s")";

// Turns `key=value key="a b"`, as log_event() and Quoted make it, into ,"key":"value","key":"a b".
// The result is at most three times as long.
char* add_json(char* to, const char* at) {
  while (*at != '\0') {
    to = stpcpy(to, ",\"");
    while (*at != '=' && *at != '\0') *to++ = *at++;
    to = stpcpy(to, "\":");
    if (*at == '=') ++at;
    const bool quoted = *at == '"';
    const std::size_t digits = strspn(at, "0123456789");
    const bool number = digits > 0 && digits == strcspn(at, " ");
    if (!number) *to++ = '"';
    for (at += quoted ? 1 : 0; *at != '\0' && *at != (quoted ? '"' : ' '); ++at) {
      if (*at == '\\' && at[1] != '\0') *to++ = *at++;
      *to++ = *at;
    }
    if (!number) *to++ = '"';
    at += strspn(at, "\" ");
  }
  return stpcpy(to, "}");
}

bool plain(const char* text) {
  const char* at = text;
  while (*at > ' ' && *at < 0x7f && std::strchr("\"\\=", *at) == nullptr) ++at;
  return *at == '\0' && at != text;
}

}  // namespace

void set_log_format(LogFormat format) {
  constexpr const char* kNames[] = {"text", "json", "journald"};
  log_format = format;
  format_name = kNames[static_cast<int>(format)];
}

const char* log_format_name() {
  return format_name;
}

void tell_dropped() {
  const unsigned lines = std::exchange(dropped, 0);
  if (lines == 0) return;
  log_event(kWarn, "log.dropped", "lines=%u", lines);
  if (dropped != 0) dropped = lines;
}

void log_event(Level level, const char* event, const char* format, ...) {
  const int kept = errno;  // a caller may report it afterwards
  tell_dropped();
  char fields[1280];
  va_list arguments;
  va_start(arguments, format);
  const int wanted = std::vsnprintf(fields, sizeof fields, format, arguments);
  va_end(arguments);
  // The cut may have left half of an escape.
  char* const last = std::strrchr(fields, ' ');
  if (wanted >= static_cast<int>(sizeof fields) && last != nullptr) *last = '\0';
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  tm utc{};
  gmtime_r(&now.tv_sec, &utc);
  char time[40];
  std::strftime(time, sizeof time, "%Y-%m-%dT%H:%M:%S", &utc);
  const long ms = now.tv_nsec / 1'000'000;
  const Words& words = kWords[static_cast<int>(level)];
  const bool json = log_format == LogFormat::kJson;
  const char* const gap = *fields == '\0' ? "" : " ";
  char line[4096];
  int head = 0;
  if (json) {
    head = std::snprintf(line, sizeof line, kJsonHead, time, ms, words.json, event);
  } else if (log_format == LogFormat::kJournald) {
    head = std::snprintf(line, sizeof line, "%ssupervisor %s%s", words.journald, event, gap);
  } else {
    head = std::snprintf(line, sizeof line, "%s.%03ldZ %s supervisor %s%s", time, ms, words.text,
                         event, gap);
  }
  char* end = json ? add_json(line + head, fields) : stpcpy(line + head, fields);
  *end++ = '\n';
  if (write_now(STDERR_FILENO, line, static_cast<std::size_t>(end - line)) != end - line) ++dropped;
  errno = kept;
}

Quoted::Quoted(const char* text) {
  if (plain(text)) {
    std::snprintf(buffer_, sizeof buffer_, "%s", text);
    return;
  }
  char* to = buffer_;
  char* const end = buffer_ + sizeof buffer_ - 8;
  *to++ = '"';
  for (; *text != '\0' && to < end; ++text) {
    const auto c = static_cast<unsigned char>(*text);
    if (c < ' ' || c == 0x7f) {
      to += std::snprintf(to, 7, "\\u%04x", c);  // as in JSON
      continue;
    }
    if (c == '"' || c == '\\') *to++ = '\\';
    *to++ = *text;
  }
  *to++ = '"';
  *to = '\0';
}

}  // namespace allot::supervisor
