// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/unique_fd.h"

// Starts and ends the programs of a plugin, and reads their output.
namespace programs {

struct Program {
  std::vector<std::string> argv;  // the full path of the program, and its arguments
  std::string directory = "/";
  std::vector<std::string> environment;  // "NAME=value"
};

// Moves a newly opened descriptor above the numbers that a program may receive. Throws
// std::system_error with `what` if it is invalid.
[[nodiscard]] allot::UniqueFd above_those_of_programs(int fd, const char* what);

struct Pipe {
  allot::UniqueFd read;
  allot::UniqueFd write;
};
[[nodiscard]] Pipe make_pipe();

// Reads available bytes into `buffer`, at most `size`. nullopt: none yet; 0: end of input.
[[nodiscard]] std::optional<std::size_t> read_some(const allot::UniqueFd& from, char* buffer,
                                                   std::size_t size);

// A running program, in its own process group. SIGKILL ends it with this object, and with the
// thread that created it.
class Process {
 public:
  // Starts the program with `descriptors` as its descriptors 0, 1, 2 ... and no others; each must
  // come from above_those_of_programs(). Throws std::system_error that names the failed step.
  Process(const Program& program, const std::vector<std::string>& variables,
          const std::vector<int>& descriptors);
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process();

  [[nodiscard]] pid_t pid() const { return pid_; }
  // Readable once the program has exited; -1 on old kernels: call ended() every few milliseconds.
  [[nodiscard]] int alive() const { return alive_.get(); }
  // Whether it may be reaped.
  [[nodiscard]] bool ended() const;
  // Sends the signal to its process group.
  void signal(int number) const;
  // Kills the rest of its process group, waits for its exit and takes its status; nullopt: the
  // status is unknown, or was taken before.
  std::optional<int> reap();

 private:
  pid_t pid_ = -1;
  allot::UniqueFd alive_;  // a pidfd
};

// "exit code 1", "signal 9 (Killed)".
[[nodiscard]] std::string how_it_ended(std::optional<int> status);

// The endless output of a program, of which the last bytes are kept.
class Output {
 public:
  Output() = default;
  explicit Output(allot::UniqueFd pipe);

  // For poll(); -1: it has ended.
  [[nodiscard]] int fd() const { return pipe_.get(); }
  // Reads available bytes. False: none.
  bool read();
  // Reads the rest of the pipe, within limits, because a process that left the group may keep
  // writing.
  void drain();

  // Number of bytes read.
  [[nodiscard]] std::uint64_t bytes_read() const { return bytes_read_; }
  // At most `most` of the last bytes: whole UTF-8 characters, without a final line break.
  [[nodiscard]] std::string last(std::size_t most) const;
  // The guaranteed part of the output.
  [[nodiscard]] std::string all() const { return last(kSize); }
  // The cause with the output behind it, limited to the size of a reason. For a program that the
  // plugin ended, because its output is not the cause.
  [[nodiscard]] std::string behind(std::string what) const;
  void forget() { bytes_.clear(); }

 private:
  static constexpr std::size_t kSize = std::size_t{64} << 10;

  allot::UniqueFd pipe_;
  std::string bytes_;  // at most twice kSize
  std::uint64_t bytes_read_ = 0;
};

}  // namespace programs
