// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

#include "model/state.h"

namespace allot::model {

// One step of the system, and who makes it. `who` -1: the database or time itself.
struct Step {
  const char* what;
  std::int8_t who;
  std::int8_t task;  // -1: none
  bool fault;
};

struct Move {
  Step step;
  State after;
};

// Where the steps of one worker, or of nobody, in one state are collected.
struct Mover {
  const State& before;
  const Scenario& scenario;
  int who;
  std::vector<Move>& out;

  [[nodiscard]] const Worker& me() const { return before.workers[who]; }
  [[nodiscard]] bool without(Mutation rule) const { return scenario.without == rule; }

  // change(State&) makes the step; with a worker, change(State&, Worker&).
  template <typename Change>
  void step(const char* what, Change&& change, int task = -1, bool fault = false) const {
    Move& move = out.emplace_back(
        Move{{what, static_cast<std::int8_t>(who), static_cast<std::int8_t>(task), fault}, before});
    if constexpr (std::is_invocable_v<Change, State&>) {
      change(move.after);
    } else {
      change(move.after, move.after.workers[who]);
    }
  }
  template <typename Change>
  void fault(const char* what, Change&& change, int task = -1) const {
    step(what, std::forward<Change>(change), task, true);
  }
};

State first_state(const Scenario& scenario);

// Everything that can happen next.
void moves(const State& state, const Scenario& scenario, std::vector<Move>& out);

// Every task has its verdict and nobody has a lease.
bool ended(const State& state);

// Makes states the same that differ only in what cannot matter any more, or in the names of the
// workers. True: the workers changed places.
bool make_canonical(State& state);

// daemon/worker: block_loop and task_run.
void block_moves(const Mover& mover);
// daemon/worker: finder.
void finder_moves(const Mover& mover);
// daemon/worker: lease_keeper.
void keeper_moves(const Mover& mover);
// daemon/worker: settle; and the start of the next worker.
void settler_moves(const Mover& mover);

bool lives(const Worker& worker);
void send(Worker& worker, Op op, int task = 0, int attempt = 0);
// LeaseKeeper::hold, of what `call` brought.
void granted(Worker& worker, Which lease, const Packet& call);

// The answer to its call, or to its keeper's.
void hear(State& state, const Scenario& scenario, int who, const Reply& reply);
void hear_renewal(State& state, int who, const Reply& reply);

// Kills the worker, or with `host` everything there.
void die(State& state, const Scenario& scenario, int who, bool host);

}  // namespace allot::model
