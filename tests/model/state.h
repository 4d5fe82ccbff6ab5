// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>

// Everything that the lease protocol remembers, small enough to be compared and hashed as bytes:
// one partition, two workers on two hosts, three tasks. Epochs never repeat (S2), so a remembered
// epoch is one bit: is it still the row's? The same holds for keys and for what a watcher saw.
namespace allot::model {

using Byte = std::uint8_t;

inline constexpr int kWorkers = 2;
inline constexpr int kTasks = 3;
inline constexpr int kBlockSize = 2;

// Time in ticks. The holder's margin is one tick, which is also what a clock may drift in a run.
inline constexpr int kTtl = 3;
inline constexpr int kMargin = 1;
inline constexpr int kHalf = (kTtl + 1) / 2;
inline constexpr int kStale = kTtl + 1;

enum class Op : Byte {
  kNone,
  kLease,
  kTakeover,
  kRenew,
  kAck,
  kAckFetch,
  kAckRelease,
  kAnnounce,
  kRetry,
  kBury,
  kClearSuspects,
};

// One trip on its way to the server, which executes it as a whole. Masks have a bit per task.
struct Packet {
  Op op;
  Byte task;
  Byte attempt;
  Byte ring;       // what the acknowledgement names
  Byte current;    // its epoch is still the row's
  Byte keys;       // tasks whose key is known as it is
  Byte history;    // tasks known to have a first_key
  Byte unchanged;  // takeover: the row still is what was seen
  Byte stale;
  Byte since;   // ticks of the sender's clock since it was sent
  Byte former;  // sent by a life that is over
};

struct Reply {
  Byte matched;
  Byte block;     // fetched tasks
  Byte attempts;  // two bits for each of them
  Byte history;
  Byte suspects;  // as read with the lease
  Byte suspect_n;
};

enum class At : Byte {
  kIdle,
  kBlock,
  kAnnounced,  // its call has the task whose attempt is written
  kHandler,
  kCall,
  kLeave,
  kDead,
  kDown,
  kLost,
};

// A worker with its slot; once it is dead, the settler of its slot.
struct Worker {
  At at;
  Byte current;
  Byte block;  // tasks still to run
  Byte full;   // the last fetch filled the block
  Byte attempts;
  Byte keys;
  Byte history;
  Byte ring;
  Byte suspects;
  Byte suspect_n;  // 0: not careful
  Byte verdicts;
  Byte running;  // slot: task + 1
  Byte number;   // slot: its attempt
  Byte keeping;  // the keeper holds the lease
  Byte lost;
  Byte deadline;  // ticks of its clock until its lease is in doubt
  Byte watched;   // 0: nothing; else 1 + ticks since the row was first seen as it is
  Byte settle;    // steps of the settler done
  Packet call;
  Packet renewal;
  Packet orphan;  // given up by its sender, still on its way to the server
};

struct Task {
  enum State : Byte { kNotYet, kWaiting, kAcknowledged, kDead };
  Byte state;
  Byte attempt;
  Byte due;
  Byte moved;        // has a first_key
  Byte moved_row;    // has a row in task_moved
  Byte succeeded;    // a handler ended in success
  Byte failed;       // a handler ended in a failure that is final
  Byte started;      // its handler was started
  Byte announced;    // an attempt was announced before any start
  Byte kills;        // deaths inside its handler
};

struct State {
  Byte leased;
  Byte holder;  // 0 nobody, 1 and 2 the workers, 3 a life that is over
  Byte expires;  // ticks by the database's clock; 0: expired
  Byte age;      // ticks since it was taken or renewed, up to kTtl
  Byte suspects;
  Byte suspect_n;
  Byte order[kTasks];  // by run_key
  Task tasks[kTasks];
  Worker workers[kWorkers];
  // Faults so far.
  Byte crashes;
  Byte host_losses;
  Byte losses;
  Byte steps;
  Byte drifts;
  Byte given_up;  // a packet was given up by its sender and may still be executed
  Byte broken;    // Broken: an invariant failed
};
static_assert(std::has_unique_object_representations_v<State>);

enum class Broken : Byte {
  kNothing,
  kNotRun,             // acknowledged without a success
  kBuriedUnrun,        // buried, with fewer starts than attempts that nothing explains
  kStartedElsewhere,   // a task started while another worker's lease was valid, or without a lease
  kLateWrite,          // a worker whose lease is gone changed something
  kNobodysLease,       // leased, by nobody
  kHealthyTaken,       // a takeover of a lease that was renewed in time
  kAttemptLost,        // an attempt counter went down, or a settled crash was not charged
  kPoison,             // a task killed more often than its attempts allow
  kSettledHolds,       // the lease of a worker that was settled
  kIdLost,             // a task that moved cannot be found by its id
};

// One rule each, removed.
enum class Mutation : Byte {
  kNone,
  kNoRetryFence,
  kNoBuryFence,
  kNoReleaseFence,
  kEpochKept,
  kNoDeadlineCheck,
  kTakeoverWithoutS4,
  kNoCarefulMode,
  kNoCrashCharge,
  kEarlyAck,
  kSettleBeforeKill,
};

enum class Poison : Byte { kNone, kProcess, kHost };

// What one exploration allows.
struct Scenario {
  const char* name;
  Byte max_attempts;
  Byte crashes;      // kill -9 of a worker, at any point
  Byte host_losses;  // nobody settles; the host comes back at any later time
  Byte losses;       // a call is not executed, or executed and its reply lost, or executed later
  Byte clock_steps;  // the database's clock jumps ahead by a TTL
  Byte drifts;       // a tick that one worker's clock does not see, or sees twice
  Byte tasks;
  Byte retries;      // 1: the first task may also fail or ask for a retry
  Poison poison = Poison::kNone;  // the first task kills, always
  bool strict = false;            // also checks what is known to fail, see docs/model.md
  Mutation without = Mutation::kNone;
};

}  // namespace allot::model
