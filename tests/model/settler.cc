// SPDX-License-Identifier: Apache-2.0
// The death of a worker: worker/settle step by step (S8-S10), reclaim at a restart (S11).
#include <algorithm>

#include "model/database.h"
#include "model/moves.h"

namespace allot::model {
namespace {

enum Settle : Byte { kKill, kAckRing, kHeld, kWrite, kKillLate, kDone };

// A new life: what the old one sent keeps its name.
Worker next_life(const Worker& worker) {
  Worker fresh{};
  const Packet* late = &worker.orphan;
  if (worker.renewal.op != Op::kNone) late = &worker.renewal;
  if (worker.call.op != Op::kNone) late = &worker.call;
  fresh.orphan = *late;
  if (fresh.orphan.op != Op::kNone) fresh.orphan.former = 1;
  return fresh;
}

void forget_life(State& state, int who) {
  Worker& worker = state.workers[who];
  if (state.holder == who + 1) state.holder = 3;
  worker = next_life(worker);
}

void kill_connections(Worker& worker) {
  worker.call = {};
  worker.renewal = {};
}

void charge_and_release(State& state, const Scenario& scenario, int who) {
  Worker& worker = state.workers[who];
  const bool held = state.leased != 0 && state.holder == who + 1 && worker.current != 0;
  const int task = worker.running - 1;
  const bool finished = task >= 0 && (worker.ring & bit(task)) != 0;
  if (task >= 0 && !finished && scenario.without != Mutation::kNoCrashCharge) {
    Task& row = state.tasks[task];
    const bool named = row.state == Task::kWaiting && (worker.keys & bit(task)) != 0;
    const Byte number = worker.number;
    if (number >= scenario.max_attempts) {
      bury(state, scenario, task, number, held && named, held);
    } else if (number == 1) {
      charge(state, task, number, held && named);
    } else {
      retry(state, task, number, held && named, held);
    }
  }
  if (task >= 0 && !finished && held) {
    const Task& row = state.tasks[task];
    if (row.state == Task::kWaiting && row.attempt < worker.number) {
      breaks(state, Broken::kAttemptLost);
    }
  }
  release(state, scenario, held);
}

}  // namespace

void die(State& state, const Scenario& scenario, int who, bool host) {
  Worker& worker = state.workers[who];
  if (worker.at == At::kHandler && worker.running != 0) {
    const int task = worker.running - 1;
    Task& row = state.tasks[task];
    if (task == 0 && scenario.poison != Poison::kNone) {
      ++row.kills;
      const int most = scenario.max_attempts + (scenario.poison == Poison::kHost ? 1 : 0);
      if (row.kills > most) breaks(state, Broken::kPoison);
    }
  }
  if (worker.at == At::kAnnounced) worker.call = {};
  // What only the process knew is gone; the slot stays.
  worker.at = host ? At::kLost : At::kDead;
  worker.block = worker.full = worker.attempts = 0;
  worker.suspects = worker.suspect_n = worker.verdicts = 0;
  worker.keeping = worker.lost = worker.deadline = worker.watched = 0;
  worker.settle = 0;
  if (host) worker.ring = worker.running = worker.number = worker.keys = worker.history = 0;
}

void settler_moves(const State& state, const Scenario& scenario, int who, std::vector<Move>& out) {
  const auto emit = [&](const char* what, auto&& change) {
    Move& move = out.emplace_back();
    move.after = state;
    move.step = {what, static_cast<std::int8_t>(who), -1, false};
    change(move.after, move.after.workers[who]);
  };
  const Worker& worker = state.workers[who];
  if (worker.at == At::kLost) {
    emit("its host comes back and reclaims", [&](State& after, Worker&) {
      reclaim(after, static_cast<Byte>(who + 1));
      forget_life(after, who);
    });
  }
  if (worker.at == At::kDown) {
    emit("starts again", [&](State& after, Worker&) { forget_life(after, who); });
  }
  if (worker.at != At::kDead) return;
  const bool late = scenario.without == Mutation::kSettleBeforeKill;
  switch (worker.settle) {
    case kKill:
      emit(late ? "settler starts" : "settler kills the connections",
           [&](State&, Worker& dead) {
             if (!late) kill_connections(dead);
             dead.settle = kAckRing;
           });
      return;
    case kAckRing:
      emit("settler acknowledges the ring", [](State& after, Worker& dead) {
        ack(after, dead.ring, dead.keys, dead.history);
        dead.settle = kHeld;
      });
      return;
    case kHeld:
      emit("settler reads whether the lease is held", [&](State& after, Worker& dead) {
        const bool held = after.leased != 0 && after.holder == who + 1;
        dead.current = held ? 1 : 0;
        dead.settle = held ? kWrite : kKillLate;
      });
      return;
    case kWrite:
      emit("settler charges and releases", [&](State& after, Worker& dead) {
        charge_and_release(after, scenario, who);
        dead.settle = kKillLate;
      });
      return;
    default:
      emit("settler is done", [](State&, Worker& dead) {
        kill_connections(dead);
        const Packet orphan = dead.orphan;
        dead = {};
        dead.orphan = orphan;
        dead.at = At::kDown;
      });
      return;
  }
}

}  // namespace allot::model
