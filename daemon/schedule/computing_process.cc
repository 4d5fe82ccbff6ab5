// SPDX-License-Identifier: Apache-2.0
#include "schedule/computing_process.h"

#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <istream>
#include <ostream>
#include <utility>

#include "base/clock.h"
#include "base/error.h"
#include "schedule/next.h"
#include "schedule/system_zone.h"

namespace allot::schedule {
namespace {

// For an expression that needs no zone.
class NoZone : public Zone {
 public:
  [[nodiscard]] std::int64_t offset(Instant /*at*/) const override { return 0; }
};

[[noreturn]] void refuse(const std::string& line) {
  throw Error("schedules: the computing process answered '" + line + "'", kExitSoftware);
}

// The rest of an answer.
std::vector<Instant> instants_in(std::istringstream& words) {
  std::vector<Instant> instants;
  for (Instant instant = 0; words >> instant;) instants.push_back(instant);
  if (!words.eof()) refuse(words.str());
  return instants;
}

std::string listed(const std::vector<Instant>& ticks) {
  std::string list;
  for (const Instant tick : ticks) list += " " + std::to_string(tick);
  return list;
}

}  // namespace

ComputingProcess::ComputingProcess(std::vector<std::string> command,
                                   std::chrono::milliseconds patience)
    : command_(std::move(command)), patience_(patience) {}

std::vector<Instant> ComputingProcess::upcoming(const std::string& expression,
                                                const std::string& zone, Instant after,
                                                Instant until, std::size_t most) {
  const Expression parsed = Expression::parse(expression);
  check_zone(zone);
  if (parsed.every() > 0) return schedule::upcoming(parsed, NoZone(), after, until, most);
  std::istringstream words = ask_any("upcoming", after, until, most, zone, parsed);
  return instants_in(words);
}

Missed ComputingProcess::missed(const std::string& expression, const std::string& zone,
                                Instant after, Instant until, std::size_t most) {
  const Expression parsed = Expression::parse(expression);
  check_zone(zone);
  if (parsed.every() > 0) return schedule::missed(parsed, NoZone(), after, until, most);
  std::istringstream words = ask_any("missed", after, until, most, zone, parsed);
  Missed missed;
  int at_least = 0;
  std::string next;
  words >> missed.count >> at_least >> next;
  missed.at_least = at_least != 0;
  missed.newest = instants_in(words);
  std::istringstream first(next);
  if (next == "never") return missed;
  const std::vector<Instant> one = instants_in(first);
  if (one.size() != 1) refuse(words.str());
  missed.next = one.front();
  return missed;
}

std::istringstream ComputingProcess::ask_any(const std::string& word, Instant after, Instant until,
                                             std::size_t most, const std::string& zone,
                                             const Expression& expression) {
  const std::string question = word + " " + std::to_string(after) + " " + std::to_string(until) +
                               " " + std::to_string(most) + " " + zone + " " + expression.text() +
                               "\n";
  // The present child may have died since the last question; a new child must answer.
  std::optional<std::string> line;
  if (pid_ > 0) line = ask(question);
  if (!line) {
    start();
    line = ask(question);
  }
  if (!line) throw Error("schedules: the computing process ended", kExitSoftware);
  if (line->starts_with("error ")) throw Error(line->substr(6), kExitUsage);
  std::istringstream words(*line);
  std::string first;
  if (!(words >> first) || first != word) refuse(*line);
  return words;
}

void ComputingProcess::start() {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw Error(std::string("schedules: no socket: ") + std::strerror(errno));
  }
  UniqueFd ours(ends[0]);
  const UniqueFd theirs(ends[1]);
  std::vector<char*> arguments;
  for (std::string& argument : command_) arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, theirs.get(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, theirs.get(), STDOUT_FILENO);
  posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
  // The calling thread may block signals that are meant to end the child.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  const int error =
      posix_spawn(&pid_, arguments[0], &actions, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    pid_ = -1;
    throw Error("schedules: " + command_[0] + " does not start: " + std::strerror(error));
  }
  socket_ = std::move(ours);
}

void ComputingProcess::end() {
  if (pid_ <= 0) return;
  socket_.reset();
  kill(pid_, SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

std::optional<std::string> ComputingProcess::ask(const std::string& question) {
  const Nanos deadline = boot_ns() + static_cast<Nanos>(patience_.count()) * kMilli;
  // A question is far smaller than the buffer of a socket.
  bool gone = send(socket_.get(), question.data(), question.size(), MSG_NOSIGNAL) !=
              static_cast<ssize_t>(question.size());
  std::string line;
  while (!gone) {
    const Nanos now = boot_ns();
    if (now >= deadline) {
      end();
      throw Error("schedules: the computing process has not answered within " +
                      std::to_string(patience_.count()) + " ms",
                  kExitSoftware);
    }
    pollfd ready = {socket_.get(), POLLIN, 0};
    if (poll(&ready, 1, static_cast<int>((deadline - now) / kMilli) + 1) <= 0) continue;
    std::array<char, 4096> buffer{};
    const ssize_t got = ::read(socket_.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    gone = got <= 0;
    if (gone) break;
    line.append(buffer.data(), static_cast<std::size_t>(got));
    if (line.back() == '\n') return line.substr(0, line.size() - 1);
  }
  end();
  return std::nullopt;
}

std::string answer(const std::string& question) {
  std::istringstream words(question);
  std::string word;
  Instant after = 0;
  Instant until = 0;
  std::size_t most = 0;
  std::string zone_name;
  std::string text;
  words >> word >> after >> until >> most >> zone_name;
  if (!std::getline(words, text) || (word != "upcoming" && word != "missed")) {
    return "error a question is upcoming or missed, AFTER UNTIL MOST ZONE EXPRESSION";
  }
  try {
    const Expression expression = Expression::parse(text);
    const SystemZone zone(zone_name);
    if (word == "upcoming") return word + listed(upcoming(expression, zone, after, until, most));
    const Missed found = missed(expression, zone, after, until, most);
    return word + " " + std::to_string(found.count) + (found.at_least ? " 1 " : " 0 ") +
           (found.next ? std::to_string(*found.next) : "never") + listed(found.newest);
  } catch (const Error& error) {
    std::string line = error.what();
    std::replace(line.begin(), line.end(), '\n', ' ');
    return "error " + line;
  }
}

void answer_all(std::istream& in, std::ostream& out) {
  for (std::string question; std::getline(in, question);) out << answer(question) << std::endl;
}

}  // namespace allot::schedule
