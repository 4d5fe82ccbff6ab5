// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <allot/plugin.hpp>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

// The lines between a worker and a program: docs/pipe-workers.md. Pure; the only place of the
// plugin that knows JSON.
namespace pipe_plugin {

inline constexpr int kProtocol = 1;
// The longest line of a program: the largest payload with every byte written as \u00XX, plus the
// rest.
inline constexpr std::size_t kMaxLine = (std::size_t{6} << 24) + 65'536;

// What a program wrote is no line of the protocol: it cannot be talked to any more.
class BadLine : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// What a program says. Only the fields of its kind are set.
struct Said {
  enum class Kind { kHello, kVerdict, kHeartbeat, kProgress, kLog, kCheckpoint, kSubmit, kReplace };
  Kind kind = Kind::kHello;
  std::string id{};                        // of the task; none of a hello
  allot::Outcome verdict{};                // kVerdict
  bool last = false;                       // kVerdict: the program takes no further task
  std::int32_t level = ALLOT_LOG_INFO;     // kLog
  std::string text{};                      // kLog; kProgress: a word, or none
  std::uint32_t percent = 0;               // kProgress
  std::string payload{};                   // kCheckpoint
  std::vector<allot::Submission> tasks{};  // kSubmit, kReplace
  std::string trouble{};  // of a call that is no good; the program is told, and goes on
};

// Reads one line, without its end. Throws BadLine that says what is wrong.
[[nodiscard]] Said read_line(std::string_view line);

// The lines for a program, with their ends. The one of a task:
[[nodiscard]] std::string task_line(const allot::Context& ctx);
// "Give your verdict soon", for this reason: ALLOT_STOP_...
[[nodiscard]] std::string stop_line(std::string_view id, std::int32_t reason);
// The answers to a call that writes.
[[nodiscard]] std::string done_line(std::string_view id, const std::vector<std::string>& ids = {});
[[nodiscard]] std::string refused_line(std::string_view id, const allot::CallError& error);

}  // namespace pipe_plugin
