// SPDX-License-Identifier: Apache-2.0
#include "support/scripted_worker/worker.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <sstream>

#include "base/clock.h"
#include "base/posix.h"
#include "ipc/slot.h"

namespace allot::scripted {
namespace {

constexpr unsigned kLongestLife = 300;  // seconds: processes of a failed test end by themselves

// Waits for its end in another process. `own_session`: like a daemon started by a handler.
[[noreturn]] void linger(bool own_session, bool with_child) {
  if (own_session) setsid();
  for (int fd = ipc::kSlotFd; fd <= ipc::kLastFd; ++fd) close(fd);
  if (with_child && fork() == 0) setsid();
  alarm(kLongestLife);
  for (;;) pause();
}

class Worker {
 public:
  Worker(const Folder& folder, std::uint32_t index)
      : folder_(folder),
        index_(std::to_string(index)),
        slot_(*static_cast<ipc::Slot*>(
            map_shared(ipc::kSlotFd, ipc::slot_offset(index), sizeof(ipc::Slot), true))) {
    sigset_t mask;
    sigemptyset(&mask);
    for (const int number : {SIGTERM, SIGHUP}) sigaddset(&mask, number);
    sigprocmask(SIG_SETMASK, &mask, nullptr);
    sigaddset(&mask, SIGUSR1);  // blocked once ready; until then the signal kills it
    signals_.reset(signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK));
  }

  int run() {
    slot_.pid = static_cast<std::uint32_t>(getpid());
    tell("run");
    if (const int code = folder_.number("run_exit", -1); code >= 0) return code;
    folder_.pass_gate("run_gate");
    become_ready();
    if (folder_.number("ready_lease", 0) != 0) slot_.lease_held = 1;
    if (folder_.number("ready_done", 0) != 0) {
      slot_.state = static_cast<std::uint32_t>(ipc::WorkerState::kStopping);
    }
    if (const int code = folder_.number("ready_exit", -1); code >= 0) return code;
    alarm(kLongestLife);
    for (;;) {
      slot_.heartbeat_ns = mono_ns();
      take_signals();
      if (late_task_ns_ != 0 && boot_ns() >= late_task_ns_) start_task(0);
      if (leaving_ && slot_.run_states[0] == ipc::RunState::kFree) return leave();
      if (const std::string command = folder_.take_command(index_); !command.empty()) {
        obey(command);
      }
    }
  }

 private:
  void tell(const std::string& what) const {
    folder_.tell(what + " slot=" + index_ + " pid=" + std::to_string(getpid()));
  }

  void look() const {
    const std::uint64_t one = 1;
    write_all(ipc::kNotifyFd, &one, sizeof one);
  }

  void become_ready() {
    sigset_t reopen;
    sigemptyset(&reopen);
    sigaddset(&reopen, SIGUSR1);
    sigprocmask(SIG_BLOCK, &reopen, nullptr);
    slot_.heartbeat_ns = mono_ns();
    slot_.state = static_cast<std::uint32_t>(ipc::WorkerState::kIdle);
    slot_.first_job_done = 1;
    tell("ready");
    look();
  }

  int leave() {
    slot_.lease_held = 0;
    tell("leave");
    return 0;
  }

  void take_signals() {
    pollfd watched[] = {{signals_.get(), POLLIN, 0}, {ipc::kDeathFd, POLLIN, 0}};
    poll(watched, deaf_ ? 0 : 2, 10);
    if (deaf_) return;
    if (watched[1].revents != 0) {
      tell("orphaned");
      stop_task();
    }
    signalfd_siginfo info{};
    while (read(signals_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
      if (info.ssi_signo == SIGUSR1) {
        tell("usr1");
        continue;
      }
      tell(info.ssi_signo == SIGHUP ? "hup" : "term");
      leaving_ = true;
      if (info.ssi_signo == SIGTERM) stop_task();
    }
  }

  void stop_task() {
    leaving_ = true;
    slot_.run_states[0] = ipc::RunState::kFree;
  }

  void start_task(Nanos hard_deadline, ipc::Limit by = ipc::Limit::kTime) {
    ipc::RunRecord& task = slot_.runs[0];
    task.run_key = 4711;
    task.prio = 5;
    task.attempt = 2;
    task.hard_deadline_ns = hard_deadline;
    task.limited_by = static_cast<std::uint32_t>(by);
    std::snprintf(task.type, sizeof task.type, "demo.type");
    std::snprintf(task.task, sizeof task.task, "0840dqg2v5n80r00");
    std::snprintf(task.queue_name, sizeof task.queue_name, "mail");
    task.partition_no = 17;
    slot_.lease_held = 1;
    slot_.state = static_cast<std::uint32_t>(ipc::WorkerState::kRunning);
    slot_.run_states[0] = ipc::RunState::kRunning;
  }

  void start_process(const std::string& kind) {
    const pid_t pid = fork();
    if (pid == 0) linger(kind != "child", kind == "family");
    folder_.tell(kind + " pid=" + std::to_string(pid));
  }

  // A child in the worker's group whose parent is gone.
  void start_orphan() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return;
    const pid_t between = fork();
    if (between == 0) {
      const pid_t pid = fork();
      if (pid == 0) linger(false, false);
      write_all(ends[1], &pid, sizeof pid);
      _exit(0);
    }
    waitpid(between, nullptr, 0);
    pid_t pid = 0;
    read_exact(ends[0], &pid, sizeof pid);
    close(ends[0]);
    close(ends[1]);
    folder_.tell("orphan pid=" + std::to_string(pid));
  }

  void obey(const std::string& command) {
    std::istringstream words(command);
    std::string verb;
    int number = 0;
    words >> verb >> number;
    if (verb == "task") start_task(0);
    if (verb == "task_over_limit") start_task(boot_ns());
    if (verb == "task_without_progress") start_task(boot_ns(), ipc::Limit::kProgress);
    if (verb == "task_cancelled") start_task(boot_ns(), ipc::Limit::kCancel);
    if (verb == "task_in_doubt") {
      slot_.exclusive = static_cast<std::uint32_t>(number);
      slot_.lease_deadline_ns = boot_ns();
      start_task(0);
    }
    if (verb == "lease_with_late_task") {  // between two polls of the supervisor
      slot_.exclusive = 1;
      slot_.lease_deadline_ns = boot_ns() + 150 * kMilli;
      late_task_ns_ = boot_ns() + 100 * kMilli;
    }
    if (verb == "odd_task") {
      start_task(0);
      std::snprintf(slot_.runs[0].type, sizeof slot_.runs[0].type, "a \"b\"\nERROR c");
    }
    if (verb == "away") slot_.database_unreachable = static_cast<std::uint32_t>(number);
    if (verb == "finish") slot_.run_states[0] = ipc::RunState::kFree;
    if (verb == "finished") slot_.finished_count = 1;
    if (verb == "deaf") deaf_ = true;
    if (verb == "child" || verb == "session" || verb == "family") start_process(verb);
    if (verb == "orphan") start_orphan();
    tell("did " + verb);
    look();
    if (verb == "exit") _exit(number);
    if (verb == "signal") kill(getpid(), number);
  }

  const Folder& folder_;
  const std::string index_;
  ipc::Slot& slot_;
  UniqueFd signals_;
  bool leaving_ = false;
  bool deaf_ = false;
  Nanos late_task_ns_ = 0;
};

}  // namespace

int run_worker(const Folder& folder, std::uint32_t index) {
  return Worker(folder, index).run();
}

}  // namespace allot::scripted
