// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/state.h"

// The server's side: what each verb of sql/queries does to the rows, one transaction each.
namespace allot::model {

inline Byte bit(int task) {
  return static_cast<Byte>(1 << task);
}
inline int attempt_of(Byte attempts, int task) {
  return attempts >> (2 * task) & 3;
}

void breaks(State& state, Broken what);

// Executes what `packet` asks for, sent by the life of a worker that the row knows as `holder`.
Reply execute(State& state, const Scenario& scenario, const Packet& packet, Byte holder);

// reclaim.sql, for what the former life of `holder` has.
void reclaim(State& state, Byte holder);

// Verbs that the settler uses one at a time.
void ack(State& state, Byte ring, Byte keys, Byte history);
void release(State& state, const Scenario& scenario, bool fence);
void charge(State& state, int task, Byte attempt, bool fence);
void retry(State& state, int task, Byte attempt, bool fence, bool owner);
void bury(State& state, const Scenario& scenario, int task, Byte attempt, bool fence, bool owner);

}  // namespace allot::model
