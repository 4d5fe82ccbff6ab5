// SPDX-License-Identifier: Apache-2.0
// Rule: S21.
#include "process/stop_request.h"

#include <poll.h>
#include <sys/eventfd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>

#include "base/posix.h"
#include "peer/doorbell.h"

namespace allot::process {
namespace {

std::atomic<int> g_asked{0};
std::atomic<int> g_wake_fd{-1};
std::atomic<ipc::Bell*> g_bell{nullptr};

void on_signal(int number) {
  const int kept = errno;
  ask(number == SIGHUP ? Asked::kRetire : Asked::kStop);
  errno = kept;
}

}  // namespace

void install_stop_signals(ipc::Bell& bell) {
  g_bell = &bell;
  g_wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  struct sigaction action {};
  action.sa_handler = on_signal;
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) sigaction(number, &action, nullptr);
  action.sa_handler = SIG_IGN;
  for (const int number : {SIGPIPE, SIGUSR1, SIGUSR2}) sigaction(number, &action, nullptr);
  // Blocked here and in all later threads, so that it does not interrupt a handler: the pulse
  // thread takes it. All other signals are unblocked: the supervisor starts a worker with its
  // signals blocked, and pending ones arrive now.
  sigset_t reopen;
  sigemptyset(&reopen);
  sigaddset(&reopen, SIGUSR1);
  pthread_sigmask(SIG_SETMASK, &reopen, nullptr);
}

Asked asked() {
  return static_cast<Asked>(g_asked.load());
}

void ask(Asked what) {
  int before = g_asked.load();
  while (before < static_cast<int>(what) &&
         !g_asked.compare_exchange_weak(before, static_cast<int>(what))) {
  }
  const std::uint64_t one = 1;
  write_all(g_wake_fd.load(), &one, sizeof one);
  // The bell grows before the main thread can sleep on it, so the thread does not sleep through a
  // signal between its last check of the flag and the futex call.
  if (ipc::Bell* bell = g_bell.load()) peer::wake(*bell, INT32_MAX);
}

bool wait_asked(std::chrono::milliseconds timeout) {
  pollfd wake{g_wake_fd.load(), POLLIN, 0};
  if (!leaving()) poll(&wake, 1, static_cast<int>(timeout.count()));
  return leaving();
}

}  // namespace allot::process
