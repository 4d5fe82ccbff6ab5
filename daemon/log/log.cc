// SPDX-License-Identifier: Apache-2.0
#include "log/log.h"

#include <fcntl.h>
#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <utility>

#include "base/error.h"
#include "base/posix.h"
#include "base/unique_fd.h"

namespace allot::log {
namespace {

UniqueFd open_log(const std::string& file) {
  return UniqueFd(::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640));
}

bool same_file(int one, int other) {
  struct stat first = {};
  struct stat second = {};
  return ::fstat(one, &first) == 0 && ::fstat(other, &second) == 0 &&
         first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

// Unlike spdlog's file sinks this one has no buffer: stdio may split a long line into several
// writes, and then the lines of two processes mix.
class LineSink : public spdlog::sinks::base_sink<std::mutex> {
 public:
  LineSink(std::string file, UniqueFd fd) : file_(std::move(file)), fd_(std::move(fd)) {}

  bool reopen() {
    const std::lock_guard<std::mutex> hold(mutex_);
    if (file_.empty()) return true;
    UniqueFd fresh = open_log(file_);
    if (!fresh.valid()) return false;
    // Lines that a handler prints go to the supervisor's standard descriptors, and so to the same
    // file.
    for (const int standard : {STDOUT_FILENO, STDERR_FILENO}) {
      if (same_file(standard, fd_.get())) ::dup2(fresh.get(), standard);
    }
    fd_ = std::move(fresh);
    return true;
  }

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    if (fd_.valid() && write_all(fd_.get(), line.data(), line.size())) return;
    write_all(STDERR_FILENO, line.data(), line.size());  // a full disk must not hide the line
  }
  void flush_() override {}

 private:
  std::string file_;
  UniqueFd fd_;  // none = standard error
};

struct State {
  std::string program;
  LogFormat format = LogFormat::kText;
  std::shared_ptr<LineSink> sink;
  std::unique_ptr<spdlog::logger> logger;
};

spdlog::level::level_enum spdlog_level(Level level) {
  switch (level) {
    case Level::kDebug:
      return spdlog::level::debug;
    case Level::kInfo:
      return spdlog::level::info;
    case Level::kWarn:
      return spdlog::level::warn;
    case Level::kError:
      return spdlog::level::err;
  }
  return spdlog::level::info;
}

const char* text_head(Level level) {
  switch (level) {
    case Level::kDebug:
      return "DEBUG ";
    case Level::kInfo:
      return "INFO  ";
    case Level::kWarn:
      return "WARN  ";
    case Level::kError:
      return "ERROR ";
  }
  return "????? ";
}

const char* name_of(Level level) {
  switch (level) {
    case Level::kDebug:
      return "debug";
    case Level::kInfo:
      return "info";
    case Level::kWarn:
      return "warn";
    case Level::kError:
      return "error";
  }
  return "unknown";
}

// The prefix that journald takes for the priority of the line, as in sd-daemon(3).
const char* journal_prefix(Level level) {
  switch (level) {
    case Level::kDebug:
      return "<7>";
    case Level::kInfo:
      return "<6>";
    case Level::kWarn:
      return "<4>";
    case Level::kError:
      return "<3>";
  }
  return "<6>";
}

const char* pattern_of(LogFormat format) {
  switch (format) {
    case LogFormat::kText:
      return "%Y-%m-%dT%H:%M:%S.%eZ %v";
    case LogFormat::kJson:
      return R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ",%v})";
    case LogFormat::kJournald:
      return "%v";
  }
  return "%v";
}

// The line in JSON, as it is after its time.
std::string json_line(const std::string& program, Level level, std::string_view event,
                      Fields fields) {
  std::string line;
  line.reserve(256);
  line.append(R"("level":")").append(name_of(level)).append(R"(","program":)");
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

// $JOURNAL_STREAM is "device:inode" of the stream that systemd connected; children inherit it also
// where standard error is something else.
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
  state.sink = std::make_shared<LineSink>(file, std::move(fd));
  state.logger = std::make_unique<spdlog::logger>("allot", state.sink);
  state.logger->set_formatter(std::make_unique<spdlog::pattern_formatter>(
      pattern_of(format), spdlog::pattern_time_type::utc, "\n"));
  state.logger->set_level(spdlog_level(level));
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
  if (word == "debug") return Level::kDebug;
  if (word == "info") return Level::kInfo;
  if (word == "warn") return Level::kWarn;
  if (word == "error") return Level::kError;
  throw Error("unknown log level '" + std::string(word) + "'; use debug, info, warn or error",
              kExitConfig);
}

LogFormat parse_format(std::string_view word, const std::string& file) {
  if (word == "text") return LogFormat::kText;
  if (word == "json") return LogFormat::kJson;
  if (word == "journald") return LogFormat::kJournald;
  if (word == "auto") {
    return file.empty() && stderr_is_the_journal() ? LogFormat::kJournald : LogFormat::kText;
  }
  throw Error("unknown log format '" + std::string(word) + "'; use auto, text, json or journald",
              kExitConfig);
}

void setup(std::string_view program, Level level, const std::string& file, LogFormat format) {
  UniqueFd fd;
  if (!file.empty()) {
    fd = open_log(file);
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

bool enabled(Level level) {
  return state().logger->should_log(spdlog_level(level));
}

void write(Level level, std::string_view event, Fields fields) {
  if (!enabled(level)) return;
  State& now = state();
  std::string line;
  switch (now.format) {
    case LogFormat::kText:
      line = text_line(now.program, text_head(level), event, fields);
      break;
    case LogFormat::kJson:
      line = json_line(now.program, level, event, fields);
      break;
    case LogFormat::kJournald:
      line = text_line(now.program, journal_prefix(level), event, fields);
      break;
  }
  now.logger->log(spdlog_level(level), line);
}

}  // namespace allot::log
