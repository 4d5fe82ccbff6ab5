// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/names.h"

// Layout of the file with one slot's counts. A change of it needs a new kVersion: a worker starts a
// new file if the version differs, and readers skip it.
namespace allot::meter {

inline constexpr char kMagic[8] = {'A', 'l', 'l', 'o', 't', 'M', 't', 'r'};
inline constexpr std::uint32_t kVersion = 6;
inline constexpr std::size_t kPairs = 512;      // of queue and type, for each slot
inline constexpr std::size_t kQueueRests = 64;  // queues whose further types are counted together
inline constexpr std::size_t kPlaces = kPairs + kQueueRests + 1;  // one is always free
inline constexpr std::size_t kQueueSize = kMaxQueueName + 1;      // with the final zero, also below
inline constexpr std::size_t kTypeSize = kMaxTypeName + 1;
inline constexpr std::size_t kErrors = 32;  // groups of errors, for each slot
inline constexpr std::size_t kGroupSize = 32;
inline constexpr std::size_t kSampleSize = 112;
inline constexpr const char* kOther = "other";

// Result of an attempt, and other events that are counted by queue and type.
enum class Count : std::uint8_t {
  kDone,         // its handler succeeded, or it counts as done by request
  kRetried,      // another attempt follows
  kSnoozed,      // it runs again later, and nothing is charged: a snooze or a release
  kInterrupted,  // it runs again, and nothing is charged: its worker stopped, or lost its lease
  kDead,         // no further attempt follows
  kCancelled,    // dead by request
  kVerdicts,     // number of verdicts; the rest is counted with a verdict or without one
  kCrashed = kVerdicts,  // its worker or host died with it
  kDetached,             // it ran long and left its partition
  kDeferred,             // put back: no handler here knows its type
  kCounts
};

// Counts of a worker that have no queue.
enum class Event : std::uint8_t {
  kStarts,     // of workers
  kSettled,    // deaths of workers that left something to heal
  kLeases,     // taken
  kTakeovers,  // leases that another holder let expire
  kLost,       // leases
  kRecovered,  // detached tasks that another holder let expire
  kDeadlocks,  // error 1213
  kLockWaits,  // error 1205
  kEvents
};

// Upper bounds of both histograms, in milliseconds; one more bucket is above the last.
inline constexpr std::array<std::uint64_t, 19> kBucketsMs{
    1,     2,     5,      10,     20,     50,      100,     200,       500,       1'000,
    2'000, 5'000, 10'000, 30'000, 60'000, 300'000, 900'000, 3'600'000, 14'400'000};
inline constexpr std::size_t kBuckets = kBucketsMs.size() + 1;

using Counter = std::atomic<std::uint64_t>;
static_assert(Counter::is_always_lock_free);

// NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): mapped over a file of zero bytes
struct Pair {
  char queue[kQueueSize];
  char type[kTypeSize];
  Counter counts[static_cast<std::size_t>(Count::kCounts)];
  Counter buckets[kBuckets];  // of runtimes
  Counter waits[kBuckets];    // from the time that a task was due until its handler was called
  Counter ran_us;             // sum of the values in `buckets`
  Counter elapsed_ms;         // from the time that its tasks were first due to their end
};

// Failed attempts with similar errors. They are counted in the pair of their queue and type,
// too. NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): mapped over a file of zero bytes
struct Failures {
  char queue[kQueueSize];
  char type[kTypeSize];
  char group[kGroupSize];
  char sample[kSampleSize];
  Counter retried;
  Counter dead;
};

// Run of allotd that the counts belong to, as the slot file says it.
struct SupervisorRun {
  std::uint64_t started_ns = 0;
  std::uint64_t pid = 0;
  bool operator==(const SupervisorRun&) const = default;
};

// Head of each file in `meters`.
// NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): mapped over a file of zero bytes
struct Head {
  char magic[8];
  std::uint32_t version;
  std::uint32_t size;
  SupervisorRun run;
};

// NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): mapped over a file of zero bytes
struct Record {
  Head head;
  Counter events[static_cast<std::size_t>(Event::kEvents)];
  // For the pair at the same place; 0: it has no name yet. It is stored after the name, so that a
  // reader finds only whole names, whenever the worker died.
  Counter hashes[kPlaces];
  // The first kPairs have their own names; kQueueRests have the type kOther, for the other types of
  // one queue. The last one has everything for which there was no place.
  Pair pairs[kPlaces + 1];
  Counter error_hashes[kErrors];  // as hashes, in order of arrival of the groups
  Failures errors[kErrors + 1];   // as pairs
};

}  // namespace allot::meter
