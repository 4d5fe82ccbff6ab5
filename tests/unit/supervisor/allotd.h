// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "support/process.h"
#include "support/temp_dir.h"

namespace allot::supervisor {

// The real allotd with scripted workers (support/scripted_worker), in a temporary folder.
class Allotd {
 public:
  // `script`: "key=value key=value" of support/scripted_worker. Starts it.
  explicit Allotd(const std::string& script = {}, std::vector<std::string> environment = {});
  Allotd(const Allotd&) = delete;
  Allotd& operator=(const Allotd&) = delete;
  ~Allotd();

  void start();
  void signal(int number) { process_->signal(number); }
  // Sends a signal and waits for the end.
  std::optional<support::ExitStatus> stop(int number = SIGTERM);
  [[nodiscard]] support::Process& process() { return *process_; }
  // A second daemon with the same options.
  [[nodiscard]] std::unique_ptr<support::Process> another() const;

  // Changes the script for processes that start from now on.
  void set(const std::string& key, const std::string& value);
  // Opens a gate.
  void open(const std::string& gate) const { (void)folder_.write(gate, ""); }
  // Sends a command to the worker in a slot, and waits until it is executed.
  [[nodiscard]] bool tell(int slot, const std::string& command);
  void tell_database(const std::string& command) const { order("embedded", command); }
  void tell_gateway(const std::string& command) const { order("gateway", command); }

  // Waits until `text` was reported, or logged, this many times.
  [[nodiscard]] bool saw(const std::string& text, std::size_t times = 1) const;
  [[nodiscard]] bool logged(const std::string& text, std::size_t times = 1) const;

  // Present number of reports.
  [[nodiscard]] std::size_t seen(const std::string& text) const;
  [[nodiscard]] std::size_t logs(const std::string& text) const;
  // The pid in the last event that begins with `text`; -1: none.
  [[nodiscard]] pid_t pid_of(const std::string& text) const;
  // The slot of the worker that became ready last; -1: none.
  [[nodiscard]] int newest() const;
  // All that is known about the run, for the message of a failed test.
  [[nodiscard]] std::string story() const;
  [[nodiscard]] const support::TempDir& folder() const { return folder_; }
  // Replaces the program that is started as `name` from now on.
  void install(const std::string& name, const std::string& program) const;

 private:
  void write_script() const;
  void order(const std::string& who, const std::string& command) const;
  [[nodiscard]] std::string log() const;

  support::TempDir folder_;
  std::map<std::string, std::string> script_;
  std::vector<std::string> environment_;
  std::string former_log_;
  std::unique_ptr<support::Process> process_;
};

// State of a process in /proc: 'R', 'S', 'Z', ...; 0: no such process.
char state_of(pid_t pid);
// Waits until the process is gone, or only has to be reaped.
[[nodiscard]] bool ends(pid_t pid);
// Children of a process with a single thread.
std::vector<pid_t> children_of(pid_t pid);

// The worker of slot 0 inside a task, or in the state set by `task`; its pid.
pid_t start_busy(Allotd& daemon, const std::string& task = "task");

}  // namespace allot::supervisor
