// SPDX-License-Identifier: Apache-2.0
// Rule: S5.
#include "supervisor/workers.h"

#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iterator>

#include "supervisor/log.h"

namespace allot::supervisor {
namespace {

constexpr Nanos kStagger = 5 * kMilli;
// An idle worker that dies within this time of Ready has, in effect, failed to start.
constexpr Nanos kSoonAfterReady = 1 * kSecond;

// A settler may take this many times the frozen limit.
constexpr Nanos kSettlerTerms = 3;

constexpr auto kStopping = static_cast<std::uint32_t>(ipc::WorkerState::kStopping);

Nanos milliseconds(std::uint32_t ms) {
  return Nanos{ms} * kMilli;
}

// An argument of a child; it outlives the spawn.
struct Number {
  explicit Number(long value) { std::snprintf(text, sizeof text, "%ld", value); }
  char text[24] = {};
};

// Indexed by ipc::Limit.
constexpr const char* kOver[] = {"task ran over its time limit", "task made no progress",
                                 "task did not end after a request to cancel it"};

}  // namespace

void Workers::adopt(const ipc::PreflightAnswer& answer, Checked checked) {
  // Pools are identified by name: in the new configuration their order may differ.
  for (Entry& entry : entries_) {
    const char* const name = answer_.pools[entry.pool].name;
    std::uint32_t& pool = entry.pool = 0;
    while (pool < answer.pool_count && std::strcmp(answer.pools[pool].name, name) != 0) ++pool;
  }
  for (std::uint32_t pool = 0; pool <= ipc::kMaxPools; ++pool) starts_well(pool);
  answer_ = answer;
  checked_ = std::move(checked);
  ++round_;
}

void Workers::starts_well(std::uint32_t pool) {
  start_backoff_[pool].reset();
  instance_.header().start_failures[pool].count = 0;
}

void Workers::pass(Handover& io) {
  io(answer_, checked_.program, checked_.config, round_, was_ready_, last_tick_, beat_since_);
  io(entries_, start_backoff_);
}

void Workers::move(std::uint32_t index, SlotEvent event) {
  SlotState& state = entries_[index].state;
  const SlotState next = next_state(state, event);
  if (next == kNo) {
    return log_event(kError, "slot.inconsistent", "slot=%u state=%d event=%d", index,
                     static_cast<int>(state), static_cast<int>(event));
  }
  state = next;
}

void Workers::tick(Nanos now, Nanos& wake_at) {
  // If this loop was suspended, so were all processes (a paused container): they get time to beat
  // again.
  const Nanos standstill = kTick + milliseconds(answer_.frozen_ms) / 2;
  if (last_tick_ != 0 && now - last_tick_ > standstill) beat_since_ = now;
  last_tick_ = now;
  for (std::uint32_t i = 0; i < ipc::kMaxSlots; ++i) {
    Entry& entry = entries_[i];
    note_ready(i, now);
    if (alive(entry.state)) judge(i, now, wake_at);
    if (entry.state != SlotState::kSettling) continue;
    if (entry.settler > 0) {
      // A settler has no heartbeat; a slot that waits for it forever is lost.
      if (now > entry.settler_spawned + kSettlerTerms * milliseconds(answer_.frozen_ms)) {
        kill(-entry.settler, SIGKILL);
      }
      continue;
    }
    if (entry.settle_backoff.due(now)) settle(i, now);
    if (entry.settler <= 0) wake_at = std::min(wake_at, entry.settle_backoff.not_before());
  }
  if (stopping_) return;
  for (std::uint32_t pool = 0; pool <= ipc::kMaxPools; ++pool) keep_pool(pool, now, wake_at);
  finish_reload();
}

// A reload is finished once the last worker of an earlier round has left, and is settled.
void Workers::finish_reload() {
  ipc::ReloadCounts& reloads = instance_.header().reloads;
  if (reloads.finished == reloads.adopted) return;
  for (const Entry& entry : entries_) {
    if (entry.state != SlotState::kVacant && entry.round != round_) return;
  }
  reloads.finished = reloads.adopted;
  log_event(kInfo, "reload.finished", "reload=%u", reloads.finished);
}

// The pool's size counts workers of this round. While older ones run, one new worker starts at a
// time, and for each that gets ready an old one leaves.
void Workers::keep_pool(std::uint32_t pool, Nanos now, Nanos& wake_at) {
  const int size = pool < answer_.pool_count ? static_cast<int>(answer_.pools[pool].size) : 0;
  int starting = 0;
  int ready = 0;
  int old = 0;
  for (const Entry& entry : entries_) {
    if (!serving(entry.state) || entry.pool != pool) continue;
    if (entry.round != round_) {
      ++old;
    } else {
      ++(entry.state == SlotState::kReady ? ready : starting);
    }
  }
  if (old > 0 && ready + old > size) retire_old(pool, ready + old - size);
  Backoff& backoff = start_backoff_[pool];
  while (starting + ready < size && (old == 0 || starting == 0)) {
    const Nanos start_at = std::max(next_start_, backoff.not_before());
    if (now < start_at) {
      wake_at = std::min(wake_at, start_at);
      return;
    }
    next_start_ = now + kStagger;
    if (!start_worker(pool, now)) return backoff.failed(now);
    ++starting;
  }
}

SpawnRequest Workers::request_for(std::initializer_list<const char*> words) const {
  SpawnRequest request;
  request.program_fd = checked_.program.get();
  request.config_fd = checked_.config.get();
  request.slot_fd = instance_.slot_fd();
  request.death_fd = death_.get();
  request.board_fd = instance_.board_fd();
  request.lock_fd = instance_.lock_fd();
  request.add(words);
  request.add_options(options_);
  return request;
}

bool Workers::start_worker(std::uint32_t pool, Nanos now) {
  std::uint32_t index = 0;
  while (index < ipc::kMaxSlots && entries_[index].state != SlotState::kVacant) ++index;
  if (index == ipc::kMaxSlots) {
    log_event(kWarn, "worker.no_slot", "slots=%u", ipc::kMaxSlots);
    return false;
  }
  if (!instance_.make_room(index)) return false;
  ipc::Slot& slot = instance_.slot(index);
  const std::uint64_t generation = slot.generation;
  std::memset(static_cast<void*>(&slot), 0, ipc::kPage);
  slot.generation = generation + 1;
  slot.index = index;
  slot.pool = pool;
  std::memcpy(slot.pool_name, answer_.pools[pool].name, sizeof slot.pool_name);
  const Number number(index);
  SpawnRequest request = request_for({"allot-worker", "--run", "--slot", number.text});
  request.notify_fd = notify_.get();
  request.dies_with_parent = true;
  const pid_t pid = start(request, index);
  if (pid < 0) return false;
  entries_[index] = {.pid = pid, .pool = pool, .round = round_, .spawned = now};
  move(index, SlotEvent::kSpawned);
  log_event(kInfo, "worker.start", "slot=%u pid=%d pool=%s", index, pid,
            Quoted(answer_.pools[pool].name).c_str());
  return true;
}

void Workers::retire_old(std::uint32_t pool, int most) {
  for (std::uint32_t i = 0; i < ipc::kMaxSlots && most > 0; ++i) {
    Entry& entry = entries_[i];
    if (!serving(entry.state) || entry.pool != pool || entry.round == round_) continue;
    // HUP, not TERM: its task must not see stop_requested, and may take its time.
    kill(entry.pid, SIGHUP);
    move(i, SlotEvent::kRetire);
    log_event(kInfo, "worker.retire", "slot=%u pid=%d", i, entry.pid);
    --most;
  }
}

void Workers::note_ready(std::uint32_t index, Nanos now) {
  Entry& entry = entries_[index];
  if (entry.state == SlotState::kReady && !entry.proven && now - entry.ready >= kSoonAfterReady) {
    entry.proven = true;
    starts_well(entry.pool);
  }
  if (entry.state != SlotState::kStarting || instance_.slot(index).first_job_done == 0) return;
  entry.ready = now;
  was_ready_ = was_ready_ || instance_.slot(index).first_job_done == ipc::kReady;
  move(index, SlotEvent::kReady);
  if (entry.reopen_due) kill(entry.pid, SIGUSR1);
  log_event(kInfo, "worker.ready", "slot=%u pid=%d start_ms=%llu", index, entry.pid,
            in_ms(now - entry.spawned));
}

// The slot has enough information to decide; a thread inside a sick process could not judge it.
void Workers::judge(std::uint32_t index, Nanos now, Nanos& wake_at) {
  Entry& entry = entries_[index];
  ipc::Slot& slot = instance_.slot(index);
  if (entry.state == SlotState::kKilled) return;
  const Nanos beat = std::max({slot.heartbeat_ns.load(), entry.spawned, beat_since_});
  slot.frozen = now > beat + milliseconds(answer_.frozen_ms) ? 1 : 0;
  if (slot.frozen != 0) return end(index, "frozen: no heartbeat");
  const Nanos boot = boot_ns();
  const auto over = [&](Nanos deadline) {
    if (deadline == 0) return false;
    if (boot < deadline) wake_at = std::min(wake_at, now + (deadline - boot));
    return boot >= deadline;
  };
  for (std::size_t i = 0; i < ipc::kMaxRunning; ++i) {
    if (!ipc::in_handler(slot.run_states[i].load())) continue;
    if (!over(std::atomic_ref(slot.runs[i].hard_deadline_ns).load())) continue;
    return end(index, kOver[std::min(slot.runs[i].limited_by, 2U)]);
  }
  // Also wakes up for a worker without a task, because one may start right before the deadline.
  if (slot.exclusive != 0 && over(slot.lease_deadline_ns.load()) && ipc::runs_under_lease(slot)) {
    end(index, "lease may be lost in an exclusive queue");
  }
}

void Workers::end(std::uint32_t index, const char* why) {
  Entry& entry = entries_[index];
  log_event(kWarn, "worker.kill", "slot=%u pid=%d reason=\"%s\"", index, entry.pid, why);
  kill(-entry.pid, SIGKILL);
  move(index, SlotEvent::kKill);
}

bool Workers::reaped(pid_t pid, int wait_status, Nanos now) {
  for (std::uint32_t i = 0; i < ipc::kMaxSlots; ++i) {
    if (entries_[i].pid == pid && alive(entries_[i].state)) {
      worker_died(i, wait_status, now);
      return true;
    }
    if (entries_[i].settler == pid) {
      settler_died(i, wait_status, now);
      return true;
    }
  }
  return false;
}

bool Workers::knows(pid_t pid) const {
  for (const Entry& entry : entries_) {
    if (entry.pid == pid || entry.settler == pid) return true;
  }
  return false;
}

void Workers::worker_died(std::uint32_t index, int wait_status, Nanos now) {
  Entry& entry = entries_[index];
  note_ready(index, now);  // it may have become ready unnoticed
  const bool dirty = ipc::needs_settling(instance_.slot(index));
  const std::size_t run = ipc::last_run(instance_.slot(index), ipc::at_work);
  const bool too_soon =
      entry.ready == 0 || (run == ipc::kMaxRunning && now - entry.ready < kSoonAfterReady);
  Backoff& backoff = start_backoff_[entry.pool];
  // A worker that has reached a limit of its pool shows this in its slot, and leaves in order.
  const bool done = wait_status == 0 && instance_.slot(index).state == kStopping;
  // Several deaths at once count as one failure.
  if (serving(entry.state) && too_soon && !done && backoff.due(now)) {
    backoff.failed(now);
    ipc::StartFailures& shown = instance_.header().start_failures[entry.pool];
    std::memcpy(shown.pool, instance_.slot(index).pool_name, sizeof shown.pool);
    ++shown.count;
    shown.wait_status = wait_status;
    log_event(kWarn, "worker.throttled", "pool=%s retry_in_ms=%llu",
              Quoted::of(instance_.slot(index).pool_name).c_str(), in_ms(backoff.delay()));
  }
  log_death(index, wait_status, run);
  instance_.slot(index).died_ns = boot_ns();
  entry.wait_status = wait_status;
  entry.pid = -1;
  move(index, dirty ? SlotEvent::kDiedDirty : SlotEvent::kDiedClean);
  if (dirty) settle(index, now);
}

void Workers::log_death(std::uint32_t index, int wait_status, std::size_t run) {
  const ipc::Slot& slot = instance_.slot(index);
  const bool killed = WIFSIGNALED(wait_status);
  const int code = killed ? WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
  char how[64];
  std::snprintf(how, sizeof how, "slot=%u pid=%d %s=%d", index, entries_[index].pid,
                killed ? "signal" : "exit", code);
  const bool left = !killed && code == 0;
  if (run == ipc::kMaxRunning) {
    return log_event(left ? kInfo : kWarn, left ? "worker.left" : "worker.died", "%s", how);
  }
  const ipc::RunRecord& task = slot.runs[run];
  log_event(kWarn, "worker.died",
            "%s task=%s task_type=%s attempt=%u queue=%s partition=%u prio=%u run_key=%llu", how,
            Quoted::of(task.task).c_str(), Quoted::of(task.type).c_str(), task.attempt,
            Quoted::of(task.queue_name).c_str(), task.partition_no, task.prio,
            static_cast<unsigned long long>(task.run_key));
}

void Workers::settle(std::uint32_t index, Nanos now) {
  Entry& entry = entries_[index];
  const Number number(index), status(entry.wait_status);
  entry.settler =
      start(request_for({"allot-worker", "--settle", number.text, "--status", status.text}), index);
  entry.settler_spawned = now;
  if (entry.settler < 0) entry.settle_backoff.failed(now);
}

pid_t Workers::start(const SpawnRequest& request, std::uint32_t index) {
  const pid_t pid = spawn(request);
  if (pid < 0) {
    log_event(kWarn, "worker.no_fork", "slot=%u error=\"%s\"", index, std::strerror(errno));
  }
  return pid;
}

void Workers::settler_died(std::uint32_t index, int wait_status, Nanos now) {
  Entry& entry = entries_[index];
  entry.settler = -1;
  if (WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0) {
    instance_.slot(index).state = static_cast<std::uint32_t>(ipc::WorkerState::kBlank);
    return move(index, SlotEvent::kSettled);
  }
  entry.settle_backoff.failed(now);
  log_event(kWarn, "worker.not_settled", "slot=%u retry_in_ms=%llu", index,
            in_ms(entry.settle_backoff.delay()));
}

// A worker that is not ready yet may have no thread that takes the signal, and would lose it.
void Workers::reopen_logs() {
  for (Entry& entry : entries_) {
    if (!alive(entry.state)) continue;
    entry.reopen_due = entry.ready == 0;
    if (!entry.reopen_due) kill(entry.pid, SIGUSR1);
  }
}

void Workers::stop_all() {
  stopping_ = true;
  for (std::uint32_t i = 0; i < ipc::kMaxSlots; ++i) {
    if (!alive(entries_[i].state)) continue;
    kill(entries_[i].pid, SIGTERM);
    move(i, SlotEvent::kStop);
  }
}

void Workers::kill_all(const char* why) {
  stopping_ = true;
  for (std::uint32_t i = 0; i < ipc::kMaxSlots; ++i) {
    if (alive(entries_[i].state) && entries_[i].state != SlotState::kKilled) end(i, why);
  }
}

void Workers::kill_settlers() {
  for (const Entry& entry : entries_) {
    if (entry.settler > 0) kill(-entry.settler, SIGKILL);
  }
}

bool Workers::all_vacant() const {
  return std::all_of(std::begin(entries_), std::end(entries_),
                     [](const Entry& entry) { return entry.state == SlotState::kVacant; });
}

Workers::Counts Workers::counts() const {
  Counts counts;
  for (std::uint32_t i = 0; i < ipc::kMaxSlots; ++i) {
    const SlotState state = entries_[i].state;
    counts.starting += state == SlotState::kStarting;
    counts.ready += state == SlotState::kReady;
    counts.settling += state == SlotState::kSettling;
    counts.leaving += alive(state) && !serving(state);
    counts.away += alive(state) && instance_.slot(i).database_unreachable.load() != 0;
  }
  return counts;
}

bool Workers::up() const {
  return was_ready_ || ipc::worker_count(answer_) == 0;
}

}  // namespace allot::supervisor
