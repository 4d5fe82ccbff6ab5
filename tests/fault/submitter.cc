// SPDX-License-Identifier: Apache-2.0
#include "fault/submitter.h"

#include <poll.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <stdexcept>

#include "e2e/daemon.h"

namespace allot::fault {
namespace {

constexpr int kExitUnavailable = 69;
constexpr int kExitUnknown = 75;
constexpr int kPauseMs = 50;  // while the database is away

}  // namespace

std::vector<Reply> answers_of(const std::string& report, int exit_code, std::uint64_t lines,
                              std::uint64_t batch, unsigned submitter, std::uint64_t first) {
  std::vector<Reply> all;
  // Lines count from 1; batches are kept apart, because each exists as a whole or not at all.
  const auto stretch = [&](std::uint64_t from, std::uint64_t end, Answer answer) {
    for (; from < end; from = std::min(end, from + batch)) {
      all.push_back({submitter, first + from - 1, std::min(end, from + batch) - from, answer});
    }
  };
  if (exit_code == 0) {
    stretch(1, lines + 1, Answer::kAcknowledged);
    return all;
  }
  const auto json = nlohmann::json::parse(report, nullptr, false);
  // It ended before it read a line.
  if (json.is_discarded() && exit_code == kExitUnavailable) {
    stretch(1, lines + 1, Answer::kRefused);
    return all;
  }
  if (json.is_discarded())
    throw std::runtime_error("exit code " + std::to_string(exit_code) + ": " + report);
  if (exit_code == kExitUnknown) {
    const auto from = json.at("unknown_lines").at(0).get<std::uint64_t>();
    const auto last = json.at("unknown_lines").at(1).get<std::uint64_t>();
    stretch(1, from, Answer::kAcknowledged);
    stretch(from, last + 1, Answer::kUnknown);
    stretch(last + 1, lines + 1, Answer::kRefused);
    return all;
  }
  const auto next = json.at("next_line").get<std::uint64_t>();
  stretch(1, next, Answer::kAcknowledged);
  stretch(next, lines + 1, Answer::kRefused);
  return all;
}

std::vector<Reply> answers_by_ids(std::uint64_t ids, int exit_code, std::uint64_t lines,
                                  std::uint64_t batch, unsigned submitter, std::uint64_t first) {
  if (exit_code != 0 && exit_code != kExitUnavailable && exit_code != kExitUnknown)
    throw std::runtime_error("exit code " + std::to_string(exit_code));
  if (exit_code == 0 && ids != lines) throw std::runtime_error("a line without an id");
  std::vector<Reply> all;
  for (std::uint64_t from = 0; from < lines; from += batch) {
    const std::uint64_t count = std::min(lines - from, batch);
    const Answer answer = from < ids                                        ? Answer::kAcknowledged
                          : exit_code == kExitUnknown && from < ids + batch ? Answer::kUnknown
                                                                            : Answer::kRefused;
    all.push_back({submitter, first + from, count, answer});
  }
  return all;
}

Submitter::Submitter(SubmitterOptions options) : options_(std::move(options)) {
  thread_ = std::thread([this] { loop(); });
}

void Submitter::stop() {
  stop_ = true;
  if (thread_.joinable()) thread_.join();
}

// Most tasks are short; some are interrupted in the middle, some request another attempt, some
// fail; in the last queue some kill their worker, once or always.
std::string Submitter::line_for(std::uint64_t number) const {
  if (options_.line) return options_.line(number);
  std::mt19937_64 dice(number * 1'000'003 + options_.seed * 7919 + options_.number);
  const auto one_of = [&dice](std::uint64_t n) { return dice() % n == 0; };
  std::uint64_t milliseconds = one_of(10) ? 5 : 0;
  if (one_of(40)) milliseconds = dice() % 300;
  const std::string& queue = options_.queues.at(number % options_.queues.size());
  const bool fragile = queue == options_.queues.back();
  if (options_.work == Work::kLate) milliseconds = 2'000 + dice() % 2'000;
  const bool razes = options_.work == Work::kRazing && number == 20;
  const bool poison = options_.work == Work::kPoison && number == 20;
  const char* verdict = razes                          ? "raze"
                        : poison                       ? "poison"
                        : options_.work == Work::kLate ? "late"
                        : one_of(100)                  ? "fail"
                        : one_of(50)                   ? "retry"
                        : fragile && one_of(300)       ? "crash"
                        : fragile && one_of(1500)      ? "poison"
                                                       : "success";
  const nlohmann::json line{{"queue", queue},
                            {"type", "fault.run"},
                            {"prio", number % 4},
                            {"payload", tag_of(options_.number, number) + " " +
                                            std::to_string(milliseconds) + " " + verdict}};
  return line.dump() + "\n";
}

std::vector<Reply> Submitter::read_answers(const support::Finished& done,
                                           std::uint64_t first) const {
  if (options_.ids_file.empty())
    return answers_of(done.out, done.status.code, options_.lines, options_.batch, options_.number,
                      first);
  std::istringstream ids(done.out);
  std::string notes;
  std::uint64_t count = 0;
  for (std::string id; ids >> id; ++count) notes += std::to_string(first + count) + " " + id + "\n";
  if (!notes.empty()) append_line(options_.ids_file, notes.substr(0, notes.size() - 1));
  return answers_by_ids(count, done.status.code, options_.lines, options_.batch, options_.number,
                        first);
}

void Submitter::submit_once(std::uint64_t first) {
  std::string lines;
  for (std::uint64_t i = 0; i < options_.lines; ++i) lines += line_for(first + i);
  std::vector<std::string> command{e2e::program("allot"),
                                   "--config",
                                   options_.config_file,
                                   "submit",
                                   "--ndjson",
                                   "-",
                                   "--batch",
                                   std::to_string(options_.batch)};
  command.emplace_back(options_.ids_file.empty() ? "--json" : "--ids");
  const Nanoseconds begin = now();
  const auto done =
      support::run_program(std::move(command), {.input = lines}, std::chrono::seconds(120));
  const Nanoseconds end = now();
  std::vector<Reply> replies;
  try {
    replies = read_answers(done, first);
  } catch (const std::exception& error) {
    throw std::runtime_error(std::string(error.what()) + done.err);
  }
  for (Reply& each : replies) {
    each.begin = begin;
    each.end = end;
    append_line(options_.reply_file, line_of(each));
    if (each.answer == Answer::kAcknowledged) acknowledged_ += each.count;
  }
  if (done.status.code != 0) ::poll(nullptr, 0, kPauseMs);
}

void Submitter::loop() {
  try {
    const Nanoseconds began = now();
    for (std::uint64_t first = 1; !stop_; first += options_.lines) {
      submit_once(first);
      while (!stop_ && options_.per_second != 0 &&
             (now() - began) / 1'000'000 * static_cast<Nanoseconds>(options_.per_second) <
                 static_cast<Nanoseconds>(first + options_.lines) * 1'000) {
        ::poll(nullptr, 0, 10);
      }
    }
  } catch (const std::exception& error) {
    error_ = error.what();
  }
}

}  // namespace allot::fault
