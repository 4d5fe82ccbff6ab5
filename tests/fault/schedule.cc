// SPDX-License-Identifier: Apache-2.0
#include "fault/schedule.h"

#include <array>
#include <random>
#include <utility>

namespace allot::fault {
namespace {

using std::chrono::milliseconds;

constexpr std::array kTroubles{Trouble::kDelay,     Trouble::kCut,      Trouble::kBlackHole,
                               Trouble::kLoseReply, Trouble::kHalfOpen, Trouble::kOrphan};

// The distributions of the standard library differ between libraries; a remainder does not.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}
  std::uint64_t below(std::uint64_t n) { return engine_() % n; }
  milliseconds between(std::uint64_t least, std::uint64_t most) {
    return milliseconds(least + below(most - least + 1));
  }
  std::uint64_t any() { return engine_(); }

 private:
  std::mt19937_64 engine_;
};

Kind choose(Dice& dice, const Weights& weights) {
  const std::array<std::pair<Kind, unsigned>, 7> kinds{{
      {Kind::kKillWorker, weights.kill_worker},
      {Kind::kStopWorker, weights.stop_worker},
      {Kind::kKillDaemon, weights.kill_daemon},
      {Kind::kKillDatabase, weights.kill_database},
      {Kind::kKillConnection, weights.kill_connection},
      {Kind::kWorkerTrouble, weights.worker_trouble},
      {Kind::kSubmitTrouble, weights.submit_trouble},
  }};
  std::uint64_t sum = 0;
  for (const auto& [kind, weight] : kinds) sum += weight;
  std::uint64_t left = dice.below(sum);
  for (const auto& [kind, weight] : kinds) {
    if (left < weight) return kind;
    left -= weight;
  }
  return Kind::kKillWorker;
}

// Some are over before a lease of 2 s can expire, some are not.
milliseconds length_of(Dice& dice, const Event& event) {
  switch (event.kind) {
    case Kind::kKillWorker:
    case Kind::kKillConnection:
      return milliseconds(0);
    case Kind::kKillDaemon:
    case Kind::kKillDatabase:
      return dice.between(0, 500);
    case Kind::kStopWorker:
    case Kind::kWorkerTrouble:
    case Kind::kSubmitTrouble:
      return event.trouble == Trouble::kLoseReply ? milliseconds(2'000) : dice.between(50, 3'500);
  }
  return milliseconds(0);
}

}  // namespace

std::string name_of(const Event& event) {
  switch (event.kind) {
    case Kind::kKillWorker:
      return "kill_worker";
    case Kind::kStopWorker:
      return "stop_worker";
    case Kind::kKillDaemon:
      return "kill_daemon";
    case Kind::kKillDatabase:
      return "kill_database";
    case Kind::kKillConnection:
      return "kill_connection";
    case Kind::kWorkerTrouble:
      return std::string("worker_") + name_of(event.trouble);
    case Kind::kSubmitTrouble:
      return std::string("submit_") + name_of(event.trouble);
  }
  return "unknown";
}

std::vector<Event> make_schedule(std::uint64_t seed, milliseconds length, milliseconds mean_pause,
                                 const Weights& weights) {
  Dice dice(seed);
  std::vector<Event> events;
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
