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

void fetch(const State& state, Packet& packet) {
  packet.block = packet.attempts = packet.keys = packet.history = 0;
  int count = 0;
  for (const Byte task : state.order) {
    const Task& row = state.tasks[task];
    if (row.state != Task::kWaiting || row.due == 0 || count == kBlockSize) continue;
    ++count;
    packet.block |= bit(task);
    packet.attempts = static_cast<Byte>(packet.attempts | row.attempt << (2 * task));
    if (row.moved != 0) packet.history |= bit(task);
  }
  packet.keys = packet.block;
}

// lease.sql and takeover.sql.
void take(State& state, const Scenario& scenario, Packet& packet, Byte holder) {
  const bool mine = state.leased != 0 && state.holder == holder;
  const bool over = packet.op == Op::kTakeover;
  packet.matched = 0;
  if (!over && state.leased != 0 && !mine) return;
  if (over && !mine) {
    if (state.leased == 0 || packet.unchanged == 0) return;
    if (packet.stale == 0 && state.expires != 0) return;
    const int least = state.steps != 0 ? kHalf - state.drifts : kTtl;
    if (state.age < least) breaks(state, Broken::kHealthyTaken);
    if (scenario.without != Mutation::kNoCarefulMode) {
      state.suspect_n = kBlockSize;
      for (int i = 0; i < kTasks; ++i) {
        const Task& row = state.tasks[i];
        if (row.state == Task::kWaiting && row.due != 0) state.suspects |= bit(i);
      }
    }
  }
  epoch_ends(state);
  state.leased = packet.matched = packet.current = 1;
  state.holder = holder;
  state.expires = kTtl;
  state.age = 0;
  packet.suspects = state.suspects;
  packet.suspect_n = state.suspect_n;
  fetch(state, packet);
}

void renew(State& state, Packet& packet, bool fence) {
  packet.matched = fence ? 1 : 0;
  if (!fence) return;
  state.leased = 1;
  if (state.holder == 0) breaks(state, Broken::kNobodysLease);
  state.expires = kTtl;
  state.age = 0;
  row_changed(state);
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
  const int explained = row.started + (scenario.strict ? 0 : row.announced);
  if (row.failed == 0 && explained < std::min(attempt, scenario.max_attempts)) {
    breaks(state, Broken::kBuriedUnrun);
  }
  row.state = Task::kDead;
  row.moved_row = 0;
  key_ends(state, task);
}

void reclaim(State& state, Byte holder) {
  if (state.leased == 0 || state.holder != holder) return;
  state.suspect_n = kBlockSize;
  for (int i = 0; i < kTasks; ++i) {
    const Task& row = state.tasks[i];
    if (row.state == Task::kWaiting && row.due != 0) state.suspects |= bit(i);
  }
  epoch_ends(state);
  state.leased = state.holder = state.expires = state.age = 0;
}

void execute(State& state, const Scenario& scenario, Packet& packet, Byte holder) {
  const bool owner = packet.current != 0 && state.leased != 0 && state.holder == holder;
  const Mutation without = scenario.without;
  // Without S1 the epoch alone is the fence.
  const bool fence = without == Mutation::kEpochKept ? packet.current != 0 : owner;
  packet.executed = 1;
  switch (packet.op) {
    case Op::kNone:
      return;
    case Op::kLease:
    case Op::kTakeover:
      return take(state, scenario, packet, holder);
    case Op::kRenew:
      return renew(state, packet, fence);
    case Op::kAck:
      return ack(state, packet.ring, packet.keys, packet.history);
    case Op::kAckFetch:
      ack(state, packet.ring, packet.keys, packet.history);
      return fetch(state, packet);
    case Op::kAckRelease:
      ack(state, packet.ring, packet.keys, packet.history);
      if (without == Mutation::kNoReleaseFence && state.leased != 0) {
        if (!owner) breaks(state, Broken::kLateWrite);
        return release(state, scenario, true);
      }
      return release(state, scenario, fence);
    case Op::kAnnounce:
      packet.matched = fence && named(state, packet) ? 1 : 0;
      if (packet.matched != 0 && packet.attempt > state.tasks[packet.task].attempt) {
        ++state.tasks[packet.task].announced;
      }
      return charge(state, packet.task, packet.attempt, packet.matched != 0);
    case Op::kRetry: {
      const bool free = without == Mutation::kNoRetryFence;
      packet.matched = (free || fence) && named(state, packet) ? 1 : 0;
      return retry(state, packet.task, packet.attempt, packet.matched != 0, owner);
    }
    case Op::kBury: {
      const bool free = without == Mutation::kNoBuryFence;
      packet.matched = (free || fence) && named(state, packet) ? 1 : 0;
      return bury(state, scenario, packet.task, packet.attempt, packet.matched != 0, owner);
    }
    case Op::kClearSuspects:
      packet.matched = fence ? 1 : 0;
      if (fence) state.suspects = state.suspect_n = 0;
      return;
  }
}

}  // namespace allot::model
