// SPDX-License-Identifier: Apache-2.0
// The block loop where a handler takes several tasks in one call.
#include <algorithm>

#include "worker/block_loop.h"

namespace allot::worker {

// Moves the tasks that go into one call with the task at `at` right behind it, and returns how many
// that makes: 1 when it runs by itself. The others keep their order.
std::size_t BlockLoop::gather(const ServedQueue& queue, std::vector<queue::Task>& tasks,
                              std::size_t at) {
  if (crew_ != nullptr) return 1;
  const std::size_t room = lifetime_ == nullptr ? queue.settings->block_size : lifetime_->room();
  const std::size_t most = std::min(gather_.most(queue, tasks[at]), room);
  const auto joins = [&](const queue::Task& task) {
    return task.payload && !careful_with(task) && !expired(task);
  };
  if (most < 2 || !joins(tasks[at])) return 1;
  std::size_t end = at + 1;
  for (std::size_t i = end; i < tasks.size() && end - at < most; ++i) {
    if (tasks[i].type != tasks[at].type || !joins(tasks[i])) continue;
    if (!slot_.may_start()) break;
    const auto place = [&tasks](std::size_t index) {
      return tasks.begin() + static_cast<std::ptrdiff_t>(index);
    };
    std::rotate(place(end), place(i), place(i + 1));
    ++end;
  }
  return end - at;
}

// Afterwards the tasks that have ended come first, and behind them those that have to run by
// themselves.
BlockLoop::Gathered BlockLoop::run_gathered(const queue::Lease& lease, const ServedQueue& queue,
                                            std::span<queue::Task> tasks) {
  for (const queue::Task& task : tasks) finder_.seen(task.key.run_key);
  const Gather::Results results = gather_.run(lease, queue, tasks, finished_);
  Gathered gathered;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!results[i]) continue;
    tasks[i].payload.reset();
    const Next next = ended(lease, queue, tasks[i], *results[i], runner_.held_for());
    if (gathered.next == Next::kGoOn) gathered.next = next;
    std::rotate(tasks.begin() + static_cast<std::ptrdiff_t>(gathered.ended),
                tasks.begin() + static_cast<std::ptrdiff_t>(i),
                tasks.begin() + static_cast<std::ptrdiff_t>(i + 1));
    ++gathered.ended;
  }
  gathered.alone = results.size() - gathered.ended;
  for (std::size_t i = gathered.ended; i < tasks.size(); ++i) slot_.not_started();
  return gathered;
}

}  // namespace allot::worker
