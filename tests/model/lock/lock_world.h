// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "model/walk.h"

// A model of one slot of a named lock: two clients that request it repeatedly, the database with
// its clock, and a few faults. Uses the same walk as the lease protocol.
namespace allot::model::lock {

using Byte = std::uint8_t;

inline constexpr Byte kTtl = 3;     // ticks, including a margin of one for the holder
inline constexpr Byte kStep = 10;   // clock jump of the database
inline constexpr Byte kClock = 20;  // initial clock of the database

// Rules that a scenario may remove, one at a time.
enum class Mutation : Byte {
  kNone,
  kFreedByClock,        // S38 (S4): any client that sees it expired frees it
  kHalfTtl,             // S38: freed after an observation of half a TTL, as for a lease
  kLookStamp,           // S38 (S4): a poll counts from its sending instead of its answer
  kNotAsSeen,           // S38: it is freed although it changed since it was seen
  kDeadlineFromReply,   // S38 (S5): the deadline counts from the reply
  kNoDeadline,          // S39: the holder continues until it hears that the lock is gone
  kReleaseKeepsEpoch,   // S38 (S1)
  kNoFenceOnRenew,      // S38: a renewal names the lock instead of the acquisition
  kEpochIsTheClock,     // S38 (S2)
  kNoFloor,             // S40: a process accepts a token below one that it has seen
  kTakenInTransaction,  // S41: a rollback undoes an acquisition that its client relies on
  kNoChangeWait,        // S48: a lock is taken immediately after a server change
  kOneSleep,            // S67: SQL watches in a single sleep for the whole TTL
  kUncheckedSleep,      // S67: a sleep counts whatever the change of the server's clock
  kNoSpareSleep,        // S67: SQL counts as many sleeps as the TTL has, and no more
};

struct Scenario {
  const char* name = "";
  Byte length = 7;  // ticks
  Byte takes = 2;   // by both clients together
  Byte losses = 0;  // a client gives up a call; it may still be executed
  Byte kills = 0;   // of a client, also during a call; another client replaces it
  Byte clock_back = 0;
  Byte clock_ahead = 0;
  Byte small_steps = 0;  // ahead, by at most the length of a sleep
  bool by_sql = false;   // clients watch in the server, by its sleeps, which its clock may end
  Byte fail_overs = 0;   // to a server without the last commit, and with a slow clock
  Mutation without = Mutation::kNone;
};

enum class Broken : Byte {
  kNothing,
  kTwoHolders,       // both rely on it
  kLockedForNobody,  // a renewal locked it again for a client that had released it
  kTokenFell,        // a token is not larger than all earlier ones
};

enum class Verb : Byte { kNone, kLook, kTake, kRenew, kRelease, kFree };

struct Call {
  Verb verb;
  Byte executed;
  Byte ok;      // for a poll: it is held
  Byte taking;  // which one; for a free slot, whether it was unchanged for longer than a TTL
  Byte token;
  Byte expire;  // as it was seen
  Byte sent;
  Byte floor;
};

struct Client {
  Byte taking;  // its lock; 0: none
  Byte token;
  Byte until;  // it relies on the lock before this tick
  Byte seen;   // it has seen the slot held and unchanged since then
  Byte seen_token;
  Byte seen_expire;
  Byte since;
  Byte slept;   // by_sql: sleeps since it saw the slot in this state
  Byte asleep;  // by_sql: server clock at the start of its sleep; 0: awake
  Byte floor;   // the largest token that it has seen
  Call call;
  Call orphan;  // given up, or sent by a former run; may still be executed
};

struct State {
  Byte now;
  Byte clock;  // the database's, at tick 0
  Byte held;
  Byte taking;  // of the holder
  Byte epoch;
  Byte expire;
  Byte changed;   // time of the server change, by its clock; 0: long ago
  Byte largest;   // largest token ever issued
  Byte released;  // the taking whose release was executed last
  Byte believed;  // kTakenInTransaction: this acquisition is uncommitted
  Client clients[2];
  // Faults so far.
  Byte takes;
  Byte losses;
  Byte kills;
  Byte backs;
  Byte aheads;
  Byte small_steps;
  Byte fail_overs;
  Byte broken;
};

struct Step {
  const char* what = "";
  int who = -1;  // -1: no client
  bool fault = false;
};

struct Move {
  Step step;
  State after;
};

class World {
 public:
  using State = lock::State;
  using Step = lock::Step;
  using Move = lock::Move;

  explicit World(const Scenario& scenario) : scenario_(scenario) {}
  [[nodiscard]] State first() const;
  void moves(const State& state, std::vector<Move>& out) const;
  bool make_canonical(State& state) const;
  [[nodiscard]] bool ended(const State& state) const;
  [[nodiscard]] std::string line(const Step& step, bool swapped) const;

 private:
  [[nodiscard]] bool without(Mutation rule) const { return scenario_.without == rule; }
  [[nodiscard]] bool acts(const State& state, const Client& client) const;
  [[nodiscard]] bool waits_for_change(const State& state) const;
  void check(State& state) const;
  void execute(State& state, Call& call) const;
  void take(State& state, Call& call) const;
  void hear(const State& state, Client& client) const;
  void hear_look(const State& state, Client& client, const Call& look) const;
  void forget_look(const State& state, Client& client) const;
  void holder_moves(const State& state, int who, std::vector<Move>& out) const;
  void other_moves(const State& state, int who, std::vector<Move>& out) const;
  void sql_moves(const State& state, int who, std::vector<Move>& out) const;
  void call_moves(const State& state, int who, std::vector<Move>& out) const;
  void fault_moves(const State& state, std::vector<Move>& out) const;

  Scenario scenario_;
};

const char* name_of(Broken broken);

}  // namespace allot::model::lock
