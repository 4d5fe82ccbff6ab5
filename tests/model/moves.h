// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

#include "model/state.h"

namespace allot::model {

// One step of the system, and its actor. `who` -1: the database or time itself.
struct Step {
  const char* what = "";
  const char* how = "";  // after `what`
  std::int8_t who = -1;
  std::int8_t task = -1;  // -1: none
  bool fault = false;
};

struct Move {
  Step step;
  State after;
};

// One of the pending calls of a worker: Worker::call or Worker::renewal.
using Channel = Packet Worker::*;

// Collects the steps of one worker, or of the system itself, in one state.
struct Mover {
  const State& before;
  const Scenario& scenario;
  int who;
  std::vector<Move>& out;

  [[nodiscard]] const Worker& me() const { return before.workers[who]; }
  [[nodiscard]] bool without(Mutation rule) const { return scenario.without == rule; }

  // change(State&) makes the step; with a worker, change(State&, Worker&).
  template <typename Change>
  void step(const char* what, Change&& change, int task = -1) const {
    emit({what, "", name(who), name(task), false}, change);
  }
  template <typename Change>
  void fault(const char* what, Change&& change, int task = -1) const {
    emit({what, "", name(who), name(task), true}, change);
  }
  // A trip to the database: ask(State&, Worker&) puts a packet into `channel`. The server answers
  // at once; or, if the scenario allows it, the packet is in transit for any time, or its sender
  // dies before the answer.
  template <typename Ask>
  void call(const char* what, Ask&& ask, int task = -1, Channel channel = &Worker::call) const {
    const auto asked = [&](State& state) { ask(state, state.workers[who]); };
    emit({what, "", name(who), name(task), false}, [&](State& state) {
      asked(state);
      answer(state, channel);
    });
    if (before.stalls < scenario.stalls) {
      emit({what, ", which is on its way", name(who), name(task), true}, [&](State& state) {
        asked(state);
        ++state.stalls;
      });
    }
    for (const bool host : {false, true}) {
      if (!may_die(host)) continue;
      const char* how = host ? ", and its host goes down" : ", and is killed";
      emit({what, how, name(who), name(task), true}, [&](State& state) {
        asked(state);
        kill(state, host);
      });
    }
  }

  [[nodiscard]] bool may_die(bool host) const {
    return host ? before.host_losses < scenario.host_losses : before.crashes < scenario.crashes;
  }
  // kill -9 of the worker, or of everything on its host.
  void kill(State& state, bool host) const;
  // Executes the packet, and delivers the reply to its sender if it still exists.
  void answer(State& state, Channel channel) const;

 private:
  static std::int8_t name(int number) { return static_cast<std::int8_t>(number); }

  template <typename Change>
  void emit(const Step& step, Change&& change) const {
    Move& move = out.emplace_back(Move{step, before});
    if constexpr (std::is_invocable_v<Change, State&>) {
      change(move.after);
    } else {
      change(move.after, move.after.workers[who]);
    }
  }
};

State first_state(const Scenario& scenario);

// All possible next steps.
void moves(const State& state, const Scenario& scenario, std::vector<Move>& out);

// True if every task has its verdict and every lease is free.
bool ended(const State& state);

// Merges states that differ only in irrelevant parts, or in the names of the workers. True: the
// workers changed places.
bool make_canonical(State& state, const Scenario& scenario);

// daemon/worker: block/lease_run and job/job_runner.
void block_moves(const Mover& mover);
// daemon/worker: finder.
void finder_moves(const Mover& mover);
// daemon/worker: lease_keeper.
void keeper_moves(const Mover& mover);
// daemon/worker: settle; and the start of the next worker.
void settler_moves(const Mover& mover);

bool lives(const Worker& worker);
bool releasing(const Worker& worker);  // LeaseKeeper::releasing, until drop
void send(Worker& worker, Op op, int task = 0, int attempt = 0);
// LeaseKeeper::hold, for the lease that `call` brought.
void granted(Worker& worker, Which lease, const Packet& call);

// Delivers the answer to the worker's call, or to its keeper's.
void hear(State& state, const Scenario& scenario, int who, const Reply& reply);
void hear_renewal(State& state, int who, const Reply& reply);

// Kills the worker, or with `host` everything there.
void die(State& state, const Scenario& scenario, int who, bool host);

}  // namespace allot::model
