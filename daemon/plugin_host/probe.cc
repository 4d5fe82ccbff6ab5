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

#include "base/clock.h"
#include "base/error.h"
#include "base/posix.h"

namespace allot::plugin_host {
namespace {

// Writes the child's answer: numbers, and texts after their sizes.
class Writer {
 public:
  void number(std::uint32_t value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void text(const std::string& value) {
    number(static_cast<std::uint32_t>(value.size()));
    bytes_ += value;
  }
  void file(const PluginFile& file) {
    text(file.name);
    text(file.version);
    number(file.abi_version);
    number(static_cast<std::uint32_t>(file.types.size()));
    for (const std::string& type : file.types) text(type);
    number(file.types_by_config ? 1 : 0);
    number(file.refused ? 1 : 0);
    if (!file.refused) return;
    number(static_cast<std::uint32_t>(file.refused->refusal));
    text(file.refused->text);
  }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

// Reads the answer back; not complete() when the child was cut off.
class Reader {
 public:
  explicit Reader(const std::string& bytes) : bytes_(bytes) {}
  std::uint32_t number() {
    std::uint32_t value = 0;
    if (!take(sizeof value)) return 0;
    std::memcpy(&value, bytes_.data() + at_ - sizeof value, sizeof value);
    return value;
  }
  std::string text() {
    const std::uint32_t size = number();
    return take(size) ? bytes_.substr(at_ - size, size) : std::string();
  }
  void file(PluginFile& file) {
    file.name = text();
    file.version = text();
    file.abi_version = number();
    file.types.clear();
    for (std::uint32_t left = number(); left > 0 && complete_; --left) {
      file.types.push_back(text());
    }
    file.types_by_config = number() != 0;
    file.refused.reset();
    if (number() == 0) return;
    const std::uint32_t refusal = number();
    complete_ = complete_ && refusal <= static_cast<std::uint32_t>(kLastRefusal);
    file.refused = Finding{static_cast<Refusal>(refusal), text()};
  }
  [[nodiscard]] bool complete() const { return complete_; }

 private:
  bool take(std::size_t size) {
    complete_ = complete_ && bytes_.size() - at_ >= size;
    if (complete_) at_ += size;
    return complete_;
  }
  const std::string& bytes_;
  std::size_t at_ = 0;
  bool complete_ = true;
};

std::optional<Finding> try_init(const OpenedPlugin& opened) {
  std::vector<LoadedHandler> made;
  auto finding = make_handlers(opened, made);
  for (const LoadedHandler& handler : made) destroy(handler);
  return finding;
}

// The child: describes the plugin, and with `init` makes its handlers and describes it again.
[[noreturn]] void inspect(const std::string& path, const ProbeOptions& options, int answer) {
  dup2(STDERR_FILENO, STDOUT_FILENO);  // a plugin's output is not part of ours
  const auto say = [answer](const PluginFile& file) {
    Writer writer;
    writer.file(file);
    return write_all(answer, writer.bytes().data(), writer.bytes().size());
  };
  OpenedPlugin opened = open_and_describe(path, options.sections);
  bool said = say(opened.file);
  if (options.init && !opened.file.refused) {
    opened.file.refused = try_init(opened);
    said = said && say(opened.file);
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
  Probe(Probe&& other) noexcept
      : init_(other.init_),
        file_(std::move(other.file_)),
        answer_(std::move(other.answer_)),
        pid_(std::exchange(other.pid_, -1)) {}
  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;
  Probe& operator=(Probe&&) = delete;
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
    Reader reader(said_);
    PluginFile described;
    described.path = file_.path;
    reader.file(described);
    described_ = reader.complete();
    if (!described_) return false;
    file_ = described;
    if (!init_ || file_.refused) return true;
    reader.file(described);
    if (!reader.complete()) return false;
    file_ = described;
    return true;
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
  const Nanos deadline = boot_ns() + static_cast<Nanos>(options.patience.count()) * kMilli;
  std::vector<Probe> probes;
  probes.reserve(paths.size());
  for (const std::string& path : paths) probes.emplace_back(path, options);
  std::vector<PluginFile> files;
  for (Probe& one : probes) files.push_back(one.finish(deadline));
  return files;
}

}  // namespace allot::plugin_host
