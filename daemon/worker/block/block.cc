// SPDX-License-Identifier: Apache-2.0
#include "worker/block/block.h"

#include <iterator>
#include <utility>

#include "base/mutant.h"
#include "log/log.h"
#include "queue/verbs/block.h"

namespace allot::worker {
namespace {

// A finished task waits no longer than this for its acknowledgement, however slow its neighbours
// are.
constexpr Nanos kAckWithin = 100 * kMilli;

std::deque<queue::Task> in_line(std::vector<queue::Task> tasks) {
  return {std::make_move_iterator(tasks.begin()), std::make_move_iterator(tasks.end())};
}

}  // namespace

Block::Block(const BlockParts& parts, const ServedQueue& queue, LeasedBlock leased)
    : parts_(parts),
      lease_(leased.block.lease),
      size_(leased.cap_part != 0 ? leased.cap_part : queue.settings->block_size),
      cap_part_(leased.cap_part),
      deferred_(leased.deferred),
      grant_(leased.grant),
      waiting_(in_line(std::move(leased.block.tasks))),
      fetched_ns_(boot_ns()),
      full_(is_full(waiting_.size())) {}

bool Block::is_full(std::size_t fetched) const {
  return grant_.limited() ? grant_.full(fetched) : fetched >= size_;
}

std::vector<queue::Task> Block::start(std::size_t most,
                                      const std::function<bool(const queue::Task&)>& joins) {
  std::vector<queue::Task> taken;
  taken.push_back(std::move(waiting_.front()));
  waiting_.pop_front();
  for (auto next = waiting_.begin(); taken.size() < most && next != waiting_.end();) {
    if (joins(*next)) {
      taken.push_back(std::move(*next));
      next = waiting_.erase(next);
    } else {
      ++next;
    }
  }
  for (const queue::Task& task : taken) running_.started(task.key);
  requires_one_ = false;
  return taken;
}

void Block::put_back(queue::Task task, bool called) {
  waiting_.push_front(std::move(task));
  requires_one_ = requires_one_ || called;
}

// In a capped queue each fetch reads the running tasks again, without their payloads.
queue::FetchSpec Block::fetch_spec() {
  queue::FetchSpec spec = parts_.finder.fetch_spec(size_);
  if (cap_part_ != 0) spec.running = running_.keys();
  return spec;
}

void Block::fetch() {
  parts_.finder.fetching();
  const std::vector<queue::Finished> finished = parts_.slot.finished();
  auto tasks = parts_.finder.rates().fetch(parts_.session, lease_, finished, fetch_spec(),
                                           running_.size(), grant_);
  fetched_ns_ = boot_ns();
  const std::size_t read = tasks.size();
  const std::size_t again = running_.keep_others(tasks, size_);
  full_ = is_full(grant_.limited() ? read - again : read);
  waiting_ = in_line(std::move(tasks));
  requires_one_ = true;
  parts_.slot.drop_finished(finished);
}

void Block::fetch_again() {
  full_ = true;
  if (mutant::removed("deferred_refetch")) return;
  queue::FetchSpec spec = fetch_spec();
  if (grant_.limited()) spec.block_size = static_cast<std::uint32_t>(waiting_.size());
  waiting_ = in_line(parts_.session.call(
      [&](db::Connection& db) { return queue::fetch(db, lease_.partition, spec); }));
  fetched_ns_ = boot_ns();
}

void Block::ack() {
  const std::vector<queue::Finished> finished = parts_.slot.finished();
  if (finished.empty()) return;
  parts_.session.call([&](db::Connection& db) { queue::ack(db, lease_.partition, finished); });
  parts_.slot.drop_finished(finished);
}

bool Block::ack_is_due(Nanos extension) const {
  const Nanos since = parts_.slot.finished_since_ns();
  return since != 0 && boot_ns() - since > kAckWithin + extension;
}

void Block::ack_in_time() {
  if (ack_is_due()) ack();
}

void Block::release(const queue::Deferral& deferral) {
  parts_.keeper.releasing();
  const std::uint64_t generation = parts_.session.generation();
  const auto unused = grant_.unused(boot_ns());
  parts_.finder.rates().ended(lease_.partition.queue_id, grant_);
  std::vector<queue::Finished> finished = parts_.slot.finished();
  int tries = 0;
  const bool released = parts_.session.call([&](db::Connection& db) {
    // While another session locks the lease's row, or one of the tasks, neither would ever be
    // written. Finished tasks can be acknowledged without a lease (S6), and must not run again
    // because they lack one.
    if (++tries > 1) {
      queue::ack(db, lease_.partition, finished);
      parts_.slot.drop_finished(finished);
      finished.clear();
    }
    // S43: only once, because it is unknown whether the first try has given it back.
    const bool again = tries > 1 && !mutant::removed("give_back_once");
    return queue::ack_and_release(db, lease_, finished, deferral, again ? std::nullopt : unused);
  });
  // The first try may have succeeded: its reply was lost, not the lease.
  if (!released && parts_.session.generation() == generation) {
    parts_.keeper.lose(lease_, "release");
  }
  parts_.keeper.drop();
  parts_.finder.drop_lease();
  log::debug("release", {{"partition", lease_.partition.partition_no},
                         {"epoch", lease_.epoch},
                         {"lease_held", released}});
}

}  // namespace allot::worker
