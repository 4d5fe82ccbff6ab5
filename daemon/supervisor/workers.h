// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include "base/clock.h"
#include "base/unique_fd.h"
#include "ipc/preflight.h"
#include "supervisor/backoff.h"
#include "supervisor/handover.h"
#include "supervisor/instance.h"
#include "supervisor/preflight.h"
#include "supervisor/slot_machine.h"
#include "supervisor/spawn.h"

namespace allot::supervisor {

inline constexpr Nanos kTick = 500 * kMilli;  // longest time between two checks of the slots

// All workers and settlers, for the supervisor: keeps every pool at its size, judges workers by
// their slots, heals deaths. Times are CLOCK_MONOTONIC unless noted.
class Workers {
 public:
  // The descriptors are passed to children.
  Workers(Instance& instance, const Options& options, const UniqueFd& death, const UniqueFd& notify)
      : instance_(instance), options_(options), death_(death), notify_(notify) {}

  // Takes new sizes and limits, and the program and configuration for later children. It replaces
  // workers of earlier calls one by one.
  void adopt(const ipc::PreflightAnswer& answer, Checked checked);

  // Starts, retires and settles what is due, and lowers `wake_at` to the time of the next call.
  void tick(Nanos now, Nanos& wake_at);
  // A child with the program and configuration in force, and with all descriptors except notify_fd
  // and answer_fd.
  [[nodiscard]] SpawnRequest request_for(std::initializer_list<const char*> words) const;
  [[nodiscard]] int config_fd() const { return checked_.config.get(); }
  // A child is gone. False: it was not one of these.
  bool reaped(pid_t pid, int wait_status, Nanos now);

  [[nodiscard]] bool knows(pid_t pid) const;
  void pass(Handover& io);

  void reopen_logs();  // USR1: the log file was moved
  void stop_all();     // TERM: finish and leave
  void kill_all(const char* why);
  void kill_settlers();
  [[nodiscard]] bool all_vacant() const;
  struct Counts {
    int starting = 0, ready = 0, leaving = 0, settling = 0, away = 0;  // away: no database
    bool operator==(const Counts&) const = default;
  };
  [[nodiscard]] Counts counts() const;
  // True once a worker that runs tasks was ready, or if none has to start.
  [[nodiscard]] bool up() const;

 private:
  struct Entry {
    SlotState state = SlotState::kVacant;
    // The worker, and while Settling its settler, private to the supervisor (S23).
    pid_t pid = -1, settler = -1;
    std::uint32_t pool = 0;   // index in answer_; the first free one: no pool
    std::uint64_t round = 0;  // the adopt() that it was started under
    Nanos spawned = 0, ready = 0, settler_spawned = 0;
    bool proven = false, reopen_due = false;  // proven: survived the time after Ready
    int wait_status = 0;
    Backoff settle_backoff{100 * kMilli, 5 * kSecond};
  };

  void move(std::uint32_t index, SlotEvent event);
  void keep_pool(std::uint32_t pool, Nanos now, Nanos& wake_at);
  // For slot `index`. -1: the reason was logged.
  pid_t start(const SpawnRequest& request, std::uint32_t index);
  bool start_worker(std::uint32_t pool, Nanos now);
  void retire_old(std::uint32_t pool, int most);
  void finish_reload();
  void note_ready(std::uint32_t index, Nanos now);
  void judge(std::uint32_t index, Nanos now, Nanos& wake_at);
  void end(std::uint32_t index, const char* why);
  void worker_died(std::uint32_t index, int wait_status, Nanos now);
  void starts_well(std::uint32_t pool);
  void log_death(std::uint32_t index, int wait_status, std::size_t run);
  void settle(std::uint32_t index, Nanos now);
  void settler_died(std::uint32_t index, int wait_status, Nanos now);

  Instance& instance_;
  const Options& options_;
  const UniqueFd &death_, &notify_;
  ipc::PreflightAnswer answer_{};
  Checked checked_;
  std::uint64_t round_ = 0;
  bool stopping_ = false, was_ready_ = false;
  // Starts are staggered; heartbeats count as at least as recent as beat_since_.
  Nanos next_start_ = 0, last_tick_ = 0, beat_since_ = 0;
  Entry entries_[ipc::kMaxSlots];
  // Only deaths before the first Ready throttle; a death inside a handler is the task's fault
  // (S10).
  Backoff start_backoff_[ipc::kMaxPools + 1];
};

}  // namespace allot::supervisor
