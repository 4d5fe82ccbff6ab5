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

// What may be on in a draw.
enum class Feature {
  kOrdered,      // a queue of that placement
  kLimited,      //
  kFair,         //
  kExclusive,    //
  kHistory,      // of one queue
  kOnDead,       //
  kOnStuck,      //
  kUnique,       // some tasks have a key that others have, too
  kExpiry,       // some are to begin soon or never
  kPriority,     // some are of another class
  kDelay,        // some are for later
  kRetryDelays,  // the pauses of a queue are a list
  kReplace,      // some put two others in their place
  kEffects,      // some write a row in the transaction that acknowledges them
  kCheckpoint,   //
  kSnooze,       // some ask for another run without an attempt
  kHold,         // some ask for another run in an hour, until somebody cancels them
  kCrash,        // some take their worker down, once or always
  kHang,         // some run until their time limit
  kLong,         // some take seconds
  kDetach,       // and leave their partition after a moment; else they never do
  kConcurrency,  // of the first host's pool
  kBatch,        // several tasks in a call
  kCompress,     //
  kTtls,         // each host has its own lease_ttl
  kSecondPool,   // of the second host
  kMaxTasks,     // workers leave after some
  kMaxAge,       //
  kMaxMemory,    //
  kSmallBlocks,  //
  kTwoFiles,     // the hosts' blocks and limits differ
};
inline constexpr std::size_t kFeatures = 31;
const char* name_of(Feature feature);

// How many tasks there are, and of what kind.
enum class Load {
  kMixed,  // as the features say
  // Many very short tasks, side by side, in two classes, and some of the second crash once: so
  // tasks that run with care come often behind others that end just then. No faults.
  kCrowd,
};

// What operators do.
enum class Act {
  kReload,      // HUP with a good file
  kReloadBad,   // HUP with one that has a mistake, which stays until a good one comes
  kEdit,        // such a file for `length`, and no HUP
  kResize,      // of a queue
  kMove,        // the tasks of a queue into another
  kPause,       // of a queue, for `length`
  kCancel,      // of three tasks that are there
  kCancelDone,  // the same with --as-done
  kRetryDead,   // of a queue, all
  kDiscard,     // of a queue, all dead
  kUpgrade,     // USR2
  kDrain,       // allot drain of a queue, beside the daemons
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
  unsigned max_running = 0;  // of a key; 0: any number
  bool exclusive = false;    // ordered and limited queues are, too
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

// How many tasks of the first queue start, until the submitters have ended.
struct RatePlan {
  unsigned per_second = 0;  // 0: any number
  unsigned burst = 1;
  bool operator==(const RatePlan&) const = default;
};

// What one short run of a swarm is: which features are on, what operators do, which faults come.
struct Draw {
  std::uint64_t seed = 0;
  Load load = Load::kMixed;
  bool binlog = false;    // the server has one, and syncs it at commit
  bool tls = false;       // between all programs and the proxies
  bool schedule = false;  // of each second, into a queue that no operator touches
  std::set<Feature> features{};
  std::vector<QueuePlan> queues{};  // the first is "default"
  std::vector<HostPlan> hosts{};
  unsigned max_attempts = 4;                  // of all queues
  std::chrono::milliseconds cancel_grace{0};  // of all queues
  std::chrono::milliseconds length{6'000};    // submissions, actions and faults
  std::uint64_t per_second = 50;              // tasks of each submitter
  unsigned keys = 4;                          // partition keys of a queue
  std::map<std::string, unsigned> verbs{};    // what tasks do (swarm_plugin.cc), with their weights
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
  // How many tasks a worker may start after one look at its lease.
  [[nodiscard]] unsigned at_once() const;
};

// Pure: the same seed gives the same draw on every machine.
Draw make_draw(std::uint64_t seed);
// A few lines for people.
std::string text_of(const Draw& draw);

}  // namespace allot::fault
