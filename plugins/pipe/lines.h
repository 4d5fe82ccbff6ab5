// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <allot/plugin.hpp>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

// Parses and formats the lines between a worker and a program: docs/pipe-workers.md. Pure; the only
// part of the plugin that handles JSON.
namespace pipe_plugin {

inline constexpr int kProtocol = 1;
// Limit of a program's line: the largest payload with every byte written as \u00XX, plus the other
// fields.
inline constexpr std::size_t kMaxLine = (std::size_t{6} << 24) + 65'536;

// The program wrote an invalid line, and is unusable.
class BadLine : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A message of a program. Only the fields of its kind are set.
struct Said {
  enum class Kind { kHello, kVerdict, kHeartbeat, kProgress, kLog, kCheckpoint, kSubmit, kReplace };
  Kind kind = Kind::kHello;
  std::string id{};                        // of the task; empty in a hello
  allot::Outcome verdict{};                // kVerdict
  bool last = false;                       // kVerdict: the program takes no further task
  std::int32_t level = ALLOT_LOG_INFO;     // kLog
  std::string text{};                      // kLog; kProgress: a word, may be empty
  std::uint32_t percent = 0;               // kProgress
  std::string payload{};                   // kCheckpoint
  std::vector<allot::Submission> tasks{};  // kSubmit, kReplace
  std::string trouble{};  // error in a call, reported to the program, which may continue
};

// Reads one line without its line feed. Throws BadLine with the error.
[[nodiscard]] Said read_line(std::string_view line);

// Lines for a program, with line feeds. This one passes a task:
[[nodiscard]] std::string task_line(const allot::Context& ctx);
// Asks for a verdict soon, for this reason: ALLOT_STOP_...
[[nodiscard]] std::string stop_line(std::string_view id, std::int32_t reason);
// Answers to a call that writes.
[[nodiscard]] std::string done_line(std::string_view id, const std::vector<std::string>& ids = {});
[[nodiscard]] std::string refused_line(std::string_view id, const allot::CallError& error);

}  // namespace pipe_plugin
