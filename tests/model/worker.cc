// SPDX-License-Identifier: Apache-2.0
// The code of a worker: worker/finder, worker/block_loop, worker/task_run, worker/lease_keeper.
#include <algorithm>
#include <iterator>

#include "model/database.h"
#include "model/moves.h"

namespace allot::model {
namespace {

void send(Worker& worker, Op op, int task = 0, int attempt = 0) {
  worker.at = At::kCall;
  worker.call = {};
  worker.call.op = op;
  worker.call.task = static_cast<Byte>(task);
  worker.call.attempt = static_cast<Byte>(attempt);
  worker.call.current = worker.current;
  worker.call.keys = worker.keys;
  worker.call.history = worker.history;
  worker.call.ring = worker.ring;
}

// run_one after the runner: a careful verdict is counted and acknowledged at once.
void count_verdict(Worker& worker, int task) {
  const bool counted = worker.suspect_n != 0 && (worker.suspects & bit(task)) != 0 &&
                       worker.verdicts < worker.suspect_n;
  worker.running = worker.number = 0;
  worker.at = At::kBlock;
  if (!counted) return;
  ++worker.verdicts;
  if (worker.ring != 0) send(worker, Op::kAck);
}

void take_block(Worker& worker, const Reply& reply) {
  worker.at = At::kBlock;
  worker.block = worker.keys = reply.block;
  worker.attempts = reply.attempts;
  worker.history = reply.history;
  int count = 0;
  for (int i = 0; i < kTasks; ++i) count += (reply.block & bit(i)) != 0 ? 1 : 0;
  worker.full = count == kBlockSize ? 1 : 0;
}

void granted(Worker& worker, const Packet& call, const Reply& reply) {
  worker.at = At::kIdle;
  if (reply.matched == 0) return;
  worker.current = 1;
  worker.suspects = reply.suspect_n != 0 ? reply.suspects : Byte{0};
  worker.suspect_n = reply.suspect_n;
  worker.keeping = 1;
  worker.lost = 0;
  worker.deadline = static_cast<Byte>(std::max(0, kTtl - kMargin - call.since));
  take_block(worker, reply);
}

class WorkerMoves {
 public:
  WorkerMoves(const State& state, const Scenario& scenario, int who, std::vector<Move>& out)
      : before_(state), scenario_(scenario), who_(who), out_(out) {}

  void all() {
    keeper();
    switch (me().at) {
      case At::kIdle:
        return find();
      case At::kBlock:
        return block();
      case At::kHandler:
        return handler();
      case At::kAnnounced:
        return announced();
      case At::kLeave:
        return finish();
      default:
        return;
    }
  }

 private:
  const Worker& me() const { return before_.workers[who_]; }
  bool valid() const { return me().keeping != 0 && me().lost == 0 && me().deadline > 0; }
  bool careful() const { return me().suspect_n != 0; }
  bool suspect(int task) const {
    return careful() && (me().suspects & bit(task)) != 0 && me().verdicts < me().suspect_n;
  }

  template <typename Change>
  void emit(const char* what, Change&& change, int task = -1) {
    Move& move = out_.emplace_back();
    move.after = before_;
    move.step = {what, static_cast<std::int8_t>(who_), static_cast<std::int8_t>(task), false};
    change(move.after, move.after.workers[who_]);
  }

  int next_task() const {
    for (const Byte task : before_.order) {
      if ((me().block & bit(task)) != 0) return task;
    }
    return -1;
  }

  // A scout's hint; a takeover by S4.
  void find() {
    const bool due = std::any_of(std::begin(before_.tasks), std::end(before_.tasks), [](const Task& task) {
      return task.state == Task::kWaiting && task.due != 0;
    });
    if (before_.leased == 0) {
      if (due) emit("sends lease", [](State&, Worker& worker) { send(worker, Op::kLease); });
      return;
    }
    if (me().watched == 0) {
      emit("watches", [](State&, Worker& worker) { worker.watched = 1; });
      return;
    }
    const int still = me().watched - 1;
    const bool without_s4 = scenario_.without == Mutation::kTakeoverWithoutS4;
    const bool stale = still >= kStale;
    if (!stale && !(before_.expires == 0 && (still >= kHalf || without_s4))) return;
    emit("sends takeover", [&](State&, Worker& worker) {
      send(worker, Op::kTakeover);
      worker.watched = 0;
      worker.call.unchanged = 1;
      worker.call.stale = stale ? 1 : 0;
    });
  }

  void block() {
    const bool checks = scenario_.without != Mutation::kNoDeadlineCheck;
    const int task = next_task();
    if (task < 0) return end_of_block();
    // A block ends early when its time is over or somebody asks for it.
    if (me().ring != 0 || (checks && !valid())) {
      emit("leaves its block", [](State&, Worker& worker) { worker.at = At::kLeave; });
    }
    if (checks && !valid()) return;
    if (me().ring != 0) {
      emit("sends ack", [](State&, Worker& worker) { send(worker, Op::kAck); });
    }
    const int attempt = attempt_of(me().attempts, task);
    if (attempt >= scenario_.max_attempts) {
      emit("sends bury, all attempts announced",
           [&](State&, Worker& worker) {
             worker.block &= static_cast<Byte>(~bit(task));
             send(worker, Op::kBury, task, attempt);
           },
           task);
      return;
    }
    if (suspect(task) && scenario_.without != Mutation::kNoCarefulMode) {
      emit("sends charge, before it runs",
           [&](State&, Worker& worker) { send(worker, Op::kAnnounce, task, attempt + 1); }, task);
      return;
    }
    emit("starts the handler",
         [&](State& state, Worker& worker) { start(state, worker, task, attempt + 1); }, task);
  }

  void start(State& state, Worker& worker, int task, int attempt) const {
    worker.at = At::kHandler;
    worker.block &= static_cast<Byte>(~bit(task));
    worker.running = static_cast<Byte>(task + 1);
    worker.number = static_cast<Byte>(attempt);
    Task& row = state.tasks[task];
    row.started = 1;
    row.announced = 0;
    if (scenario_.without == Mutation::kEarlyAck) worker.ring |= bit(task);
    // S5. After a step of the database's clock only a healthy lease is promised anything.
    if (state.steps != 0) return;
    const bool mine = worker.current != 0 && state.leased != 0 && state.holder == who_ + 1;
    if (!mine) breaks(state, Broken::kStartedElsewhere);
    const Worker& other = state.workers[1 - who_];
    const bool lives = other.at != At::kDead && other.at != At::kDown && other.at != At::kLost;
    if (lives && other.keeping != 0 && other.lost == 0 && other.deadline > 0) {
      breaks(state, Broken::kStartedElsewhere);
    }
  }

  void handler() {
    const int task = me().running - 1;
    if (task == 0 && scenario_.poison != Poison::kNone) {
      const bool host = scenario_.poison == Poison::kHost;
      emit(host ? "its handler ends the host" : "its handler ends the process",
           [&](State& state, Worker&) { die(state, scenario_, who_, host); }, task);
      return;
    }
    emit("its handler succeeds",
         [&](State& state, Worker& worker) {
           state.tasks[task].succeeded = 1;
           worker.ring |= bit(task);
           count_verdict(worker, task);
         },
         task);
    if (task != 0 || scenario_.retries == 0) return;
    emit("its handler fails, sends bury",
         [&](State& state, Worker& worker) {
           state.tasks[task].failed = 1;
           send(worker, Op::kBury, task, worker.number);
         },
         task);
    const bool last = me().number >= scenario_.max_attempts;
    emit("its handler asks for a retry",
         [&](State& state, Worker& worker) {
           if (last) state.tasks[task].failed = 1;
           send(worker, last ? Op::kBury : Op::kRetry, task, worker.number);
         },
         task);
  }

  void announced() {
    const int task = me().call.task;
    const bool checks = scenario_.without != Mutation::kNoDeadlineCheck;
    if (checks && !valid()) {
      emit("has no lease to run it under",
           [](State&, Worker& worker) {
             worker.call = {};
             worker.at = At::kLeave;
           },
           task);
      return;
    }
    emit("starts the announced handler",
         [&](State& state, Worker& worker) {
           const int attempt = worker.call.attempt;
           worker.call = {};
           start(state, worker, task, attempt);
         },
         task);
  }

  // settle_suspects, then the next block or none.
  void end_of_block() {
    if (careful()) {
      if (me().ring != 0) {
        emit("sends ack", [](State&, Worker& worker) { send(worker, Op::kAck); });
        return;
      }
      bool left = false;
      for (int i = 0; i < kTasks; ++i) {
        left |= before_.tasks[i].state == Task::kWaiting && (me().suspects & bit(i)) != 0 &&
                (me().keys & bit(i)) != 0;
        left |= before_.tasks[i].state == Task::kWaiting && (before_.suspects & bit(i)) != 0;
      }
      if (me().verdicts >= me().suspect_n) left = false;
      if (!left && valid()) {
        emit("sends clear_suspects", [](State&, Worker& worker) {
          send(worker, Op::kClearSuspects);
        });
      }
    }
    if (me().full != 0) {
      emit("sends ack and fetch", [](State&, Worker& worker) { send(worker, Op::kAckFetch); });
    }
    emit("leaves after its block", [](State&, Worker& worker) { worker.at = At::kLeave; });
  }

  // drop() waits for a renewal that is under way: one mutex (S1).
  void finish() {
    if (me().renewal.op != Op::kNone) return;
    emit("sends ack and release", [](State&, Worker& worker) {
      worker.keeping = worker.lost = worker.deadline = 0;
      worker.block = 0;
      worker.suspects = worker.suspect_n = worker.verdicts = worker.full = 0;
      send(worker, Op::kAckRelease);
    });
  }

  void keeper() {
    if (me().keeping == 0 || me().lost != 0) return;
    if (me().renewal.op == Op::kNone) {
      if (me().deadline >= kTtl - kMargin) return;
      emit("sends renew", [](State&, Worker& worker) {
        worker.renewal.op = Op::kRenew;
        worker.renewal.current = worker.current;
      });
      return;
    }
  }

  const State& before_;
  const Scenario& scenario_;
  const int who_;
  std::vector<Move>& out_;
};

}  // namespace

void hear(State& state, int who, const Reply& reply) {
  Worker& worker = state.workers[who];
  const Packet call = worker.call;
  worker.call = {};
  // TaskStore::landed: matched, or the lease is held in spite of it.
  const bool held = state.leased != 0 && state.holder == who + 1 && worker.current != 0;
  const bool landed = reply.matched != 0 || held;
  switch (call.op) {
    case Op::kLease:
    case Op::kTakeover:
      return granted(worker, call, reply);
    case Op::kAck:
      worker.ring = 0;
      worker.at = At::kBlock;
      return;
    case Op::kAckFetch:
      worker.ring = 0;
      return take_block(worker, reply);
    case Op::kAckRelease: {
      const Packet orphan = worker.orphan;
      worker = {};
      worker.orphan = orphan;
      return;
    }
    case Op::kAnnounce:
      worker.at = landed ? At::kAnnounced : At::kLeave;
      if (landed) worker.call = call;
      return;
    case Op::kRetry:
    case Op::kBury:
      count_verdict(worker, call.task);
      if (landed) return;
      worker.call = {};
      worker.at = At::kLeave;
      return;
    case Op::kClearSuspects:
      if (landed) worker.suspects = worker.suspect_n = worker.verdicts = 0;
      worker.at = At::kBlock;
      return;
    default:
      return;
  }
}

void hear_renewal(State& state, int who, const Reply& reply) {
  Worker& worker = state.workers[who];
  const Packet renewal = worker.renewal;
  worker.renewal = {};
  if (worker.keeping == 0) return;
  if (reply.matched == 0) {
    worker.lost = 1;
    return;
  }
  worker.deadline = static_cast<Byte>(std::max(0, kTtl - kMargin - renewal.since));
}

void worker_moves(const State& state, const Scenario& scenario, int who, std::vector<Move>& out) {
  WorkerMoves(state, scenario, who, out).all();
}

}  // namespace allot::model
