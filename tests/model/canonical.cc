// SPDX-License-Identifier: Apache-2.0
// Merges states that differ only in irrelevant parts, and states in which the two workers are
// exchanged, because their hosts are alike.
#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "model/database.h"
#include "model/moves.h"

namespace allot::model {
namespace {

bool asks_for_time(Op op) {
  return op == Op::kLease || op == Op::kTakeover || op == Op::kFetch || op == Op::kRenew ||
         op == Op::kDetach;
}

bool is_fenced(Op op) {
  return op == Op::kRenew || op == Op::kAckRelease || op == Op::kMarkSuspects ||
         op == Op::kDetach || op >= Op::kReturn;
}

// True if the call cannot change a row any more and its answer is ignored.
bool is_spent(const Packet& packet) {
  if (packet.op == Op::kFetch) return true;
  const bool acks = packet.ring != 0 && (packet.keys | packet.history) != 0;
  return is_fenced(packet.op) && packet.op != Op::kDetach && packet.current == kGone && !acks;
}

void forget(Packet& packet) {
  const Op op = packet.op;
  const bool acks =
      op == Op::kAck || op == Op::kAckFetch || op == Op::kAckRelease || op == Op::kDetach;
  const bool names = op == Op::kDetach || op >= Op::kReturn;
  if (!acks) packet.ring = 0;
  packet.keys &= static_cast<Byte>(packet.ring | (names ? bit(packet.task) : 0));
  packet.history &= packet.ring;
  if (!is_fenced(op) && op != Op::kFetch) packet.current = kGone;
  if (!asks_for_time(op)) packet.since = 0;
}

void forget(Task& row) {
  if (row.state == Task::kAcknowledged || row.state == Task::kDead) {
    const Byte end = row.state;
    row = {};
    row.state = end;
  }
  // A success, or a final failure, explains any later verdict.
  if (row.succeeded != 0) row.failed = 0;
  if (row.succeeded != 0 || row.failed != 0) row.starts = row.announced = 0;
}

// A worker without its lease and past its deadline starts nothing more: it only exits.
void forget_block(Worker& worker) {
  const bool late = worker.keeping != 0 && worker.current == kGone && worker.deadline == 0;
  if (!late || worker.detaching != 0 || releasing(worker)) return;
  if (worker.renewal.op == Op::kNone) worker.lost = 1;
  if (worker.at == At::kBlock) worker.at = At::kLeave;
  worker.block = worker.full = worker.marked = 0;
  worker.suspects = 0;
}

void forget(Worker& worker, const State& state, const Scenario& scenario) {
  // Only valid with the rules that this relies on.
  if (scenario.without == Mutation::kNone) forget_block(worker);
  worker.attempts &=
      static_cast<Byte>((worker.block & 1) * 3 | (worker.block & 2) * 6 | (worker.block & 4) * 12);
  worker.marked &= worker.block;
  const int running = worker.running != 0 ? bit(worker.running - 1) : 0;
  const int recovered = worker.at == At::kRecovered ? 1 : 0;
  const int called = worker.call.op >= Op::kReturn ? bit(worker.call.task) : 0;
  worker.keys &= static_cast<Byte>(worker.block | worker.ring | running | recovered | called);
  worker.history &= static_cast<Byte>(scenario.ids ? worker.keys | worker.ring : 0);
  for (Packet* packet : {&worker.call, &worker.renewal, &worker.orphan}) {
    if (!scenario.ids) packet->history = 0;
    forget(*packet);
    const bool heard = lives(worker) && packet != &worker.orphan;
    if (!heard && is_spent(*packet)) *packet = {};
  }
  worker.orphan.since = 0;
  if (!lives(worker)) {
    worker.looking = 0;
    if (worker.steward != Steward::kNone) worker.steward = Steward::kLooks;
  }
  for (int lease = 0; lease < kLeases; ++lease) {
    if (state.leases[lease].held == 0 || !lives(worker)) {
      worker.watched[lease] = worker.page[lease] = 0;
    }
  }
}

// Removes the places of finished tasks, which are irrelevant.
void forget_places(State& state) {
  std::stable_partition(std::begin(state.order), std::end(state.order), [&](Byte task) {
    const Byte at = state.tasks[task].state;
    return at != Task::kAcknowledged && at != Task::kDead;
  });
  const auto over = std::find_if(std::begin(state.order), std::end(state.order), [&](Byte task) {
    const Byte at = state.tasks[task].state;
    return at == Task::kAcknowledged || at == Task::kDead;
  });
  std::sort(over, std::end(state.order));
}

// True if a task is left that may still run with care.
bool any_care(const State& state) {
  const auto marked = [](const Task& task) { return task.marked != 0; };
  const auto careful = [](const Worker& worker) {
    return worker.marked != 0 || worker.announced != 0 || worker.at == At::kAnnounced;
  };
  return state.suspects != 0 ||
         std::any_of(std::begin(state.tasks), std::end(state.tasks), marked) ||
         std::any_of(std::begin(state.workers), std::end(state.workers), careful);
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

bool make_canonical(State& state, const Scenario& scenario) {
  for (Task& row : state.tasks) {
    forget(row);
    if (!scenario.ids) row.moved = row.moved_row = 0;
  }
  forget_places(state);
  for (Worker& worker : state.workers) forget(worker, state, scenario);
  if (!any_care(state)) state.allowed = 0;
  if (std::memcmp(&state.workers[0], &state.workers[1], sizeof(Worker)) <= 0) return false;
  swap_workers(state);
  return true;
}

}  // namespace allot::model
