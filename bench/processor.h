// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sched.h>
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

// Processor time of processes in nanoseconds, as the scheduler counts it.
namespace allot::bench {

// Time of the current threads of the process.
[[nodiscard]] std::uint64_t processor_ns(pid_t pid);
// Time of all present and past threads of this process.
[[nodiscard]] std::uint64_t own_processor_ns();
[[nodiscard]] std::vector<pid_t> children_of(pid_t parent);
// Time of all children of `parent`. Throws Error if the kernel does not report it.
[[nodiscard]] std::uint64_t children_processor_ns(pid_t parent);
// Process that listens at that socket.
[[nodiscard]] pid_t server_at(const std::string& socket);

// Binds a process (0: this thread, with the children that it starts) to the first of its
// processors.
class OneProcessor {
 public:
  explicit OneProcessor(pid_t pid = 0);
  OneProcessor(const OneProcessor&) = delete;
  OneProcessor& operator=(const OneProcessor&) = delete;
  ~OneProcessor();

 private:
  pid_t pid_;
  cpu_set_t before_{};
};

}  // namespace allot::bench
