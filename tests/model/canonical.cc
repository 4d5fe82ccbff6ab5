// SPDX-License-Identifier: Apache-2.0
// States that differ only in what cannot matter any more are one state. So are two states in which
// the workers have each other's part: their hosts are alike.
#include <cstring>
#include <utility>

#include "model/database.h"
#include "model/moves.h"

namespace allot::model {
namespace {

bool asks_for_time(Op op) {
  return op == Op::kLease || op == Op::kTakeover || op == Op::kRenew || op == Op::kDetach;
}

bool is_fenced(Op op) {
  return op == Op::kRenew || op == Op::kAckRelease || op == Op::kClearSuspects || op >= Op::kDetach;
}

void forget(Packet& packet) {
  const Op op = packet.op;
  const bool acks =
      op == Op::kAck || op == Op::kAckFetch || op == Op::kAckRelease || op == Op::kDetach;
  const bool names = op == Op::kDetach || op >= Op::kAnnounce;
  if (!acks) packet.ring = 0;
  packet.keys &= static_cast<Byte>(packet.ring | (names ? bit(packet.task) : 0));
  packet.history &= packet.ring;
  if (!is_fenced(op)) packet.current = kGone;
  if (!asks_for_time(op)) packet.since = 0;
}

void forget(Task& row) {
  if (row.state == Task::kAcknowledged || row.state == Task::kDead) {
    const Byte end = row.state;
    row = {};
    row.state = end;
  }
  // A success explains whatever verdict follows.
  if (row.succeeded != 0) row.starts = row.announced = row.failed = 0;
}

void forget(Worker& worker) {
  worker.attempts &=
      static_cast<Byte>((worker.block & 1) * 3 | (worker.block & 2) * 6 | (worker.block & 4) * 12);
  const int running = worker.running != 0 ? bit(worker.running - 1) : 0;
  const int called = worker.call.op >= Op::kAnnounce ? bit(worker.call.task) : 0;
  worker.keys &= static_cast<Byte>(worker.block | worker.ring | running | called | worker.suspects);
  worker.history &= worker.keys;
  forget(worker.call);
  forget(worker.renewal);
  forget(worker.orphan);
}

void swap_workers(State& state) {
  std::swap(state.workers[0], state.workers[1]);
  for (Lease& lease : state.leases) {
    if (lease.held != 0 && lease.holder != kFormer && lease.holder != 0) {
      lease.holder = static_cast<Byte>(3 - lease.holder);
    }
  }
}

}  // namespace

bool make_canonical(State& state) {
  for (Task& row : state.tasks) forget(row);
  for (Worker& worker : state.workers) forget(worker);
  if (state.suspect_n == 0) state.suspects = 0;
  if (std::memcmp(&state.workers[0], &state.workers[1], sizeof(Worker)) <= 0) return false;
  swap_workers(state);
  return true;
}

}  // namespace allot::model
