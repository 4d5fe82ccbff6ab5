// SPDX-License-Identifier: Apache-2.0
// Everything outside the workers: time, the network, the server, submitters, faults.
#include "model/moves.h"

#include <algorithm>
#include <iterator>

#include "model/database.h"

namespace allot::model {
namespace {

const char* name_of(Op op) {
  static constexpr const char* kNames[] = {"",
                                           "'s lease is executed",
                                           "'s takeover is executed",
                                           "'s renew is executed",
                                           "'s ack is executed",
                                           "'s ack and fetch is executed",
                                           "'s ack and release is executed",
                                           "'s charge is executed",
                                           "'s retry is executed",
                                           "'s bury is executed",
                                           "'s clear_suspects is executed"};
  return kNames[static_cast<int>(op)];
}

Move& add(const State& state, std::vector<Move>& out, const char* what, int who, bool fault,
          int task = -1) {
  Move& move = out.emplace_back();
  move.after = state;
  move.step = {what, static_cast<std::int8_t>(who), static_cast<std::int8_t>(task), fault};
  return move;
}

bool lives(const Worker& worker) {
  return worker.at != At::kDead && worker.at != At::kDown && worker.at != At::kLost;
}

void tick_clock(Worker& worker) {
  if (worker.deadline > 0) --worker.deadline;
  if (worker.watched > 0 && worker.watched <= kStale) ++worker.watched;
  for (Packet* packet : {&worker.call, &worker.renewal}) {
    const bool asks = packet->op == Op::kLease || packet->op == Op::kTakeover ||
                      packet->op == Op::kRenew;
    if (asks && packet->since < kTtl) ++packet->since;
  }
}

void tick_row(State& state) {
  if (state.leased == 0) return;
  if (state.expires > 0) --state.expires;
  if (state.age < kTtl) ++state.age;
}

void time_moves(const State& state, const Scenario& scenario, std::vector<Move>& out) {
  const bool settling = std::any_of(std::begin(state.workers), std::end(state.workers),
                                    [](const Worker& worker) { return worker.at == At::kDead; });
  // Settling in time is what max_attempts is promised for; else one death goes uncounted.
  if (settling && scenario.poison == Poison::kProcess) return;
  Move& tick = add(state, out, "time passes", -1, false);
  tick_row(tick.after);
  for (Worker& worker : tick.after.workers) tick_clock(worker);
  if (state.drifts >= scenario.drifts) return;
  for (int who = 0; who < kWorkers; ++who) {
    for (const bool fast : {false, true}) {
      Move& drift = add(state, out, fast ? "its clock runs fast" : "its clock runs slow", who, true);
      ++drift.after.drifts;
      tick_row(drift.after);
      for (int other = 0; other < kWorkers; ++other) {
        Worker& worker = drift.after.workers[other];
        if (other != who || fast) tick_clock(worker);
        if (other == who && fast) tick_clock(worker);
      }
    }
  }
}

Byte sender_of(const Packet& packet, int who) {
  return packet.former != 0 ? Byte{3} : static_cast<Byte>(who + 1);
}

// session.h: a call is sent again until it succeeds.
void send_again(Worker& worker) {
  Packet again{};
  again.op = worker.call.op;
  again.task = worker.call.task;
  again.attempt = worker.call.attempt;
  again.ring = worker.call.ring;
  again.unchanged = worker.call.unchanged;
  again.stale = worker.call.stale;
  again.current = worker.current;
  again.keys = worker.keys;
  again.history = worker.history;
  worker.call = again;
  worker.watched = 0;
}

void server_moves(const State& state, const Scenario& scenario, std::vector<Move>& out) {
  for (int who = 0; who < kWorkers; ++who) {
    const Worker& worker = state.workers[who];
    const bool heard = lives(worker);
    if (worker.call.op != Op::kNone && worker.at != At::kAnnounced) {
      State& after = add(state, out, name_of(worker.call.op), who, false, worker.call.task).after;
      const Reply reply = execute(after, scenario, worker.call, sender_of(worker.call, who));
      // Nobody waits for the answer of a dead worker's call.
      if (heard) hear(after, who, reply);
      if (!heard) after.workers[who].call = {};
    }
    if (worker.renewal.op != Op::kNone) {
      State& after = add(state, out, "'s renewal is executed", who, false).after;
      const Reply reply = execute(after, scenario, worker.renewal, sender_of(worker.renewal, who));
      if (heard) hear_renewal(after, who, reply);
      if (!heard) after.workers[who].renewal = {};
    }
    if (worker.orphan.op != Op::kNone) {
      State& after = add(state, out, "'s call that it gave up is executed", who, false).after;
      execute(after, scenario, worker.orphan, sender_of(worker.orphan, who));
      after.workers[who].orphan = {};
    }
  }
}

void give_up(Worker& worker, Packet Worker::*which) {
  if (which == &Worker::renewal) {
    worker.renewal = {};
  } else {
    send_again(worker);
  }
}

// Not executed, executed without an answer, or executed later.
void loss_moves(const State& state, const Scenario& scenario, int who, Packet Worker::*which,
                std::vector<Move>& out) {
  const Packet& packet = state.workers[who].*which;
  if (packet.op == Op::kNone || state.workers[who].at == At::kAnnounced) return;
  Move& lost = add(state, out, "'s call is lost", who, true, packet.task);
  ++lost.after.losses;
  give_up(lost.after.workers[who], which);
  Move& reply = add(state, out, "'s call is executed, its reply is lost", who, true, packet.task);
  ++reply.after.losses;
  execute(reply.after, scenario, packet, sender_of(packet, who));
  give_up(reply.after.workers[who], which);
  if (state.workers[who].orphan.op != Op::kNone) return;
  Move& late = add(state, out, "gives up a call that is on its way", who, true, packet.task);
  ++late.after.losses;
  late.after.given_up = 1;
  late.after.workers[who].orphan = packet;
  give_up(late.after.workers[who], which);
}

// kill -9, also between the execution of a call and its reply.
void death_moves(const State& state, const Scenario& scenario, int who, bool host,
                 std::vector<Move>& out) {
  Move& crash = add(state, out, host ? "loses its host" : "is killed", who, true);
  ++(host ? crash.after.host_losses : crash.after.crashes);
  die(crash.after, scenario, who, host);
  const Packet& call = state.workers[who].call;
  if (call.op == Op::kNone || state.workers[who].at == At::kAnnounced) return;
  Move& late = add(state, out, host ? "'s call is executed, it loses its host"
                                    : "'s call is executed, it is killed", who, true, call.task);
  ++(host ? late.after.host_losses : late.after.crashes);
  execute(late.after, scenario, call, sender_of(call, who));
  late.after.workers[who].call = {};
  die(late.after, scenario, who, host);
}

void fault_moves(const State& state, const Scenario& scenario, std::vector<Move>& out) {
  for (int who = 0; who < kWorkers; ++who) {
    const Worker& worker = state.workers[who];
    if (worker.at == At::kDead && state.crashes < scenario.crashes && worker.settle > 0) {
      Move& again = add(state, out, "its settler is killed and starts again", who, true);
      ++again.after.crashes;
      again.after.workers[who].settle = 0;
    }
    if (!lives(worker)) continue;
    if (state.losses < scenario.losses) {
      loss_moves(state, scenario, who, &Worker::call, out);
      loss_moves(state, scenario, who, &Worker::renewal, out);
    }
    if (state.crashes < scenario.crashes) death_moves(state, scenario, who, false, out);
    if (state.host_losses < scenario.host_losses) death_moves(state, scenario, who, true, out);
  }
  if (state.steps < scenario.clock_steps && state.leased != 0) {
    Move& step = add(state, out, "the database's clock jumps ahead", -1, true);
    ++step.after.steps;
    step.after.expires = 0;
  }
}

void task_moves(const State& state, std::vector<Move>& out) {
  for (int task = 0; task < kTasks; ++task) {
    const Task& row = state.tasks[task];
    if (row.state == Task::kNotYet) {
      Move& submit = add(state, out, "is submitted", -1, false, task);
      submit.after.tasks[task].state = Task::kWaiting;
      submit.after.tasks[task].due = 1;
    }
    if (row.state == Task::kWaiting && row.due == 0) {
      Move& due = add(state, out, "is due", -1, false, task);
      due.after.tasks[task].due = 1;
    }
  }
}

void check(State& state, const Scenario& scenario) {
  if (state.leased != 0 && state.holder == 0) breaks(state, Broken::kNobodysLease);
  for (int who = 0; who < kWorkers; ++who) {
    const bool settled = state.workers[who].at == At::kDown;
    // Of the packets given up earlier the slot knows no connection; the TTL ends those leases.
    if (settled && state.given_up == 0 && state.leased != 0 && state.holder == who + 1) {
      breaks(state, Broken::kSettledHolds);
    }
  }
  if (!scenario.strict) return;
  for (const Task& row : state.tasks) {
    if (row.state == Task::kWaiting && row.moved != 0 && row.moved_row == 0) {
      breaks(state, Broken::kIdLost);
    }
  }
}

void forget(Packet& packet) {
  const bool acks = packet.op >= Op::kAck && packet.op <= Op::kAckRelease;
  const bool names = packet.op == Op::kAnnounce || packet.op == Op::kRetry || packet.op == Op::kBury;
  if (!acks) packet.ring = packet.history = 0;
  packet.keys &= acks ? packet.ring : names ? bit(packet.task) : Byte{0};
  packet.history &= packet.ring;
  const bool fenced = packet.op == Op::kRenew || packet.op >= Op::kAckRelease;
  if (!fenced) packet.current = 0;
}

// What cannot matter any more is the same for all states.
void forget(State& state) {
  for (Task& row : state.tasks) {
    if (row.state != Task::kAcknowledged && row.state != Task::kDead) continue;
    const Byte end = row.state;
    row = {};
    row.state = end;
  }
  for (Task& row : state.tasks) {
    // A success explains whatever verdict follows.
    if (row.succeeded != 0) row.started = row.announced = row.failed = 0;
  }
  for (Worker& worker : state.workers) {
    worker.attempts &= static_cast<Byte>((worker.block & 1) * 3 | (worker.block & 2) * 6 |
                                         (worker.block & 4) * 12);
    const int running = worker.running != 0 ? bit(worker.running - 1) : 0;
    const int called = worker.call.op >= Op::kAnnounce ? bit(worker.call.task) : 0;
    worker.keys &= static_cast<Byte>(worker.block | worker.ring | running | called);
    worker.history &= worker.keys | worker.ring;
    for (Packet* packet : {&worker.call, &worker.renewal, &worker.orphan}) forget(*packet);
  }
}

}  // namespace

State first_state(const Scenario& scenario) {
  State state{};
  for (int task = 0; task < kTasks; ++task) {
    state.order[task] = static_cast<Byte>(task);
    Task& row = state.tasks[task];
    row.state = task < 2 ? Task::kWaiting : Task::kNotYet;
    row.due = task < 2 ? 1 : 0;
    if (task >= scenario.tasks) row = {Task::kAcknowledged, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  }
  return state;
}

bool ended(const State& state) {
  const auto over = [](const Task& row) {
    return row.state == Task::kAcknowledged || row.state == Task::kDead;
  };
  return state.leased == 0 && std::all_of(std::begin(state.tasks), std::end(state.tasks), over);
}

void moves(const State& state, const Scenario& scenario, std::vector<Move>& out) {
  for (int who = 0; who < kWorkers; ++who) {
    if (lives(state.workers[who])) {
      worker_moves(state, scenario, who, out);
    } else {
      settler_moves(state, scenario, who, out);
    }
  }
  server_moves(state, scenario, out);
  task_moves(state, out);
  time_moves(state, scenario, out);
  fault_moves(state, scenario, out);
  for (Move& move : out) {
    check(move.after, scenario);
    forget(move.after);
  }
}

}  // namespace allot::model
