// SPDX-License-Identifier: Apache-2.0
// Main thread of a worker with a lease: worker/block/lease_run, worker/job/job_runner.
#include "model/database.h"
#include "model/moves.h"

namespace allot::model {
namespace {

bool valid(const Worker& worker) {
  return worker.keeping != 0 && worker.lost == 0 && worker.deadline > 0;
}

// start_job after the runner: a careful verdict is acknowledged at once.
void end_run(State& state, Worker& worker) {
  const bool wary = worker.announced != 0;
  if (wary && worker.current == kCurrent && state.failovers == 0) {
    if (state.allowed == 0) breaks(state, Broken::kCarefulTooLong);
    if (state.allowed > 0) --state.allowed;
  }
  worker.running = worker.number = worker.announced = 0;
  // A detached task was the last of its block.
  worker.at = worker.lease == kOwn ? At::kLeave : At::kBlock;
  if (wary && worker.ring != 0) worker.at = At::kVerdict;
}

bool covers(const Worker& other, int task) {
  if (!lives(other) || !valid(other)) return false;
  if (other.lease == kPartition && other.detaching == 0) return true;
  return other.at == At::kHandler && other.running == task + 1;
}

// Promises of S5 and S9 for this moment.
void check_start(State& state, const Scenario& scenario, int who, int task) {
  if (scenario.time_stands && state.tasks[task].succeeded != 0) breaks(state, Broken::kRanTwice);
  // After a step of the database's clock only a healthy lease has a promise, and after a failover
  // that loses commits none has.
  if (state.steps != 0 || state.failovers != 0) return;
  const Lease& row = state.leases[kPartition];
  const bool mine = row.held != 0 && row.holder == who + 1;
  if (!mine || covers(state.workers[1 - who], task)) breaks(state, Broken::kStartedElsewhere);
}

void start(State& state, const Mover& mover, int task, int attempt, bool announced) {
  Worker& worker = state.workers[mover.who];
  check_start(state, mover.scenario, mover.who, task);
  worker.at = At::kHandler;
  worker.block &= static_cast<Byte>(~bit(task));
  worker.running = static_cast<Byte>(task + 1);
  worker.number = static_cast<Byte>(attempt);
  worker.announced = announced ? 1 : 0;
  Task& row = state.tasks[task];
  if (row.starts < kMostStarts) ++row.starts;
  if (announced && row.announced > 0) --row.announced;
  if (mover.without(Mutation::kEarlyAck)) worker.ring |= bit(task);
}

void leave(const Mover& mover, const char* why, int task = -1) {
  mover.step(
      why,
      [](State&, Worker& worker) {
        worker.call = {};
        worker.at = At::kLeave;
      },
      task);
}

void send_ack(const Mover& mover) {
  mover.call("sends ack", [](State&, Worker& worker) { send(worker, Op::kAck); });
}

// Continues with the next block, if any.
void end_of_block(const Mover& mover) {
  const Worker& me = mover.me();
  if (me.full != 0) {
    mover.call("sends ack and fetch", [](State&, Worker& worker) { send(worker, Op::kAckFetch); });
  }
  leave(mover, "leaves after its block");
}

int next_task(const Mover& mover) {
  for (const Byte task : mover.before.order) {
    if ((mover.me().block & bit(task)) != 0) return task;
  }
  return -1;
}

// One iteration of run_block.
void run_block(const Mover& mover) {
  const Worker& me = mover.me();
  if (me.suspects != 0) {
    return mover.call("marks the suspects",
                      [](State&, Worker& worker) { send(worker, Op::kMarkSuspects); });
  }
  const int task = next_task(mover);
  if (task < 0) return end_of_block(mover);
  const bool may_start = valid(me) || mover.without(Mutation::kNoDeadlineCheck);
  // A block ends early when its time is over or another worker requests its partition.
  if (me.ring != 0 || !may_start) leave(mover, "leaves its block");
  if (!may_start) return;
  if (me.ring != 0) send_ack(mover);
  const int attempt = attempt_of(me.attempts, task);
  if (attempt >= mover.scenario.max_attempts) {
    mover.call(
        "sends bury, no attempt is left",
        [&](State&, Worker& worker) {
          worker.block &= static_cast<Byte>(~bit(task));
          send(worker, Op::kBury, task, attempt);
        },
        task);
    return;
  }
  if ((me.marked & bit(task)) != 0) {
    if (me.ring != 0) return;  // the acknowledgement comes first
    mover.call(
        "sends charge, before it runs",
        [&](State&, Worker& worker) { send(worker, Op::kAnnounce, task, attempt + 1); }, task);
    return;
  }
  mover.step(
      "starts the handler", [&](State& state) { start(state, mover, task, attempt + 1, false); },
      task);
}

void announced(const Mover& mover) {
  const int task = mover.me().call.task;
  if (!valid(mover.me()) && !mover.without(Mutation::kNoDeadlineCheck)) {
    const auto ask = [&](State&, Worker& worker) {
      const int before = worker.call.attempt - 1;
      send(worker, Op::kRefund, task, before);
      worker.call.stale = 1;
    };
    return mover.call("has no lease to run it under, refunds it", ask, task);
  }
  mover.step(
      "starts the announced handler",
      [&](State& state) {
        Worker& worker = state.workers[mover.who];
        const int attempt = worker.call.attempt;
        worker.call = {};
        start(state, mover, task, attempt, true);
      },
      task);
}

// A stop: the attempt that was recorded before the task ran is taken back; until then the slot
// names it.
void interruption(const Mover& mover) {
  const char* what = "its handler is interrupted";
  if (mover.me().announced != 0 || mover.me().lease == kOwn) {
    const auto ask = [](State&, Worker& worker) {
      worker.block = 0;
      send(worker, Op::kRefund, 0, worker.number - 1);
    };
    return mover.call(what, ask, 0);
  }
  const auto end = [](State&, Worker& worker) {
    worker.running = worker.number = worker.block = 0;
    worker.at = At::kLeave;
  };
  mover.step(what, end, 0);
}

void failures(const Mover& mover) {
  mover.call(
      "its handler fails, sends bury",
      [](State& state, Worker& worker) {
        state.tasks[0].failed = 1;
        send(worker, Op::kBury, 0, worker.number);
      },
      0);
  const bool last = mover.me().number >= mover.scenario.max_attempts;
  mover.call(
      last ? "its handler asks for a retry, sends bury" : "its handler asks for a retry",
      [&](State&, Worker& worker) {
        send(worker, last ? Op::kBury : Op::kRetry, 0, worker.number);
      },
      0);
  mover.call(
      "its handler snoozes",
      [&](State&, Worker& worker) {
        const int taken_back = mover.without(Mutation::kSnoozeCharges) ? 0 : 1;
        send(worker, Op::kSnooze, 0, worker.number - taken_back);
      },
      0);
  interruption(mover);
}

void handler(const Mover& mover) {
  const Worker& me = mover.me();
  // Its end waits for the keeper's answer, as drop() does.
  if (me.hung != 0 || me.detaching != 0) return;
  const int task = me.running - 1;
  if (task == 0 && mover.scenario.poison != Poison::kNone) {
    const bool host = mover.scenario.poison == Poison::kHost;
    mover.step(
        host ? "its handler ends the host" : "its handler ends the process",
        [&](State& state) { die(state, mover.scenario, mover.who, host); }, task);
    return;
  }
  mover.step(
      "its handler succeeds",
      [&](State& state, Worker& worker) {
        state.tasks[task].succeeded = 1;
        worker.ring |= bit(task);
        end_run(state, worker);
      },
      task);
  if (task == 0 && mover.before.hangs < mover.scenario.hangs) {
    mover.fault(
        "its handler hangs over its time, and is not killed",
        [](State& state, Worker& worker) {
          ++state.hangs;
          worker.hung = 1;
        },
        task);
  }
  if (task == 0 && mover.scenario.outcomes) failures(mover);
}

void charge_recovered(const Mover& mover) {
  mover.call(
      "charges the recovered task",
      [](State&, Worker& worker) { send(worker, Op::kReturn, 0, worker.number); }, 0);
}

// releasing() waits for an active renewal: they share one mutex (S1). The keeper may send another
// one until the release is answered.
void finish(const Mover& mover) {
  if (mover.me().renewal.op != Op::kNone) return;
  mover.call("sends ack and release", [](State&, Worker& worker) {
    worker.deadline = 0;  // starts nothing more, even after a renewal
    worker.block = worker.full = 0;
    send(worker, Op::kAckRelease);
  });
}

// A removed rule: the slot names a task as running before its handler starts.
void mark_early(const State& state, Worker& worker) {
  if (worker.at != At::kBlock || worker.running != 0) return;
  for (const Byte task : state.order) {
    if ((worker.block & bit(task)) == 0) continue;
    worker.running = static_cast<Byte>(task + 1);
    worker.number = static_cast<Byte>(attempt_of(worker.attempts, task) + 1);
    return;
  }
}

void take_block(Worker& worker, const Reply& reply) {
  worker.at = At::kBlock;
  worker.block = worker.keys = reply.block;
  worker.attempts = reply.attempts;
  worker.history = reply.history;
  worker.marked = reply.marked;
  int count = 0;
  for (int i = 0; i < kTasks; ++i) count += (reply.block & bit(i)) != 0 ? 1 : 0;
  worker.full = count == kBlockSize ? 1 : 0;
}

// The lease is released, or a task recovered.
void become_idle(Worker& worker) {
  const Packet orphan = worker.orphan;
  worker = {};
  worker.orphan = orphan;
}

// drop() waits for a renewal, too.
void drop(const Mover& mover) {
  if (mover.me().renewal.op != Op::kNone) return;
  mover.step("drops the lease", [](State&, Worker& worker) { become_idle(worker); });
}

void hear_recovery(Worker& worker, const Reply& reply) {
  worker.at = reply.matched != 0 ? At::kRecovered : At::kIdle;
  if (reply.matched == 0) return;
  worker.lease = kOwn;
  worker.current = kCurrent;
  worker.keys = bit(0);
  worker.number = reply.attempts;
}

}  // namespace

void send(Worker& worker, Op op, int task, int attempt) {
  worker.at = At::kCall;
  worker.call = {};
  worker.call.op = op;
  worker.call.task = static_cast<Byte>(task);
  worker.call.attempt = static_cast<Byte>(attempt);
  worker.call.lease = worker.lease;
  worker.call.current = worker.current;
  worker.call.keys = worker.keys;
  worker.call.history = worker.history;
  worker.call.ring = worker.ring;
}

void hear(State& state, const Scenario& scenario, int who, const Reply& reply) {
  Worker& worker = state.workers[who];
  const Packet call = worker.call;
  worker.call = {};
  // queue::fence_holds: the write matched, or the lease is still held.
  const Lease& row = state.leases[worker.lease];
  const bool held = row.held != 0 && row.holder == who + 1 && worker.current == kCurrent;
  const bool landed = reply.matched != 0 || held;
  switch (call.op) {
    case Op::kLease:
    case Op::kTakeover:
    case Op::kFetch:
      worker.at = At::kIdle;
      if (reply.matched == 0) break;
      granted(worker, kPartition, call);
      worker.suspects = reply.suspects;
      take_block(worker, reply);
      break;
    case Op::kAck:
      worker.ring = 0;
      worker.at = At::kBlock;
      break;
    case Op::kAckFetch:
      worker.ring = 0;
      take_block(worker, reply);
      break;
    case Op::kAnnounce:
      worker.at = landed ? At::kAnnounced : At::kLeave;
      if (landed) worker.call = call;
      break;
    case Op::kRetry:
    case Op::kSnooze:
    case Op::kBury:
      end_run(state, worker);
      if (!landed) worker.at = At::kLeave;
      break;
    case Op::kRefund:
      worker.running = worker.number = worker.announced = 0;
      worker.at = At::kLeave;
      break;
    case Op::kMarkSuspects:
      worker.suspects = 0;
      worker.marked |= reply.marked;
      worker.at = landed ? At::kBlock : At::kLeave;
      break;
    case Op::kRecover:
      hear_recovery(worker, reply);
      break;
    case Op::kAckRelease:
      worker.at = At::kReleased;
      if (worker.renewal.op == Op::kNone) become_idle(worker);
      break;
    default:
      become_idle(worker);
      break;
  }
  if (scenario.without == Mutation::kMarkedEarly) mark_early(state, worker);
}

void block_moves(const Mover& mover) {
  switch (mover.me().at) {
    case At::kIdle:
      return finder_moves(mover);
    case At::kBlock:
      return run_block(mover);
    case At::kHandler:
      return handler(mover);
    case At::kAnnounced:
      return announced(mover);
    case At::kRecovered:
      return charge_recovered(mover);
    case At::kVerdict:
      return send_ack(mover);
    case At::kLeave:
      return finish(mover);
    case At::kReleased:
      return drop(mover);
    default:
      return;
  }
}

}  // namespace allot::model
