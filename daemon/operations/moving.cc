// SPDX-License-Identifier: Apache-2.0
#include "operations/moving.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "operations/cursor.h"
#include "queue/operate/move.h"

namespace allot::operations {
namespace {

using nlohmann::json;
using queue::Waiting;

// Same limit as for a list.
constexpr std::size_t kMostToMove = 10'000;

struct Page {
  std::map<queue::Partition, std::vector<Waiting>> partitions{};
  std::size_t tasks = 0;
  std::size_t unique = 0;  // tasks that are not moved
  std::optional<std::string> next{};
};

Page page_of(const Call& call, const queue::TypePattern& types, const queue::QueueInfo& from) {
  Waiting after;
  if (const auto cursor = call.maybe("cursor")) {
    const queue::TaskView last = task_at(List::kMove, *cursor);
    after.partition = {from.queue_id, last.id.partition.partition_no};
    after.key = {last.id.prio, last.run_key};
  }
  Page page;
  const std::size_t limit = call.number("limit", kMostToMove);
  std::size_t examined = 0;
  bool stopped = false;
  const auto visit = [&](const Waiting& task) {
    after = task;
    if (types.takes(task.type)) {
      if (task.unique) {
        ++page.unique;
      } else {
        page.partitions[task.partition].push_back(task);
        ++page.tasks;
      }
    }
    stopped = ++examined == kMostToMove || page.tasks == limit;
    return !stopped;
  };
  queue::each_waiting(call.db(), from, visit, Waiting(after));
  if (stopped) {
    queue::TaskView last;
    last.id.partition = after.partition;
    last.id.prio = after.key.prio;
    last.id.first_key = after.key.run_key;
    page.next = cursor_of(List::kMove, last);
  }
  return page;
}

}  // namespace

void require_spread(const queue::QueueInfo& queue, const char* field) {
  if (queue.shape.placement == queue::Placement::kSpread) return;
  const std::string text =
      "queue '" + queue.name + "' is " + std::string(queue::name_of(queue.shape.placement));
  if (!queue.is_keyed())
    refuse(409, text + ": its tasks belong to the partitions of their keys", field);
  refuse(409,
         text +
             ": its tasks cannot be moved; create another queue, submit to it, and let this one "
             "run empty",
         field);
}

json move_page(const Call& call, const queue::TypePattern& types, const queue::QueueInfo& from,
               const queue::QueueInfo& to) {
  Page page = page_of(call, types, from);
  if (call.flag("count")) page.partitions.clear();
  const queue::Mover mover(queue::make_holder(call.service().instance, call.service().runtime_dir),
                           from);
  // Several partitions get a share even of few tasks (S18).
  const std::size_t share =
      std::min<std::size_t>(page.tasks / to.partitions() + 1, queue::kMoveBatch);
  std::uint64_t moved = 0;
  std::uint64_t gone = 0;
  std::uint64_t leased = 0;
  std::uint32_t turn = 0;
  for (const auto& [partition, tasks] : page.partitions) {
    std::span<const Waiting> rest(tasks);
    while (!rest.empty()) {
      const auto some = rest.first(std::min(share, rest.size()));
      const auto done = mover.move(call.db(), some, {to.queue_id, turn++ % to.partitions()});
      if (!done) break;
      moved += *done;
      gone += some.size() - *done;
      rest = rest.subspan(some.size());
    }
    leased += rest.size();
  }
  if (moved > 0) call.ringer().ring({{to.queue_id, moved}});
  return {{"tasks", page.tasks},   {"moved", moved},
          {"gone", gone},          {"leased", leased},
          {"unique", page.unique}, {"next", page.next ? json(*page.next) : json(nullptr)}};
}

}  // namespace allot::operations
