// SPDX-License-Identifier: Apache-2.0
#include "queue/submit/submitter.h"

#include "queue/submit/owners.h"

namespace allot::queue {

void each_task(std::size_t tasks, const std::function<void(std::size_t)>& act) {
  for (std::size_t i = 0; i < tasks; ++i) {
    try {
      act(i);
    } catch (const Error& error) {
      if (tasks == 1 || error.exit_code() != kExitBadInput) throw;
      throw Error("task " + std::to_string(i) + ": " + error.what(), kExitBadInput);
    }
  }
}

void Submitter::prepare(db::Connection& db, std::span<Submission> tasks, const Permit& permit) {
  each_task(tasks.size(), [&](std::size_t i) {
    Submission& task = tasks[i];
    try {
      task.queue = addresses_.find(db, task.named, task.type);
    } catch (const db::DbError&) {
      throw;
    } catch (...) {
      if (permit && !task.named.empty()) permit(task.named);
      throw;
    }
    if (permit) permit(task.queue.name);
    const config::Queue* keys =
        environment_.configured ? environment_.configured(task.queue.name) : nullptr;
    if (keys != nullptr && !task.options.compress_above) {
      task.options.compress_above = keys->compress_above;
    }
    validate(task);
  });
}

std::vector<Submitted> Submitter::submit(db::Connection& db, std::span<const Submission> tasks,
                                         const ExtraStatements& extra) const {
  std::vector<Submitted> made = queue::submit(db, tasks, extra);
  environment_.ringer.ring(new_tasks(made));
  if (environment_.finds_owners) find_owners(db, tasks, made);
  return made;
}

void Submitter::ring(std::span<const Submission> tasks) const {
  peer::Ringer::Tasks added;
  for (const Submission& task : tasks) ++added[task.queue.queue_id];
  environment_.ringer.ring(added);
}

}  // namespace allot::queue
