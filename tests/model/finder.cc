// SPDX-License-Identifier: Apache-2.0
// Handling of leases in a worker: taken by worker/lease/finder, renewed by
// worker/lease/lease_keeper.
#include <algorithm>
#include <iterator>

#include "model/database.h"
#include "model/moves.h"

namespace allot::model {
namespace {

// Time for which the row was unchanged, by the page of the steward or by the worker's own
// observation.
int stood_still(const Mover& mover, Which lease) {
  const Worker& me = mover.me();
  const bool by_page =
      me.steward == Steward::kLooks ||
      (me.steward == Steward::kGone && mover.without(Mutation::kPageOld)) ||
      (me.steward == Steward::kElsewhere && mover.without(Mutation::kPageOfOtherServer));
  return by_page ? me.page[lease] : me.watched[lease];
}

// Sends `op` for a row that is not free, once S4 permits it.
void take_over(const Mover& mover, Which lease, Op op, const char* sends) {
  const Lease& row = mover.before.leases[lease];
  if (row.held == 0) return;
  const int still = stood_still(mover, lease);
  const bool own = mover.without(Mutation::kTakeoverByOwnTtl);
  const bool stale = still >= (own ? kShortTtl + 1 : kStale);
  const bool waited = still >= kHalf || mover.without(Mutation::kTakeoverWithoutS4);
  if (!stale && !(row.expires == 0 && waited)) return;
  mover.call(sends, [&](State&, Worker& worker) {
    send(worker, op);
    worker.watched[lease] = 0;
    worker.call.lease = lease;
    worker.call.unchanged = 1;
    worker.call.stale = stale ? 1 : 0;
  });
}

// S4: an observation counts from its answer. So the model needs no slow poll: its result has been
// unchanged for at most the time since the last change. Counted from its sending, the row may have
// been renewed since then.
void look(const Mover& mover) {
  if (!mover.without(Mutation::kLookStamp)) return;
  if (mover.me().looking == 0) {
    mover.step("sends a look", [](State&, Worker& worker) { worker.looking = 1; });
    return;
  }
  mover.step("'s look is answered", [](State&, Worker& worker) {
    for (Byte& watched : worker.watched) {
      watched = std::max(watched, static_cast<Byte>(worker.looking - 1));
    }
    worker.looking = 0;
  });
}

void detach(const Mover& mover) {
  mover.call(
      "sends detach",
      [](State&, Worker& worker) {
        worker.detaching = 1;
        Packet& packet = worker.renewal;
        packet.op = Op::kDetach;
        packet.attempt = worker.number;
        packet.ring = worker.ring;
        packet.lease = kPartition;
        packet.current = worker.current;
        packet.keys = worker.keys;
        packet.history = worker.history;
      },
      0, &Worker::renewal);
}

// The task continues under its own lease, and another worker may take the block.
void hear_detach(State& state, int who, const Packet& call) {
  Worker& worker = state.workers[who];
  worker.detaching = 0;
  const Lease& own = state.leases[kOwn];
  if (own.held == 0 || own.holder != who + 1) {
    worker.lost = 1;
    return;
  }
  worker.block = worker.ring = worker.full = 0;
  granted(worker, kOwn, call);
}

}  // namespace

void granted(Worker& worker, Which lease, const Packet& call) {
  worker.lease = lease;
  worker.current = call.op == Op::kFetch ? call.current : Byte{kCurrent};
  worker.keeping = 1;
  worker.lost = 0;
  worker.deadline = static_cast<Byte>(std::max(0, kTtl - kMargin - call.since));
}

void finder_moves(const Mover& mover) {
  const Lease& partition = mover.before.leases[kPartition];
  const bool due =
      std::any_of(std::begin(mover.before.tasks), std::end(mover.before.tasks),
                  [](const Task& task) { return task.state == Task::kWaiting && task.due != 0; });
  if (partition.held == 0 && due) {
    mover.call("sends lease", [](State&, Worker& worker) { send(worker, Op::kLease); });
  }
  look(mover);
  take_over(mover, kPartition, Op::kTakeover, "sends takeover");
  if (mover.scenario.detach) take_over(mover, kOwn, Op::kRecover, "sends recover");
}

void keeper_moves(const Mover& mover) {
  const Worker& me = mover.me();
  if (me.keeping == 0 || me.lost != 0 || me.renewal.op != Op::kNone) return;
  const bool detachable =
      mover.scenario.detach && me.lease == kPartition && me.at == At::kHandler && me.running == 1;
  if (detachable) detach(mover);
  // Until the answer comes it is unknown which row to renew.
  if (me.detaching != 0) return;
  if (me.deadline >= kTtl - kMargin) return;
  if (me.hung != 0 && !mover.without(Mutation::kBlindRenewal)) return;
  mover.call(
      "sends renew",
      [](State&, Worker& worker) {
        worker.renewal.op = Op::kRenew;
        worker.renewal.lease = worker.lease;
        worker.renewal.current = worker.current;
      },
      -1, &Worker::renewal);
}

void hear_renewal(State& state, int who, const Reply& reply) {
  Worker& worker = state.workers[who];
  const Packet renewal = worker.renewal;
  worker.renewal = {};
  if (worker.keeping == 0) return;
  if (renewal.op == Op::kDetach) return hear_detach(state, who, renewal);
  if (reply.matched == 0) {
    worker.lost = 1;
    return;
  }
  if (releasing(worker)) return;
  worker.deadline = static_cast<Byte>(std::max(0, kTtl - kMargin - renewal.since));
}

}  // namespace allot::model
