// SPDX-License-Identifier: Apache-2.0
#include "fault/host.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <string>

#include "support/temp_dir.h"

namespace allot::fault {
namespace {

// 0: there is no such process.
pid_t parent_of(pid_t pid) {
  const std::string stat = support::read_file("/proc/" + std::to_string(pid) + "/stat");
  const std::size_t name_end = stat.rfind(')');  // the name may have anything in it
  if (name_end == std::string::npos || name_end + 4 >= stat.size()) return 0;
  return static_cast<pid_t>(std::stol(stat.substr(name_end + 4)));
}

bool is_worker(pid_t pid) {
  const std::string words = support::read_file("/proc/" + std::to_string(pid) + "/cmdline");
  return words.find(std::string("--run") + '\0') != std::string::npos;
}

}  // namespace

bool Target::signal(int number) const {
  return ::syscall(SYS_pidfd_send_signal, handle.get(), number, nullptr, 0) == 0;
}

bool Target::over(std::chrono::milliseconds deadline) const {
  pollfd ended{handle.get(), POLLIN, 0};
  return ::poll(&ended, 1, static_cast<int>(deadline.count())) > 0;
}

std::vector<Target> workers_of(pid_t parent) {
  std::vector<Target> targets;
  std::error_code ignored;  // processes come and go meanwhile
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
    const std::string name = entry.path().filename();
    pid_t pid = 0;
    std::from_chars(name.data(), name.data() + name.size(), pid);
    if (pid <= 1 || parent_of(pid) != parent || !is_worker(pid)) continue;
    UniqueFd handle(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    // Looked at again: now the number cannot be given away any more.
    if (handle.valid() && parent_of(pid) == parent) targets.push_back({pid, std::move(handle)});
  }
  return targets;
}

}  // namespace allot::fault
