// SPDX-License-Identifier: Apache-2.0
#include "model/tick/tick_world.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace allot::model::tick {
namespace {

Byte bit(int tick) {
  return static_cast<Byte>(1 << tick);
}

// The ticks from `from` to before `to`.
Byte range(int from, int to) {
  Byte ticks = 0;
  for (int tick = from; tick < to; ++tick) ticks = static_cast<Byte>(ticks | bit(tick));
  return ticks;
}

void breaks(State& state, Broken broken) {
  if (state.broken == 0) state.broken = static_cast<Byte>(broken);
}

template <typename Change>
void add(std::vector<Move>& out, const State& before, const Step& step, Change&& change) {
  Move& move = out.emplace_back(Move{step, before});
  change(move.after);
}

}  // namespace

State World::first() const {
  State state{};
  state.exists = 1;
  state.next = 1;
  return state;
}

// Packet that a steward makes from what it sees: daemon/steward/ticks.
Packet World::plan(const State& state, const Steward& steward) const {
  Packet packet{};
  const bool remembers = without(Mutation::kNextInMemory);
  const int now = state.now + (without(Mutation::kHostClock) && scenario_.host_ahead ? 1 : 0);
  const int last = std::min<int>(now, kTicks);
  int from = remembers ? (steward.memory != 0 ? steward.memory : now + 1) : state.next;
  const bool too_far = is_too_early(state, without(Mutation::kNoTolerance) ? 0 : kTolerance) &&
                       !without(Mutation::kNoBound) && !remembers;
  if (state.exists == 0 || state.paused != 0 || (from > last && !too_far)) return packet;
  packet.there = 1;
  packet.version = state.version;
  packet.next = state.next;
  if (too_far) {
    packet.then = static_cast<Byte>(state.now + 1);
    packet.reset = 1;
    return packet;
  }
  // First drops the ticks of a pause, then those that are too late by policy.
  const int first = from;
  from = std::max<int>(from, std::min<int>(state.resumed, last + 1));
  const int in_time = std::max(from, now - kLateAfter);
  const int late = std::min(in_time, last + 1) - from;
  if (late > 0 && scenario_.late == Late::kAll) {
    if (late > kCatchUp && without(Mutation::kBoundStops)) return {};
    from += std::max(0, late - kCatchUp);
  } else if (late > 0) {
    from = scenario_.late == Late::kOnce ? last : std::min(in_time, last + 1);
  }
  packet.dropped = range(first, from);
  packet.tick = static_cast<Byte>(from <= last ? from : 0);
  packet.then = static_cast<Byte>(from <= last ? from + 1 : from);
  if (without(Mutation::kNextFromNow)) packet.then = static_cast<Byte>(last + 1);
  return packet;
}

// True if the schedule would wait for a fast clock: daemon/steward/next_run_check.
bool World::is_too_early(const State& state, Byte tolerance) const {
  return state.exists != 0 && state.paused == 0 && state.next > state.now + 1 + tolerance;
}

// require_tick.sql, reset_schedule.sql
bool World::passes(const State& state, const Packet& packet) const {
  if (without(Mutation::kLeadingPermits)) return state.exists != 0;
  const bool version = state.version == packet.version || without(Mutation::kNoVersion);
  const bool next = state.next == packet.next || without(Mutation::kNextInMemory);
  const bool due = packet.tick <= state.now || without(Mutation::kHostClock);
  if (packet.reset != 0) {
    const bool as_seen = (version && next) || without(Mutation::kResetUnguarded);
    const bool recent = packet.then + kTolerance > state.now;
    return state.exists != 0 && state.paused == 0 && as_seen && recent;
  }
  return state.exists != 0 && state.paused == 0 && version && next && due;
}

// The later ticks come again, once for each sufficiently large step back of the clock.
void World::reset(State& state, const Packet& packet) {
  state.next = packet.then;
  ++state.version;
  state.resumed = std::min<Byte>(state.resumed, static_cast<Byte>(state.now + 1));
  if (state.may_repeat == 0) return;
  --state.may_repeat;
  state.submitted &= range(0, packet.then);
  state.dropped &= range(0, packet.then);
}

// The whole packet: the guard, the task, the next time.
void World::execute(State& state, const Packet& packet) const {
  const bool passed = passes(state, packet);
  if (packet.reset != 0) {
    if (passed) reset(state, packet);
    return;
  }
  if (!passed && !without(Mutation::kCountNotError)) return;
  if (packet.tick != 0 && packet.advance == 0) {
    if ((state.submitted & bit(packet.tick)) != 0) breaks(state, Broken::kTwice);
    if (state.version != packet.version) breaks(state, Broken::kStale);
    if (packet.tick > state.now) breaks(state, Broken::kEarly);
    state.submitted |= bit(packet.tick);
    if (without(Mutation::kTwoTransactions)) return;
  }
  if (!passed) return;
  state.dropped |= packet.dropped;
  state.resumed = std::min<Byte>(state.resumed, static_cast<Byte>(state.now + 1));
  state.next = std::max<Byte>(packet.then, without(Mutation::kNextInMemory) ? state.next : 0);
  const Byte over = range(1, state.next);
  if ((over & ~(state.submitted | state.dropped)) != 0) breaks(state, Broken::kLost);
}

void World::hear(Steward& steward, const Packet& packet) const {
  const bool half = without(Mutation::kTwoTransactions) && packet.advance == 0 && packet.tick != 0;
  steward.on_its_way = 0;
  steward.memory = without(Mutation::kNextInMemory) ? packet.then : 0;
  steward.call = half ? packet : Packet{};
  if (half) steward.call.advance = 1;
}

void World::steward_moves(const State& state, int who, std::vector<Move>& out) const {
  const Steward& me = state.stewards[who];
  const bool planned = me.call.there != 0;
  const auto change = [&](const char* what, bool fault, auto&& step) {
    add(out, state, {what, who, fault}, [&](State& after) { step(after, after.stewards[who]); });
  };
  if (!planned) {
    const Packet packet = plan(state, me);
    if (packet.there != 0) {
      change("looks", false, [&](State&, Steward& steward) { steward.call = packet; });
    }
    if (without(Mutation::kNextInMemory) && me.memory == 0 && state.now < kTicks) {
      change("starts with the next tick", false, [](State& after, Steward& steward) {
        steward.memory = static_cast<Byte>(after.now + 1);
      });
    }
  } else {
    change(me.on_its_way != 0 ? "'s packet is executed" : "sends its packet", false,
           [&](State& after, Steward& steward) {
             execute(after, me.call);
             hear(steward, me.call);
           });
  }
  if (planned && me.on_its_way == 0 && state.stalls < scenario_.stalls) {
    change("sends its packet, which is on its way", true, [](State& after, Steward& steward) {
      ++after.stalls;
      steward.on_its_way = 1;
    });
  }
  const bool may_orphan = me.orphan.there == 0;
  if (me.on_its_way != 0 && may_orphan && state.losses < scenario_.losses) {
    change("gives up its packet", true, [](State& after, Steward& steward) {
      ++after.losses;
      steward.orphan = std::exchange(steward.call, {});
      steward.on_its_way = 0;
    });
    change("'s packet is executed, and the reply is lost", true,
           [&](State& after, Steward& steward) {
             ++after.losses;
             execute(after, me.call);
             steward.call = {};
             steward.on_its_way = 0;
           });
  }
  if (state.kills < scenario_.kills && may_orphan) {
    change("is killed", true, [](State& after, Steward& steward) {
      ++after.kills;
      const Packet sent = steward.on_its_way != 0 ? steward.call : Packet{};
      steward = {};
      steward.orphan = sent;
    });
  }
  if (me.orphan.there != 0) {
    change("'s former packet is executed", false, [&](State& after, Steward& steward) {
      execute(after, me.orphan);
      steward.orphan = {};
    });
    change("'s former packet never arrives", false,
           [](State&, Steward& steward) { steward.orphan = {}; });
  }
}

void World::operator_moves(const State& state, std::vector<Move>& out) const {
  const auto change = [&](const char* what, auto&& step) { add(out, state, {what}, step); };
  if (state.exists != 0 && state.changes < scenario_.changes) {
    change("the operator changes the payload", [](State& after) {
      ++after.changes;
      ++after.version;
    });
  }
  if (state.exists != 0 && state.paused == 0 && state.pauses < scenario_.pauses) {
    change("the operator pauses it", [](State& after) {
      ++after.pauses;
      after.paused = 1;
    });
  }
  if (state.exists != 0 && state.paused != 0) {
    change("the operator resumes it", [](State& after) {
      after.paused = 0;
      after.resumed = static_cast<Byte>(after.now + 1);
    });
  }
  if (state.exists != 0 && state.removals < scenario_.removals) {
    change("the operator removes it", [](State& after) {
      ++after.removals;
      after.exists = after.paused = after.resumed = after.next = 0;
    });
  }
  // Ticks before its creation do not belong to it.
  if (state.exists == 0) {
    change("the operator makes it again", [](State& after) {
      after.exists = 1;
      ++after.version;
      after.next = static_cast<Byte>(std::min<int>(after.now + 1, kEnd));
      after.submitted = 0;
      after.dropped = range(1, after.next);
    });
  }
}

void World::clock_moves(const State& state, std::vector<Move>& out) const {
  // A steward polls more often than the schedule ticks.
  const bool stands_still = is_too_early(state, kTolerance);
  if (state.now < kEnd && (!stands_still || without(Mutation::kNoBound))) {
    add(out, state, {"time passes"}, [stands_still](State& after) {
      ++after.now;
      if (stands_still) breaks(after, Broken::kStands);
    });
  }
  if (state.now >= 2 && state.backs < scenario_.clock_back) {
    add(out, state, {"the database's clock jumps back", -1, true}, [](State& after) {
      ++after.backs;
      after.now = static_cast<Byte>(after.now - 2);
      ++after.may_repeat;
    });
  }
  if (state.now >= 1 && state.steps < scenario_.clock_step) {
    add(out, state, {"the database's clock steps back", -1, true}, [](State& after) {
      ++after.steps;
      --after.now;
    });
  }
  if (state.now + 2 <= kEnd && state.aheads < scenario_.clock_ahead) {
    add(out, state, {"the database's clock jumps ahead", -1, true}, [](State& after) {
      ++after.aheads;
      after.now = static_cast<Byte>(after.now + 2);
    });
  }
}

void World::moves(const State& state, std::vector<Move>& out) const {
  for (int who = 0; who < 2; ++who) steward_moves(state, who, out);
  operator_moves(state, out);
  clock_moves(state, out);
}

bool World::make_canonical(State& state) const {
  Steward(&both)[2] = state.stewards;
  if (std::memcmp(&both[0], &both[1], sizeof(Steward)) <= 0) return false;
  std::swap(both[0], both[1]);
  return true;
}

bool World::ended(const State& state) const {
  return state.exists == 0 || state.next == kEnd;
}

std::string World::line(const Step& step, bool swapped) const {
  if (step.who < 0) return step.what;
  const std::string name = std::string("steward ") + ((step.who == 1) == swapped ? "A" : "B");
  return name + (step.what[0] == '\'' ? "" : " ") + step.what;
}

const char* name_of(Broken broken) {
  static constexpr const char* kNames[] = {
      "nothing",
      "a tick was submitted twice",
      "a tick was passed over that was neither submitted nor dropped by policy",
      "a task of a former version was submitted",
      "a tick was submitted before its time",
      "the schedule waits for a clock that was ahead",
  };
  return kNames[static_cast<int>(broken)];
}

}  // namespace allot::model::tick
