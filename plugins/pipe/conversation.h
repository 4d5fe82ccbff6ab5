// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <allot/plugin.hpp>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>

#include "pipe/child.h"
#include "pipe/lines.h"
#include "pipe/settings.h"

namespace pipe_plugin {

// The program is unusable: it has exited, hangs, or violates the protocol. It must be ended, and
// the task has no verdict.
class Broken : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The task was asked to stop before its program was ready.
class Stopped : public std::exception {};

// Waits for the hello of a new program. Throws Broken, BadLine or Stopped.
void await_hello(const Settings& settings, Child& child, const allot::Context& ctx);

// One task, from its line to its verdict. In the thread that called the handler.
class Conversation {
 public:
  Conversation(const Settings& settings, Child& child, const allot::Context& ctx);

  // Throws Broken or BadLine.
  allot::Outcome run();
  // After run(): the program takes no further task.
  [[nodiscard]] bool was_last() const { return last_; }

 private:
  using Clock = std::chrono::steady_clock;

  std::optional<allot::Outcome> take(const std::string& line);
  void call(Said& said);
  void pass_on_stop(Clock::time_point now);
  void end_in_time(Clock::time_point now);
  void must_end(Clock::time_point now, const char* why);

  const Settings& settings_;
  Child& child_;
  const allot::Context& ctx_;
  const Clock::time_point started_ = Clock::now();
  std::uint64_t said_before_ = 0;
  Clock::time_point last_said_ = started_;
  std::optional<Clock::time_point> stop_seen_;
  bool last_ = false;
  const char* why_ = nullptr;  // why its time is over
  Clock::time_point over_;     // time at which it was over
};

}  // namespace pipe_plugin
