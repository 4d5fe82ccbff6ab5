// SPDX-License-Identifier: Apache-2.0
// Rule: S71.
#include "log/log.h"

#include <poll.h>
#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iterator>
#include <memory>
#include <mutex>
#include <utility>

#include "base/clock.h"
#include "base/error.h"
#include "base/mutant.h"
#include "base/posix.h"
#include "base/unique_fd.h"

namespace allot::log {
namespace {

// Maximum wait of a thread for a slow reader. After a dropped line threads do not wait at all,
// until a line gets through.
constexpr Nanos kMoment = 100 * kMilli;

// Returns the number of bytes left for which there was no room in time.
std::size_t write_line(int fd, std::string_view line, Nanos patience) {
  const Nanos deadline = mono_ns() + patience;
  while (!line.empty()) {
    const ssize_t n = write_now(fd, line.data(), line.size());
    if (n > 0) {
      line.remove_prefix(static_cast<std::size_t>(n));
      continue;
    }
    if (n < 0 && errno == EINTR) continue;
    const Nanos now = mono_ns();
    if (n == 0 || errno != EAGAIN || now >= deadline) break;
    pollfd room{fd, POLLOUT, 0};
    ::poll(&room, 1, static_cast<int>((deadline - now) / kMilli) + 1);
  }
  return line.size();
}

bool same_file(int one, int other) {
  struct stat first = {};
  struct stat second = {};
  return ::fstat(one, &first) == 0 && ::fstat(other, &second) == 0 &&
         first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

// Unlike spdlog's file sinks this one has no buffer: stdio may split a long line into several
// writes, and then the lines of two processes mix. A line without room is dropped and counted,
// because an unread log must not delay a task.
class LineSink : public spdlog::sinks::base_sink<std::mutex> {
 public:
  // `dropped_line` makes the line that reports the number of dropped lines.
  using DroppedLine = std::function<std::string(std::uint64_t lines)>;
  LineSink(std::string file, UniqueFd fd, DroppedLine dropped_line)
      : file_(std::move(file)), fd_(std::move(fd)), dropped_line_(std::move(dropped_line)) {}

  bool reopen() {
    const std::lock_guard<std::mutex> hold(mutex_);
    if (file_.empty()) return true;
    UniqueFd fresh(open_log(file_.c_str()));
    if (!fresh.valid()) return false;
    // Lines that a handler prints go to the supervisor's standard descriptors, and so to the same
    // file.
    for (const int standard : {STDOUT_FILENO, STDERR_FILENO}) {
      if (same_file(standard, fd_.get())) ::dup2(fresh.get(), standard);
    }
    fd_ = std::move(fresh);
    return true;
  }

  void tell_dropped() {
    const std::lock_guard<std::mutex> hold(mutex_);
    (void)flows();
  }

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    if (!flows() || !put(message)) ++dropped_;
  }
  void flush_() override {}

 private:
  // Reports dropped lines. False: not even this report fits.
  bool flows() {
    if (dropped_ == 0) return true;
    const std::string text = dropped_line_(dropped_);
    if (!put({"allot", spdlog::level::warn, text})) return false;
    dropped_ = 0;
    return true;
  }

  // Writes to standard error if the file accepts nothing more: a full disk must not hide the line.
  bool put(const spdlog::details::log_msg& message) {
    spdlog::memory_buf_t line;
    if (cut_) line.push_back('\n');
    formatter_->format(message, line);
    for (const int fd : {fd_.get(), STDERR_FILENO}) {
      if (fd < 0) continue;
      const bool waits = dropped_ == 0 || mutant::removed("log_waits");
      const std::size_t left = write_line(fd, {line.data(), line.size()}, waits ? kMoment : 0);
      cut_ = left != 0 && (cut_ || left < line.size());
      if (left == 0) return true;
    }
    return false;
  }

  std::string file_;
  UniqueFd fd_;  // none = standard error
  DroppedLine dropped_line_;
  std::uint64_t dropped_ = 0;
  bool cut_ = false;  // the last line lacks its end
};

struct State {
  std::string program;
  LogFormat format = LogFormat::kText;
  std::shared_ptr<LineSink> sink;
  std::unique_ptr<spdlog::logger> logger;
};

struct LevelWords {
  spdlog::level::level_enum level;
  const char* name;
  const char* text;     // head of a text line
  const char* journal;  // priority prefix for journald, as in sd-daemon(3)
};
// In the order of Level.
constexpr LevelWords kLevels[] = {{spdlog::level::debug, "debug", "DEBUG ", "<7>"},
                                  {spdlog::level::info, "info", "INFO  ", "<6>"},
                                  {spdlog::level::warn, "warn", "WARN  ", "<4>"},
                                  {spdlog::level::err, "error", "ERROR ", "<3>"}};

const LevelWords& words_of(Level level) {
  return kLevels[static_cast<std::size_t>(level)];
}

struct FormatWords {
  const char* name;
  const char* pattern;
};
// In the order of LogFormat.
constexpr FormatWords kFormats[] = {{"text", "%Y-%m-%dT%H:%M:%S.%eZ %v"},
                                    {"json", R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ",%v})"},
                                    {"journald", "%v"}};

// The JSON line without its time.
std::string json_line(const std::string& program, Level level, std::string_view event,
                      Fields fields) {
  std::string line;
  line.reserve(256);
  line.append(R"("level":")").append(words_of(level).name).append(R"(","program":)");
  Value(program).append_json_to(line);
  line.append(R"(,"event":)");
  Value(event).append_json_to(line);
  for (const Field& field : fields) {
    if (field.key.empty()) continue;
    line.append(1, ',');
    Value(field.key).append_json_to(line);
    line.append(1, ':');
    field.value.append_json_to(line);
  }
  return line;
}

std::string text_line(const std::string& program, const char* head, std::string_view event,
                      Fields fields) {
  std::string line;
  line.reserve(256);
  line.append(head).append(program).append(1, ' ').append(event);
  for (const Field& field : fields) {
    if (field.key.empty()) continue;
    line.append(1, ' ').append(field.key).append(1, '=');
    field.value.append_to(line);
  }
  return line;
}

std::string line_of(LogFormat format, const std::string& program, Level level,
                    std::string_view event, Fields fields) {
  if (format == LogFormat::kJson) return json_line(program, level, event, fields);
  const LevelWords& words = words_of(level);
  return text_line(program, format == LogFormat::kText ? words.text : words.journal, event, fields);
}

// $JOURNAL_STREAM is "device:inode" of the stream that systemd connected; children inherit it even
// if their standard error is something else.
bool stderr_is_the_journal() {
  const char* stream = std::getenv("JOURNAL_STREAM");
  struct stat status = {};
  if (stream == nullptr || ::fstat(STDERR_FILENO, &status) != 0) return false;
  return stream == std::to_string(status.st_dev) + ":" + std::to_string(status.st_ino);
}

State make_state(std::string_view program, Level level, const std::string& file, UniqueFd fd,
                 LogFormat format) {
  State state;
  state.program = program;
  state.format = format;
  state.sink = std::make_shared<LineSink>(
      file, std::move(fd), [format, name = state.program](std::uint64_t lines) {
        return line_of(format, name, Level::kWarn, "log.dropped", {{"lines", lines}});
      });
  state.logger = std::make_unique<spdlog::logger>("allot", state.sink);
  state.logger->set_formatter(std::make_unique<spdlog::pattern_formatter>(
      kFormats[static_cast<std::size_t>(format)].pattern, spdlog::pattern_time_type::utc, "\n"));
  state.logger->set_level(words_of(level).level);
  return state;
}

// The state is never destroyed, because other static objects may log while the process ends.
State& state() {
  static State* const the_state =
      new State(make_state("allot", Level::kInfo, "", UniqueFd(), LogFormat::kText));
  return *the_state;
}

}  // namespace

Level parse_level(std::string_view word) {
  for (std::size_t at = 0; at < std::size(kLevels); ++at) {
    if (word == kLevels[at].name) return static_cast<Level>(at);
  }
  throw Error("unknown log level '" + std::string(word) + "'; use debug, info, warn or error",
              kExitConfig);
}

LogFormat parse_format(std::string_view word, const std::string& file) {
  for (std::size_t at = 0; at < std::size(kFormats); ++at) {
    if (word == kFormats[at].name) return static_cast<LogFormat>(at);
  }
  if (word == "auto") {
    return file.empty() && stderr_is_the_journal() ? LogFormat::kJournald : LogFormat::kText;
  }
  throw Error("unknown log format '" + std::string(word) + "'; use auto, text, json or journald",
              kExitConfig);
}

void setup(std::string_view program, Level level, const std::string& file, LogFormat format) {
  UniqueFd fd;
  if (!file.empty()) {
    fd.reset(open_log(file.c_str()));
    if (!fd.valid()) {
      throw Error("cannot open the log file " + file + ": " + std::strerror(errno),
                  kExitCannotCreate);
    }
  }
  state() = make_state(program, level, file, std::move(fd), format);
}

bool reopen() {
  return state().sink->reopen();
}

void tell_dropped() {
  state().sink->tell_dropped();
}

bool enabled(Level level) {
  return state().logger->should_log(words_of(level).level);
}

void write(Level level, std::string_view event, Fields fields) {
  if (!enabled(level)) return;
  const State& now = state();
  now.logger->log(words_of(level).level, line_of(now.format, now.program, level, event, fields));
}

}  // namespace allot::log
