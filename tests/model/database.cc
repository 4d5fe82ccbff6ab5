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

// expire_at or epoch changed: whoever saw the row before saw another one.
void row_changed(State& state) {
  for (Worker& worker : state.workers) worker.watched = 0;
  each_packet(state, [](Packet& packet) { packet.unchanged = 0; });
}

void epoch_ends(State& state) {
  for (Worker& worker : state.workers) worker.current = 0;
  each_packet(state, [](Packet& packet) { packet.current = 0; });
  row_changed(state);
}

// The row of the task has another key now, or there is none.
void key_ends(State& state, int task) {
  const auto others = static_cast<Byte>(~bit(task));
  for (Worker& worker : state.workers) worker.keys &= others;
  each_packet(state, [&](Packet& packet) { packet.keys &= others; });
  state.suspects &= others;
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
  }
}

void suspect_all(State& state) {
  state.suspect_n = kBlockSize;
  for (int i = 0; i < kTasks; ++i) {
    const Task& row = state.tasks[i];
    if (row.state == Task::kWaiting && row.due != 0) state.suspects |= bit(i);
  }
}

// lease.sql and takeover.sql.
Reply take(State& state, const Scenario& scenario, const Packet& packet, Byte holder) {
  Reply reply{};
  const bool mine = state.leased != 0 && state.holder == holder;
  const bool over = packet.op == Op::kTakeover;
  if (!over && state.leased != 0 && !mine) return reply;
  if (over && !mine) {
    if (state.leased == 0 || packet.unchanged == 0) return reply;
    if (packet.stale == 0 && state.expires != 0) return reply;
    const int least = state.steps != 0 ? kHalf - state.drifts : kTtl;
    if (state.age < least) breaks(state, Broken::kHealthyTaken);
    if (scenario.without != Mutation::kNoCarefulMode) suspect_all(state);
  }
  epoch_ends(state);
  state.leased = reply.matched = 1;
  state.holder = holder;
  state.expires = kTtl;
  state.age = 0;
  reply.suspects = state.suspects;
  reply.suspect_n = state.suspect_n;
  fetch(state, reply);
  return reply;
}

Reply renew(State& state, bool fence) {
  Reply reply{};
  if (!fence) return reply;
  reply.matched = state.leased = 1;
  if (state.holder == 0) breaks(state, Broken::kNobodysLease);
  state.expires = kTtl;
  state.age = 0;
  row_changed(state);
  return reply;
}

bool named(const State& state, const Packet& packet) {
  return state.tasks[packet.task].state == Task::kWaiting && (packet.keys & bit(packet.task)) != 0;
}

}  // namespace

void breaks(State& state, Broken what) {
  if (state.broken == 0) state.broken = static_cast<Byte>(what);
}

void ack(State& state, Byte ring, Byte keys, Byte history) {
  for (int i = 0; i < kTasks; ++i) {
    if ((ring & bit(i)) == 0) continue;
    Task& row = state.tasks[i];
    if (row.state == Task::kWaiting && (keys & bit(i)) != 0) {
      if (row.succeeded == 0) breaks(state, Broken::kNotRun);
      row.state = Task::kAcknowledged;
      key_ends(state, i);
    }
    if ((history & bit(i)) != 0) row.moved_row = 0;
  }
}

void release(State& state, const Scenario& scenario, bool fence) {
  if (!fence) return;
  state.leased = state.holder = state.expires = state.age = 0;
  if (scenario.without == Mutation::kEpochKept) {
    row_changed(state);
  } else {
    epoch_ends(state);
  }
}

void charge(State& state, int task, Byte attempt, bool fence) {
  if (!fence) return;
  Task& row = state.tasks[task];
  if (attempt < row.attempt) breaks(state, Broken::kAttemptLost);
  row.attempt = attempt;
}

void retry(State& state, int task, Byte attempt, bool fence, bool owner) {
  if (!fence) return;
  Task& row = state.tasks[task];
  if (attempt < row.attempt) breaks(state, Broken::kAttemptLost);
  if (!owner) breaks(state, Broken::kLateWrite);
  row.attempt = attempt;
  row.due = 0;
  row.moved = row.moved_row = 1;
  key_ends(state, task);
  const auto at = std::find(std::begin(state.order), std::end(state.order), task);
  std::rotate(at, at + 1, std::end(state.order));
}

void bury(State& state, const Scenario& scenario, int task, Byte attempt, bool fence, bool owner) {
  if (!fence) return;
  Task& row = state.tasks[task];
  if (!owner) breaks(state, Broken::kLateWrite);
  const bool ran = row.started != 0 || row.succeeded != 0;
  const bool explained = row.announced != 0 && !scenario.strict;
  const bool last = row.failed != 0 || attempt >= scenario.max_attempts;
  if ((!ran && !explained) || !last) breaks(state, Broken::kBuriedUnrun);
  row.state = Task::kDead;
  row.moved_row = 0;
  key_ends(state, task);
}

void reclaim(State& state, Byte holder) {
  if (state.leased == 0 || state.holder != holder) return;
  suspect_all(state);
  epoch_ends(state);
  state.leased = state.holder = state.expires = state.age = 0;
}

Reply execute(State& state, const Scenario& scenario, const Packet& packet, Byte holder) {
  const bool owner = packet.current != 0 && state.leased != 0 && state.holder == holder;
  const Mutation without = scenario.without;
  // Without S1 the epoch alone is the fence.
  const bool fence = without == Mutation::kEpochKept ? packet.current != 0 : owner;
  const auto lands = [&](Mutation unfenced) {
    return (without == unfenced || fence) && named(state, packet);
  };
  Reply reply{};
  switch (packet.op) {
    case Op::kNone:
      break;
    case Op::kLease:
    case Op::kTakeover:
      return take(state, scenario, packet, holder);
    case Op::kRenew:
      return renew(state, fence);
    case Op::kAck:
      ack(state, packet.ring, packet.keys, packet.history);
      break;
    case Op::kAckFetch:
      ack(state, packet.ring, packet.keys, packet.history);
      fetch(state, reply);
      break;
    case Op::kAckRelease: {
      ack(state, packet.ring, packet.keys, packet.history);
      const bool free = without == Mutation::kNoReleaseFence && state.leased != 0;
      if (free && !owner) breaks(state, Broken::kLateWrite);
      release(state, scenario, free || fence);
      break;
    }
    case Op::kAnnounce:
      reply.matched = lands(Mutation::kNone) && fence ? 1 : 0;
      if (reply.matched != 0 && state.tasks[packet.task].started == 0) {
        state.tasks[packet.task].announced = 1;
      }
      charge(state, packet.task, packet.attempt, reply.matched != 0);
      break;
    case Op::kRetry:
      reply.matched = lands(Mutation::kNoRetryFence) ? 1 : 0;
      retry(state, packet.task, packet.attempt, reply.matched != 0, owner);
      break;
    case Op::kBury:
      reply.matched = lands(Mutation::kNoBuryFence) ? 1 : 0;
      bury(state, scenario, packet.task, packet.attempt, reply.matched != 0, owner);
      break;
    case Op::kClearSuspects:
      reply.matched = fence ? 1 : 0;
      if (fence) state.suspects = state.suspect_n = 0;
      break;
  }
  return reply;
}

}  // namespace allot::model
