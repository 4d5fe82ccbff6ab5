// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace allot::model {

using Byte = std::uint8_t;

// One rule each, removed.
enum class Mutation : Byte {
  kNone,
  kNoRetryFence,
  kNoBuryFence,
  kNoReleaseFence,
  kNoRenewFence,
  kNoChargeFence,
  kNoClearFence,
  kNoSettleFence,
  kNoDetachFence,
  kEpochKept,
  kEpochCounted,
  kBlindRenewal,
  kNoDeadlineCheck,
  kTakeoverWithoutS4,
  kNoCarefulMode,
  kNoCrashCharge,
  kMarkedEarly,
  kSnoozeCharges,
  kEarlyAck,
  kSettleBeforeKill,
  kRingForgotten,
  kDetachWithoutAck,
  kNoRecovery,
  kNoSuspicion,
  kChargeLowers,
  kHistoryBlind,
};

// What is known not to hold, see README.md.
enum class Limit : Byte {
  kNone,
  kAnnounced,  // an attempt that was written and never started counts
};

enum class Poison : Byte { kNone, kProcess, kHost };

// What one exploration allows: how many faults of each kind a run may have, and which outcomes.
struct Scenario {
  const char* name = "";
  Byte tasks = 3;
  Byte submitted = 2;  // of these are there at the start; the others come at any time
  Byte max_attempts = 2;
  Byte crashes = 0;          // kill -9 of a worker or its settler, at any point
  Byte host_losses = 0;      // nobody settles; the host comes back at any later time
  Byte stalls = 0;           // a call is on its way for any time
  Byte losses = 0;           // its sender gives it up and sends it again; it may still be executed
  Byte clock_steps = 0;      // the database's clock jumps ahead by a TTL
  Byte clock_returns = 0;    // it jumps back by a long time
  Byte drifts = 0;           // a tick that one worker's clock does not see, or sees twice
  Byte hangs = 0;            // a handler never returns, and nobody kills its worker
  Byte failovers = 0;        // to a server that did not get the lease
  bool outcomes = false;     // the first task may also fail, retry, snooze, or be interrupted
  bool behind = false;       // the first task stands behind the second
  bool detach = false;       // the first task may leave the block
  bool time_stands = false;  // no lease expires: whatever runs twice is a broken promise
  bool ids = false;          // also follows public ids of tasks that moved
  Limit strict = Limit::kNone;    // one that is not excused
  Poison poison = Poison::kNone;  // the first task kills, always
  Mutation without = Mutation::kNone;
};

}  // namespace allot::model
