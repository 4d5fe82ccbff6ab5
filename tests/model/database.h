// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/state.h"

// Server side of the model: effect of each verb of sql/queries on the rows, one transaction each.
namespace allot::model {

inline Byte bit(int task) {
  return static_cast<Byte>(1 << task);
}
inline int attempt_of(Byte attempts, int task) {
  return attempts >> (2 * task) & 3;
}

void breaks(State& state, Broken what);

// A fenced write on one task: its sender and its content.
struct Fenced {
  int task = 0;
  Byte attempt = 0;
  Byte lease = kPartition;  // Which
  bool lands = false;       // the fence lets it pass, and its key is the task's
  bool owner = false;       // the sender really has the lease
  bool unstarted = false;   // refunds a recorded attempt that did not start
  bool crashed = false;     // for an attempt that ended with its worker: a suspect stays one
};

// Executes `packet`, sent by the worker run that the row knows as `holder`.
Reply execute(State& state, const Scenario& scenario, const Packet& packet, Byte holder);

// reclaim.sql, for the leases of `holder`'s earlier run.
void reclaim(State& state, const Scenario& scenario, Byte holder);
// A failover to a server without the commit of the lease.
void fail_over(State& state, const Scenario& scenario);

// Verbs that the settler uses one at a time.
void ack(State& state, const Scenario& scenario, const Packet& packet, Byte holder);
void release(State& state, const Scenario& scenario);
void refund(State& state, const Scenario& scenario, const Fenced& write);
void charge(State& state, const Scenario& scenario, const Fenced& write);
void retry(State& state, const Scenario& scenario, const Fenced& write);
void bury(State& state, const Scenario& scenario, const Fenced& write);

}  // namespace allot::model
