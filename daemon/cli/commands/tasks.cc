// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "base/names.h"
#include "cli/commands/command.h"
#include "cli/sources/documents.h"
#include "cli/words/instance_text.h"
#include "cli/words/listing.h"
#include "cli/words/task_view.h"
#include "cli/words/terminal.h"
#include "cli/words/text.h"
#include "json/fields.h"
#include "json/queue_json.h"
#include "operations/route.h"
#include "operations/why.h"
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

void print_attempts(const json& attempts) {
  if (attempts.empty()) return;
  // The list begins with the oldest attempt.
  const bool was_retried = attempts.front().at("retries_since") != 0;
  std::vector<std::string> heads{"ATTEMPT", "ENDED", "RAN", "CPU", "MEMORY", "WORKER", "WHY"};
  if (was_retried) heads.insert(heads.begin(), "RUN");
  Table table(heads);
  for (const json& attempt : attempts) {
    std::vector<std::string> cells{attempt.at("attempt").dump(),
                                   attempt.at("ended_at"),
                                   seconds_of(as_json::maybe_u64_in(attempt, "runtime_us")),
                                   seconds_of(as_json::maybe_u64_in(attempt, "cpu_us")),
                                   megabytes_of(as_json::maybe_u64_in(attempt, "max_rss_kib")),
                                   printable(attempt.at("worker").get<std::string>(), 100),
                                   why_text(attempt, kShownError)};
    if (was_retried) {
      const json& retries = attempt.at("retries_since");
      cells.insert(cells.begin(), retries == 0 ? "current" : retries.dump() + " before");
    }
    table.add(std::move(cells));
  }
  std::printf("\n%s", table.text(wants_colour(STDOUT_FILENO)).c_str());
}

void print_lines(const std::string& text) {
  std::string lines = printable_lines(text);
  lines.resize(lines.find_last_not_of('\n') + 1);
  std::printf("%s\n", lines.c_str());
}

// Complete error of a dead task, or of the last failed attempt, and the log of that attempt.
void print_last(const json& task) {
  const json& attempts = task.at("attempts");
  const bool dead = task.at("state") == "dead";
  if (!dead && attempts.empty()) return;
  const json& ended = dead ? task : attempts.back();
  const std::string error = as_json::text_in(ended, "error");
  const std::string detail = as_json::text_in(ended, "detail");
  if (!detail.empty() || error != printable(error, kShownError)) {
    std::printf("\n");
    print_lines(detail.empty() ? error : detail);
  }
  const std::string log = attempts.empty() ? "" : as_json::text_in(attempts.back(), "log");
  if (log.empty()) return;
  std::printf("\nlog of attempt %s\n", attempts.back().at("attempt").dump().c_str());
  print_lines(log);
}

void line(const char* name, const std::string& value) {
  std::printf("%-10s %s\n", name, value.c_str());
}

// A line for a field that is not null.
void maybe_line(const char* name, const json& task, const char* field,
                const std::string& behind = {}) {
  const json& value = task.at(field);
  if (value.is_null()) return;
  line(name, (value.is_string() ? value.get<std::string>() : value.dump()) + behind);
}

void print_place(const json& task) {
  line("task", task.at("task"));
  line("state", task.at("state"));
  line("queue", task.at("queue").get<std::string>() + ", partition " + task.at("partition").dump() +
                    ", prio " + task.at("prio").dump());
  line("type", printable(task.at("type").get<std::string>(), kMaxTypeName));
}

void print_unique(const json& task) {
  if (task.at("unique_key").is_null()) return;
  const std::string free_at = as_json::text_in(task, "unique_key_free_at");
  line("unique key", printable(task.at("unique_key").get<std::string>(), kShownKey) +
                         (free_at.empty() ? "" : ", free again at " + free_at));
}

void print_headers(const json& task) {
  maybe_line("at most", task, "max_attempts", " attempts");
  maybe_line("may be lost", task, "max_losses", " times, which are not counted as attempts");
  maybe_line("label", task, "label");
  if (const auto ms = as_json::maybe_u64_in(task, "time_limit_ms")) {
    line("time limit", as_json::span_text(std::chrono::milliseconds(*ms)) + " for each attempt");
  }
  maybe_line("trace", task, "traceparent");
  maybe_line("tracestate", task, "tracestate");
}

std::string holder_text(const json& task, const char* field) {
  const std::string holder = as_json::text_in(task, field);
  return holder.empty() ? "no worker" : printable(holder, 100);
}

void print_running(const json& task) {
  line("running on", holder_text(task, "running_on"));
  line("detached", task.at("detached_at"));
  if (task.at("progress").is_null()) return;
  line("progress", progress_text({task.at("progress").get<std::uint32_t>(),
                                  as_json::text_in(task, "progress_text")}));
}

void print_cancel(const json& asked) {
  if (asked.is_null()) return;
  line("cancel",
       operations::cancel_text({asked.at("reason"), asked.at("at"), asked.at("as_done")}));
}

// `payload` as the handler gets it; `compressed`: the stored size is another one.
void print_payload(const json& task, const std::string& payload, bool compressed) {
  line("payload", std::to_string(payload.size()) + " bytes" +
                      (compressed ? ", compressed " + task.at("payload_size").dump() : "") +
                      (payload.empty() ? "" : ": " + printable(payload, kShownPayloadLine)));
}

// Raw payload bytes, which a JSON document cannot contain.
Answer payload_of(const Operations& allot, const std::string& path) {
  Answer answer = allot.ask({"GET", path + "/payload"});
  if (!answer.damage.empty()) {
    std::fprintf(stderr, "allot: payload: %s; shown as stored\n",
                 printable(answer.damage, 300).c_str());
  }
  return answer;
}

void print_task(const json& task, const Answer& payload) {
  const bool dead = task.at("state") == "dead";
  const bool running = task.at("state") == "running";
  print_place(task);
  line(dead ? "died" : "due", task.at(dead ? "died_at" : "due_at"));
  line("first due", task.at("first_due_at"));
  maybe_line("expires", task, "expires_at");
  print_unique(task);
  maybe_line("key hash", task, "partition_key_hash");
  print_headers(task);
  if (dead) line("why", why_text(task, queue::kMostMessage));
  const std::string fault = as_json::text_in(task, "fault");
  if (!fault.empty()) line("fault", printable(fault, queue::kMostFault));
  line("attempts", task.at("attempts_charged").dump());
  if (running) print_running(task);
  if (!dead && !running) line("leased by", holder_text(task, "leased_by"));
  print_cancel(task.at("cancel_requested"));
  print_payload(task, payload.body,
                !payload.damage.empty() || task.at("payload_size") != payload.body.size());
}

// Shows a finished task of a queue that keeps a history.
void print_done(const json& task) {
  print_place(task);
  line("ended", task.at("ended_at"));
  line("first due", task.at("first_due_at"));
  print_unique(task);
  print_headers(task);
  line("attempt", task.at("attempt").dump());
  line("ran", seconds_of(as_json::maybe_u64_in(task, "runtime_us")) + ", CPU " +
                  seconds_of(as_json::maybe_u64_in(task, "cpu_us")) + ", memory " +
                  megabytes_of(as_json::maybe_u64_in(task, "max_rss_kib")));
  line("ran on", printable(task.at("worker").get<std::string>(), 100));
}

// allot tasks shows the detached tasks of each queue, then the waiting ones by partition, class and
// key. Detached tasks come first, because they started before the waiting ones. Dead tasks are
// listed by dead.cc.
int tasks(const Operations& allot, const TasksOptions& options) {
  Listing list(task_heads("DUE", ""), options.json);
  for (const std::string& queue : documents::queue_names(allot, options.queue)) {
    std::uint32_t shown = 0;
    for (const char* each : {"/running", "/tasks"}) {
      const std::string path = documents::queue_path(queue, each);
      for (const json& task : documents::items(allot, path, options.limit - shown)) {
        list.add(task, view_row(task));
        ++shown;
      }
    }
    say_limit(queue, shown, options.limit, options.json);
  }
  list.print();
  return kExitOk;
}

// allot task show ID.
int show_task(const Operations& allot, const ShowOptions& options) {
  const std::string path = "/tasks/" + parse_task_id(options.id).text();
  if (options.payload) {
    const std::string payload = payload_of(allot, path).body;
    std::fwrite(payload.data(), 1, payload.size(), stdout);
    return kExitOk;
  }
  const json task = allot.read(path);
  if (options.json) {
    print(task);
    return kExitOk;
  }
  if (task.at("state") == "done") {
    print_done(task);
  } else {
    print_task(task, task.at("payload_size") == 0 ? Answer{} : payload_of(allot, path));
  }
  print_attempts(task.at("attempts"));
  print_last(task);
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
int find_task(const Operations& allot, const FindOptions& options) {
  require_unique_key(options);
  print_owner(allot.read(documents::queue_path(options.queue,
                                               "/keys/" + operations::escaped(options.unique_key))),
              options.json);
  return kExitOk;
}

}  // namespace

void add_tasks(CLI::App& app, const Commands& commands) {
  const auto options = std::make_shared<TasksOptions>();
  CLI::App& list = *app.add_subcommand("tasks", "List waiting and detached tasks");
  list.add_option("--queue", options->queue, "Only tasks of this queue")->type_name("QUEUE");
  list.add_option("--limit", options->limit, "Maximum number for each queue")
      ->check(CLI::Range(1, kMostListed))
      ->type_name("TASKS")
      ->capture_default_str();
  list.add_flag("--json", options->json, "As JSON");
  list.callback([commands, options] { commands.choose(tasks, options); });
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
  show.callback([commands, shown] { commands.choose(show_task, shown); });

  const auto found = std::make_shared<FindOptions>();
  CLI::App& find =
      *task.add_subcommand("find", "Show the task that has a unique key, and its state");
  find.add_option("QUEUE", found->queue, "The queue")->required();
  find.add_option("--unique-key", found->unique_key, "The key")->required()->type_name("KEY");
  find.add_flag("--json", found->json, "As JSON");
  find.callback([commands, found] { commands.choose(find_task, found); });
  add_cancel(task, commands);
}

}  // namespace allot::cli
