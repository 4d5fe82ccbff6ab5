// SPDX-License-Identifier: Apache-2.0
#include "model/database.h"

#include <algorithm>
#include <iterator>

namespace allot::model {
namespace {

template <typename Change>
void each_packet(State& state, Change&& change) {
  for (Worker& worker : state.workers) {
    change(worker.call);
    change(worker.renewal);
    change(worker.orphan);
  }
}

// Calls change(Byte& current) for every owner of a remembered epoch of this row.
template <typename Change>
void each_memory(State& state, Which lease, Change&& change) {
  for (Worker& worker : state.workers) {
    if (worker.lease == lease) change(worker.current);
  }
  each_packet(state, [&](Packet& packet) {
    if (packet.lease == lease) change(packet.current);
  });
}

// expire_at or epoch changed: the row differs from the one that a watcher saw before.
void row_changed(State& state, const Scenario& scenario, Which lease) {
  for (Worker& worker : state.workers) {
    worker.watched[lease] = 0;
    // A takeover by the page names epoch and expiry, so it does not match a changed row.
    if (scenario.without != Mutation::kPageNamesNothing) worker.page[lease] = 0;
  }
  each_packet(state, [&](Packet& packet) {
    if (packet.lease == lease) packet.unchanged = 0;
  });
}

void epoch_ends(State& state, const Scenario& scenario, Which lease) {
  // With counting, the epoch that a failover lost is repeated. With the clock it is not (S2).
  const bool counted = scenario.without == Mutation::kEpochCounted;
  each_memory(state, lease,
              [&](Byte& current) { current = counted && current == kNext ? kCurrent : kGone; });
  row_changed(state, scenario, lease);
}

// The row of the task gets another key, or is deleted.
void key_ends(State& state, int task) {
  const auto others = static_cast<Byte>(~bit(task));
  for (Worker& worker : state.workers) worker.keys &= others;
  each_packet(state, [&](Packet& packet) { packet.keys &= others; });
  state.suspects &= others;
}

// The first task leaves task_running.
void leave_own(State& state, const Scenario& scenario) {
  state.leases[kOwn] = {};
  epoch_ends(state, scenario, kOwn);
}

void fetch(const State& state, Reply& reply) {
  int count = 0;
  for (const Byte task : state.order) {
    const Task& row = state.tasks[task];
    if (row.state != Task::kWaiting || row.due == 0 || count == kBlockSize) continue;
    ++count;
    reply.block |= bit(task);
    reply.attempts = static_cast<Byte>(reply.attempts | row.attempt << (2 * task));
    if (row.moved != 0) reply.history |= bit(task);
    if (row.marked != 0) reply.marked |= bit(task);
  }
}

void suspect_all(State& state) {
  state.allowed = kBlockSize;
  for (const Task& row : state.tasks) state.allowed += row.marked;
  for (int i = 0; i < kTasks; ++i) {
    const Task& row = state.tasks[i];
    if (row.state == Task::kWaiting && row.due != 0) state.suspects |= bit(i);
  }
}

// find_suspects.sql, suspect.sql and clear_suspects.sql: only tasks due before the loss can have
// run on that host, and of these the first ones. A repeat after a lost reply gives the same result.
Byte mark_suspects(State& state, const Scenario& scenario) {
  const bool bounded = scenario.without != Mutation::kCarefulForAll;
  Byte marked = 0;
  int count = 0;
  for (const Byte task : state.order) {
    Task& row = state.tasks[task];
    const bool named = (state.suspects & bit(task)) != 0 && row.state == Task::kWaiting;
    if (named && (!bounded || count++ < kBlockSize)) row.marked = 1;
    if (row.state == Task::kWaiting && row.marked != 0) marked |= bit(task);
  }
  state.suspects = 0;
  return marked;
}

// S4: the sender saw the row unchanged for long enough.
bool may_take_over(State& state, const Lease& row, const Packet& packet) {
  if (row.held == 0 || packet.unchanged == 0) return false;
  if (packet.stale == 0 && row.expires != 0) return false;
  const int least = state.steps != 0 ? kHalf - state.drifts : kTtl;
  if (row.age < least) breaks(state, Broken::kHealthyTaken);
  return true;
}

// lease.sql and takeover.sql.
Reply take(State& state, const Scenario& scenario, const Packet& packet, Byte holder) {
  Reply reply{};
  Lease& row = state.leases[kPartition];
  const bool mine = row.held != 0 && row.holder == holder;
  const bool over = packet.op == Op::kTakeover;
  if (!over && row.held != 0 && !mine) return reply;
  if (over && !mine) {
    if (!may_take_over(state, row, packet)) return reply;
    if (scenario.without != Mutation::kNoCarefulMode) suspect_all(state);
  }
  epoch_ends(state, scenario, kPartition);
  each_memory(state, kPartition, [&](const Byte& current) {
    if (current == kCurrent) breaks(state, Broken::kEpochRepeated);
  });
  row = {1, holder, kTtl, 0};
  reply.matched = 1;
  reply.suspects = state.suspects != 0 ? 1 : 0;
  fetch(state, reply);
  return reply;
}

Reply renew(State& state, const Scenario& scenario, Which lease, bool owner, bool lands) {
  Reply reply{};
  if (!lands) return reply;
  Lease& row = state.leases[lease];
  if (!owner) breaks(state, Broken::kLateWrite);
  if (row.holder == 0) breaks(state, Broken::kNobodysLease);
  reply.matched = row.held = 1;
  row.expires = kTtl;
  row.age = 0;
  row_changed(state, scenario, lease);
  return reply;
}

bool named(const State& state, const Packet& packet) {
  const Byte where = packet.lease == kOwn ? Task::kDetached : Task::kWaiting;
  return state.tasks[packet.task].state == where && (packet.keys & bit(packet.task)) != 0;
}

void take_back(State& state, const Fenced& write) {
  Task& row = state.tasks[write.task];
  row.attempt = std::min(row.attempt, write.attempt);
}

void set_attempt(State& state, const Scenario& scenario, const Fenced& write) {
  Task& row = state.tasks[write.task];
  if (write.attempt < row.attempt) {
    if (scenario.without != Mutation::kChargeLowers) return;
    breaks(state, Broken::kAttemptLost);
  }
  const bool known =
      write.attempt <= row.starts + row.announced || row.succeeded != 0 || row.failed != 0;
  if (write.attempt > row.attempt && !known) breaks(state, Broken::kChargedUnrun);
  row.attempt = write.attempt;
}

// A suspect whose attempt ended with its worker stays one.
void unmark(State& state, const Scenario& scenario, const Fenced& write) {
  if (write.crashed && scenario.without != Mutation::kCrashClears) return;
  state.tasks[write.task].marked = 0;
}

void announce(State& state, const Scenario& scenario, const Fenced& write) {
  if (!write.lands) return;
  if (!write.owner) breaks(state, Broken::kLateWrite);
  Task& row = state.tasks[write.task];
  if (write.attempt > row.attempt) ++row.announced;
  set_attempt(state, scenario, write);
}

// Moves the task to a later key.
void move(State& state, const Scenario& scenario, const Fenced& write) {
  if (!write.owner) breaks(state, Broken::kLateWrite);
  Task& row = state.tasks[write.task];
  row.state = Task::kWaiting;
  row.due = 0;
  row.moved = row.moved_row = 1;
  key_ends(state, write.task);
  const auto at = std::find(std::begin(state.order), std::end(state.order), write.task);
  std::rotate(at, at + 1, std::end(state.order));
  if (write.lease == kOwn) leave_own(state, scenario);
}

void snooze(State& state, const Scenario& scenario, const Fenced& write) {
  if (!write.lands) return;
  Task& row = state.tasks[write.task];
  if (row.starts > 0) --row.starts;
  take_back(state, write);
  row.marked = 0;
  move(state, scenario, write);
}

// Moves the task into task_running, acknowledges finished tasks and releases the partition in one
// trip.
void detach(State& state, const Scenario& scenario, const Packet& packet, const Fenced& write,
            Byte holder, bool fence) {
  Lease& own = state.leases[kOwn];
  if (scenario.without != Mutation::kDetachWithoutAck) ack(state, scenario, packet, holder);
  if (!write.lands) return;
  if (!write.owner) breaks(state, Broken::kLateWrite);
  set_attempt(state, scenario, write);
  state.tasks[write.task].state = Task::kDetached;
  own = {1, holder, kTtl, 0};
  row_changed(state, scenario, kOwn);
  if (fence) release(state, scenario);
}

// Takes a detached task whose worker sends no heartbeat (S20), to charge it and put it back.
Reply recover(State& state, const Scenario& scenario, const Packet& packet, Byte holder) {
  Reply reply{};
  Lease& row = state.leases[kOwn];
  if (scenario.without == Mutation::kNoRecovery) return reply;
  if (!may_take_over(state, row, packet)) return reply;
  epoch_ends(state, scenario, kOwn);
  row = {1, holder, kTtl, 0};
  reply.matched = 1;
  reply.attempts = state.tasks[0].attempt;  // recorded when the task was detached
  return reply;
}

void put_back(State& state, const Scenario& scenario, const Fenced& write) {
  if (!write.lands) return;
  if (write.attempt >= scenario.max_attempts) return bury(state, scenario, write);
  charge(state, scenario, write);
  // The task may have brought the host down, and was not in the partition of the lost holder.
  if (scenario.without != Mutation::kNoSuspicion) state.tasks[0].marked = 1;
  ++state.allowed;
}

}  // namespace

void breaks(State& state, Broken what) {
  if (state.broken == 0) state.broken = static_cast<Byte>(what);
}

void ack(State& state, const Scenario& scenario, const Packet& packet, Byte holder) {
  const Lease& own = state.leases[kOwn];
  const bool owns = own.held != 0 && own.holder == holder;
  for (int i = 0; i < kTasks; ++i) {
    if ((packet.ring & bit(i)) == 0) continue;
    Task& row = state.tasks[i];
    const bool there =
        packet.lease == kOwn ? row.state == Task::kDetached && owns : row.state == Task::kWaiting;
    const bool finished = there && (packet.keys & bit(i)) != 0;
    if (finished) {
      if (row.succeeded == 0) breaks(state, Broken::kNotRun);
      if (row.state == Task::kDetached) leave_own(state, scenario);
      row.state = Task::kAcknowledged;
      key_ends(state, i);
    }
    const bool blind = scenario.without == Mutation::kHistoryBlind;
    if ((packet.history & bit(i)) != 0 && (finished || blind)) row.moved_row = 0;
  }
}

void release(State& state, const Scenario& scenario) {
  state.leases[kPartition] = {};
  if (scenario.without == Mutation::kEpochKept) {
    row_changed(state, scenario, kPartition);
  } else {
    epoch_ends(state, scenario, kPartition);
  }
}

void refund(State& state, const Scenario& scenario, const Fenced& write) {
  if (!write.lands) return;
  if (!write.owner) breaks(state, Broken::kLateWrite);
  Task& row = state.tasks[write.task];
  const bool lowers = row.attempt > write.attempt;
  if (lowers && write.unstarted && row.announced > 0) --row.announced;
  take_back(state, write);
  if (write.lease == kPartition) return;
  row.state = Task::kWaiting;
  leave_own(state, scenario);
}

void charge(State& state, const Scenario& scenario, const Fenced& write) {
  if (!write.lands) return;
  if (!write.owner) breaks(state, Broken::kLateWrite);
  set_attempt(state, scenario, write);
  unmark(state, scenario, write);
  if (write.lease == kPartition) return;
  state.tasks[write.task].state = Task::kWaiting;
  leave_own(state, scenario);
}

void retry(State& state, const Scenario& scenario, const Fenced& write) {
  if (!write.lands) return;
  set_attempt(state, scenario, write);
  unmark(state, scenario, write);
  move(state, scenario, write);
}

void bury(State& state, const Scenario& scenario, const Fenced& write) {
  if (!write.lands) return;
  if (!write.owner) breaks(state, Broken::kLateWrite);
  Task& row = state.tasks[write.task];
  const bool ran = row.starts != 0 || row.succeeded != 0 || row.failed != 0;
  const bool explained = row.announced != 0 && scenario.strict != Limit::kAnnounced;
  const bool last = row.failed != 0 || row.succeeded != 0 || write.attempt >= scenario.max_attempts;
  if ((!ran && !explained) || !last) breaks(state, Broken::kBuriedUnrun);
  set_attempt(state, scenario, write);
  row.state = Task::kDead;
  row.moved_row = 0;
  key_ends(state, write.task);
  if (write.lease == kOwn) leave_own(state, scenario);
}

void reclaim(State& state, const Scenario& scenario, Byte holder) {
  if (state.leases[kPartition].held != 0 && state.leases[kPartition].holder == holder) {
    if (scenario.without != Mutation::kNoCarefulMode) suspect_all(state);
    state.leases[kPartition] = {};
    epoch_ends(state, scenario, kPartition);
  }
  const bool recovers = scenario.without != Mutation::kNoRecovery;
  if (recovers && state.leases[kOwn].held != 0 && state.leases[kOwn].holder == holder) {
    put_back(state, scenario, {0, state.tasks[0].attempt, kOwn, true, true});
  }
}

void fail_over(State& state, const Scenario& scenario) {
  state.leases[kPartition] = {};
  each_memory(state, kPartition,
              [](Byte& current) { current = current == kCurrent ? kNext : kGone; });
  row_changed(state, scenario, kPartition);
}

namespace {

// A fenced write on the task named by the call.
Reply execute_write(State& state, const Scenario& scenario, const Packet& packet, Byte holder,
                    bool owner, bool fence) {
  const bool retries = packet.op == Op::kRetry || packet.op == Op::kSnooze;
  const bool unfenced =
      (scenario.without == Mutation::kNoRetryFence && retries) ||
      (scenario.without == Mutation::kNoChargeFence && packet.op == Op::kAnnounce) ||
      (scenario.without == Mutation::kNoBuryFence && packet.op == Op::kBury) ||
      (scenario.without == Mutation::kNoDetachFence && packet.op == Op::kDetach);
  const bool lands = (unfenced || fence) && named(state, packet);
  Fenced write{packet.task, packet.attempt, packet.lease, lands, owner};
  write.unstarted = packet.stale != 0;
  Reply reply{};
  reply.matched = lands ? 1 : 0;
  switch (packet.op) {
    case Op::kDetach:
      detach(state, scenario, packet, write, holder, fence);
      break;
    case Op::kReturn:
      put_back(state, scenario, write);
      break;
    case Op::kAnnounce:
      announce(state, scenario, write);
      break;
    case Op::kRefund:
      refund(state, scenario, write);
      break;
    case Op::kRetry:
      retry(state, scenario, write);
      break;
    case Op::kSnooze:
      snooze(state, scenario, write);
      break;
    default:
      bury(state, scenario, write);
      break;
  }
  return reply;
}

void execute_release(State& state, const Scenario& scenario, const Packet& packet, Byte holder,
                     bool owner, bool fence) {
  ack(state, scenario, packet, holder);
  if (packet.lease == kOwn) return;  // nothing to release: the row is deleted with its task
  const bool free =
      scenario.without == Mutation::kNoReleaseFence && state.leases[kPartition].held != 0;
  if (free && !owner) breaks(state, Broken::kLateWrite);
  if (free || fence) release(state, scenario);
}

}  // namespace

Reply execute(State& state, const Scenario& scenario, const Packet& packet, Byte holder) {
  const Lease& row = state.leases[packet.lease];
  const Lease& own = state.leases[kOwn];
  const bool owner = packet.current == kCurrent && row.held != 0 && row.holder == holder;
  // Without S1 the fence checks only the epoch.
  const bool epoch_only = scenario.without == Mutation::kEpochKept;
  const bool fence = epoch_only ? packet.current == kCurrent : owner;
  Reply reply{};
  switch (packet.op) {
    case Op::kNone:
      return reply;
    case Op::kLease:
    case Op::kTakeover:
      return take(state, scenario, packet, holder);
    case Op::kFetch:
      reply.matched = 1;
      reply.suspects = packet.stale;
      fetch(state, reply);
      return reply;
    case Op::kRenew:
      return renew(state, scenario, static_cast<Which>(packet.lease), owner || epoch_only,
                   fence || scenario.without == Mutation::kNoRenewFence);
    case Op::kAckFetch:
      ack(state, scenario, packet, holder);
      fetch(state, reply);
      return reply;
    case Op::kAck:
      ack(state, scenario, packet, holder);
      return reply;
    case Op::kAckRelease:
      execute_release(state, scenario, packet, holder, owner, fence);
      return reply;
    case Op::kMarkSuspects:
      reply.matched = fence || scenario.without == Mutation::kNoClearFence ? 1 : 0;
      if (reply.matched == 0) return reply;
      if (!owner) breaks(state, Broken::kLateWrite);
      reply.marked = mark_suspects(state, scenario);
      return reply;
    case Op::kRecover:
      return recover(state, scenario, packet, holder);
    case Op::kDetach:
      // Takes the lease again, because the reply was lost: otherwise its expiry would be older than
      // the holder can know.
      if (own.held != 0 && own.holder == holder) return renew(state, scenario, kOwn, true, true);
      [[fallthrough]];
    default:
      return execute_write(state, scenario, packet, holder, owner, fence);
  }
}

}  // namespace allot::model
