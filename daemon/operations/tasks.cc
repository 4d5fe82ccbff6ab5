// SPDX-License-Identifier: Apache-2.0
// Verbs of a task.
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "json/printable.h"
#include "json/task_json.h"
#include "operations/moving.h"
#include "operations/verbs.h"
#include "operations/why.h"
#include "queue/operate/cancel.h"
#include "queue/operate/dead_tasks.h"
#include "queue/operate/move.h"
#include "queue/submit/submit.h"
#include "queue/views/full_task.h"

namespace allot::operations {
namespace {

using nlohmann::json;

queue::FullTask must_show(const Call& call, const queue::TaskId& id) {
  (void)call.queue_of(id);
  auto full = queue::full_task(call.db(), id);
  if (!full) unknown_task(id);
  return std::move(*full);
}

// An unfinished task, and the name of its queue.
struct Live {
  queue::TaskView task;
  std::string queue;
};
Live must_live(const Call& call, const queue::TaskId& id) {
  std::string queue = call.queue_of(id);
  auto task = queue::show(call.db(), id);
  if (!task) unknown_task(id);
  return {std::move(*task), std::move(queue)};
}

Live must_be_dead(const Call& call, const queue::TaskId& id) {
  Live live = must_live(call, id);
  if (live.task.dead) return live;
  refuse(409, "task " + id.text() + " is not dead: it is " + as_json::state_of(live.task), "id");
}

// Retries, because a worker may have the partition for a moment.
std::uint64_t move_one(const Call& call, const queue::TaskId& id, const queue::Waiting& task,
                       queue::Partition to) {
  constexpr int kTries = 20;
  constexpr auto kRetryDelay = std::chrono::milliseconds(50);
  const queue::Mover mover(queue::make_holder(call.service().instance, call.service().runtime_dir),
                           id);
  for (int tries = 1;; ++tries) {
    if (const auto moved = mover.move(call.db(), {&task, 1}, to)) return *moved;
    if (tries == kTries) refuse(409, "a worker holds its partition; try again", "id");
    std::this_thread::sleep_for(kRetryDelay);
  }
}

// The options of another task of this kind.
queue::SubmitOptions options_like(const queue::TaskView& task) {
  const queue::Headers& headers = task.headers;
  queue::SubmitOptions options;
  options.prio = task.id.prio;
  if (headers.max_attempts > 0) options.max_attempts = headers.max_attempts;
  if (headers.max_losses > 0) options.max_losses = headers.max_losses;
  if (headers.time_limit.count() > 0) options.time_limit = headers.time_limit;
  options.label = headers.label;
  options.traceparent = headers.trace.parent;
  options.tracestate = headers.trace.state;
  return options;
}

}  // namespace

Document show_task(Call& call) {
  return answer_of(as_json::document(must_show(call, call.id())));
}

Document list_attempts(Call& call) {
  const queue::FullTask full = must_show(call, call.id());
  return list_of(as_json::attempts(full.attempts));
}

Document show_payload(Call& call) {
  const queue::TaskId id = call.id();
  queue::FullTask full = must_show(call, id);
  if (!full.task) refuse(404, "task " + id.text() + " is done: its payload was not kept", "id");
  Document document;
  document.type = "application/octet-stream";
  document.text = std::move(full.task->payload);
  // A browser must not show a submitted payload as a page of this host. The server already sends
  // nosniff with every answer.
  document.fields = {{"content-disposition", "attachment; filename=\"" + id.text() + "\""}};
  if (!full.damage.empty()) document.fields.emplace_back(kDamage, full.damage);
  return document;
}

Document show_why(Call& call) {
  const Live live = must_live(call, call.id());
  const host::LocalProcesses local(call.service().instance, call.service().runtime_dir);
  return answer_of(explain(call.db(), local, live.task, live.queue));
}

Document find_task(Call& call) {
  const std::string key = call.text("unique_key");
  if (key.size() > queue::kMaxUniqueKey)
    refuse(400, "a unique key has 1 to 255 bytes", "unique_key");
  const queue::QueueInfo queue = call.queue();
  const auto owner = queue::find_unique(call.db(), queue.queue_id, key);
  if (!owner) {
    refuse(404,
           "no task of queue " + queue.name + " has the unique key '" +
               as_json::printable(key, 4 * queue::kMaxUniqueKey) + "'",
           "unique_key");
  }
  return answer_of(as_json::key_owner(*owner, queue.name, key));
}

Document cancel_task(Call& call) {
  const queue::TaskId id = call.id();
  const std::string queue = call.queue_of(id);
  const bool as_done = call.flag("as_done");
  std::optional<queue::AsDone> end;
  if (as_done) {
    const config::Queue* keys = configured(call.service(), queue);
    end = queue::as_done_here(keys != nullptr && keys->history.count() > 0);
  }
  const queue::Cancelled cancelled = queue::cancel_task(call.db(), id, call.text("reason"), end);
  if (!cancelled.task) unknown_task(id);
  if (cancelled.conflict) {
    refuse(409,
           "task " + id.text() + " is to end as " + (as_done ? "cancelled" : "done") +
               ": this was requested before, and the first request stays in effect",
           "id");
  }
  if (cancelled.task->dead) {
    refuse(409,
           "task " + id.text() +
               " is dead already: " + why_dead(*cancelled.task, as_json::kShownError),
           "id");
  }
  call.did(as_done ? "cancel_as_done" : "cancel", id.text());
  return answer_of(as_json::cancelled(cancelled, id, as_done));
}

Document retry_task(Call& call) {
  const queue::TaskId id = call.id();
  (void)must_be_dead(call, id);
  queue::MovedIds moved;
  if (queue::retry_dead(call.db(), {&id, 1}, &moved) == 0) {
    refuse(409, "task " + id.text() + " is no longer dead", "id");
  }
  call.ringer().ring({{id.partition.queue_id, 1}});
  const queue::TaskId now = moved.empty() ? id : moved.front().second;
  call.did("retry", id.text());
  return answer_of({{"task", now.text()}, {"retried", true}});
}

Document discard_task(Call& call) {
  const queue::TaskId id = call.id();
  (void)must_be_dead(call, id);
  if (queue::discard_dead(call.db(), {&id, 1}) == 0) {
    refuse(409, "task " + id.text() + " is no longer dead", "id");
  }
  call.did("discard", id.text());
  return answer_of({{"task", id.text()}, {"discarded", true}});
}

Document submit_again(Call& call) {
  const queue::TaskId id = call.id();
  const queue::FullTask full = must_show(call, id);
  if (!full.task) refuse(409, "task " + id.text() + " is done: its payload is not kept", "id");
  if (!call.caller().may(gateway::access::Role::kSubmit, full.queue)) {
    refuse(403, "this needs the role submit for queue " + full.queue);
  }
  if (full.task->payload.starts_with(kSignedPayload)) {
    refuse(409,
           "the payload of task " + id.text() +
               " is signed by its application, which would refuse any other: submit the task there",
           "id");
  }
  queue::Submission task{call.queue(full.queue), full.task->type, call.text("payload"),
                         options_like(*full.task)};
  task.options.partition_key = call.maybe("partition_key");
  const config::Queue* keys = configured(call.service(), full.queue);
  if (keys != nullptr) task.options.compress_above = keys->compress_above;
  const queue::Submitted made = queue::submit_again(call.db(), id, task);
  call.ringer().ring({{made.id.partition.queue_id, 1}});
  call.did("submit_again", id.text() + " as " + made.id.text());
  Document document = answer_of(as_json::submitted(made), 201);
  document.fields.emplace_back("location",
                               call.service().base_path + "/api/v1/tasks/" + made.id.text());
  return document;
}

Document move_task(Call& call) {
  const queue::TaskId id = call.id();
  const Live live = must_live(call, id);
  const queue::QueueInfo from = call.queue(live.queue);
  const queue::QueueInfo to = call.queue(call.text("to"));
  if (from.queue_id == to.queue_id) refuse(400, "the task is already in this queue", "to");
  require_spread(from, "id");
  require_spread(to, "to");
  if (live.task.dead || live.task.running) {
    refuse(409, "task " + id.text() + " is not waiting: it is " + as_json::state_of(live.task),
           "id");
  }
  if ((live.task.flags & queue::kUniqueFlag) != 0) {
    refuse(409, "task " + id.text() + " has a unique key, which belongs to its queue", "id");
  }
  const queue::Waiting waiting{
      id.partition, {id.prio, live.task.run_key}, id.first_key, live.task.type, false};
  const auto turn = static_cast<std::uint32_t>(id.first_key % to.partitions());
  if (move_one(call, id, waiting, {to.queue_id, turn}) == 0) {
    refuse(409, "task " + id.text() + " ran in the meantime, or started", "id");
  }
  call.ringer().ring({{to.queue_id, 1}});
  call.did("move", id.text() + " to " + to.name);
  return answer_of({{"moved", 1}, {"from", from.name}, {"to", to.name}});
}

}  // namespace allot::operations
