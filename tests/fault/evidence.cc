// SPDX-License-Identifier: Apache-2.0
#include "fault/evidence.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <ctime>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "base/unique_fd.h"
#include "queue/model/task.h"

namespace allot::fault {
namespace {

constexpr std::array kAnswers{"acknowledged", "refused", "unknown"};
constexpr std::array kMarks{"start",  "parallel", "success", "retry", "fail", "crash", "raze",
                            "snooze", "release",  "stopped", "throw", "hold", "kept",  "hooked"};

template <typename Enum, std::size_t N>
std::optional<Enum> find_word(const std::array<const char*, N>& words, const std::string& word) {
  for (std::size_t i = 0; i < N; ++i) {
    if (word == words[i]) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

Nanoseconds read_clock(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return Nanoseconds{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

template <typename Record, typename Parse>
std::vector<Record> read_all(const std::string& path, Parse parse) {
  std::vector<Record> records;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    auto record = parse(line);
    if (!record) throw std::runtime_error(path + ": no such record: " + line);
    records.push_back(std::move(*record));
  }
  return records;
}

}  // namespace

pid_t place_of(std::uint64_t queue_id, std::uint64_t partition_no) {
  return -2 - static_cast<pid_t>(queue_id * 4096 + partition_no);
}

pid_t place_of(const std::string& task) {
  const auto id = queue::TaskId::parse(task);
  return id ? place_of(id->partition.queue_id, id->partition.partition_no) : -1;
}

const char* name_of(Mark mark) {
  return kMarks.at(static_cast<std::size_t>(mark));
}

std::string tag_of(unsigned submitter, std::uint64_t number) {
  return std::to_string(submitter) + "." + std::to_string(number);
}

std::string line_of(const Reply& reply) {
  std::ostringstream line;
  line << reply.submitter << ' ' << reply.first << ' ' << reply.count << ' '
       << kAnswers.at(static_cast<std::size_t>(reply.answer));
  if (reply.end != 0) line << ' ' << reply.begin << ' ' << reply.end;
  return line.str();
}

std::string line_of(const Fault& fault) {
  std::ostringstream line;
  line << fault.kind << ' ' << fault.pid << ' ' << fault.begin << ' ' << fault.end
       << (fault.fatal ? " fatal" : "") << (fault.unguarded ? " unguarded" : "")
       << (fault.inner ? " inner" : "");
  if (fault.reach == Reach::kHost) line << " host";
  if (fault.reach == Reach::kAll) line << " all";
  return line.str();
}

std::optional<Reply> parse_reply(std::string_view line) {
  std::istringstream in{std::string(line)};
  Reply reply;
  std::string answer;
  if (!(in >> reply.submitter >> reply.first >> reply.count >> answer)) return std::nullopt;
  const auto known = find_word<Answer>(kAnswers, answer);
  if (!known) return std::nullopt;
  reply.answer = *known;
  if (!(in >> reply.begin >> reply.end)) reply.begin = reply.end = 0;
  return reply;
}

std::optional<Trace> parse_trace(std::string_view line) {
  std::istringstream in{std::string(line)};
  Trace trace;
  std::string mark;
  if (!(in >> mark >> trace.queue >> trace.task >> trace.tag >> trace.pid >> trace.parent >>
        trace.at))
    return std::nullopt;
  const auto known = find_word<Mark>(kMarks, mark);
  if (!known) return std::nullopt;
  trace.mark = *known;
  if (trace.mark == Mark::kStart || trace.mark == Mark::kBeside)
    in >> trace.attempt >> trace.epoch >> trace.lease_until;
  std::getline(in >> std::ws, trace.more);
  trace.more.erase(trace.more.find_last_not_of(' ') + 1);  // of record_of()
  return trace;
}

std::optional<Fault> parse_fault(std::string_view line) {
  std::istringstream in{std::string(line)};
  Fault fault;
  if (!(in >> fault.kind >> fault.pid >> fault.begin >> fault.end)) return std::nullopt;
  for (std::string word; in >> word;) {
    if (word == "fatal") {
      fault.fatal = true;
    } else if (word == "unguarded") {
      fault.unguarded = true;
    } else if (word == "inner") {
      fault.inner = true;
    } else if (word == "host" || word == "all") {
      fault.reach = word == "host" ? Reach::kHost : Reach::kAll;
    } else {
      return std::nullopt;
    }
  }
  return fault;
}

void append_line(const std::string& path, const std::string& line) {
  const UniqueFd fd(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644));
  const std::string text = line + "\n";
  if (!fd.valid() ||
      ::write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    throw std::runtime_error("cannot append to " + path);
  }
}

std::vector<Reply> read_replies(const std::string& path) {
  return read_all<Reply>(path, parse_reply);
}

std::vector<Trace> read_traces(const std::string& path) {
  return read_all<Trace>(path, parse_trace);
}

std::vector<Fault> read_faults(const std::string& path) {
  return read_all<Fault>(path, parse_fault);
}

Nanoseconds now() {
  return read_clock(CLOCK_BOOTTIME);
}

Nanoseconds wall_clock() {
  return read_clock(CLOCK_REALTIME) - now();
}

}  // namespace allot::fault
