// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace allot::bench {

// A program that runs next to the benchmark, with its output in a file. It ends with this object,
// or with this process however that ends.
class Child {
 public:
  // `other_host`: name of the simulated host of the program, which gets its own namespaces of
  // network and host name; requires root. Throws Error if the program cannot be started.
  Child(std::vector<std::string> command, const std::string& log_file,
        const std::string& other_host = {});
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child();

  // True if it is running.
  [[nodiscard]] bool running();
  [[nodiscard]] pid_t pid() const { return pid_; }
  // Stops it and waits. Throws Error, naming the log, if the program reported a failure.
  void stop();
  // Waits until it ends by itself; throws as stop() does.
  void finish();

 private:
  void reap(int options);
  void judge() const;

  std::string name_;
  std::string log_file_;
  pid_t pid_ = -1;
  int status_ = 0;
};

}  // namespace allot::bench
