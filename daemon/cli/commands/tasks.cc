// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "base/names.h"
#include "cli/commands/command.h"
#include "cli/remote/session.h"
#include "cli/sources/far.h"
#include "cli/sources/queues.h"
#include "cli/words/instance_text.h"
#include "cli/words/listing.h"
#include "cli/words/task_view.h"
#include "cli/words/terminal.h"
#include "cli/words/text.h"
#include "json/shown_reader.h"
#include "json/task_json.h"
#include "queue/look/inspect.h"
#include "queue/look/unique_key.h"
#include "queue/model/compression.h"
#include "queue/model/error_text.h"
#include "queue/submit/submit.h"

namespace allot::cli {
namespace {

using nlohmann::json;

struct TasksOptions {
  std::string queue;         // empty: all
  std::uint32_t limit = 50;  // per queue
  bool json = false;
};

struct ShowOptions {
  std::string id;
  bool json = false;
  bool payload = false;  // print only the bytes of the payload
};

struct FindOptions {
  std::string queue;
  std::string unique_key;
  bool json = false;
};

constexpr std::size_t kShownPayloadLine = 200;  // on a terminal
constexpr std::size_t kShownKey = 1024;         // fits any unique key, whatever its bytes are

void print_attempts(const std::vector<queue::AttemptView>& attempts) {
  if (attempts.empty()) return;
  // The list begins with the oldest attempt.
  const bool lives = attempts.front().life > 0;
  std::vector<std::string> heads{"ATTEMPT", "ENDED", "RAN", "CPU", "MEMORY", "WORKER", "WHY"};
  if (lives) heads.insert(heads.begin(), "LIFE");
  Table table(heads);
  for (const queue::AttemptView& attempt : attempts) {
    const std::string cause =
        attempt.error.empty() ? attempt.cause : attempt.cause + ": " + attempt.error;
    std::vector<std::string> cells{std::to_string(attempt.attempt),
                                   attempt.ended_at,
                                   seconds_of(attempt.usage.runtime_us),
                                   seconds_of(attempt.usage.cpu_us),
                                   megabytes_of(attempt.usage.max_rss_kib),
                                   printable(attempt.worker, 100),
                                   printable(cause, kShownError)};
    if (lives) {
      cells.insert(cells.begin(),
                   attempt.life == 0 ? "now" : std::to_string(attempt.life) + " before");
    }
    table.add(std::move(cells));
  }
  std::printf("\n%s", table.text(wants_colour(STDOUT_FILENO)).c_str());
}

// Complete final error of the last failed attempt.
void print_detail(const std::string& error, const std::string& detail) {
  const bool is_told = detail.empty() && error == printable(error, kShownError);
  if (is_told) return;
  std::string text = printable_lines(detail.empty() ? error : detail);
  text.resize(text.find_last_not_of('\n') + 1);
  std::printf("\n%s\n", text.c_str());
}
void print_detail(const as_json::Shown& shown) {
  if (shown.task && shown.task->dead) return print_detail(shown.task->error, shown.task->detail);
  if (shown.attempts.empty()) return;
  const queue::AttemptView& last = shown.attempts.back();
  print_detail(last.error, last.detail);
}

// Log of the last failed attempt.
void print_log(const as_json::Shown& shown) {
  if (shown.attempts.empty() || shown.attempts.back().log.empty()) return;
  const queue::AttemptView& last = shown.attempts.back();
  std::string text = printable_lines(last.log);
  text.resize(text.find_last_not_of('\n') + 1);
  std::printf("\nlog of attempt %u\n%s\n", last.attempt, text.c_str());
}

void line(const char* name, const std::string& value) {
  std::printf("%-10s %s\n", name, value.c_str());
}

void print_unique(const std::optional<queue::UniqueKey>& unique) {
  if (!unique) return;
  line("unique key", printable(unique->key, kShownKey) +
                         (unique->free_at.empty() ? "" : ", free again at " + unique->free_at));
}

void print_headers(const queue::Headers& headers) {
  if (headers.max_attempts != 0)
    line("at most", std::to_string(headers.max_attempts) + " attempts");
  if (headers.max_losses != 0)
    line("may be lost",
         std::to_string(headers.max_losses) + " times, which are not counted as attempts");
  if (!headers.label.empty()) line("label", headers.label);
  if (headers.time_limit.count() != 0)
    line("time limit", as_json::span_text(headers.time_limit) + " for each attempt");
  if (!headers.trace.parent.empty()) line("trace", headers.trace.parent);
  if (!headers.trace.state.empty()) line("tracestate", headers.trace.state);
}

void print_task(const as_json::Shown& shown) {
  const queue::TaskView& task = *shown.task;
  line("task", task.id.text());
  line("state", as_json::state_of(task));
  line("queue", shown.queue + ", partition " + std::to_string(task.id.partition.partition_no) +
                    ", prio " + std::to_string(task.id.prio));
  line("type", printable(task.type, kMaxTypeName));
  line(task.dead ? "died" : "due", task.at);
  line("first due", task.id.first_due());
  if (!task.expires_at.empty()) line("expires", task.expires_at);
  print_unique(shown.unique);
  if (task.key_hash) line("key hash", std::to_string(*task.key_hash));
  print_headers(task.headers);
  if (task.dead) line("why", why_dead(task, queue::kMostMessage));
  if (!task.fault.empty()) line("fault", printable(task.fault, queue::kMostFault));
  line("attempts", std::to_string(task.attempts));
  const std::string holder = task.holder.empty() ? "no worker" : printable(task.holder, 100);
  if (task.running) line("running on", holder);
  if (task.running) line("detached", task.since);
  if (task.progress.percent) line("progress", progress_text(task.progress));
  if (!task.dead && !task.running) line("leased by", holder);
  if (shown.cancel && !task.dead) line("cancel", cancel_text(*shown.cancel));
  const bool compressed = (task.flags & queue::kCompressedFlags) != 0;
  line("payload",
       std::to_string(task.payload.size()) + " bytes" +
           (compressed ? ", compressed " + std::to_string(task.payload_size) : "") +
           (task.payload.empty() ? "" : ": " + printable(task.payload, kShownPayloadLine)));
  print_attempts(shown.attempts);
  print_detail(shown);
  print_log(shown);
}

// Shows a finished task of a queue that keeps a history.
void print_done(const as_json::Shown& shown) {
  const queue::Done& done = *shown.done;
  line("task", done.id.text());
  line("state", "done");
  line("queue", shown.queue + ", partition " + std::to_string(done.id.partition.partition_no) +
                    ", prio " + std::to_string(done.id.prio));
  line("type", printable(done.type, kMaxTypeName));
  line("ended", done.ended_at);
  line("first due", done.id.first_due());
  print_unique(shown.unique);
  print_headers(done.headers);
  line("attempt", std::to_string(done.attempt));
  line("ran", seconds_of(done.usage.runtime_us) + ", CPU " + seconds_of(done.usage.cpu_us) +
                  ", memory " + megabytes_of(done.usage.max_rss_kib));
  line("ran on", printable(done.worker, 100));
  print_attempts(shown.attempts);
  print_detail(shown);
  print_log(shown);
}

// Detached tasks come first, because they started before the waiting ones.
std::vector<queue::TaskView> views_of(db::Connection& db, const queue::QueueInfo& queue,
                                      std::uint32_t limit) {
  auto views = queue::list_running(db, queue, limit);
  const auto left = limit - static_cast<std::uint32_t>(views.size());
  for (queue::TaskView& task : queue::list_tasks(db, queue, left)) views.push_back(std::move(task));
  return views;
}

// allot tasks shows the detached tasks of each queue, then the waiting ones by partition, class and
// key. Dead tasks are listed by dead.cc.
int tasks(const Context& context, const TasksOptions& options) {
  db::Connection db = connect(context.settings());
  Listing list(task_heads("DUE", ""), options.json);
  for (const queue::QueueInfo& queue : chosen_queues(db, options.queue)) {
    const auto views = views_of(db, queue, options.limit);
    for (const queue::TaskView& task : views) {
      list.add(as_json::task(task, queue.name), view_row(task, queue.name));
    }
    say_limit(queue.name, views.size(), options.limit, options.json);
  }
  list.print();
  return kExitOk;
}

int remote_tasks(const remote::Session& gateway, const TasksOptions& options) {
  Listing list(task_heads("DUE", ""), options.json);
  for (const std::string& queue : far::queue_names(gateway, options.queue)) {
    std::uint32_t shown = 0;
    for (const char* each : {"/running", "/tasks"}) {
      const std::string path = far::queue_path(queue, each);
      for (const json& task : far::items(gateway, path, options.limit - shown)) {
        list.add(task, view_row(as_json::task_of(task), queue));
        ++shown;
      }
    }
    say_limit(queue, shown, options.limit, options.json);
  }
  list.print();
  return kExitOk;
}

void print_shown(const as_json::Shown& shown) {
  if (shown.task) {
    print_task(shown);
  } else {
    print_done(shown);
  }
}

// allot task show ID.
int show_task(const Context& context, const ShowOptions& options) {
  const queue::TaskId id = parse_task_id(options.id);
  db::Connection db = connect(context.settings());
  const auto shown = as_json::look_at(db, id);
  if (!shown) {
    throw Error("no live or dead task has the id " + id.text() + ": it finished, or never existed");
  }
  if (!shown->damage.empty()) {
    std::fprintf(stderr, "allot: payload: %s: shown as stored\n", shown->damage.c_str());
  }
  if (options.payload) {
    if (!shown->task) throw Error("task " + id.text() + " is done: its payload was not kept");
    std::fwrite(shown->task->payload.data(), 1, shown->task->payload.size(), stdout);
  } else if (options.json) {
    print(as_json::document(*shown));
  } else {
    print_shown(*shown);
  }
  return kExitOk;
}

// Raw payload bytes, which a JSON document cannot contain.
remote::Answer remote_payload(const remote::Session& gateway, const std::string& path) {
  remote::Answer answer = gateway.ask({"GET", path + "/payload"});
  if (answer.as_written) {
    std::fprintf(stderr, "allot: payload: it cannot be decompressed: shown as stored\n");
  }
  return answer;
}

int remote_show_task(const remote::Session& gateway, const ShowOptions& options) {
  const std::string path = "/tasks/" + parse_task_id(options.id).text();
  if (options.payload) {
    const std::string payload = remote_payload(gateway, path).body;
    std::fwrite(payload.data(), 1, payload.size(), stdout);
    return kExitOk;
  }
  const json document = gateway.read(path);
  if (options.json) {
    print(document);
    return kExitOk;
  }
  as_json::Shown shown = as_json::shown_of(document);
  if (shown.task && shown.task->payload_size > 0) {
    remote::Answer payload = remote_payload(gateway, path);
    shown.task->payload = std::move(payload.body);
    // The stored size differs from the size that the handler receives.
    const bool compressed =
        payload.as_written || shown.task->payload.size() != shown.task->payload_size;
    if (compressed) shown.task->flags = queue::kCompressedFlags;
  }
  print_shown(shown);
  return kExitOk;
}

void require_unique_key(const FindOptions& options) {
  if (!options.unique_key.empty() && options.unique_key.size() <= queue::kMaxUniqueKey) return;
  throw Error("--unique-key: 1 to 255 bytes are allowed", kExitUsage);
}

void print_owner(const json& owner, bool as_json) {
  if (as_json) return print(owner);
  const json& free_at = owner.at("unique_key_free_at");
  std::printf("%s %s%s\n", owner.at("task").get<std::string>().c_str(),
              owner.at("state").get<std::string>().c_str(),
              free_at.is_null()
                  ? ""
                  : (", its key is free again at " + free_at.get<std::string>()).c_str());
}

// allot task find QUEUE --unique-key KEY finds the task with the key and its place.
int find_task(const Context& context, const FindOptions& options) {
  require_unique_key(options);
  db::Connection db = connect(context.settings());
  const queue::QueueInfo queue = chosen_queues(db, options.queue).front();
  const auto owner = queue::find_unique(db, queue.queue_id, options.unique_key);
  if (!owner) {
    throw Error("no task of queue " + queue.name + " has the unique key '" +
                printable(options.unique_key, kShownKey) + "'");
  }
  print_owner(as_json::key_owner(*owner, queue.name, options.unique_key), options.json);
  return kExitOk;
}

int remote_find_task(const remote::Session& gateway, const FindOptions& options) {
  require_unique_key(options);
  print_owner(gateway.read("/queues/" + remote::escaped(options.queue) + "/keys/" +
                           remote::escaped(options.unique_key)),
              options.json);
  return kExitOk;
}

}  // namespace

void add_tasks(CLI::App& app, const Commands& commands) {
  const auto options = std::make_shared<TasksOptions>();
  CLI::App& list = *app.add_subcommand("tasks", "List waiting and detached tasks");
  list.add_option("--queue", options->queue, "Only of this queue")->type_name("QUEUE");
  list.add_option("--limit", options->limit, "Limit for each queue")
      ->check(CLI::Range(1, kMostListed))
      ->type_name("TASKS")
      ->capture_default_str();
  list.add_flag("--json", options->json, "As JSON");
  list.callback([commands, options] { commands.choose(tasks, options, remote_tasks); });
}

void add_task(CLI::App& app, const Commands& commands) {
  CLI::App& task = *app.add_subcommand("task", "Show one task, or cancel it");
  task.require_subcommand(1);
  const auto shown = std::make_shared<ShowOptions>();
  CLI::App& show =
      *task.add_subcommand("show", "Show a task that is still stored, with its failed attempts");
  show.add_option("ID", shown->id, "The task's id")->required();
  auto* json = show.add_flag("--json", shown->json, "As JSON");
  show.add_flag("--payload", shown->payload, "Print only the bytes of the payload")->excludes(json);
  show.callback([commands, shown] { commands.choose(show_task, shown, remote_show_task); });

  const auto found = std::make_shared<FindOptions>();
  CLI::App& find =
      *task.add_subcommand("find", "Show the task that has a unique key, and its state");
  find.add_option("QUEUE", found->queue, "The queue")->required();
  find.add_option("--unique-key", found->unique_key, "The key")->required()->type_name("KEY");
  find.add_flag("--json", found->json, "As JSON");
  find.callback([commands, found] { commands.choose(find_task, found, remote_find_task); });
  add_cancel(task, commands);
}

}  // namespace allot::cli
