// SPDX-License-Identifier: Apache-2.0
// Rule: S21.
#include "process/pulse.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <optional>

#include "base/clock.h"
#include "base/exit_codes.h"
#include "base/posix.h"
#include "log/log.h"
#include "process/stop_request.h"
#include "thread/deaf_thread.h"

namespace allot::process {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kFastestTick{20};
// The pulse is the main cost of hundreds of idle workers.
constexpr milliseconds kSlowestTick{5'000};
constexpr milliseconds kOrphanTick{1'000};

UniqueFd reopen_signals() {
  sigset_t mask;
  sigemptyset(&mask);
  sigaddset(&mask, SIGUSR1);
  return UniqueFd(signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK));
}

}  // namespace

Pulse::Pulse(SlotWriter& slot, int death_fd, const config::Daemon& daemon)
    : slot_(slot),
      death_fd_(death_fd),
      tick_(std::clamp(config::frozen_limit(daemon) / 4, kFastestTick, kSlowestTick)),
      patience_(daemon.stop_timeout),
      stop_(eventfd(0, EFD_CLOEXEC)),
      reopen_(reopen_signals()) {
  thread_ = deaf_thread([this] { run(); });
}

Pulse::~Pulse() {
  const std::uint64_t one = 1;
  write_all(stop_.get(), &one, sizeof one);
}

void Pulse::run() {
  std::optional<Nanos> orphaned_at;
  for (;;) {
    pollfd watched[] = {
        {stop_.get(), POLLIN, 0}, {reopen_.get(), POLLIN, 0}, {death_fd_, POLLIN, 0}};
    const nfds_t count = death_fd_ >= 0 && !orphaned_at ? 3 : 2;
    poll(watched, count, poll_ms(orphaned_at.has_value()));
    if (watched[0].revents != 0) return;
    if (slot_.guarded()) slot_.beat();
    log::tell_dropped();
    if (watched[1].revents != 0) reopen_log_if_asked();
    if (count == 3 && watched[2].revents != 0) {
      orphaned_at = mono_ns();
      ask(Asked::kStop);
      log::warn("worker.orphaned", {{"reason", "the supervisor is gone"}});
    }
    if (orphaned_at) end_with_lease();
    if (orphaned_at && mono_ns() - *orphaned_at > in_nanos(patience_)) {
      log::error("worker.orphan_timeout", {{"reason", "a handler did not stop in time"}});
      _exit(kExitFailure);
    }
  }
}

// Time until the next beat, or until the lease of an orphan is uncertain.
int Pulse::poll_ms(bool orphaned) const {
  if (!orphaned) return static_cast<int>(tick_.count());
  const milliseconds tick = std::min(tick_, kOrphanTick);
  const Nanos deadline = slot_.exclusive_deadline_ns();
  if (deadline == 0) return static_cast<int>(tick.count());
  const Nanos now = boot_ns();
  const Nanos left = deadline > now ? deadline - now : 0;
  return static_cast<int>(std::min(left / kMilli, static_cast<Nanos>(tick.count())));
}

// Kills as the supervisor does, including all that the handler has started in the worker's group.
void Pulse::end_with_lease() const {
  const Nanos deadline = slot_.exclusive_deadline_ns();
  if (deadline == 0 || boot_ns() < deadline) return;
  log::error("worker.orphan_lease", {{"reason", "lease may be lost in an exclusive queue"}});
  if (getpgrp() == getpid()) kill(0, SIGKILL);
  kill(getpid(), SIGKILL);
}

void Pulse::reopen_log_if_asked() {
  signalfd_siginfo info{};
  bool asked = false;
  while (read(reopen_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) asked = true;
  if (!asked) return;
  if (log::reopen()) return log::info("log.reopened");
  log::warn("log.not_reopened",
            {{"reason", "the file cannot be opened; writing to the moved file instead"}});
}

}  // namespace allot::process
