// SPDX-License-Identifier: Apache-2.0
// Death of a worker: worker/settle/settle step by step (S8-S10), and reclaim at a restart (S11).
#include "model/database.h"
#include "model/moves.h"

namespace allot::model {
namespace {

enum Settle : Byte { kKill, kHeld, kWrite, kDone };

// A new run: packets of the old one keep its name.
Worker next_life(const Worker& worker) {
  Worker fresh{};
  fresh.steward = worker.steward;
  const Packet* late = &worker.orphan;
  if (worker.renewal.op != Op::kNone) late = &worker.renewal;
  if (worker.call.op != Op::kNone) late = &worker.call;
  fresh.orphan = *late;
  if (fresh.orphan.op != Op::kNone) fresh.orphan.former = 1;
  return fresh;
}

void forget_life(State& state, int who) {
  Worker& worker = state.workers[who];
  for (Lease& lease : state.leases) {
    if (lease.holder == who + 1) lease.holder = kFormer;
  }
  worker = next_life(worker);
}

void kill_connections(Worker& worker) {
  worker.call = {};
  worker.renewal = {};
}

bool holds(const State& state, Which lease, int who) {
  return state.leases[lease].held != 0 && state.leases[lease].holder == who + 1;
}

// By lock_by, which also finds a lease whose reply was lost.
void read_held(State& state, int who) {
  Worker& dead = state.workers[who];
  dead.lease = holds(state, kOwn, who) ? kOwn : kPartition;
  const bool held = holds(state, static_cast<Which>(dead.lease), who);
  // An attempt that was recorded under another lease is left to others.
  if (dead.announced != 0 && (!held || dead.current != kCurrent)) dead.announced = dead.running = 0;
  dead.current = held ? kCurrent : kGone;
  dead.settle = held ? kWrite : kDone;
}

void refund_unstarted(State& state, const Scenario& scenario, int who) {
  const Worker& dead = state.workers[who];
  const int task = dead.running - 1;
  const bool named =
      state.tasks[task].state == Task::kWaiting && (dead.keys & bit(task)) != 0 && dead.number > 0;
  if (!named) return;
  Fenced write{task, static_cast<Byte>(dead.number - 1), kPartition, true, true};
  write.unstarted = true;
  if (scenario.without != Mutation::kNoRefund) refund(state, scenario, write);
  if (state.tasks[task].attempt >= dead.number) breaks(state, Broken::kChargedUnrun);
}

void charge_and_release(State& state, const Scenario& scenario, int who) {
  Worker& dead = state.workers[who];
  const auto lease = static_cast<Which>(dead.lease);
  const bool held = holds(state, lease, who) && dead.current == kCurrent;
  const bool fence = held || scenario.without == Mutation::kNoSettleFence;
  const int task = dead.running - 1;
  const bool finished = task >= 0 && (dead.ring & bit(task)) != 0;
  const bool started = dead.announced == 0;
  if (held && task >= 0 && !started) refund_unstarted(state, scenario, who);
  const bool charges =
      task >= 0 && started && !finished && scenario.without != Mutation::kNoCrashCharge;
  if (charges) {
    const Task& row = state.tasks[task];
    const Byte where = lease == kOwn ? Task::kDetached : Task::kWaiting;
    const bool named = row.state == where && (dead.keys & bit(task)) != 0;
    Fenced write{task, dead.number, lease, fence && named, held};
    write.crashed = true;
    if (dead.number >= scenario.max_attempts) {
      bury(state, scenario, write);
    } else if (dead.number == 1) {
      charge(state, scenario, write);
    } else {
      retry(state, scenario, write);
    }
  }
  if (task >= 0 && started && !finished && held && (dead.keys & bit(task)) != 0) {
    if (state.tasks[task].attempt < dead.number) breaks(state, Broken::kAttemptLost);
  }
  if (held && lease == kPartition) release(state, scenario);
}

void ack_ring(State& state, const Scenario& scenario, int who) {
  Worker& dead = state.workers[who];
  Packet packet{};
  packet.ring = dead.ring;
  packet.keys = dead.keys;
  packet.history = dead.history;
  if (scenario.without != Mutation::kRingForgotten) {
    for (const Which lease : {kPartition, kOwn}) {
      packet.lease = lease;
      ack(state, scenario, packet, static_cast<Byte>(who + 1));
    }
  }
  dead.settle = kHeld;
}

// The slot does not know the connections of packets that were given up earlier; those leases end by
// their TTL.
void end(State& state, int who) {
  kill_connections(state.workers[who]);
  if (holds(state, kPartition, who) && state.losses == 0) breaks(state, Broken::kSettledHolds);
  forget_life(state, who);
}

// One more than the attempts if a host went down, or if a slow worker lost its lease by a takeover,
// because S7 begins with what it finds. A worker may be that slow in each attempt, and a task that
// was detached and charged by its settler is not a suspect any more.
int most_kills(const Scenario& scenario) {
  if (scenario.time_stands) return scenario.max_attempts;
  return scenario.max_attempts + 1;
}

void settle(const Mover& mover) {
  const bool late = mover.without(Mutation::kSettleBeforeKill);
  switch (mover.me().settle) {
    case kKill:
      mover.step("'s settler kills the connections and acknowledges the ring",
                 [&](State& state, Worker& dead) {
                   if (!late) kill_connections(dead);
                   ack_ring(state, mover.scenario, mover.who);
                 });
      return;
    case kHeld:
      mover.step("'s settler reads whether the lease is held",
                 [&](State& state) { read_held(state, mover.who); });
      return;
    case kWrite:
      mover.step("'s settler charges and releases", [&](State& state, Worker& dead) {
        charge_and_release(state, mover.scenario, mover.who);
        dead.settle = kDone;
      });
      return;
    default:
      mover.step("is settled and starts again", [&](State& state) { end(state, mover.who); });
      return;
  }
}

// Slot of a worker that died between the announcement of a task and its start (S9).
void announced(Worker& dead, const Worker& before) {
  const Packet& call = before.call;
  const bool writes = before.at == At::kAnnounced || call.op == Op::kAnnounce;
  const bool refunds = call.op == Op::kRefund && call.stale != 0;
  if (!writes && !refunds) return;
  dead.announced = 1;
  dead.running = static_cast<Byte>(call.task + 1);
  dead.number = static_cast<Byte>(call.attempt + (refunds ? 1 : 0));
  dead.lease = before.lease;
  dead.current = before.current;
}

}  // namespace

void die(State& state, const Scenario& scenario, int who, bool host) {
  Worker& worker = state.workers[who];
  if (worker.at == At::kHandler && worker.running == 1 && scenario.poison != Poison::kNone) {
    if (++state.tasks[0].kills > most_kills(scenario)) breaks(state, Broken::kPoison);
  }
  const Worker before = worker;
  // The state of the process is lost; the slot stays, and so do packets in transit.
  worker = {};
  worker.at = host ? At::kLost : At::kDead;
  if (before.at != At::kAnnounced) worker.call = before.call;
  worker.renewal = before.renewal;
  worker.orphan = before.orphan;
  if (host) return;
  worker.ring = before.ring;
  worker.running = before.running;
  worker.number = before.number;
  worker.keys = before.keys;
  worker.history = before.history;
  announced(worker, before);
}

void settler_moves(const Mover& mover) {
  if (mover.me().at == At::kDead) return settle(mover);
  mover.step("'s host comes back and reclaims", [&](State& state) {
    reclaim(state, mover.scenario, static_cast<Byte>(mover.who + 1));
    forget_life(state, mover.who);
  });
}

}  // namespace allot::model
