// SPDX-License-Identifier: Apache-2.0
#include "fault/schedule.h"

#include <array>
#include <numeric>

#include "fault/dice.h"

namespace allot::fault {
namespace {

using std::chrono::milliseconds;

constexpr std::array kTroubles{Trouble::kDelay,     Trouble::kCut,      Trouble::kBlackHole,
                               Trouble::kLoseReply, Trouble::kHalfOpen, Trouble::kOrphan};

Kind choose(Dice& dice, const Weights& weights) {
  const std::uint64_t sum = std::accumulate(weights.begin(), weights.end(), std::uint64_t{0});
  std::uint64_t left = dice.below(sum);
  std::size_t kind = 0;
  while (left >= weights.at(kind)) left -= weights.at(kind++);
  return static_cast<Kind>(kind);
}

// Some are over before a lease of 2 s can expire, some are not.
milliseconds length_of(Dice& dice, const Event& event) {
  switch (event.kind) {
    case Kind::kKillWorker:
    case Kind::kKillConnection:
    case Kind::kDeadlock:
      return milliseconds(0);
    case Kind::kKillDaemon:
    case Kind::kKillDatabase:
      return dice.between(0, 500);
    case Kind::kKillHost:
      return dice.between(0, 4'000);
    case Kind::kStopHost:
      return dice.between(1'500, 5'000);
    case Kind::kHoldLease:
    case Kind::kHoldTask:
      // A quarter lasts longer than a statement waits for a lock: 1205.
      return dice.below(4) == 0 ? milliseconds(5'500) : dice.between(50, 3'500);
    case Kind::kStopWorker:
    case Kind::kReadOnly:
    case Kind::kChangeSchema:
    case Kind::kFillDisk:
    case Kind::kClockStep:
    case Kind::kFillRuntime:
      return dice.between(50, 3'500);
    case Kind::kWorkerTrouble:
    case Kind::kSubmitTrouble:
      return event.trouble == Trouble::kLoseReply ? milliseconds(2'000) : dice.between(50, 3'500);
  }
  return milliseconds(0);
}

}  // namespace

const char* name_of(Kind kind) {
  constexpr std::array<const char*, kKinds> kNames{
      "kill_worker",     "stop_worker", "kill_daemon", "kill_host",     "stop_host",
      "kill_database",   "read_only",   "hold_lease",  "hold_task",     "deadlock",
      "kill_connection", "worker",      "submit",      "change_schema", "fill_disk",
      "clock_step",      "fill_runtime"};
  return kNames.at(static_cast<std::size_t>(kind));
}

std::string name_of(const Event& event) {
  const std::string name = name_of(event.kind);
  const bool trouble = event.kind == Kind::kWorkerTrouble || event.kind == Kind::kSubmitTrouble;
  return trouble ? name + "_" + name_of(event.trouble) : name;
}

std::vector<Event> make_schedule(std::uint64_t seed, milliseconds length, milliseconds mean_pause,
                                 const Weights& weights) {
  Dice dice(seed);
  std::vector<Event> events;
  if (weights == Weights{}) return events;
  const auto longest = static_cast<std::uint64_t>(2 * mean_pause.count());
  for (milliseconds at = dice.between(1, longest); at < length; at += dice.between(1, longest)) {
    Event event;
    event.at = at;
    event.kind = choose(dice, weights);
    event.trouble = kTroubles.at(dice.below(kTroubles.size()));
    event.all = dice.below(8) == 0;
    event.pick = dice.any();
    event.length = length_of(dice, event);
    events.push_back(event);
  }
  return events;
}

}  // namespace allot::fault
