// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>

#include "model/scenario.h"

// Everything that the lease protocol remembers, small enough to be compared and hashed as bytes:
// one partition, two workers on two hosts, three tasks. Epochs never repeat (S2), so a remembered
// epoch is one bit: is it still the row's? The same applies to keys and to the values seen by a
// watcher.
namespace allot::model {

inline constexpr int kWorkers = 2;
inline constexpr int kTasks = 3;
inline constexpr int kBlockSize = 2;

// Time in ticks. The holder's margin is one tick, which is also the maximum drift of a clock in a
// run.
inline constexpr int kTtl = 3;
inline constexpr int kMargin = 1;
inline constexpr int kHalf = (kTtl + 1) / 2;
inline constexpr int kStale = kTtl + 1;
inline constexpr int kShortTtl = 1;  // for a watcher with shorter leases than the observed
inline constexpr int kNever = 99;

enum class Op : Byte {
  kNone,
  kLease,
  kTakeover,
  kRenew,
  kAck,
  kAckFetch,
  kAckRelease,
  kMarkSuspects,
  kDetach,
  kRecover,
  kFetch,  // the end of the packet of a lease that is committed
  // The following operations name a task.
  kReturn,
  kAnnounce,
  kRefund,
  kRetry,
  kSnooze,
  kBury,
};

// The partition's row of q_lock_table, and the row of task_running that the first task gets when it
// is detached.
enum Which : Byte { kPartition, kOwn };
inline constexpr int kLeases = 2;

// Holder of a lease: 0 none, 1 and 2 the workers, 3 a former run.
inline constexpr Byte kFormer = 3;

struct Lease {
  Byte held;
  Byte holder;
  Byte expires;  // ticks by the database's clock; 0: expired
  Byte age;      // ticks since it was taken or renewed, up to kTtl
};

// Relation of a remembered epoch to the row's.
enum Current : Byte {
  kGone,
  kCurrent,
  kNext,  // the row's plus one, from a commit that a failover lost
};

// One trip in transit to the server, which executes it as a whole. Masks have a bit per task.
struct Packet {
  Op op;
  Byte task;
  Byte attempt;
  Byte ring;       // tasks in the acknowledgement
  Byte lease;      // Which: the named row
  Byte current;    // Current: named epoch
  Byte keys;       // tasks whose present key is known
  Byte history;    // tasks with a known first_key
  Byte unchanged;  // takeover, recover: the row is as it was seen
  Byte stale;      // takeover, recover: for longer than a TTL; refund: it was never started;
                   // fetch: its lease came with suspects
  Byte since;      // ticks of the sender's clock since sending
  Byte former;     // sent by a former run
};

struct Reply {
  Byte matched;
  Byte block;     // fetched tasks
  Byte attempts;  // two bits for each of them
  Byte history;
  Byte marked;
  Byte suspects;  // the lease came with some
};

enum class At : Byte {
  kIdle,
  kBlock,
  kAnnounced,  // its call has the task whose attempt is recorded
  kHandler,
  kRecovered,  // has another worker's detached task, to be charged
  kVerdict,    // in careful mode: owes an acknowledgement
  kCall,
  kLeave,
  kReleased,  // and a renewal is still unanswered
  kDead,
  kLost,
};

// State of the steward of the worker's host, as observer for the worker.
enum class Steward : Byte {
  kNone,       // the worker observes by itself
  kLooks,      // the worker uses its page
  kGone,       // its page is outdated
  kElsewhere,  // its page describes another server, without these leases
};

// A worker with its slot; after its death, the settler of its slot.
struct Worker {
  At at;
  Byte lease;    // Which: the lease that it has, or assumes to have
  Byte current;  // Current
  Byte block;    // tasks still to run
  Byte full;     // the last fetch filled the block
  Byte attempts;
  Byte keys;
  Byte history;
  Byte ring;
  Byte suspects;   // its lease came with some, still unmarked
  Byte marked;     // suspects of its block: their attempts are recorded before they run
  Byte running;    // slot: task + 1
  Byte number;     // slot: attempt number
  Byte announced;  // that attempt was recorded before it began; for a dead worker: and did not
                   // begin
  Byte hung;       // its handler exceeds its time and does not return
  Byte keeping;    // the keeper holds the lease
  Byte lost;
  Byte detaching;         // the keeper requested it, still unanswered
  Byte deadline;          // ticks of its clock until its lease is doubtful
  Byte watched[kLeases];  // ticks of its clock for which it saw the row unchanged
  Steward steward;
  Byte page[kLeases];  // ticks for which its steward saw the row unchanged
  Byte looking;        // kLookStamp: ticks of its clock since it sent a poll, plus one; 0: none
  Byte settle;         // steps of the settler done
  Packet call;
  Packet renewal;  // the keeper's call
  Packet orphan;   // given up by its sender, still in transit to the server
};

struct Task {
  enum State : Byte { kNotYet, kWaiting, kDetached, kAcknowledged, kDead };
  Byte state;
  Byte attempt;
  Byte due;
  Byte moved;      // has a first_key
  Byte moved_row;  // has a row in task_moved
  Byte marked;     // suspect: its attempts are recorded before they run
  // The real events, whether the database knows them or not.
  Byte succeeded;  // a handler ended in success
  Byte failed;     // a handler ended in a failure that is final
  Byte starts;     // of its handler, minus those taken back by a snooze, up to kMostStarts
  Byte announced;  // attempts recorded before a start that never came
  Byte kills;      // deaths inside its handler
};
inline constexpr int kMostStarts = 3;

struct State {
  Lease leases[kLeases];
  Byte suspects;       // of the partition's row: the first kBlockSize of them must be marked
  Byte order[kTasks];  // by run_key
  Task tasks[kTasks];
  Worker workers[kWorkers];
  // Faults so far.
  Byte crashes;
  Byte host_losses;
  Byte stalls;
  Byte losses;
  Byte steps;
  Byte returns;
  Byte drifts;
  Byte hangs;
  Byte failovers;
  Byte blind_stewards;
  Byte allowed;  // verdicts that may still be awaited with care since a host was lost
  Byte broken;   // Broken: an invariant failed
};
static_assert(std::has_unique_object_representations_v<State>);

enum class Broken : Byte {
  kNothing,
  kNotRun,            // acknowledged without a success
  kBuriedUnrun,       // buried, although neither failed for good nor out of attempts
  kStartedElsewhere,  // a task started while another worker's lease was valid, or without a lease
  kLateWrite,         // a worker without its lease changed something
  kNobodysLease,      // leased without a holder
  kHealthyTaken,      // a takeover of a lease that was renewed in time
  kEpochRepeated,     // an epoch was repeated that is still remembered
  kAttemptLost,       // an attempt counter went down, or a settled crash was not charged
  kChargedUnrun,      // more attempts were charged than were started
  kRanTwice,          // a finished task ran again without a fault that explains it
  kPoison,            // a task killed more often than its attempts allow
  kSettledHolds,      // the lease of a worker that was settled
  kIdLost,            // a moved task cannot be found by its id
  kCarefulTooLong,    // more tasks ran with care than the lost holder may have run
};

}  // namespace allot::model
