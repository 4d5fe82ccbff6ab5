// SPDX-License-Identifier: Apache-2.0
#include "client/task_info.h"

#include <cstdio>
#include <string>

#include "base/names.h"
#include "queue/model/catalog.h"
#include "queue/model/compression.h"
#include "queue/model/task_facts.h"
#include "queue/views/full_task.h"
#include "queue/views/task_lists.h"

namespace allot {

const char* name_of(TaskState state) noexcept {
  switch (state) {
    case TaskState::kWaiting:
      return "waiting";
    case TaskState::kDelayed:
      return "delayed";
    case TaskState::kLeased:
      return "leased";
    case TaskState::kRunning:
      return "running";
    case TaskState::kDead:
      return "dead";
    case TaskState::kDone:
      return "done";
  }
  return "unknown";
}

}  // namespace allot

namespace allot::client {
namespace {

TaskState state_of(const queue::TaskView& task, const std::optional<queue::Standing>& standing) {
  if (task.dead) return TaskState::kDead;
  if (task.running) return TaskState::kRunning;
  if (!standing) return TaskState::kWaiting;
  if (!standing->due) return TaskState::kDelayed;
  return standing->leased ? TaskState::kLeased : TaskState::kWaiting;
}

TaskState state_of(const queue::KeyOwner& owner) {
  switch (owner.state) {
    case queue::Owner::kWaiting:
      if (!owner.due) return TaskState::kDelayed;
      return owner.leased ? TaskState::kLeased : TaskState::kWaiting;
    case queue::Owner::kRunning:
      return TaskState::kRunning;
    case queue::Owner::kDead:
      return TaskState::kDead;
    default:
      return TaskState::kDone;
  }
}

// The payload decompressed, or as stored if it is damaged.
std::string payload_of(const queue::TaskView& task) {
  try {
    return queue::decompress(task.flags, task.payload);
  } catch (const Error&) {
    return task.payload;
  }
}

// The fields encoded in the id, the name of its queue, and its unique key.
TaskInfo info_of(db::Connection& db, const queue::TaskId& id) {
  TaskInfo info;
  info.id = id.text();
  info.queue = queue::queue_name(db, id.partition.queue_id);
  info.prio = id.prio;
  info.first_due = moment_of(id.first_due());
  if (auto unique = queue::show_unique(db, id)) info.unique_key = std::move(unique->key);
  return info;
}

void add_headers(const queue::Headers& headers, TaskInfo& info) {
  info.max_attempts = headers.max_attempts;
  info.traceparent = headers.trace.parent;
  info.tracestate = headers.trace.state;
  info.time_limit = headers.time_limit;
  info.max_losses = headers.max_losses;
  info.label = headers.label;
}

// A finished task from its queue's history.
std::optional<TaskInfo> done_info(db::Connection& db, const queue::TaskId& id) {
  const auto done = queue::show_done(db, id);
  if (!done) return std::nullopt;
  TaskInfo info = info_of(db, id);
  info.type = done->type;
  info.state = TaskState::kDone;
  info.attempts = done->attempt;
  info.at = moment_of(done->ended_at);
  info.worker = done->worker;
  add_headers(done->headers, info);
  return info;
}

}  // namespace

Moment moment_of(std::string_view text) {
  using namespace std::chrono;
  int year = 0;
  unsigned month = 0;
  unsigned day = 0;
  int hour = 0;
  int minute = 0;
  int second = 0;
  int micro = 0;
  if (std::sscanf(std::string(text).c_str(), "%d-%u-%uT%d:%d:%d.%6d", &year, &month, &day, &hour,
                  &minute, &second, &micro) != 7) {
    return {};
  }
  return sys_days(std::chrono::year(year) / std::chrono::month(month) / std::chrono::day(day)) +
         hours(hour) + minutes(minute) + seconds(second) + microseconds(micro);
}

std::optional<TaskInfo> task_info(db::Connection& db, const queue::TaskId& id) {
  const auto task = queue::show(db, id);
  if (!task) return done_info(db, id);
  std::optional<queue::Standing> standing;
  if (!task->dead && !task->running) standing = queue::standing(db, *task);
  TaskInfo info = info_of(db, id);
  info.type = task->type;
  info.state = state_of(*task, standing);
  info.attempts = task->attempts;
  info.payload = payload_of(*task);
  info.payload_size = info.payload.size();
  info.at = moment_of(task->running ? task->since : task->at);
  info.worker = task->holder;
  info.paused = standing && standing->paused;
  info.cause = task->cause;
  info.error = task->error;
  info.detail = task->detail;
  info.fault = task->fault;
  if (!task->expires_at.empty()) info.expires_at = moment_of(task->expires_at);
  info.key_hash = task->key_hash;
  add_headers(task->headers, info);
  return info;
}

std::optional<KeyOwner> key_owner(db::Connection& db, std::string_view queue,
                                  std::string_view unique_key) {
  const auto info = queue::find_queue(db, queue);
  if (!info) {
    throw Error("queue '" + std::string(queue.substr(0, kMaxQueueName)) + "' does not exist",
                kExitBadInput);
  }
  const auto owner = queue::find_unique(db, info->queue_id, unique_key);
  if (!owner) return std::nullopt;
  KeyOwner found{owner->id.text(), state_of(*owner), std::nullopt};
  if (!owner->free_at.empty()) found.free_at = moment_of(owner->free_at);
  return found;
}

}  // namespace allot::client
