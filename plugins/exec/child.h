// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "command.h"

namespace exec_plugin {

// Owns one file descriptor.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd() {
    if (fd_ >= 0) ::close(fd_);
  }
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_ = -1;
};

// Keeps the last bytes of an endless output.
class Tail {
 public:
  static constexpr std::size_t kSize = std::size_t{64} << 10;
  void add(const char* data, std::size_t size);
  // At most `most` of the last bytes, whole UTF-8 characters, no line break at the end.
  [[nodiscard]] std::string last(std::size_t most) const;

 private:
  std::string bytes_;  // at most twice kSize
};

// A running command, in a process group of its own. SIGKILL ends it with this object, and with the
// thread that made it.
class Child {
 public:
  // Starts the command with `input` on its standard input. Throws std::system_error that names the
  // step that failed.
  Child(const Command& command, const std::vector<std::string>& variables, std::string_view input);
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child();

  // Waits at most this long for its end or an output. True: it has ended.
  bool wait(std::chrono::milliseconds most);
  // Sends the signal to its whole group.
  void signal(int number) const;
  // After its end: kills what is left of its group and takes its status; nullopt: the status was
  // lost.
  std::optional<int> reap();

  [[nodiscard]] const Tail& said() const { return said_; }
  // How much it has written.
  [[nodiscard]] std::size_t bytes_said() const { return bytes_said_; }

 private:
  bool read_on();

  pid_t pid_ = -1;
  Fd output_;
  Fd alive_;  // a pidfd; none on old kernels
  Tail said_;
  std::size_t bytes_said_ = 0;
};

}  // namespace exec_plugin
