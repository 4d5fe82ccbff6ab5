// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "model/state.h"

namespace allot::model {

// One step of the system, and who makes it. `who` -1: the database or time itself.
struct Step {
  const char* what;
  std::int8_t who;
  std::int8_t task;
  bool fault;
};

struct Move {
  Step step;
  State after;
};

State first_state(const Scenario& scenario);

// Everything that can happen next.
void moves(const State& state, const Scenario& scenario, std::vector<Move>& out);

// Every task has its verdict and nobody has the lease.
bool ended(const State& state);

// The part of moves() that is the code of daemon/worker: block loop, task run, finder, keeper.
void worker_moves(const State& state, const Scenario& scenario, int who, std::vector<Move>& out);
// The part that is daemon/worker/settle, and the start of the next worker.
void settler_moves(const State& state, const Scenario& scenario, int who, std::vector<Move>& out);

// The answer to its call, or to its keeper's.
void hear(State& state, int who, const Reply& reply);
void hear_renewal(State& state, int who, const Reply& reply);

// Handler of the running task took the process, or the host, with it.
void die(State& state, const Scenario& scenario, int who, bool host);

}  // namespace allot::model
