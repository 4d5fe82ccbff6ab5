// SPDX-License-Identifier: Apache-2.0
#include "model/term/term_world.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace allot::model::term {
namespace {

void breaks(State& state, Broken broken) {
  if (state.broken == 0) state.broken = static_cast<Byte>(broken);
}

template <typename Change>
void add(std::vector<Move>& out, const State& before, const Step& step, Change&& change) {
  Move& move = out.emplace_back(Move{step, before});
  change(move.after);
}

bool takes_writes(const Server& server) {
  return server.health == Health::kUp && server.writable != 0;
}

Byte plus(Byte a, int b) {
  return static_cast<Byte>(a + b);
}

// All sessions with the server end.
void end_sessions(State& state, int server) {
  for (Host& host : state.hosts) {
    if (host.session == server + 1) host.session = host.noted = 0;
    host.look.term[server] = host.look.mark[server] = 0;
  }
}

// The row of the term reaches the replica with the commit.
void replicate_term(State& state, int from) {
  const Server& primary = state.servers[from];
  Server& replica = state.servers[1 - from];
  if (replica.attached == 0) return;
  replica.term = primary.term;
  replica.named = primary.named;
}

}  // namespace

State World::first() const {
  State state{};
  for (Server& server : state.servers) server.term = 1;
  state.servers[0].writable = 1;
  state.servers[1].attached = 1;
  state.met = 1;
  return state;
}

Byte World::highest(const Host& host, Byte answered) const {
  return without(Mutation::kMemory) ? answered : std::max(host.memory, answered);
}

// db::ask_servers() and db::learn_highest().
Look World::ask(const State& state, Host& host) const {
  Look look{};
  look.there = 1;
  Byte answered = 0;
  for (int s = 0; s < 2; ++s) {
    const Server& server = state.servers[s];
    if (host.cut[s] != 0 || !takes_writes(server)) continue;
    look.term[s] = server.term;
    look.mark[s] = server.mark;
    answered = std::max(answered, server.term);
    if (!without(Mutation::kMarkIsNotRead)) answered = std::max(answered, server.mark);
  }
  host.memory = std::max(host.memory, answered);
  look.highest = highest(host, answered);
  return look;
}

// choose() of db/writer.cc; -1: no usable server.
int World::chosen(const Look& look) const {
  const auto usable = [&](int s) {
    return look.term[s] != 0 && (look.term[s] >= look.highest || without(Mutation::kHighest));
  };
  if (!usable(0)) return usable(1) ? 1 : -1;
  if (!usable(1)) return 0;
  if (look.term[0] != look.term[1]) return look.term[0] > look.term[1] ? 0 : 1;
  return without(Mutation::kEqual) ? 0 : -1;
}

int World::connect(const State& state, Host& host) const {
  return chosen(ask(state, host));
}

// Connection::require_writer(). False: the session is given up.
bool World::look_of_session(const State& state, Host& host, int server) const {
  const Server& at = state.servers[server];
  if (!takes_writes(at) || host.cut[server] != 0) return false;
  const Byte answered = without(Mutation::kMarkIsNotRead) ? at.term : std::max(at.term, at.mark);
  host.memory = std::max(host.memory, answered);
  return at.term >= highest(host, answered) || without(Mutation::kHighest);
}

// note_server.sql; true: the row named another server.
bool World::note(State& state, int server) const {
  Server& here = state.servers[server];
  const bool changed = here.named != server;
  if (changed) {
    ++here.term;
    here.named = static_cast<Byte>(server);
    replicate_term(state, server);
  }
  if (server == state.writer) state.met = 1;
  return changed;
}

// clear_superseded.sql
void World::clear(State& state, int server) const {
  Server& here = state.servers[server];
  if (here.mark <= here.term && !without(Mutation::kClear)) here.mark = 0;
}

// note_change() of process/session.cc.
void World::note_change(State& state, Host& host, int server) const {
  if (!note(state, server)) return;
  clear(state, server);
  host.memory = std::max(host.memory, state.servers[server].term);
}

// mark_superseded.sql
void World::mark(State& state, int server, Byte term) const {
  Server& here = state.servers[server];
  if (without(Mutation::kMark)) return;
  if (here.term >= term) {
    if (!without(Mutation::kMarkAsSeen)) return;
    breaks(state, Broken::kWriterIsMarked);
  }
  here.mark = std::max(here.mark, term);
}

// The rest of OtherServers::look(), based on the answers.
void World::act(State& state, Host& host) const {
  const Look look = std::exchange(host.look, Look{});
  const int writers = (look.term[0] >= look.highest) + (look.term[1] >= look.highest);
  for (int s = 0; s < 2; ++s) {
    if (look.term[s] == 0 || host.cut[s] != 0 || !takes_writes(state.servers[s])) continue;
    if (look.term[s] < look.highest) {
      mark(state, s, look.highest);
    } else if (writers == 1) {
      confirm(state, host, s, look.mark[s] != 0);
    }
  }
}

void World::confirm(State& state, Host& host, int server, bool marked) const {
  if (without(Mutation::kConfirm)) {
    if (server == state.writer) state.met = 1;
    return;
  }
  const bool changed = note(state, server);
  if (changed || marked) clear(state, server);
  if (changed) host.memory = std::max(host.memory, state.servers[server].term);
}

// allot promote
void World::promote(State& state, Host& host, int server) const {
  Server& here = state.servers[server];
  const Look look = ask(state, host);
  const Byte known = std::max({host.memory, look.term[0], look.term[1], here.mark});
  const int by = without(Mutation::kPromoteByOne) ? 1 : 2;
  here.term = std::max(plus(here.term, by), plus(known, by));
  here.named = static_cast<Byte>(server);
  here.mark = 0;
  replicate_term(state, server);
  host.memory = std::max(host.memory, here.term);
  state.writer = static_cast<Byte>(server);
  state.met = 1;
}

// Server of a program that connects now.
void World::check_new_connection(State& state, int who) const {
  Host host = state.hosts[who];
  const int to = connect(state, host);
  if (to < 0) return;
  const Server& used = state.servers[to];
  const Server& other = state.servers[1 - to];
  if (used.term < host.memory) breaks(state, Broken::kLowerTerm);
  if (used.mark > used.term) breaks(state, Broken::kMarkedIsUsed);
  const bool answers = takes_writes(other) && host.cut[1 - to] == 0;
  if (answers && to != state.writer) breaks(state, Broken::kWrongServer);
  if (scenario_.equal_needs_both && takes_writes(other) && used.term == other.term) {
    breaks(state, Broken::kEqualIsUsed);
  }
}

// In a world without further faults, after one poll of each steward, and then of each session.
void World::check_after_looks(State& state) const {
  State after = state;
  for (Host& host : after.hosts) {
    host.cut[0] = host.cut[1] = 0;
    if (host.look.there != 0) act(after, host);
  }
  for (Host& host : after.hosts) {
    host.look = ask(after, host);
    act(after, host);
  }
  const Server& writer = after.servers[after.writer];
  const Server& other = after.servers[1 - after.writer];
  int used[2];
  for (int who = 0; who < 2; ++who) used[who] = connect(after, after.hosts[who]);
  if (used[0] != used[1]) breaks(state, Broken::kNotTheWriter);
  const bool both = takes_writes(writer) && takes_writes(other) && other.attached == 0;
  if (both && writer.term != other.term) {
    if (used[0] >= 0 && used[0] != after.writer) breaks(state, Broken::kNotTheWriter);
    if (other.mark == 0) breaks(state, Broken::kStillOpen);
  }
  if (used[0] >= 0 && after.servers[used[0]].mark != 0) breaks(state, Broken::kWriterIsMarked);
  for (Host& host : after.hosts) {
    if (host.session == 0 || !look_of_session(after, host, host.session - 1)) continue;
    if (used[0] >= 0 && host.session - 1 != used[0]) breaks(state, Broken::kNotTheWriter);
  }
}

void World::check(State& state) const {
  const Server& writer = state.servers[state.writer];
  const Server& other = state.servers[1 - state.writer];
  if (state.met != 0 && other.attached == 0 && other.term >= writer.term) {
    breaks(state, Broken::kOutranked);
  }
  if (state.met != 0 && writer.mark > writer.term) breaks(state, Broken::kWriterIsMarked);
  for (int who = 0; who < 2; ++who) check_new_connection(state, who);
  check_after_looks(state);
}

void World::steward_moves(const State& state, int who, std::vector<Move>& out) const {
  if (state.hosts[who].look.there == 0) {
    add(out, state, {"its steward asks both servers", who}, [&](State& after) {
      Host& host = after.hosts[who];
      host.look = ask(after, host);
    });
    return;
  }
  add(out, state, {"its steward acts on the answers", who},
      [&](State& after) { act(after, after.hosts[who]); });
}

void World::session_moves(const State& state, int who, std::vector<Move>& out) const {
  const Host& before = state.hosts[who];
  const auto set = [](Host& host, int server) {
    host.session = plus(1, server);
    host.noted = 0;
  };
  if (before.session == 0) {
    add(out, state, {"connects", who}, [&](State& after) {
      Host& host = after.hosts[who];
      set(host, connect(after, host));
    });
    return;
  }
  const int server = before.session - 1;
  if (state.servers[server].health == Health::kFrozen || before.cut[server] != 0) {
    add(out, state, {"call of its session times out", who},
        [&](State& after) { set(after.hosts[who], -1); });
    return;
  }
  if (before.noted == 0 && takes_writes(state.servers[server])) {
    add(out, state, {"is noted by its worker", who, server}, [&](State& after) {
      note_change(after, after.hosts[who], server);
      after.hosts[who].noted = 1;
    });
  }
  add(out, state, {"its session looks", who}, [&](State& after) {
    Host& host = after.hosts[who];
    if (!look_of_session(after, host, server)) {
      set(host, -1);
    } else if (after.servers[server].term < host.memory) {
      breaks(after, Broken::kLowerTerm);
    }
  });
}

void World::operator_moves(const State& state, std::vector<Move>& out) const {
  const int former = 1 - state.writer;
  const Server& other = state.servers[former];
  if (state.failovers < scenario_.failovers && other.attached != 0 &&
      state.servers[state.writer].health != Health::kUp) {
    add(out, state, {"is promoted by a failover", -1, former, true}, [&](State& after) {
      ++after.failovers;
      after.servers[former].writable = 1;
      after.servers[former].attached = 0;
      after.writer = static_cast<Byte>(former);
      after.met = 0;
    });
  }
  const bool seen = state.met != 0 || scenario_.unseen_reign;
  if (state.attaches < scenario_.attaches && other.attached == 0 && other.health == Health::kUp &&
      takes_writes(state.servers[state.writer]) && seen) {
    add(out, state, {"becomes a replica", -1, former, true}, [&](State& after) {
      ++after.attaches;
      after.servers[former].writable = 0;
      after.servers[former].attached = 1;
      replicate_term(after, 1 - former);
    });
  }
  if (state.promotes >= scenario_.promotes) return;
  for (int who = 0; who < 2; ++who) {
    for (int s = 0; s < 2; ++s) {
      const Server& server = state.servers[s];
      Host host = state.hosts[who];
      if (!takes_writes(server) || server.attached != 0 || host.cut[s] != 0) continue;
      static_cast<void>(ask(state, host));
      const Byte highest = std::max(state.servers[0].term, state.servers[1].term);
      if (host.memory < highest && !scenario_.promoted_unaware) continue;
      add(out, state, {"is promoted by allot promote", who, s, true}, [&](State& after) {
        ++after.promotes;
        promote(after, after.hosts[who], s);
      });
    }
  }
}

void World::fault_moves(const State& state, std::vector<Move>& out) const {
  for (int s = 0; s < 2; ++s) {
    const Server& server = state.servers[s];
    const auto change = [&](const char* what, bool fault, auto&& step) {
      add(out, state, {what, -1, s, fault}, [&](State& after) { step(after, after.servers[s]); });
    };
    if (server.health == Health::kUp && server.attached == 0 && state.faults < scenario_.faults) {
      change("freezes", true, [](State& after, Server& frozen) {
        ++after.faults;
        frozen.health = Health::kFrozen;
      });
      change("dies", true, [s](State& after, Server& dead) {
        ++after.faults;
        dead.health = Health::kDead;
        end_sessions(after, s);
      });
    }
    if (server.health == Health::kFrozen) {
      change("thaws", false, [](State&, Server& thawed) { thawed.health = Health::kUp; });
    }
    if (server.health == Health::kDead) {
      change("comes back and takes writes", false,
             [](State&, Server& started) { started.health = Health::kUp; });
      change("comes back read-only", false, [](State&, Server& started) {
        started.health = Health::kUp;
        started.writable = 0;
      });
    }
    if (server.writable == 0 && server.health == Health::kUp && server.attached == 0) {
      change("is made writable", false, [](State&, Server& here) { here.writable = 1; });
    }
    if (server.attached != 0 && server.writable == 0 && scenario_.replica_is_writable) {
      change("is writable by mistake", true, [](State&, Server& here) { here.writable = 1; });
    }
    if (scenario_.notes_in_sql && takes_writes(server)) {
      change("has a lock taken in plain SQL", false,
             [this, s](State& after, Server&) { static_cast<void>(note(after, s)); });
    }
  }
}

void World::cut_moves(const State& state, std::vector<Move>& out) const {
  for (int who = 0; who < 2; ++who) {
    for (int s = 0; s < 2; ++s) {
      if (state.hosts[who].cut[s] != 0) {
        add(out, state, {"is reached again", who, s},
            [&](State& after) { after.hosts[who].cut[s] = 0; });
      } else if (state.cuts < scenario_.cuts) {
        add(out, state, {"is not reached", who, s, true}, [&](State& after) {
          ++after.cuts;
          after.hosts[who].cut[s] = 1;
        });
      }
    }
    if (state.reboots < scenario_.reboots) {
      add(out, state, {"it starts again and has forgotten its memory", who, -1, true},
          [&](State& after) {
            ++after.reboots;
            after.hosts[who] = {};
          });
    }
  }
}

void World::moves(const State& state, std::vector<Move>& out) const {
  for (int who = 0; who < 2; ++who) {
    steward_moves(state, who, out);
    session_moves(state, who, out);
  }
  operator_moves(state, out);
  fault_moves(state, out);
  cut_moves(state, out);
  for (Move& move : out) check(move.after);
}

// The two hosts are interchangeable.
bool World::make_canonical(State& state) const {
  Host(&both)[2] = state.hosts;
  if (std::memcmp(&both[0], &both[1], sizeof(Host)) <= 0) return false;
  std::swap(both[0], both[1]);
  return true;
}

// The writer accepts submissions in plain SQL, or waits for the operator to promote it.
bool World::ended(const State& state) const {
  const Server& writer = state.servers[state.writer];
  const Server& other = state.servers[1 - state.writer];
  const bool equal = takes_writes(other) && other.term == writer.term;
  return !takes_writes(writer) || writer.mark == 0 || equal;
}

std::string World::line(const Step& step, bool swapped) const {
  std::string text;
  if (step.host >= 0) text += (step.host == 0) != swapped ? "host A: " : "host B: ";
  if (step.server >= 0) text += step.server == 0 ? "server 1 " : "server 2 ";
  return text + step.what;
}

const char* name_of(Broken broken) {
  static constexpr const char* kNames[] = {
      "nothing",
      "a host uses a server with a lower term than it has seen",
      "a new connection uses a server that is not the writer, although the writer answers",
      "a server that was superseded has a term as high as the writer's",
      "a new connection uses a server that is marked",
      "the writer is marked",
      "a superseded server still takes submissions in plain SQL",
      "after the looks, not all connections and sessions are with the writer",
      "one of two writable servers with equal terms is used",
  };
  return kNames[static_cast<int>(broken)];
}

}  // namespace allot::model::term
