// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sched.h>
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

// What processes have had of the processors, in nanoseconds, as the scheduler counts it.
namespace allot::bench {

// Of the threads that the process has now.
[[nodiscard]] std::uint64_t processor_ns(pid_t pid);
// Of all threads that this process has, and has had.
[[nodiscard]] std::uint64_t own_processor_ns();
[[nodiscard]] std::vector<pid_t> children_of(pid_t parent);
// Of all children of `parent`. Throws Error where the kernel does not say it.
[[nodiscard]] std::uint64_t children_processor_ns(pid_t parent);
// Who listens at that socket.
[[nodiscard]] pid_t server_at(const std::string& socket);

// Keeps a process (0: this thread, with what it starts meanwhile) on the first of its processors.
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
