// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fault/schedule.h"

namespace allot::fault {

// Features that may be enabled in a draw.
enum class Feature {
  kOrdered,      // a queue of that placement
  kLimited,      //
  kFair,         //
  kExclusive,    //
  kHistory,      // for one queue
  kOnDead,       //
  kOnStuck,      //
  kUnique,       // some tasks share a key
  kExpiry,       // some have to start soon or expire
  kPriority,     // some are of another class
  kDelay,        // some are delayed
  kRetryDelays,  // a queue has a list of retry delays
  kReplace,      // some replace themselves by two others
  kEffects,      // some write a row in the transaction that acknowledges them
  kCheckpoint,   //
  kSnooze,       // some request another run without an attempt
  kHold,         // some request another run in an hour, until they are cancelled
  kCrash,        // some kill their worker, once or always
  kHang,         // some run until their time limit
  kLong,         // some take seconds
  kDetach,       // these leave their partition after a moment; otherwise they never do
  kConcurrency,  // of the first host's pool
  kBatch,        // several tasks in a call
  kCompress,     //
  kTtls,         // each host has a different lease_ttl
  kSecondPool,   // of the second host
  kMaxTasks,     // workers exit after some tasks
  kMaxAge,       //
  kMaxMemory,    //
  kSmallBlocks,  //
  kTwoFiles,     // the hosts' blocks and limits differ
};
inline constexpr std::size_t kFeatures = 31;
const char* name_of(Feature feature);

// Number and kind of the tasks.
enum class Load {
  kMixed,  // determined by the features
  // Many very short concurrent tasks in two classes; some of the second class crash once, so that
  // suspects often come right after tasks that are just ending. No faults.
  kCrowd,
};

// Actions of operators.
enum class Act {
  kReload,      // HUP with a good file
  kReloadBad,   // HUP with an invalid file, which stays until a good one comes
  kEdit,        // an invalid file for `length`, without HUP
  kResize,      // of a queue
  kMove,        // the tasks of a queue to another one
  kPause,       // of a queue, for `length`
  kCancel,      // three existing tasks
  kCancelDone,  // the same with --as-done
  kRetryDead,   // all of a queue
  kDiscard,     // all dead tasks of a queue
  kUpgrade,     // USR2
  kDrain,       // allot drain of a queue, next to the daemons
  kRoute,       // a type of the first queue goes to another one for `length`; see Draw::routes
};
inline constexpr std::size_t kActs = 12;  // without kRoute
const char* name_of(Act act);

struct Action {
  std::chrono::milliseconds at{0};
  Act act = Act::kReload;
  std::uint64_t pick = 0;
  std::chrono::milliseconds length{0};
  bool operator==(const Action&) const = default;
};

using Keys = std::vector<std::pair<std::string, std::string>>;  // of a section, as in the file

struct QueuePlan {
  std::string name;
  std::string placement = "spread";
  unsigned max_running = 0;  // per key; 0: unlimited
  bool exclusive = false;    // ordered and limited queues are exclusive, too
  bool history = false;
  bool on_dead = false;
  Keys keys{};
  bool operator==(const QueuePlan&) const = default;
};

struct PoolPlan {
  std::string name;
  unsigned size = 2;
  std::vector<std::string> queues{};  // empty: all
  Keys keys{};
  bool operator==(const PoolPlan&) const = default;
};

struct HostPlan {
  std::chrono::milliseconds ttl{2'000};
  std::vector<PoolPlan> pools{};
  Keys queue_keys{};  // of all its queues
  bool operator==(const HostPlan&) const = default;
};

// Start rate of the first queue, until the submitters have ended.
struct RatePlan {
  unsigned per_second = 0;  // 0: unlimited
  unsigned burst = 1;
  bool operator==(const RatePlan&) const = default;
};

// One short run of a swarm: enabled features, actions of operators, faults.
struct Draw {
  std::uint64_t seed = 0;
  Load load = Load::kMixed;
  bool binlog = false;    // the server has one, and syncs it at commit
  bool tls = false;       // between all programs and the proxies
  bool schedule = false;  // every second, in a queue that operators do not touch
  std::set<Feature> features{};
  std::vector<QueuePlan> queues{};  // the first is "default"
  std::vector<HostPlan> hosts{};
  unsigned max_attempts = 4;                  // of all queues
  std::chrono::milliseconds cancel_grace{0};  // of all queues
  std::chrono::milliseconds length{6'000};    // submissions, actions and faults
  std::uint64_t per_second = 50;              // tasks of each submitter
  unsigned keys = 4;                          // partition keys of a queue
  std::map<std::string, unsigned> verbs{};    // verbs (swarm_plugin.cc) with weights
  std::vector<Action> actions{};
  std::vector<Action> routes{};  // kRoute, of kRoutedType into the queue kAside
  RatePlan rate{};
  Weights faults{};
  std::vector<Event> events{};
  bool operator==(const Draw&) const = default;

  [[nodiscard]] bool has(Feature feature) const { return features.count(feature) != 0; }
  [[nodiscard]] bool does(Act act) const;
  [[nodiscard]] bool suffers(Kind kind) const {
    return faults[static_cast<std::size_t>(kind)] != 0;
  }
  [[nodiscard]] bool faultless() const { return faults == Weights{}; }
  [[nodiscard]] std::chrono::milliseconds longest_ttl() const;
  [[nodiscard]] std::chrono::milliseconds longest_block() const;  // block_seconds
  // Number of tasks that a worker may start after one check of its lease.
  [[nodiscard]] unsigned at_once() const;
};

// Pure: the same seed gives the same draw on every machine.
Draw make_draw(std::uint64_t seed);
// A few lines for people.
std::string text_of(const Draw& draw);

}  // namespace allot::fault
