// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/names.h"

// The contract between the supervisor and its children: descriptor numbers and the slot record. A
// slot is one worker's record in a file that the supervisor creates (0640) and every child maps; a
// worker maps only its own slot writable (S23, S24). Only the worker that the slot was given to
// writes it; the supervisor reads it to judge, a settler reads it to heal (S9). A change of the
// layout needs a new kSlotVersion; a supervisor never runs over slots of another version (S25).
namespace allot::ipc {

// Descriptors that are open in a child after exec. A grandchild inherits none of them.
inline constexpr int kSlotFd = 3;    // the slot file
inline constexpr int kDeathFd = 4;   // death pipe, read end: EOF means that the supervisor is gone
inline constexpr int kNotifyFd = 5;  // eventfd, write 1: "look at my slot"
inline constexpr int kBoardFd = 6;   // the board file: doorbell and hints (board.h)
inline constexpr int kAnswerFd = 7;  // preflight answer (preflight.h), or readiness newline
inline constexpr int kLockFd = 8;    // the instance lock, held by every process of the instance
inline constexpr int kLockPidSize = 11;  // its first line: the pid of allotd; see peer/lock_mark.h
inline constexpr int kConfigFd = 9;      // the checked configuration; a config check writes it
inline constexpr int kLastFd = kConfigFd;

inline constexpr char kSlotMagic[8] = {'A', 'l', 'l', 'o', 't', 'S', 'l', 't'};
inline constexpr std::uint32_t kSlotVersion = 5;
inline constexpr std::size_t kPage = 4096;
inline constexpr std::uint32_t kMaxSlots = 514;  // with old and new slots of a reload
inline constexpr std::size_t kMaxRunning = 64;
inline constexpr std::size_t kMaxFinished = 1024;
inline constexpr std::size_t kQueueNameSize = kMaxQueueName + 1;  // with the final zero, also below
inline constexpr std::size_t kTypeSize = kMaxTypeName + 1;
inline constexpr std::size_t kProgressWordSize = 48;
inline constexpr std::uint8_t kNoProgress = 255;
inline constexpr std::size_t kTaskIdSize = 32;
inline constexpr std::size_t kMaxPools = 17;  // the last is the steward's

// Workers of a pool that ended before they were ready, or right afterwards, since a worker last
// proved itself. For people; the supervisor writes it and never reads it.
struct StartFailures {
  char pool[32];
  std::uint32_t count;
  std::int32_t wait_status;  // of the last one
};

// Reloads since the daemon started, numbered by their HUP from 1; 0: none. Each field has the
// number of the last reload that began its check, changed nothing, started its workers, or saw the
// last former worker leave. The supervisor writes them for people who wait; nothing else depends on
// them.
struct ReloadCounts {
  std::uint32_t begun, refused, adopted, finished;
};

// First page of the slot file.
struct SlotFileHeader {
  char magic[8];
  std::uint32_t version, slot_count;
  std::uint64_t slot_size;
  std::uint32_t supervisor_pid, reserved;
  std::uint64_t started_mono_ns;
  char instance[32];
  StartFailures start_failures[kMaxPools + 1];  // the last one has no name
  ReloadCounts reloads;
};
static_assert(sizeof(SlotFileHeader) <= kPage);

// State that the worker reports. The worker writes it; once it is dead, the supervisor does.
enum class WorkerState : std::uint32_t {
  kBlank = 0,   // unused since the slot was given out, or all settled
  kConnecting,  // no database connection
  kIdle,        // connected, no lease
  kLeasing,     // holds or is about to take a lease
  kRunning,     // inside a handler
  kStopping,    // asked to stop; acknowledging and releasing
};

// Readiness of a worker: set once, and it counts as started from then on. The steward runs no
// tasks, so its readiness does not make the daemon ready.
inline constexpr std::uint64_t kReady = 1, kReadyWithoutTasks = 2;

// Origin of a task's hard deadline: its time limit, the end of a promise of progress (B3), or a
// request to cancel it (B11).
enum class Limit : std::uint32_t { kTime, kProgress, kCancel };

// State of a run: a task at work, from the announcement of its attempt to its verdict. The worker
// writes the state before it acts, so that a reader of a dead worker's slot knows what to heal.
// process/run_state.h has the transitions.
enum class RunState : std::uint8_t {
  kFree = 0,          // the entry has no run
  kAnnounced,         // the attempt is written, or about to be; its handler has not begun (S7)
  kRunning,           // in its handler
  kReturned,          // out of its handler, without a verdict: never a reason to kill the worker
  kFinished,          // succeeded; about to be on the list of finished tasks
  kRefunding,         // its attempt is about to be taken back
  kRunningDetached,   // as above, for a task that left its partition to other workers (B12)
  kReturnedDetached,  // likewise
  kFinishedDetached,  // succeeded; about to be acknowledged where it is
  kRefundingDetached
};

inline constexpr bool in_handler(RunState state) {
  return state == RunState::kRunning || state == RunState::kRunningDetached;
}
// A death of the worker is charged to such a run.
inline constexpr bool at_work(RunState state) {
  return in_handler(state) || state == RunState::kReturned || state == RunState::kReturnedDetached;
}

// Facts about a run whose state is not kFree. Times are CLOCK_BOOTTIME ns; 0 means no deadline.
struct RunRecord {
  std::uint64_t run_key, first_key, started_ns, soft_deadline_ns;
  std::uint64_t hard_deadline_ns;             // progress moves it: read it with an atomic_ref
  std::uint32_t prio, attempt, max_attempts;  // attempt: its number, from 1
  std::uint32_t unique;                       // 1: it has a row in task_unique
  char type[kTypeSize];
  char task[kTaskIdSize];                // its public id
  std::uint32_t limited_by;              // Limit
  std::uint32_t queue_id, partition_no;  // where it waited; a detached task outlives that lease
  char queue_name[kQueueNameSize];
  // Progress report of the handler, for people. `progress` is kNoProgress while the word is
  // written.
  std::uint8_t progress;  // 0..100, or kNoProgress
  char progress_text[kProgressWordSize];
};

// A task that a handler finished and that the worker has not acknowledged yet. first_key is 0 for a
// first attempt, which has only the row of the task; unique as in RunRecord.
struct FinishedTask {
  std::uint64_t run_key, first_key, prio, unique;
};

// Every count and state is stored after the entry that it makes visible (release order). A reader
// therefore sees only whole entries, at whatever instruction the process died.
//
// NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): mapped over a file of zero bytes
struct Slot {
  // Page 0: identity and state.
  std::uint64_t generation;          // set by the supervisor; a worker that finds another one exits
  std::uint32_t index, pool;         // pool: its part of the board
  char pool_name[32];                // the pool that it serves
  std::atomic<std::uint32_t> state;  // WorkerState
  std::uint32_t pid;                 // for people; the supervisor trusts only its own table (S23)
  std::atomic<std::uint64_t> heartbeat_ns;  // CLOCK_MONOTONIC
  std::uint64_t holder_id;                  // q_lock_table.lock_by of this worker (S2)

  // Connections of the block loop, the lease keeper and the runners; 0 = none.
  std::atomic<std::uint64_t> connection_ids[2 + kMaxRunning];
  std::uint64_t connected_ns[2 + kMaxRunning];  // CLOCK_BOOTTIME when the id was written

  // The lease held or about to be taken (S9). lease_held is set before the statement is sent.
  std::atomic<std::uint32_t> lease_held;
  std::uint32_t queue_id, partition_no;
  std::uint32_t exclusive;                       // 1: kill a running task at lease_deadline_ns (S5)
  std::atomic<std::uint64_t> epoch;              // 0 while unknown
  std::atomic<std::uint64_t> lease_deadline_ns;  // CLOCK_BOOTTIME
  char queue_name[kQueueNameSize];

  // Server of each connection in connection_ids, as db::Connection::server_id(), and its uptime in
  // seconds, as queue::server_uptime().
  std::uint64_t server_ids[2 + kMaxRunning], server_uptimes[2 + kMaxRunning];

  // Counters since the worker started.
  std::atomic<std::uint64_t> tasks_done, tasks_retried, tasks_dead;
  std::atomic<std::uint64_t> tasks_deferred;  // no handler here knows their type (S65)
  std::atomic<std::uint64_t> leases_taken, takeovers, leases_lost;
  std::atomic<std::uint64_t> deadlocks, lock_waits;  // 1213 and 1205 seen by this worker
  std::uint64_t first_job_done;  // not 0 once Ready: later deaths are not start failures

  std::atomic<RunState> run_states[kMaxRunning];
  std::atomic<std::uint32_t> finished_count;
  std::atomic<std::uint32_t> database_unreachable;  // 1: the last call got no server or connection

  // config_mark, config_place: config::Files::mark() and place() of the configuration in use. The
  // supervisor sets the rest: time of death (CLOCK_BOOTTIME), and 1 if the worker was killed
  // because its heartbeat stopped.
  std::uint64_t config_mark, config_place, died_ns;
  std::uint32_t frozen;

  alignas(kPage) RunRecord runs[kMaxRunning];
  alignas(kPage) FinishedTask finished[kMaxFinished];
};
static_assert(sizeof(Slot) == 15 * kPage);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

// Offset of a slot, and so the size of a file with this many slots.
inline constexpr std::size_t slot_offset(std::uint32_t index) {
  return kPage + std::size_t{index} * sizeof(Slot);
}

// The last entry whose state fits; kMaxRunning if there is none.
inline std::size_t last_run(const Slot& slot, bool (*fits)(RunState)) {
  for (std::size_t entry = kMaxRunning; entry-- > 0;) {
    if (fits(slot.run_states[entry])) return entry;
  }
  return kMaxRunning;
}
// Whether a handler runs that has to end with the lease in an exclusive queue.
inline bool runs_under_lease(const Slot& slot) {
  return last_run(slot, [](RunState state) { return state == RunState::kRunning; }) != kMaxRunning;
}

// Whether a death of this worker leaves something to release, acknowledge or charge.
inline bool needs_settling(const Slot& slot) {
  return slot.lease_held.load(std::memory_order_acquire) != 0 ||
         slot.finished_count.load(std::memory_order_acquire) != 0 ||
         last_run(slot, [](RunState state) { return state != RunState::kFree; }) != kMaxRunning;
}

}  // namespace allot::ipc
