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

// A fenced write on one task: its sender, and what it writes.
struct Fenced {
  int task = 0;
  Byte attempt = 0;
  Byte lease = kPartition;  // Which
  bool lands = false;       // the fence let it through, and its key is the task's
  bool owner = false;       // the sender truly has the lease
  bool unstarted = false;   // refunds an announced attempt that did not start
  bool crashed = false;     // of an attempt that ended with its worker: a suspect stays one
};

// Executes what `packet` asks for, sent by the life of a worker that the row knows as `holder`.
Reply execute(State& state, const Scenario& scenario, const Packet& packet, Byte holder);

// reclaim.sql, for the leases of `holder`'s earlier run.
void reclaim(State& state, const Scenario& scenario, Byte holder);
// A fail-over to a server that did not get the commit of the lease.
void fail_over(State& state, const Scenario& scenario);

// Verbs that the settler uses one at a time.
void ack(State& state, const Scenario& scenario, const Packet& packet, Byte holder);
void release(State& state, const Scenario& scenario);
void refund(State& state, const Scenario& scenario, const Fenced& write);
void charge(State& state, const Scenario& scenario, const Fenced& write);
void retry(State& state, const Scenario& scenario, const Fenced& write);
void bury(State& state, const Scenario& scenario, const Fenced& write);

}  // namespace allot::model
