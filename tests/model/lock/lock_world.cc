// SPDX-License-Identifier: Apache-2.0
#include "model/lock/lock_world.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace allot::model::lock {
namespace {

void breaks(State& state, Broken broken) {
  if (state.broken == 0) state.broken = static_cast<Byte>(broken);
}

template <typename Change>
void add(std::vector<Move>& out, const State& before, const Step& step, Change&& change) {
  Move& move = out.emplace_back(Move{step, before});
  change(move.after);
}

Byte clock_of(const State& state) {
  return static_cast<Byte>(state.clock + state.now);
}

Byte plus(Byte a, int b) {
  return static_cast<Byte>(a + b);
}

void forget_seen(Client& client) {
  client.seen = client.seen_token = client.seen_expire = 0;
  client.since = client.slept = client.asleep = 0;
}

void free_row(State& state, bool end_epoch) {
  state.held = 0;
  if (!end_epoch) return;
  state.taking = 0;
  ++state.epoch;
}

}  // namespace

State World::first() const {
  State state{};
  state.clock = kClock;
  return state;
}

// True if it performs actions reserved for the holder right now: daemon/queue/locks/lock_keeper.
bool World::acts(const State& state, const Client& client) const {
  return client.taking != 0 && (state.now < client.until || without(Mutation::kNoDeadline));
}

void World::check(State& state) const {
  if (acts(state, state.clients[0]) && acts(state, state.clients[1])) {
    breaks(state, Broken::kTwoHolders);
  }
}

// S48: after a server change locks are neither taken nor freed for a TTL and a tick.
bool World::waits_for_change(const State& state) const {
  return state.changed != 0 && clock_of(state) < state.changed + kTtl + 1 &&
         !without(Mutation::kNoChangeWait);
}

// take_lock.sql, for a free slot.
void World::take(State& state, Call& call) const {
  if (state.held != 0 || waits_for_change(state)) return;
  const Byte clock = clock_of(state);
  const int floor = without(Mutation::kNoFloor) ? 0 : call.floor + 1;
  const Byte next = without(Mutation::kEpochIsTheClock)
                        ? clock
                        : static_cast<Byte>(std::max({state.epoch + 1, int{clock}, floor}));
  // Tokens lost by a failover are known only to their own client, which promises to continue above
  // them (S40).
  const Byte above = scenario_.fail_overs == 0 ? state.largest : call.floor;
  if (next <= above) breaks(state, Broken::kTokenFell);
  state.epoch = next;
  state.largest = std::max(state.largest, next);
  state.held = 1;
  state.taking = call.taking;
  state.expire = plus(clock, kTtl);
  if (without(Mutation::kTakenInTransaction)) state.believed = call.taking;
  call.ok = 1;
  call.token = next;
}

// The verbs of sql/queries, each as one transaction.
void World::execute(State& state, Call& call) const {
  const bool keeps = without(Mutation::kReleaseKeepsEpoch);
  const bool fence =
      state.taking == call.taking && state.epoch == call.token && (state.held != 0 || keeps);
  call.executed = 1;
  switch (call.verb) {
    case Verb::kLook:
      call.ok = state.held;
      call.token = state.held != 0 ? state.epoch : 0;
      call.expire = state.held != 0 ? state.expire : 0;
      break;
    case Verb::kTake:
      take(state, call);
      break;
    case Verb::kRenew:
      if (!fence && !(without(Mutation::kNoFenceOnRenew) && state.held != 0)) break;
      if (state.released == call.taking) breaks(state, Broken::kLockedForNobody);
      state.held = 1;
      state.expire = plus(clock_of(state), kTtl);
      call.ok = 1;
      break;
    case Verb::kRelease:
      if (!fence) break;
      state.released = call.taking;
      free_row(state, !keeps);
      break;
    case Verb::kFree: {
      const bool as_seen = state.epoch == call.token && state.expire == call.expire;
      if (state.held == 0 || !(as_seen || without(Mutation::kNotAsSeen))) break;
      if (waits_for_change(state)) break;
      if (call.taking != 0 || state.expire < clock_of(state)) free_row(state, true);
      break;
    }
    case Verb::kNone:
      break;
  }
}

void World::hear(const State& state, Client& client) const {
  const Call call = std::exchange(client.call, Call{});
  if (call.verb == Verb::kLook) hear_look(state, client, call);
  const Byte from = without(Mutation::kDeadlineFromReply) ? state.now : call.sent;
  if (call.verb == Verb::kTake && call.ok != 0) {
    client.taking = call.taking;
    client.token = call.token;
    client.until = plus(from, kTtl - 1);
    client.floor = std::max(client.floor, call.token);
    forget_seen(client);
  }
  if (call.verb != Verb::kRenew || client.taking == 0) return;
  if (call.ok != 0) {
    client.until = plus(from, kTtl - 1);
  } else {
    client.taking = client.token = client.until = 0;
  }
}

// daemon/queue/model/expired_holder_watch.
void World::hear_look(const State& state, Client& client, const Call& look) const {
  const bool same = client.seen == look.ok && client.seen_token == look.token &&
                    client.seen_expire == look.expire;
  if (same) return;
  client.seen = look.ok;
  client.seen_token = look.token;
  client.seen_expire = look.expire;
  client.since = 0;
  if (look.ok == 0) return;
  client.since = without(Mutation::kLookStamp) ? look.sent : state.now;
  client.slept = 0;
  if (scenario_.by_sql) client.since = 0;
  client.floor = std::max(client.floor, look.token);
}

void World::holder_moves(const State& state, int who, std::vector<Move>& out) const {
  const Client& client = state.clients[who];
  add(out, state, {"sends renew", who, false}, [&](State& after) {
    after.clients[who].call = {Verb::kRenew, 0, 0, client.taking, client.token, 0, state.now, 0};
  });
  add(out, state, {"is done, sends release", who, false}, [&](State& after) {
    Client& done = after.clients[who];
    done.call = {Verb::kRelease, 0, 0, client.taking, client.token, 0, state.now, 0};
    done.taking = done.token = done.until = 0;
  });
  if (state.now >= client.until && !without(Mutation::kNoDeadline)) {
    add(out, state, {"gives the lock up at its deadline", who, false}, [&](State& after) {
      Client& late = after.clients[who];
      late.taking = late.token = late.until = 0;
    });
  }
  if (state.believed == client.taking && state.held != 0) {
    add(out, state, {"rolls its transaction back", who, false}, [&](State& after) {
      after.believed = 0;
      free_row(after, true);
    });
  }
}

// A client that requests the lock: daemon/queue/locks/lock_wait.
void World::other_moves(const State& state, int who, std::vector<Move>& out) const {
  const Client& client = state.clients[who];
  if (state.held == 0) {
    if (state.takes >= scenario_.takes || waits_for_change(state)) return;  // watch_line.sql
    add(out, state, {"sees it free, sends take", who, false}, [&](State& after) {
      ++after.takes;
      after.clients[who].call = {Verb::kTake, 0, 0, after.takes, 0, 0, state.now, client.floor};
    });
    return;
  }
  if (scenario_.by_sql) {
    sql_moves(state, who, out);
    return;
  }
  // Any time may pass before the poll is executed, and before its answer arrives.
  add(out, state, {"sends a look", who, false},
      [&](State& after) { after.clients[who].call = {Verb::kLook, 0, 0, 0, 0, 0, state.now, 0}; });
  if (client.seen == 0) return;
  const int unchanged = state.now - client.since;
  const int least = without(Mutation::kFreedByClock) ? 0
                    : without(Mutation::kHalfTtl)    ? kTtl / 2
                                                     : kTtl;
  if (unchanged < least) return;
  const Byte stale = unchanged > kTtl ? 1 : 0;
  add(out, state, {"saw it standing still, sends free", who, false}, [&](State& after) {
    Client& frees = after.clients[who];
    frees.call = {Verb::kFree, 0, 0, stale, client.seen_token, client.seen_expire, state.now, 0};
    forget_seen(frees);
  });
}

// allot_lock_take.sql and allot_lock_watch.sql: both poll and free within the server. A sleep there
// ends according to the server's clock.
void World::sql_moves(const State& state, int who, std::vector<Move>& out) const {
  const Client& client = state.clients[who];
  const Byte clock = clock_of(state);
  if (client.asleep != 0) {
    if (clock < client.asleep + (without(Mutation::kOneSleep) ? kTtl : 1)) return;
    add(out, state, {"wakes up", who, false}, [&](State& after) {
      Client& awake = after.clients[who];
      const bool whole = clock == client.asleep + 1 || without(Mutation::kUncheckedSleep);
      if (without(Mutation::kOneSleep)) {
        awake.slept = kTtl + 1;
      } else if (whole) {
        ++awake.slept;
      }
      awake.asleep = 0;
    });
    return;
  }
  if (client.seen == 0) {
    add(out, state, {"looks", who, false}, [&](State& after) {
      hear_look(state, after.clients[who],
                {Verb::kLook, 1, state.held, 0, state.epoch, state.expire, state.now, 0});
    });
    return;
  }
  const int least = without(Mutation::kNoSpareSleep) ? kTtl : kTtl + 1;
  if (client.slept < least) {
    add(out, state, {"sleeps", who, false},
        [&](State& after) { after.clients[who].asleep = clock; });
    return;
  }
  add(out, state, {"slept long enough, frees", who, false}, [&](State& after) {
    Call call{Verb::kFree, 0, 0, 1, client.seen_token, client.seen_expire, state.now, 0};
    execute(after, call);
    forget_seen(after.clients[who]);
  });
}

void World::call_moves(const State& state, int who, std::vector<Move>& out) const {
  const Client& client = state.clients[who];
  if (client.call.verb != Verb::kNone && client.call.executed == 0) {
    add(out, state, {"has its call executed", who, false},
        [&](State& after) { execute(after, after.clients[who].call); });
  }
  if (client.call.executed != 0) {
    add(out, state, {"gets its answer", who, false},
        [&](State& after) { hear(after, after.clients[who]); });
  }
  if (client.call.verb != Verb::kNone && state.losses < scenario_.losses) {
    add(out, state, {"gives its call up", who, true}, [&](State& after) {
      ++after.losses;
      Client& late = after.clients[who];
      late.orphan = late.call.executed == 0 ? late.call : Call{};
      late.call = {};
    });
  }
  if (client.orphan.verb != Verb::kNone) {
    add(out, state, {"has a call executed that was given up", who, false}, [&](State& after) {
      execute(after, after.clients[who].orphan);
      after.clients[who].orphan = {};
    });
    add(out, state, {"has lost a call for good", who, false},
        [&](State& after) { after.clients[who].orphan = {}; });
  }
  if (state.kills < scenario_.kills) {
    add(out, state, {"is killed", who, true}, [&](State& after) {
      ++after.kills;
      Client& dead = after.clients[who];
      const Call last = dead.call.executed == 0 ? dead.call : Call{};
      dead = {};
      dead.orphan = last;
    });
  }
}

void World::fault_moves(const State& state, std::vector<Move>& out) const {
  if (state.backs < scenario_.clock_back) {
    add(out, state, {"the clock goes back", -1, true}, [&](State& after) {
      ++after.backs;
      after.clock = plus(after.clock, -kStep);
    });
  }
  if (state.aheads < scenario_.clock_ahead) {
    add(out, state, {"the clock goes ahead", -1, true}, [&](State& after) {
      ++after.aheads;
      after.clock = plus(after.clock, kStep);
    });
  }
  if (state.small_steps < scenario_.small_steps) {
    add(out, state, {"the clock goes ahead a little", -1, true}, [&](State& after) {
      ++after.small_steps;
      after.clock = plus(after.clock, 1);
    });
  }
  // Also while a client relies on the lock, or has a pending call.
  if (state.held != 0 && state.fail_overs < scenario_.fail_overs) {
    add(out, state, {"fail-over: the taking is lost, and the clock behind", -1, true},
        [&](State& after) {
          ++after.fail_overs;
          after.held = after.taking = after.epoch = after.expire = 0;
          after.clock = plus(after.clock, -kStep);
          after.changed = clock_of(after);
        });
  }
}

void World::moves(const State& state, std::vector<Move>& out) const {
  if (state.now < scenario_.length) {
    add(out, state, {"time passes", -1, false}, [&](State& after) { ++after.now; });
  }
  for (int who = 0; who < 2; ++who) {
    const Client& client = state.clients[who];
    call_moves(state, who, out);
    if (client.call.verb != Verb::kNone) continue;
    if (client.taking != 0) {
      holder_moves(state, who, out);
    } else {
      other_moves(state, who, out);
    }
  }
  fault_moves(state, out);
  for (Move& move : out) check(move.after);
}

// A poll result is useless once the row has changed, or if it shows nothing new.
void World::forget_look(const State& state, Client& client) const {
  Call& look = client.call;
  if (!without(Mutation::kLookStamp)) look.sent = 0;
  if (look.executed == 0 || (scenario_.fail_overs != 0 && look.token > client.floor)) return;
  const bool current = state.held != 0 && look.token == state.epoch && look.expire == state.expire;
  if (!current || client.seen != 0) look = {};
}

// Removes state without effect, and the names of the two clients.
bool World::make_canonical(State& state) const {
  bool awaited = false;  // a renewal, or another release, of the released acquisition
  for (Client& client : state.clients) {
    // A client that is informed of these does nothing else for it.
    const bool told = client.call.verb == Verb::kRelease || client.call.verb == Verb::kFree;
    if (told && client.call.executed != 0) client.call = {};
    const bool held = state.held != 0;
    if (!held || client.seen_token != state.epoch || client.seen_expire != state.expire) {
      forget_seen(client);
    }
    if (client.call.verb == Verb::kLook) forget_look(state, client);
    if (client.seen != 0 && !scenario_.by_sql)
      client.since =
          std::max<Byte>(client.since, state.now > kTtl + 1 ? plus(state.now, -kTtl - 1) : 0);
    if (scenario_.fail_overs == 0) client.floor = client.call.floor = client.orphan.floor = 0;
    if (client.orphan.verb == Verb::kLook) client.orphan = {};
    if (client.orphan.verb != Verb::kNone) client.orphan.sent = 0;
    for (const Call& call : {client.call, client.orphan}) {
      awaited = awaited || (call.verb == Verb::kRenew && call.taking == state.released);
    }
  }
  if (!awaited) state.released = 0;
  if (!waits_for_change(state)) state.changed = 0;
  if (std::memcmp(&state.clients[0], &state.clients[1], sizeof(Client)) <= 0) return false;
  std::swap(state.clients[0], state.clients[1]);
  return true;
}

// It is free, and nothing is in transit; or no time is left to see it free.
bool World::ended(const State& state) const {
  return state.held == 0 || state.now == scenario_.length;
}

std::string World::line(const Step& step, bool swapped) const {
  if (step.who < 0) return step.what;
  const int who = swapped ? 1 - step.who : step.who;
  return std::string(who == 0 ? "A " : "B ") + step.what;
}

const char* name_of(Broken broken) {
  switch (broken) {
    case Broken::kNothing:
      return "nothing";
    case Broken::kTwoHolders:
      return "two holders";
    case Broken::kLockedForNobody:
      return "locked without a holder";
    case Broken::kTokenFell:
      return "a token fell";
  }
  return "?";
}

}  // namespace allot::model::lock
