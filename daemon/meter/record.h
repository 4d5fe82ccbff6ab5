// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/names.h"

// The layout of the file that one slot's counts are in. A change of it needs a new kVersion: a
// worker begins a file of another one anew, and readers pass over it.
namespace allot::meter {

inline constexpr char kMagic[8] = {'A', 'l', 'l', 'o', 't', 'M', 't', 'r'};
inline constexpr std::uint32_t kVersion = 6;
inline constexpr std::size_t kPairs = 512;      // of queue and type, for each slot
inline constexpr std::size_t kQueueRests = 64;  // queues whose further types are counted together
inline constexpr std::size_t kPlaces = kPairs + kQueueRests + 1;  // one is always free
inline constexpr std::size_t kQueueSize = kMaxQueueName + 1;      // with its end, as the next one
inline constexpr std::size_t kTypeSize = kMaxTypeName + 1;
inline constexpr std::size_t kErrors = 32;  // groups of errors, for each slot
inline constexpr std::size_t kGroupSize = 32;
inline constexpr std::size_t kLookSize = 112;
inline constexpr const char* kOther = "other";

// What became of a task at the end of an attempt, and what else is counted by queue and type.
enum class Count : std::uint8_t {
  kDone,         // its handler succeeded, or it counts as done because somebody asked for its end
  kRetried,      // another attempt follows
  kSnoozed,      // it runs again later, and nothing is charged: a snooze or a release
  kInterrupted,  // it runs again, and nothing is charged: its worker stopped, or lost its lease
  kDead,         // no further attempt follows
  kCancelled,    // dead, because somebody asked for it
  kVerdicts,     // so many of them; what follows comes beside a verdict, or without one
  kCrashed = kVerdicts,  // its worker, or that one's host, died with it
  kDetached,             // it ran long and left its partition
  kDeferred,             // put back: no handler here knows its type
  kCounts
};

// What a worker counts that has no queue.
enum class Event : std::uint8_t {
  kStarts,     // of workers
  kSettled,    // deaths of workers that left something to heal
  kLeases,     // taken
  kTakeovers,  // leases that another holder let stand
  kLost,       // leases
  kRecovered,  // detached tasks that another holder let stand
  kDeadlocks,  // error 1213
  kLockWaits,  // error 1205
  kEvents
};

// Upper bounds of both histograms, in milliseconds; above the last there is one more bucket.
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
  Counter ran_us;             // the sum of what is in `buckets`
  Counter elapsed_ms;         // from when its tasks were due first to their end
};

// Failed attempts whose errors look alike; they are counted in the pair of their queue and type,
// too. NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): mapped over a file of zero bytes
struct Failures {
  char queue[kQueueSize];
  char type[kTypeSize];
  char group[kGroupSize];
  char look[kLookSize];
  Counter retried;
  Counter dead;
};

// Which life of allotd the counts are of, as the slot file says it.
struct Life {
  std::uint64_t started_ns = 0;
  std::uint64_t pid = 0;
  bool operator==(const Life&) const = default;
};

// What stands first in each file of `meters`.
// NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): mapped over a file of zero bytes
struct Head {
  char magic[8];
  std::uint32_t version;
  std::uint32_t size;
  Life life;
};

// NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): mapped over a file of zero bytes
struct Record {
  Head head;
  Counter events[static_cast<std::size_t>(Event::kEvents)];
  // Of the pair of the same place; 0: it has no name yet. It is stored after the name, so that
  // whoever finds it finds a whole name, whenever the worker died.
  Counter hashes[kPlaces];
  // Of these kPairs are named as they are, and kQueueRests have the type kOther: the other types of
  // one queue. The last one has all for which there was no place.
  Pair pairs[kPlaces + 1];
  Counter error_hashes[kErrors];  // as hashes, in the order in which the groups came
  Failures errors[kErrors + 1];   // as pairs
};

}  // namespace allot::meter
