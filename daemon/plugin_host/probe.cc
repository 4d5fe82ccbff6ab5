// SPDX-License-Identifier: Apache-2.0
#include "plugin_host/probe.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <deque>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/clock.h"
#include "base/error.h"
#include "base/posix.h"

namespace allot::plugin_host {
namespace {

// Sends a description to the parent: its size, and MessagePack, which takes any byte in a text.
bool send(int answer, const PluginFile& file) {
  using nlohmann::json;
  const auto refused = file.refused
                           ? json{static_cast<unsigned>(file.refused->refusal), file.refused->text}
                           : json();
  const auto bytes = json::to_msgpack(
      {file.name, file.version, file.abi_version, file.types, file.types_by_config, refused});
  const std::size_t size = bytes.size();
  return write_all(answer, &size, sizeof size) && write_all(answer, bytes.data(), size);
}

// Reads the next description, and removes it from `said`. False: the child was cut off.
bool receive(std::string_view& said, PluginFile& file) {
  std::size_t size = 0;
  if (said.size() < sizeof size) return false;
  std::memcpy(&size, said.data(), sizeof size);
  said.remove_prefix(sizeof size);
  if (said.size() < size) return false;
  try {
    const auto answer = nlohmann::json::from_msgpack(said.substr(0, size));
    PluginFile read;
    read.path = file.path;
    answer.at(0).get_to(read.name);
    answer.at(1).get_to(read.version);
    answer.at(2).get_to(read.abi_version);
    answer.at(3).get_to(read.types);
    answer.at(4).get_to(read.types_by_config);
    const auto& refused = answer.at(5);
    if (!refused.is_null()) {
      read.refused = Finding{refused.at(0), refused.at(1)};
      if (read.refused->refusal > kLastRefusal) return false;
    }
    file = std::move(read);
  } catch (const nlohmann::json::exception&) {
    return false;
  }
  said.remove_prefix(size);
  return true;
}

std::optional<Finding> try_init(const OpenedPlugin& opened) {
  std::vector<LoadedHandler> made;
  auto finding = make_handlers(opened, made);
  for (const LoadedHandler& handler : made) destroy(handler);
  return finding;
}

// The child: describes the plugin, and with `init` makes its handlers and describes it again.
[[noreturn]] void inspect(const std::string& path, const ProbeOptions& options, int answer) {
  dup2(STDERR_FILENO, STDOUT_FILENO);  // a plugin's output is not part of ours
  OpenedPlugin opened = open_and_describe(path, options.sections);
  bool said = send(answer, opened.file);
  if (options.init && !opened.file.refused) {
    opened.file.refused = try_init(opened);
    said = said && send(answer, opened.file);
  }
  _exit(said ? kExitOk : kExitFailure);
}

// The child that opens one plugin (S30). It ends with this object.
class Probe {
 public:
  Probe(const std::string& path, const ProbeOptions& options) : init_(options.init) {
    file_.path = path;
    int ends[2] = {-1, -1};
    const pid_t parent = getpid();
    if (pipe2(ends, O_CLOEXEC) == 0) pid_ = fork();
    answer_.reset(ends[0]);
    UniqueFd write_end(ends[1]);
    if (pid_ < 0) {
      throw Error(std::string("cannot start a process to check the plugins: ") +
                  std::strerror(errno));
    }
    if (pid_ == 0) {
      setpgid(0, 0);  // processes that the plugin starts end with it
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (getppid() != parent) _exit(kExitFailure);
      inspect(path, options, write_end.get());
    }
    setpgid(pid_, pid_);
  }
  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;
  ~Probe() { (void)end(); }

  // Returns what is known at the deadline, or as soon as the child has answered or is gone. An
  // answer that is there already counts after the deadline, too: another plugin may have used up
  // the time.
  PluginFile finish(Nanos deadline) {
    bool gone = false;
    bool late = false;
    while (!understand() && !gone && !late) {
      gone = is_gone();
      late = boot_ns() >= deadline;
      // The parent watches both: a process that the plugin started may keep the pipe open, and the
      // plugin may close it itself.
      pollfd ready = {answer_.get(), POLLIN, 0};
      if (poll(&ready, 1, gone || late ? 0 : 10) > 0) read_on();
    }
    const bool complete = understand();
    const auto status = end();
    if (!complete) file_.refused = gone ? crashed(status) : hung();
    return file_;
  }

 private:
  // True when the answer is complete.
  bool understand() {
    std::string_view said = said_;
    described_ = receive(said, file_);
    return described_ && (!init_ || file_.refused || receive(said, file_));
  }

  void read_on() {
    std::array<char, 65536> buffer{};
    const ssize_t got = ::read(answer_.get(), buffer.data(), buffer.size());
    if (got > 0) said_.append(buffer.data(), static_cast<std::size_t>(got));
    if (got == 0) answer_.reset();  // poll ignores it from now on
  }

  // The child has ended but is not reaped, so no other process has its number.
  [[nodiscard]] bool is_gone() const {
    siginfo_t info = {};
    return waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
           info.si_pid == pid_;
  }

  // Kills what is left of the child; returns its wait status, if it left one.
  std::optional<int> end() {
    if (pid_ <= 0) return std::nullopt;
    kill(-pid_, SIGKILL);
    int status = 0;
    pid_t reaped = 0;
    do {
      reaped = waitpid(pid_, &status, 0);
    } while (reaped < 0 && errno == EINTR);
    pid_ = -1;
    if (reaped < 0) return std::nullopt;  // SIGCHLD is ignored
    return status;
  }

  [[nodiscard]] std::string when() const {
    return described_ ? " while its handlers were created" : " while it was opened";
  }
  [[nodiscard]] Finding hung() const {
    return {Refusal::kHangs,
            "it did not finish in time" + when() + "; move slow or waiting work to run"};
  }
  [[nodiscard]] Finding crashed(std::optional<int> status) const {
    std::string how = "it ended the process";
    if (status && WIFSIGNALED(*status)) {
      how = std::string("it died of '") + strsignal(WTERMSIG(*status)) + "'";
    } else if (status) {
      how += " with exit code " + std::to_string(WEXITSTATUS(*status));
    }
    return {Refusal::kCrashes, how + when() +
                                   "; 'gdb --args allot-worker --plugin-check FILE' with 'set "
                                   "follow-fork-mode child' shows where"};
  }

  bool init_;
  PluginFile file_;
  UniqueFd answer_;
  pid_t pid_ = -1;
  std::string said_;
  bool described_ = false;
};

}  // namespace

std::vector<PluginFile> probe(const std::vector<std::string>& paths, const ProbeOptions& options) {
  const Nanos deadline = boot_ns() + in_nanos(options.patience);
  std::deque<Probe> probes;
  for (const std::string& path : paths) probes.emplace_back(path, options);
  std::vector<PluginFile> files;
  for (Probe& one : probes) files.push_back(one.finish(deadline));
  return files;
}

}  // namespace allot::plugin_host
