// SPDX-License-Identifier: Apache-2.0
#include "fault/host.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <charconv>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "support/temp_dir.h"

namespace allot::fault {
namespace {

using std::chrono::milliseconds;

bool has_word(pid_t pid, const std::string& word) {
  const std::string words = support::read_file("/proc/" + std::to_string(pid) + "/cmdline");
  return words.find(word + '\0') != std::string::npos;
}

Targets children_of(pid_t parent) {
  Targets targets;
  std::error_code ignored;  // processes start and end concurrently
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
    const std::string name = entry.path().filename();
    pid_t pid = 0;
    std::from_chars(name.data(), name.data() + name.size(), pid);
    if (pid <= 1 || parent_of(pid) != parent) continue;
    UniqueFd handle(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    const bool worker = has_word(pid, "--run");
    // Checks again, because the handle now prevents reuse of the number.
    if (handle.valid() && parent_of(pid) == parent)
      targets.push_back({pid, worker, std::move(handle)});
  }
  return targets;
}

// Last lines of the text, with the reason of an end.
std::string end_of(const std::string& text) {
  constexpr std::size_t kMost = 4'000;
  return text.size() <= kMost ? text : text.substr(text.find('\n', text.size() - kMost) + 1);
}

}  // namespace

pid_t parent_of(pid_t pid) {
  const std::string stat = support::read_file("/proc/" + std::to_string(pid) + "/stat");
  const std::size_t name_end = stat.rfind(')');  // the name may contain any character
  if (name_end == std::string::npos || name_end + 4 >= stat.size()) return 0;
  return static_cast<pid_t>(std::stol(stat.substr(name_end + 4)));
}

pid_t accountable_for(pid_t pid) {
  return has_word(pid, "--settle") ? parent_of(pid) : pid;
}

bool Target::signal(int number) const {
  return ::syscall(SYS_pidfd_send_signal, handle.get(), number, nullptr, 0) == 0;
}

bool Target::over(milliseconds deadline) const {
  pollfd ended{handle.get(), POLLIN, 0};
  return ::poll(&ended, 1, static_cast<int>(deadline.count())) > 0;
}

std::uint64_t resident_bytes(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/statm");
  std::uint64_t total = 0;
  std::uint64_t resident = 0;
  if (!(file >> total >> resident)) return 0;
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

Targets Host::workers() {
  if (!up_) return {};
  Targets targets = children_of(pid());
  std::erase_if(targets, [](const Target& target) { return !target.worker; });
  return targets;
}

bool Host::died() {
  if (!up_ || daemon_.process().running()) return false;
  up_ = false;
  const auto ended = daemon_.process().wait(milliseconds(0)).value_or(support::ExitStatus{});
  last_words_ = (ended.signal != 0 ? "signal " + std::to_string(ended.signal)
                                   : "exit code " + std::to_string(ended.code)) +
                "\n" + end_of(daemon_.process().err()) + end_of(daemon_.log());
  return true;
}

void Host::kill_daemon() {
  daemon_.process().kill9();
  up_ = false;
}

Targets Host::stand_still() {
  daemon_.process().signal(SIGSTOP);
  up_ = false;
  return children_of(pid());
}

Targets Host::kill() {
  Targets targets = stand_still();
  for (const Target& target : targets) target.signal(SIGKILL);
  daemon_.process().kill9();
  for (const Target& target : targets) (void)target.over(milliseconds(10'000));
  return targets;
}

Targets Host::stop_all() {
  Targets targets = stand_still();
  for (const Target& target : targets) target.signal(SIGSTOP);
  return targets;
}

void Host::resume(const Targets& stopped) {
  for (const Target& target : stopped) target.signal(SIGCONT);
  daemon_.process().signal(SIGCONT);
  up_ = true;
}

void Host::start() {
  daemon_.start();
  up_ = true;
}

}  // namespace allot::fault
