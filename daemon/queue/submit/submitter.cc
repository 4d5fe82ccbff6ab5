// SPDX-License-Identifier: Apache-2.0
#include "queue/submit/submitter.h"

#include "queue/submit/owners.h"

namespace allot::queue {

void Submitter::prepare(db::Connection& db, std::span<Submission> tasks, const Permit& permit) {
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    try {
      prepare_one(db, tasks[i], permit);
    } catch (const Error& error) {
      if (tasks.size() == 1 || error.exit_code() != kExitBadInput) throw;
      throw Error("task " + std::to_string(i) + ": " + error.what(), kExitBadInput);
    }
  }
}

void Submitter::prepare_one(db::Connection& db, Submission& task, const Permit& permit) {
  check_fields(task);
  try {
    task.queue = addresses_.find(db, task.named, task.type);
  } catch (const db::DbError&) {
    throw;
  } catch (...) {
    if (permit && !task.named.empty()) permit(task.named);
    throw;
  }
  if (permit) permit(task.queue.name);
  check_placement(task);
  if (task.options.compress_above || !environment_.configured) return;
  const config::Queue* keys = environment_.configured(task.queue.name);
  if (keys != nullptr) task.options.compress_above = keys->compress_above;
}

std::vector<Submitted> Submitter::submit(db::Connection& db, std::span<const Submission> tasks,
                                         const ExtraStatements& extra) const {
  std::vector<Submitted> made = queue::submit(db, tasks, extra);
  peer::Ringer::Tasks added;
  for (const Submitted& task : made) {
    if (!task.existed()) ++added[task.id.partition.queue_id];
  }
  environment_.ringer.ring(added);
  if (environment_.finds_owners) find_owners(db, tasks, made);
  return made;
}

void Submitter::ring(std::span<const Submission> tasks) const {
  peer::Ringer::Tasks added;
  for (const Submission& task : tasks) ++added[task.queue.queue_id];
  environment_.ringer.ring(added);
}

}  // namespace allot::queue
