// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace allot::model {

using Byte = std::uint8_t;

// Rules that a scenario may remove, one at a time.
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
  kTakeoverByOwnTtl,
  kLookStamp,
  kNoCarefulMode,
  kCarefulForAll,
  kCrashClears,
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
  kNoRefund,
  kHistoryBlind,
  kPageNamesNothing,
  kPageOld,
  kPageOfOtherServer,
};

// Known limits of the protocol, see README.md.
enum class Limit : Byte {
  kNone,
  kAnnounced,  // an attempt that was recorded and never started counts
};

enum class Poison : Byte { kNone, kProcess, kHost };

// Limits of one exploration: faults of each kind per run, and possible outcomes.
struct Scenario {
  const char* name = "";
  Byte tasks = 3;
  Byte submitted = 2;  // these exist at the start; the others come at any time
  Byte max_attempts = 2;
  Byte crashes = 0;               // kill -9 of a worker or its settler, at any point
  Byte host_losses = 0;           // without a settler; the host comes back at any later time
  Byte stalls = 0;                // a call is in transit for any time
  Byte losses = 0;                // its sender gives up a call and repeats it; it may still run
  Byte clock_steps = 0;           // the database's clock jumps ahead by a TTL
  Byte clock_returns = 0;         // it jumps back by a long time
  Byte drifts = 0;                // a tick that one worker's clock misses, or counts twice
  Byte hangs = 0;                 // a handler never returns, and its worker is not killed
  Byte failovers = 0;             // to a server without the lease
  Byte blind_stewards = 0;        // one is gone, or observes another server
  bool outcomes = false;          // the first task may also fail, retry, snooze, or be interrupted
  bool behind = false;            // the first task comes after the second
  bool detach = false;            // the first task may leave the block
  bool time_stands = false;       // leases do not expire: a task that runs twice breaks a promise
  bool stewards = false;          // watch for the workers of their hosts
  bool ids = false;               // also follows public ids of moved tasks
  Limit strict = Limit::kNone;    // a limit that is not excused
  Poison poison = Poison::kNone;  // the first task always kills
  Mutation without = Mutation::kNone;
};

}  // namespace allot::model
