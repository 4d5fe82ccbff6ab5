// SPDX-License-Identifier: Apache-2.0
#include "queue/look/history.h"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/names.h"
#include "cli/commands/command.h"
#include "cli/remote/address.h"
#include "cli/remote/session.h"
#include "cli/sources/far.h"
#include "cli/sources/queues.h"
#include "cli/words/listing.h"
#include "cli/words/task_view.h"
#include "cli/words/text.h"
#include "json/shown_reader.h"
#include "json/task_json.h"

namespace allot::cli {
namespace {

using nlohmann::json;

struct HistoryOptions {
  std::string queue;  // empty: all
  std::string type;   // empty: all
  std::string after;  // id of a task: start of the next page
  std::uint32_t limit = 50;
  bool json = false;
};

// Task after which the next page of its queue begins.
queue::Done page_after(db::Connection& db, const std::string& word) {
  const queue::TaskId id = parse_task_id(word);
  auto done = queue::show_done(db, id);
  if (!done)
    throw Error("the history has no task " + id.text() +
                ": --after must name a task of the history");
  return *done;
}

std::vector<std::string> row_of(const queue::Done& done, const std::string& queue) {
  return {done.id.text(),
          queue,
          printable(done.type, kMaxTypeName),
          std::to_string(done.attempt),
          done.ended_at,
          seconds_of(done.usage.runtime_us),
          seconds_of(done.usage.cpu_us),
          megabytes_of(done.usage.max_rss_kib),
          printable(done.worker, 100)};
}

Listing history_list(bool as_json) {
  return {{"TASK", "QUEUE", "TYPE", "ATTEMPTS", "ENDED", "RAN", "CPU", "MEMORY", "WORKER"},
          as_json};
}

// A filter by type has no index. Maximum number of tasks that are scanned; the list says where it
// stopped.
constexpr std::uint32_t kMostLooked = 10'000;
constexpr std::uint32_t kPage = 1'000;

struct HistoryPage {
  std::vector<queue::Done> found{};
  std::string stopped_at{};  // the last scanned task; empty: all were scanned, or the page is full
};

HistoryPage look_up(db::Connection& db, const queue::QueueInfo& queue,
                    const HistoryOptions& options, std::optional<queue::Done> after) {
  if (options.type.empty()) return {queue::list_done(db, queue, options.limit, after), {}};
  HistoryPage page;
  for (std::uint32_t looked = 0; looked < kMostLooked; looked += kPage) {
    const auto rows = queue::list_done(db, queue, kPage, after);
    for (const queue::Done& done : rows) {
      if (done.type == options.type) page.found.push_back(done);
      if (page.found.size() == options.limit) return page;
    }
    if (rows.size() < kPage) return page;
    after = rows.back();
  }
  page.stopped_at = after->id.text();
  return page;
}

void say_stop(const std::string& queue, const HistoryPage& page) {
  if (page.stopped_at.empty()) return;
  std::fprintf(stderr,
               "allot: queue %s: stopped after %u finished tasks; continue with --after %s\n",
               queue.c_str(), kMostLooked, page.stopped_at.c_str());
}

// allot history shows finished tasks of queues that keep a history, newest first.
int history(const Context& context, const HistoryOptions& options) {
  db::Connection db = connect(context.settings());
  std::optional<queue::Done> after;
  if (!options.after.empty()) after = page_after(db, options.after);
  Listing list = history_list(options.json);
  for (const queue::QueueInfo& queue : chosen_queues(db, options.queue)) {
    if (after && after->id.partition.queue_id != queue.queue_id) continue;
    const HistoryPage page = look_up(db, queue, options, after);
    for (const queue::Done& done : page.found) {
      list.add(as_json::done(done, queue.name), row_of(done, queue.name));
    }
    say_limit(queue.name, page.found.size(), options.limit, options.json);
    say_stop(queue.name, page);
  }
  list.print();
  return kExitOk;
}

int remote_history(const remote::Session& gateway, const HistoryOptions& options) {
  if (!options.after.empty()) remote::no_route("--after");
  const std::string type = options.type.empty() ? "" : "?type=" + remote::escaped(options.type);
  Listing list = history_list(options.json);
  for (const std::string& queue : far::queue_names(gateway, options.queue)) {
    const auto page = far::items(gateway, far::queue_path(queue, "/history" + type), options.limit);
    for (const json& done : page) list.add(done, row_of(as_json::done_of(done), queue));
    say_limit(queue, page.size(), options.limit, options.json);
  }
  list.print();
  return kExitOk;
}

}  // namespace

void add_history(CLI::App& app, const Commands& commands) {
  const auto options = std::make_shared<HistoryOptions>();
  CLI::App& list =
      *app.add_subcommand("history", "List finished tasks of queues that keep a history");
  list.add_option("--queue", options->queue, "Only of this queue")->type_name("QUEUE");
  list.add_option("--type", options->type, "Only of this type")->type_name("TYPE");
  list.add_option("--after", options->after, "Next page: tasks that ended before this one")
      ->type_name("ID");
  list.add_option("--limit", options->limit, "Limit for each queue")
      ->check(CLI::Range(1, kMostListed))
      ->type_name("TASKS")
      ->capture_default_str();
  list.add_flag("--json", options->json, "As JSON");
  list.callback([commands, options] { commands.choose(history, options, remote_history); });
}

}  // namespace allot::cli
