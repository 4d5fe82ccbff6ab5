// SPDX-License-Identifier: Apache-2.0
// Verbs of a queue.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "json/fields.h"
#include "json/printable.h"
#include "json/queue_json.h"
#include "json/task_json.h"
#include "operations/cursor.h"
#include "operations/verbs.h"
#include "queue/operate/limits.h"
#include "queue/operate/resize.h"
#include "queue/views/figures.h"
#include "queue/views/health.h"
#include "queue/views/task_lists.h"

namespace allot::operations {
namespace {

using nlohmann::json;

// Row limit of a filter without an index, and of a count.
constexpr std::uint32_t kMostExamined = 10'000;
constexpr std::uint32_t kPage = 1'000;

const std::string& time_of(const queue::TaskView& task) {
  return task.at;
}
const std::string& time_of(const queue::Done& done) {
  return done.ended_at;
}

// Filter of a list. Its times have the form of the rows, so that they compare as texts.
struct Filter {
  explicit Filter(const Call& call, List list)
      : type(call.maybe("type")),
        since(moment_of(call, "since")),
        until(moment_of(call, "until")),
        newest_first(list == List::kDead || list == List::kHistory) {}
  std::optional<std::string> type;
  std::string since;  // empty: from the beginning
  std::string until;
  bool newest_first;

  // Whether the filter skips rows that no index excludes.
  [[nodiscard]] bool sieves() const {
    return type || (!newest_first && (!since.empty() || !until.empty()));
  }
  template <typename Row>
  [[nodiscard]] bool admits(const Row& row) const {
    const std::string& at = time_of(row);
    return (!type || row.type == *type) && at >= since && (until.empty() || at < until);
  }
  // All later rows are too old as well.
  template <typename Row>
  [[nodiscard]] bool ends_at(const Row& row) const {
    return newest_first && time_of(row) < since;
  }

 private:
  static std::string moment_of(const Call& call, const char* name) {
    const auto text = call.maybe(name);
    if (!text) return {};
    try {
      return row_time(as_json::parse_moment(name, *text));
    } catch (const Error& error) {
      refuse(400, error.what(), name);
    }
  }
};

// One page of a list, whose rows come from `fetch(most, after)`. A filter skips other rows, up to a
// limit: the page may then have few rows, or none, and a cursor to continue.
template <typename Row, typename Fetch, typename Show, typename Cursor>
Document page(const Call& call, const Filter& filter, std::optional<Row> after, Fetch fetch,
              Show show, Cursor cursor) {
  const std::uint32_t limit = call.number("limit", kLimit);
  json items = json::array();
  for (std::uint32_t examined = 0; examined < kMostExamined;) {
    const std::uint32_t most = filter.sieves() ? kPage : limit;
    const std::vector<Row> rows = fetch(most, after);
    for (const Row& row : rows) {
      if (filter.ends_at(row)) return list_of(std::move(items));
      ++examined;
      after = row;
      if (!filter.admits(row)) continue;
      items.push_back(show(row));
      if (items.size() == limit) return list_of(std::move(items), cursor(row));
    }
    if (rows.size() < most) return list_of(std::move(items));
  }
  return list_of(std::move(items), cursor(*after));
}

template <typename ListTasks>
Document page_of_tasks(const Call& call, List list, const ListTasks& fetch) {
  const Filter filter(call, list);
  std::optional<queue::TaskView> after;
  if (filter.newest_first && !filter.until.empty()) after.emplace().at = filter.until;
  if (const auto cursor = call.maybe("cursor")) after = task_at(list, *cursor);
  const queue::QueueInfo queue = call.queue();
  return page(
      call, filter, std::move(after),
      [&](std::uint32_t most, const auto& last) { return fetch(call.db(), queue, most, last); },
      [&](const queue::TaskView& task) { return as_json::task(task, queue.name); },
      [&](const queue::TaskView& task) { return cursor_of(list, task); });
}

struct Counts {
  queue::BoundedCount waiting;
  queue::BoundedCount running;
  queue::BoundedCount dead;
};

json counted(const Call& call, const queue::QueueInfo& queue) {
  const std::uint32_t most = call.service().most_counted;
  const auto counts = call.shared(
      "counts " + std::to_string(queue.queue_id), Call::CacheTime::kFigures, [&](auto& db) {
        return Counts{queue::count_waiting(db, queue, most), queue::count_running(db, queue, most),
                      queue::count_dead(db, queue, most)};
      });
  json view = as_json::queue(queue);
  view["waiting"] = as_json::count(counts->waiting);
  view["running"] = as_json::count(counts->running);
  view["dead"] = as_json::count(counts->dead);
  return view;
}

std::vector<queue::QueueInfo> queues_of(const Call& call) {
  std::vector<queue::QueueInfo> queues = *call.all_queues();
  std::erase_if(queues, [&](const queue::QueueInfo& queue) { return !call.may(queue.name); });
  return queues;
}

// Wakes workers for all partitions, because each may have work now.
void ring(const Call& call, const queue::QueueInfo& queue) {
  call.ringer().ring({{queue.queue_id, queue.partitions()}});
}

// The queue after a change, which is reported.
Document changed(const Call& call, const queue::QueueInfo& queue, std::string_view what,
                 const std::string& value = {}) {
  call.did(what, queue.name + value);
  return answer_of(as_json::queue(call.queue(queue.name)));
}

// Error messages of the command, with the name of the field instead of the option.
queue::Rate rate_in(const Call& call) {
  try {
    return queue::read_rate(call.text("per_second"), call.maybe("burst").value_or("1"));
  } catch (const Error& error) {
    const std::string_view text = error.what();
    const std::size_t end = text.find("; --off");
    const std::size_t begin = std::min(text.find(" is "), text.size());
    refuse(400, "'per_second'" + std::string(text.substr(begin, end - begin)), "per_second");
  }
}

// The task after which a page of its queue's history begins.
queue::Done done_task(const Call& call, const std::string& word) {
  const auto id = queue::TaskId::parse(word);
  auto done = id && call.queue_of(*id) == call.text("queue") ? queue::show_done(call.db(), *id)
                                                             : std::nullopt;
  if (!done) refuse(404, "the history has no task " + as_json::printable(word, 40), "id");
  return std::move(*done);
}

}  // namespace

Document list_queues(Call& call) {
  return list_of_each(queues_of(call), as_json::queue);
}

Document show_queue(Call& call) {
  return answer_of(counted(call, call.queue()));
}

Document show_stats(Call& call) {
  return list_of_each(queues_of(call),
                      [&](const queue::QueueInfo& queue) { return counted(call, queue); });
}

Document list_lags(Call& call) {
  json items = json::array();
  const auto queues = call.all_queues();
  const auto lags = call.shared("lags", Call::CacheTime::kState,
                                [&](auto& db) { return queue::queue_lags(db, *queues); });
  for (const queue::QueueFigures& lag : *lags) {
    if (!call.may(lag.info.name)) continue;
    items.push_back(
        {{"queue", lag.info.name},
         {"oldest_due_us", lag.oldest_due ? json(lag.oldest_due->count()) : json(nullptr)},
         {"leased", lag.leased},
         {"overdue", lag.overdue}});
  }
  return list_of(std::move(items));
}

Document list_tasks(Call& call) {
  return page_of_tasks(call, List::kWaiting, queue::list_tasks);
}

Document list_running(Call& call) {
  return page_of_tasks(call, List::kRunning, queue::list_running);
}

Document list_dead(Call& call) {
  const std::string group = call.text("group");
  return page_of_tasks(call, List::kDead,
                       [&](db::Connection& db, const queue::QueueInfo& queue, std::uint32_t most,
                           const std::optional<queue::TaskView>& after) {
                         return queue::list_dead(db, queue, most, after, group);
                       });
}

Document list_history(Call& call) {
  const Filter filter(call, List::kHistory);
  std::optional<queue::Done> after;
  if (!filter.until.empty()) after.emplace().ended_at = filter.until;
  if (const auto id = call.maybe("after")) after = done_task(call, *id);
  if (const auto cursor = call.maybe("cursor")) after = done_at(*cursor);
  const queue::QueueInfo queue = call.queue();
  return page(
      call, filter, std::move(after),
      [&](std::uint32_t most, const std::optional<queue::Done>& last) {
        return queue::list_done(call.db(), queue, most, last);
      },
      [&](const queue::Done& done) { return as_json::done(done, queue.name); },
      [](const queue::Done& done) { return cursor_of(done); });
}

Document list_groups(Call& call) {
  const queue::QueueInfo queue = call.queue();
  const auto groups = call.shared(
      "dead groups " + std::to_string(queue.queue_id), Call::CacheTime::kState,
      [&](auto& db) { return queue::dead_groups(db, queue, call.service().most_counted); });
  const std::size_t limit = call.number("limit", kLimit);
  json items = json::array();
  for (const queue::DeadGroup& group : groups->list) {
    if (items.size() == limit) break;
    items.push_back(as_json::dead_group(group, queue.name));
  }
  return list_of(std::move(items));
}

Document list_partitions(Call& call) {
  const queue::QueueInfo queue = call.queue();
  json items = json::array();
  const auto leases = call.shared("leases", Call::CacheTime::kState,
                                  [&](auto& db) { return queue::held_leases(db, kMostExamined); });
  for (const queue::HeldLease& lease : *leases) {
    if (lease.queue == queue.name) items.push_back(as_json::lease(lease));
  }
  return answer_of({{"partitions", queue.partitions()}, {"leased", std::move(items)}});
}

Document pause_queue(Call& call) {
  const std::string reason = call.text("reason");
  const queue::QueueInfo queue = call.queue();
  queue::pause(call.db(), queue, reason);
  return changed(call, queue, "pause");
}

Document resume_queue(Call& call) {
  const queue::QueueInfo queue = call.queue();
  (void)queue::resume(call.db(), queue);
  ring(call, queue);
  return changed(call, queue, "resume");
}

Document set_rate(Call& call) {
  const queue::Rate rate = rate_in(call);
  const queue::QueueInfo queue = call.queue();
  (void)queue::set_rate(call.db(), queue, rate);
  ring(call, queue);
  return changed(call, queue, "rate", " " + queue::text_of(rate));
}

Document set_cap(Call& call) {
  const auto cap = static_cast<std::uint32_t>(call.number("tasks", 0));
  const queue::QueueInfo queue = call.queue();
  queue::set_cap(call.db(), queue, cap);
  ring(call, queue);
  return changed(call, queue, "cap", " " + std::to_string(cap));
}

Document remove_cap(Call& call) {
  const queue::QueueInfo queue = call.queue();
  queue::set_cap(call.db(), queue, 0);
  ring(call, queue);
  return changed(call, queue, "cap_off");
}

Document remove_rate(Call& call) {
  const queue::QueueInfo queue = call.queue();
  (void)queue::remove_rate(call.db(), queue);
  ring(call, queue);
  return changed(call, queue, "rate_off");
}

// Converts kExitFailure to 409: a resize or a transaction in progress blocks a change of the
// layout.
template <typename Change>
auto or_conflict(Change&& change) {
  try {
    return change();
  } catch (const db::DbError&) {
    throw;
  } catch (const Error& error) {
    if (error.exit_code() != kExitFailure) throw;
    refuse(409, error.what());
  }
}

Document resize_queue(Call& call) {
  const queue::QueueInfo before = call.queue();
  const std::uint32_t partitions = call.number("partitions", 0);
  json view{{"name", before.name},
            {"partitions", partitions},
            {"partitions_before", before.partitions()}};
  if (before.is_keyed()) {
    const auto due = queue::due_late(call.db(), before);
    if (due && partitions != before.partitions() && !call.flag("confirm")) {
      refuse(409,
             "queue " + before.name + ", whose last task is due at " + *due +
                 ": tasks submitted from now on wait until it has run; send \"confirm\": true",
             "confirm");
    }
    view["resizing"] = or_conflict([&] {
      return queue::resize_layout(call.db(), before, partitions) == queue::Resized::kWaits;
    });
  } else {
    queue::resize(call.db(), before, partitions);
    const auto retired = queue::count_from(call.db(), before, partitions);
    view["retired_tasks"] = retired.value;
    view["retired_tasks_at_least"] = retired.at_least;
  }
  call.did("resize", before.name + " " + std::to_string(partitions));
  return answer_of(view);
}

Document set_max_running(Call& call) {
  const queue::QueueInfo before = call.queue();
  const std::uint32_t max_running = call.number("max_running", 0);
  or_conflict([&] { queue::set_max_running(call.db(), before, max_running); });
  call.did("max_running", before.name + " " + std::to_string(max_running));
  return answer_of({{"name", before.name},
                    {"max_running", max_running},
                    {"max_running_before", before.shape.max_running}});
}

}  // namespace allot::operations
