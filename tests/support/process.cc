// SPDX-License-Identifier: Apache-2.0
#include "support/process.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <system_error>

#include "base/unique_fd.h"
#include "support/eventually.h"

namespace allot::support {
namespace {

constexpr int kFirstSpare = 200;  // above all numbers that tests assign in a child

std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  const char* path = std::getenv("PATH");
  // Servers are in sbin, which is missing in an ordinary user's PATH.
  std::istringstream folders(std::string(path == nullptr ? "" : path) +
                             ":/usr/local/sbin:/usr/sbin:/sbin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string candidate = folder + "/" + name;
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  throw std::system_error(ENOENT, std::generic_category(), name);
}

// Variables of this process, without those that `own` sets.
std::vector<std::string> merged(const std::vector<std::string>& own) {
  std::vector<std::string> all = own;
  for (char** at = environ; *at != nullptr; ++at) {
    const std::string_view variable = *at;
    const std::string_view name = variable.substr(0, variable.find('=') + 1);
    const bool replaced = std::any_of(
        own.begin(), own.end(), [name](const std::string& mine) { return mine.starts_with(name); });
    if (!replaced) all.emplace_back(variable);
  }
  return all;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> result;
  result.reserve(words.size() + 1);
  for (std::string& word : words) result.push_back(word.data());
  result.push_back(nullptr);
  return result;
}

// Everything that the child needs, prepared before fork: after it only async-signal-safe calls are
// allowed, because a test may have threads.
struct Plan {
  const char* program;
  char* const* argv;
  char* const* envp;
  const char* directory;
  const std::pair<int, int>* descriptors;
  std::size_t descriptor_count;
  int streams[3];
  pid_t parent;
};

bool place_descriptors(const Plan& plan) {
  // First moved away, then into place: descriptors here may have numbers that the child assigns to
  // others.
  int spare[32];
  if (plan.descriptor_count > sizeof spare / sizeof spare[0]) return false;
  for (std::size_t i = 0; i < plan.descriptor_count; ++i) {
    spare[i] = ::fcntl(plan.descriptors[i].first, F_DUPFD_CLOEXEC, kFirstSpare);
    if (spare[i] < 0) return false;
  }
  if (::syscall(SYS_close_range, 3, kFirstSpare - 1, 0) != 0) return false;
  for (std::size_t i = 0; i < plan.descriptor_count; ++i) {
    if (::dup2(spare[i], plan.descriptors[i].second) < 0) return false;
  }
  return ::syscall(SYS_close_range, kFirstSpare, ~0U, CLOSE_RANGE_CLOEXEC) == 0;
}

[[noreturn]] void become(const Plan& plan, int error_pipe) {
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  // The pipe that reports a failed exec must survive the clearing of descriptors below.
  const int report = ::fcntl(error_pipe, F_DUPFD_CLOEXEC, kFirstSpare);
  bool ok = ::prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && ::getppid() == plan.parent;
  for (int i = 0; i < 3; ++i) ok = ok && ::dup2(plan.streams[i], i) >= 0;
  ok = ok && place_descriptors(plan);
  ok = ok && (*plan.directory == '\0' || ::chdir(plan.directory) == 0);
  if (ok) ::execve(plan.program, plan.argv, plan.envp);
  const int error = errno;
  [[maybe_unused]] const ssize_t written = ::write(report, &error, sizeof error);
  ::_exit(127);
}

UniqueFd open_or_throw(const std::string& path, int flags) {
  UniqueFd fd(::open(path.c_str(), flags | O_CLOEXEC, 0600));
  if (!fd.valid()) throw std::system_error(errno, std::generic_category(), path);
  return fd;
}

ExitStatus status_of(int raw) {
  if (WIFSIGNALED(raw)) return {-1, WTERMSIG(raw)};
  return {WEXITSTATUS(raw), 0};
}

}  // namespace

Process::Process(std::vector<std::string> command, const ProcessOptions& options) {
  const std::string program = find_program(command.at(0));
  std::vector<std::string> environment = merged(options.environment);
  const std::vector<char*> argv = pointers(command);
  const std::vector<char*> envp = pointers(environment);
  const int made = O_WRONLY | O_CREAT | O_APPEND;
  const UniqueFd in = open_or_throw(files_.write("in", options.input), O_RDONLY);
  const UniqueFd out = open_or_throw(files_ / "out", made);
  const UniqueFd err = open_or_throw(files_ / "err", made);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    throw std::system_error(errno, std::generic_category(), "pipe");
  const UniqueFd report(ends[0]);
  UniqueFd report_in(ends[1]);
  const Plan plan{program.c_str(),
                  argv.data(),
                  envp.data(),
                  options.directory.c_str(),
                  options.descriptors.data(),
                  options.descriptors.size(),
                  {in.get(), out.get(), err.get()},
                  ::getpid()};
  pid_ = ::fork();
  if (pid_ == 0) become(plan, report_in.get());
  if (pid_ < 0) throw std::system_error(errno, std::generic_category(), "fork");
  report_in.reset();
  int error = 0;
  if (::read(report.get(), &error, sizeof error) > 0) {
    wait();
    throw std::system_error(error, std::generic_category(), "exec " + program);
  }
}

Process::~Process() {
  kill9();
}

bool Process::running() {
  if (ended_) return false;
  int raw = 0;
  if (::waitpid(pid_, &raw, WNOHANG) == 0) return true;
  ended_ = status_of(raw);
  return false;
}

void Process::signal(int number) {
  if (running()) ::kill(pid_, number);
}

std::optional<ExitStatus> Process::wait(std::chrono::milliseconds deadline) {
  if (!eventually([this] { return !running(); }, deadline)) return std::nullopt;
  return ended_;
}

void Process::kill9() {
  if (ended_) return;
  ::kill(pid_, SIGKILL);
  int raw = 0;
  while (::waitpid(pid_, &raw, 0) < 0 && errno == EINTR) {
  }
  ended_ = status_of(raw);
}

Finished run_program(std::vector<std::string> command, const ProcessOptions& options,
                     std::chrono::milliseconds deadline) {
  const std::string name = command.at(0);
  Process process(std::move(command), options);
  const auto status = process.wait(deadline);
  if (!status) {
    throw std::runtime_error(name + " is still running at its deadline\n" + process.out() +
                             process.err());
  }
  return {*status, process.out(), process.err()};
}

int send_signal(pid_t pid, int number) {
  if (pid <= 0) throw std::invalid_argument("no process has the number " + std::to_string(pid));
  return ::kill(pid, number);
}

// A process whose first thread has ended is a zombie, but its parent can reap it only after its
// other threads have ended.
bool gone(pid_t pid) {
  const std::string stat = read_file("/proc/" + std::to_string(pid) + "/stat");
  const std::size_t name_end = stat.rfind(") ");  // the name may contain any character
  if (name_end == std::string::npos) return true;
  std::istringstream fields(stat.substr(name_end + 2));
  const std::vector<std::string> values{std::istream_iterator<std::string>(fields), {}};
  const std::string& state = values.at(0);  // the third field of proc(5)
  const std::string& threads = values.at(17);
  return state == "X" || (state == "Z" && (threads == "1" || threads == "0"));
}

bool alive(pid_t pid) {
  return send_signal(pid, 0) == 0;
}

bool none_alive(const std::vector<pid_t>& pids) {
  return std::none_of(pids.begin(), pids.end(), alive);
}

}  // namespace allot::support
