// SPDX-License-Identifier: Apache-2.0
// Everything outside the workers: time, the network, the server, submitters, faults.
#include "model/moves.h"

#include <algorithm>
#include <iterator>

#include "model/database.h"

namespace allot::model {
namespace {

const char* name_of(Op op) {
  switch (op) {
    case Op::kLease:
      return "'s lease is executed";
    case Op::kTakeover:
      return "'s takeover is executed";
    case Op::kFetch:
      return "'s fetch is executed";
    case Op::kRenew:
      return "'s renew is executed";
    case Op::kAck:
      return "'s ack is executed";
    case Op::kAckFetch:
      return "'s ack and fetch is executed";
    case Op::kAckRelease:
      return "'s ack and release is executed";
    case Op::kMarkSuspects:
      return "'s mark of the suspects is executed";
    case Op::kDetach:
      return "'s detach is executed";
    case Op::kRecover:
      return "'s recover is executed";
    case Op::kReturn:
      return "'s charge of the recovered task is executed";
    case Op::kAnnounce:
      return "'s charge is executed";
    case Op::kRefund:
      return "'s refund is executed";
    case Op::kRetry:
      return "'s retry is executed";
    case Op::kSnooze:
      return "'s snooze is executed";
    case Op::kBury:
      return "'s bury is executed";
    default:
      return "";
  }
}

int task_of(const Packet& packet) {
  const bool names = packet.op >= Op::kReturn || packet.op == Op::kDetach;
  return names ? packet.task : -1;
}

// Rules do not depend on a row being unchanged for longer than `most`. A worker polls as often as
// it can, which is the most permissive case.
void tick_clock(Worker& worker, int most) {
  if (worker.deadline > 0) --worker.deadline;
  // If the steward observes, the worker itself remembers nothing.
  for (Byte& still : worker.steward == Steward::kLooks ? worker.page : worker.watched) {
    if (still < most) ++still;
  }
  if (worker.looking != 0 && worker.looking <= most) ++worker.looking;
  for (Packet* packet : {&worker.call, &worker.renewal}) {
    if (packet->op != Op::kNone && packet->since < kTtl - kMargin) ++packet->since;
  }
}

void tick_rows(State& state) {
  for (Lease& row : state.leases) {
    if (row.held == 0) continue;
    if (row.expires > 0 && row.expires != kNever) --row.expires;
    if (row.age < kTtl) ++row.age;
  }
}

// True if time cannot pass, because every pending step is immediate.
bool time_waits(const State& state, const Scenario& scenario) {
  if (scenario.time_stands) return true;
  for (const Worker& worker : state.workers) {
    // max_attempts is only promised if settling comes in time; otherwise one death is not counted.
    if (worker.at == At::kDead && scenario.poison == Poison::kProcess) return true;
    // A blind keeper is never late: that makes it dangerous.
    const bool blind = scenario.without == Mutation::kBlindRenewal && worker.hung != 0;
    if (blind && lives(worker) && worker.lost == 0 && worker.deadline <= 1) return true;
  }
  return false;
}

void time_moves(const Mover& mover) {
  if (time_waits(mover.before, mover.scenario)) return;
  // A lease that was unchanged for TTL + 1 is expired as well, unless the clock was set back, or it
  // only seems unchanged.
  const bool by_standing_still =
      mover.scenario.clock_returns != 0 || mover.without(Mutation::kLookStamp);
  const int most = by_standing_still ? kStale : kHalf;
  mover.step("time passes", [&](State& state) {
    tick_rows(state);
    for (Worker& worker : state.workers) tick_clock(worker, most);
  });
  if (mover.before.drifts >= mover.scenario.drifts) return;
  for (int who = 0; who < kWorkers; ++who) {
    const Mover one{mover.before, mover.scenario, who, mover.out};
    for (const bool fast : {false, true}) {
      one.fault(fast ? "'s clock runs fast" : "'s clock runs slow", [&](State& state) {
        ++state.drifts;
        tick_rows(state);
        tick_clock(state.workers[1 - who], most);
        if (fast) tick_clock(state.workers[who], most);
        if (fast) tick_clock(state.workers[who], most);
      });
    }
  }
}

Byte sender_of(const Packet& packet, int who) {
  return packet.former != 0 ? kFormer : static_cast<Byte>(who + 1);
}

// session.h: a call is sent again until it succeeds.
void send_again(Worker& worker) {
  Packet again = worker.call;
  if (again.op == Op::kFetch) again.op = Op::kLease;  // which it may have by now
  again.current = worker.current;
  again.keys = worker.keys;
  again.history = worker.history;
  again.since = 0;
  worker.call = again;
  std::fill(std::begin(worker.watched), std::end(worker.watched), Byte{0});
}

void give_up(Worker& worker, Channel channel) {
  if (channel == &Worker::renewal) {
    worker.renewal = {};
  } else {
    send_again(worker);
  }
}

// The packet of a lease commits before it fetches, which may come any time later.
void commit_lease(State& state, const Scenario& scenario, int who) {
  Packet& packet = state.workers[who].call;
  const Reply reply = execute(state, scenario, packet, sender_of(packet, who));
  if (reply.matched == 0) return hear(state, scenario, who, reply);
  packet.op = Op::kFetch;
  packet.lease = kPartition;
  packet.current = kCurrent;
  packet.stale = reply.suspects;
  packet.unchanged = 0;
}

// A call in transit arrives.
void server_moves(const Mover& mover) {
  const Worker& me = mover.me();
  if (lives(me) && (me.call.op == Op::kLease || me.call.op == Op::kTakeover)) {
    mover.step("'s lease is committed, and its fetch is late",
               [&](State& state) { commit_lease(state, mover.scenario, mover.who); });
  }
  for (const Channel channel : {&Worker::call, &Worker::renewal, &Worker::orphan}) {
    const Packet& packet = me.*channel;
    if (packet.op == Op::kNone || (channel == &Worker::call && me.at == At::kAnnounced)) continue;
    mover.step(
        name_of(packet.op), [&](State& state) { mover.answer(state, channel); }, task_of(packet));
  }
}

// A call that is lost, or executed without an answer, before or after its sender tries again.
void loss_moves(const Mover& mover, Channel channel) {
  const Packet& packet = mover.me().*channel;
  const bool asked = packet.op != Op::kNone && mover.me().at != At::kAnnounced;
  if (!asked || mover.me().orphan.op != Op::kNone) return;
  mover.fault(
      "gives up a call that is on its way",
      [&](State& state, Worker& worker) {
        ++state.losses;
        worker.orphan = packet;
        give_up(worker, channel);
      },
      task_of(packet));
}

// Earlier observations do not count when the steward returns.
void steward_moves(const Mover& mover) {
  const Steward steward = mover.me().steward;
  if (steward == Steward::kGone || steward == Steward::kElsewhere) {
    mover.fault("'s steward looks again", [](State&, Worker& worker) {
      worker.steward = Steward::kLooks;
      std::fill(std::begin(worker.page), std::end(worker.page), Byte{0});
      std::fill(std::begin(worker.watched), std::end(worker.watched), Byte{0});
    });
    return;
  }
  const bool may = mover.before.blind_stewards < mover.scenario.blind_stewards;
  if (steward != Steward::kLooks || !may) return;
  for (const Steward blind : {Steward::kGone, Steward::kElsewhere}) {
    mover.fault(
        blind == Steward::kGone ? "'s steward is gone" : "'s steward looks at another server",
        [&](State& state, Worker& worker) {
          ++state.blind_stewards;
          worker.steward = blind;
          std::fill(std::begin(worker.page), std::end(worker.page), Byte{0});
        });
  }
}

void fault_moves(const Mover& mover) {
  const Worker& me = mover.me();
  if (me.at == At::kDead && mover.may_die(false) && me.settle > 0) {
    mover.fault("'s settler is killed and starts again", [](State& state, Worker& worker) {
      ++state.crashes;
      worker.settle = 0;
    });
  }
  if (!lives(me)) return;
  steward_moves(mover);
  if (mover.before.losses < mover.scenario.losses) {
    loss_moves(mover, &Worker::call);
    loss_moves(mover, &Worker::renewal);
  }
  for (const bool host : {false, true}) {
    if (!mover.may_die(host)) continue;
    mover.fault(host ? "loses its host" : "is killed",
                [&](State& state) { mover.kill(state, host); });
  }
}

void database_faults(const Mover& mover) {
  const State& before = mover.before;
  const bool held = before.leases[kPartition].held != 0;
  if (before.steps < mover.scenario.clock_steps && (held || before.leases[kOwn].held != 0)) {
    mover.fault("the database's clock jumps ahead", [](State& state) {
      ++state.steps;
      for (Lease& row : state.leases) row.expires = 0;
    });
  }
  if (before.returns < mover.scenario.clock_returns && held) {
    mover.fault("the database's clock jumps back", [](State& state) {
      ++state.returns;
      for (Lease& row : state.leases) {
        if (row.held != 0) row.expires = kNever;
      }
    });
  }
  if (before.failovers < mover.scenario.failovers && held) {
    mover.fault("the database fails over, and the lease is lost", [&](State& state) {
      ++state.failovers;
      fail_over(state, mover.scenario);
    });
  }
}

void task_moves(const Mover& mover) {
  for (int task = 0; task < kTasks; ++task) {
    const Task& row = mover.before.tasks[task];
    const bool submit = row.state == Task::kNotYet;
    if (!submit && (row.state != Task::kWaiting || row.due != 0)) continue;
    mover.step(
        submit ? "is submitted" : "is due",
        [&](State& state) {
          state.tasks[task].state = Task::kWaiting;
          state.tasks[task].due = 1;
        },
        task);
  }
}

void check(State& state, const Scenario& scenario) {
  for (const Lease& row : state.leases) {
    if (row.held != 0 && row.holder == 0) breaks(state, Broken::kNobodysLease);
  }
  if (!scenario.ids) return;
  for (const Task& row : state.tasks) {
    if (row.state == Task::kWaiting && row.moved != 0 && row.moved_row == 0) {
      breaks(state, Broken::kIdLost);
    }
  }
}

}  // namespace

bool lives(const Worker& worker) {
  return worker.at != At::kDead && worker.at != At::kLost;
}

bool releasing(const Worker& worker) {
  return worker.at == At::kReleased ||
         (worker.at == At::kCall && worker.call.op == Op::kAckRelease);
}

void Mover::kill(State& state, bool host) const {
  ++(host ? state.host_losses : state.crashes);
  die(state, scenario, who, host);
}

void Mover::answer(State& state, Channel channel) const {
  Worker& worker = state.workers[who];
  const Packet packet = worker.*channel;
  const Reply reply = execute(state, scenario, packet, sender_of(packet, who));
  const bool heard = lives(worker) && channel != &Worker::orphan;
  if (!heard) {
    worker.*channel = {};
  } else if (channel == &Worker::renewal) {
    hear_renewal(state, who, reply);
  } else {
    hear(state, scenario, who, reply);
  }
}

State first_state(const Scenario& scenario) {
  State state{};
  for (int task = 0; task < kTasks; ++task) {
    state.order[task] = static_cast<Byte>(task);
    Task& row = state.tasks[task];
    row.state = task < scenario.submitted ? Task::kWaiting : Task::kNotYet;
    row.due = task < scenario.submitted ? 1 : 0;
    if (task < scenario.tasks) continue;
    row = {};
    row.state = Task::kAcknowledged;
  }
  if (scenario.behind) std::swap(state.order[0], state.order[1]);
  for (Worker& worker : state.workers) {
    worker.steward = scenario.stewards ? Steward::kLooks : Steward::kNone;
  }
  return state;
}

bool ended(const State& state) {
  const auto over = [](const Task& row) {
    return row.state == Task::kAcknowledged || row.state == Task::kDead;
  };
  const auto free = [](const Lease& row) { return row.held == 0; };
  return std::all_of(std::begin(state.leases), std::end(state.leases), free) &&
         std::all_of(std::begin(state.tasks), std::end(state.tasks), over);
}

void moves(const State& state, const Scenario& scenario, std::vector<Move>& out) {
  for (int who = 0; who < kWorkers; ++who) {
    const Mover mover{state, scenario, who, out};
    if (lives(mover.me())) {
      keeper_moves(mover);
      block_moves(mover);
    } else {
      settler_moves(mover);
    }
    server_moves(mover);
    fault_moves(mover);
  }
  const Mover no_worker{state, scenario, -1, out};
  task_moves(no_worker);
  time_moves(no_worker);
  database_faults(no_worker);
  for (Move& move : out) check(move.after, scenario);
}

}  // namespace allot::model
