// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "model/walk.h"

// A model of the ticks of one schedule: two stewards that may both believe to lead, an operator,
// the database with its clock, and a few faults. Uses the same walk as the lease protocol.
namespace allot::model::tick {

using Byte = std::uint8_t;

// The schedule has a tick at each of the instants 1 to kTicks, and none after them.
inline constexpr Byte kTicks = 4;
inline constexpr Byte kEnd = kTicks + 1;
inline constexpr Byte kLateAfter = 1;
inline constexpr Byte kCatchUp = 2;
// Maximum distance of next_run beyond the first future tick (S57).
inline constexpr Byte kTolerance = 1;

enum class Late : Byte { kAll, kOnce, kSkip };

// Rules that a scenario may remove, one at a time.
enum class Mutation : Byte {
  kNone,
  kLeadingPermits,   // S46: a leader writes without checking the rows
  kCountNotError,    // S33: the guard matches nothing, and COMMIT is executed anyway
  kTwoTransactions,  // S33: the task in one transaction, the next time in another
  kNextInMemory,     // S34: a leader begins with the next tick after now
  kNextFromNow,      // S34: the next tick after now, instead of after the submitted one
  kNoVersion,        // S35: the guard does not compare versions
  kBoundStops,       // S36: with too many missed ticks, processing stops
  kHostClock,        // S37: the clock of a host decides what is due
  kNoBound,          // S57: next_run stays where a fast clock left it
  kNoTolerance,      // S57: next_run is set back after the smallest step back
  kResetUnguarded,   // S57: the reset checks neither version nor next_run
};

struct Scenario {
  const char* name = "";
  Late late = Late::kAll;
  Byte stalls = 0;      // a packet is in transit for any time
  Byte losses = 0;      // its sender gives it up; it may still be executed
  Byte kills = 0;       // of a steward, also during a packet; another one starts
  Byte clock_back = 0;  // the database's clock jumps back by two
  Byte clock_ahead = 0;
  Byte clock_step = 0;  // and back by one, which is within the tolerance
  Byte changes = 0;     // of the payload, by the operator
  Byte pauses = 0;      // and resumed at any later time
  Byte removals = 0;    // and created again under its name at any later time
  bool host_ahead = false;
  Mutation without = Mutation::kNone;
};

enum class Broken : Byte {
  kNothing,
  kTwice,   // a tick was submitted twice
  kLost,    // next_run passed a tick that was neither submitted nor dropped by policy
  kStale,   // a task of a former version of the schedule
  kEarly,   // a tick was submitted before the database's clock had reached it
  kStands,  // time passed while next_run was beyond its bound
};

// Packet of a steward: the values that it saw, the tick that it submits, and the new row.
struct Packet {
  Byte there;
  Byte version;
  Byte next;     // next_run as seen
  Byte tick;     // 0: only advances
  Byte dropped;  // ticks that it drops, a bit each
  Byte then;     // next_run after it
  Byte advance;  // kTwoTransactions: the task exists, and this is the second one
  Byte reset;    // sets next_run back to `then`
};

struct Steward {
  Byte on_its_way;  // `call` has been sent
  Byte memory;      // kNextInMemory: the next known tick; 0: none
  Packet call;
  Packet orphan;  // given up, or sent by a former run; may still be executed
};

struct State {
  Byte now;  // the database's clock
  Byte exists;
  Byte version;
  Byte next;
  Byte paused;
  Byte resumed;  // ticks before it were within a pause
  Byte submitted;
  Byte dropped;
  Steward stewards[2];
  // Faults and actions of the operator so far.
  Byte stalls;
  Byte losses;
  Byte kills;
  Byte backs;
  Byte aheads;
  Byte steps;
  Byte may_repeat;  // steps back beyond the tolerance for which next_run was not yet reset
  Byte changes;
  Byte pauses;
  Byte removals;
  Byte broken;
};

struct Step {
  const char* what = "";
  int who = -1;  // -1: no steward
  bool fault = false;
};

struct Move {
  Step step;
  State after;
};

class World {
 public:
  using State = tick::State;
  using Step = tick::Step;
  using Move = tick::Move;

  explicit World(const Scenario& scenario) : scenario_(scenario) {}
  [[nodiscard]] State first() const;
  void moves(const State& state, std::vector<Move>& out) const;
  bool make_canonical(State& state) const;
  // Every tick has been submitted or dropped, or the schedule was removed.
  [[nodiscard]] bool ended(const State& state) const;
  [[nodiscard]] std::string line(const Step& step, bool swapped) const;

 private:
  [[nodiscard]] bool without(Mutation rule) const { return scenario_.without == rule; }
  [[nodiscard]] Packet plan(const State& state, const Steward& steward) const;
  [[nodiscard]] bool is_too_early(const State& state, Byte tolerance) const;
  [[nodiscard]] bool passes(const State& state, const Packet& packet) const;
  void execute(State& state, const Packet& packet) const;
  static void reset(State& state, const Packet& packet);
  void hear(Steward& steward, const Packet& packet) const;
  void steward_moves(const State& state, int who, std::vector<Move>& out) const;
  void operator_moves(const State& state, std::vector<Move>& out) const;
  void clock_moves(const State& state, std::vector<Move>& out) const;

  Scenario scenario_;
};

const char* name_of(Broken broken);

}  // namespace allot::model::tick
