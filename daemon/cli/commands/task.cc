// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/commands/command.h"
#include "cli/sources/documents.h"
#include "cli/words/instance_text.h"
#include "cli/words/task_view.h"
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
  std::vector<Column> columns;
  // The list begins with the oldest attempt.
  if (attempts.front().at("retries_since") != 0) {
    columns.emplace_back("RUN", [](const json& attempt) {
      const json& retries = attempt.at("retries_since");
      return retries == 0 ? "current" : retries.dump() + " before";
    });
  }
  columns.insert(columns.end(), {{"ATTEMPT", "attempt"}, {"ENDED", "ended_at"}});
  add_usage(columns);
  columns.emplace_back("WHY", [](const json& attempt) { return why_text(attempt, kShownError); });
  print_below(attempts, columns);
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

std::string place_text(const json& task) {
  return cell_of(task, "queue") + ", partition " + cell_of(task, "partition") + ", prio " +
         cell_of(task, "prio");
}

std::string unique_text(const json& task) {
  const std::string key = cell_of(task, "unique_key", kShownKey);
  const std::string free_at = cell_of(task, "unique_key_free_at");
  return key + (free_at.empty() ? "" : ", free again at " + free_at);
}

std::string limit_text(const json& task) {
  const json& ms = task.at("time_limit_ms");
  if (ms.is_null()) return "";
  return as_json::span_text(std::chrono::milliseconds(ms)) + " for each attempt";
}

std::string cancel_request_text(const json& task) {
  const json request = task.value("cancel_requested", json());
  if (request.is_null()) return "";
  return operations::cancel_text({request.at("reason"), request.at("at"), request.at("as_done")});
}

std::string run_text(const json& task) {
  return seconds_of(task.at("runtime_us")) + ", CPU " + seconds_of(task.at("cpu_us")) +
         ", memory " + megabytes_of(task.at("max_rss_kib"));
}

// A line of tasks in that state.
Column only(const char* head, const char* state, const Column::Cell& text) {
  return {head, [=](const json& task) { return task.at("state") == state ? text(task) : ""; }};
}

// A field, and what it counts.
Column counted(const char* head, const char* field, const char* what) {
  return {head, [=](const json& task) {
            const std::string number = cell_of(task, field);
            return number.empty() ? "" : number + what;
          }};
}

Column::Cell holder(const char* field) {
  return [field](const json& task) {
    return task.at(field).is_null() ? "no worker" : cell_of(task, field);
  };
}

// A task in any state has some of these fields.
void print_task(const json& task) {
  const auto progress = [](const json& one) {
    return one.at("progress").is_null() ? "" : progress_text(one);
  };
  const auto why = [](const json& one) { return why_text(one, queue::kMostMessage); };
  const auto fault = [](const json& one) { return cell_of(one, "fault", queue::kMostFault); };
  const auto state = [](const json& one) { return cell_of(one, "tracestate", kShownKey); };
  print_fields(task, 10,
               {{"task", "task"},
                {"state", "state"},
                {"queue", place_text},
                {"type", "type"},
                {"died", "died_at"},
                {"due", "due_at"},
                {"ended", "ended_at"},
                {"first due", "first_due_at"},
                {"expires", "expires_at"},
                {"unique key", unique_text},
                {"key hash", "partition_key_hash"},
                counted("at most", "max_attempts", " attempts"),
                counted("may be lost", "max_losses", " times, which are not counted as attempts"),
                {"label", "label"},
                {"time limit", limit_text},
                {"trace", "traceparent"},
                {"tracestate", state},
                only("why", "dead", why),
                {"fault", fault},
                {"attempts", "attempts_charged"},
                only("running on", "running", holder("running_on")),
                {"detached", "detached_at"},
                only("progress", "running", progress),
                only("leased by", "waiting", holder("leased_by")),
                {"cancel", cancel_request_text},
                {"attempt", "attempt"},
                only("ran", "done", run_text),
                {"ran on", "worker"}});
}

// Raw payload bytes, which a JSON document cannot contain.
operations::Document payload_of(const Operations& allot, const std::string& path) {
  operations::Document payload = allot.ask({"GET", path + "/payload"});
  if (const std::string* damage = payload.field(operations::kDamage)) {
    std::fprintf(stderr, "allot: payload: %s; shown as stored\n", printable(*damage, 300).c_str());
  }
  return payload;
}

// The payload as the handler gets it; the stored size is another one if it is compressed.
void print_payload(const json& task, const operations::Document& payload) {
  const std::string& bytes = payload.text;
  const bool compressed =
      payload.field(operations::kDamage) != nullptr || task.at("payload_size") != bytes.size();
  std::printf("%-10s %zu bytes%s%s\n", "payload", bytes.size(),
              compressed ? (", compressed " + task.at("payload_size").dump()).c_str() : "",
              bytes.empty() ? "" : (": " + printable(bytes, kShownPayloadLine)).c_str());
}

// allot task show ID.
int show_task(const Operations& allot, const ShowOptions& options) {
  const std::string path = task_path(options.id);
  if (options.payload) {
    const std::string payload = payload_of(allot, path).text;
    std::fwrite(payload.data(), 1, payload.size(), stdout);
    return kExitOk;
  }
  const json task = allot.read(path);
  return print_as(options.json, task, [&] {
    const bool kept = task.at("state") != "done";
    const bool empty = !kept || task.at("payload_size") == 0;
    const auto payload = empty ? operations::Document() : payload_of(allot, path);
    print_task(task);
    if (kept) print_payload(task, payload);
    print_attempts(task.at("attempts"));
    print_last(task);
  });
}

void require_unique_key(const FindOptions& options) {
  if (!options.unique_key.empty() && options.unique_key.size() <= queue::kMaxUniqueKey) return;
  throw Error("--unique-key: 1 to 255 bytes are allowed", kExitUsage);
}

// allot task find QUEUE --unique-key KEY finds the task with the key and its place.
int find_task(const Operations& allot, const FindOptions& options) {
  require_unique_key(options);
  const json owner = allot.read(
      documents::queue_path(options.queue, "/keys/" + operations::escaped(options.unique_key)));
  return print_as(options.json, owner, [&] {
    const std::string free_at = cell_of(owner, "unique_key_free_at");
    std::printf("%s %s%s\n", cell_of(owner, "task").c_str(), cell_of(owner, "state").c_str(),
                free_at.empty() ? "" : (", its key is free again at " + free_at).c_str());
  });
}

struct CancelOptions {
  std::string id;
  bool as_done = false;
  bool json = false;
};

void print_cancelled(const json& cancelled) {
  const std::string id = cancelled.at("task");
  const bool as_done = cancelled.at("as_done");
  const std::string holder = cell_of(cancelled, "leased_by");
  const std::string who = holder.empty() ? "a worker" : holder;
  if (cancelled.at("requested").get<bool>()) {
    std::printf("asked %s to end %s%s\n", who.c_str(), id.c_str(), as_done ? " as done" : "");
    return;
  }
  std::printf("cancelled %s%s\n", id.c_str(), as_done ? ", it is done" : "");
  if (!cancelled.at("may_run").get<bool>()) return;
  std::printf("%s leased its partition in the meantime: it may have run, or may still run\n",
              who.c_str());
}

// allot task cancel ID turns a waiting task into a dead or finished one, and requests the end of a
// running one.
int cancel_task(const Operations& allot, const CancelOptions& options) {
  const json cancelled =
      allot.post(task_path(options.id) + "/cancel", {{"as_done", options.as_done}});
  return print_as(options.json, cancelled, [&] { print_cancelled(cancelled); });
}

void add_cancel(CLI::App& task, const Commands& commands) {
  const auto [cancel, options] = commands.add(
      task, "cancel",
      "Cancel a waiting or running task, which is then dead, or done with --as-done", cancel_task);
  cancel.add_option("ID", options->id, "The task's id")->required();
  commands.add_reason(cancel);
  cancel.add_flag("--as-done", options->as_done,
                  "End it as if it had succeeded: it is done, not dead");
}

}  // namespace

void add_task(CLI::App& app, const Commands& commands) {
  CLI::App& task = *app.add_subcommand("task", "Show one task, or cancel it");
  task.require_subcommand(1);
  const auto [show, shown] = commands.add(
      task, "show", "Show a task that is still stored, with its failed attempts", show_task);
  show.add_option("ID", shown->id, "The task's id")->required();
  show.add_flag("--payload", shown->payload, "Print only the bytes of the payload")
      ->excludes(show.get_option("--json"));

  const auto [find, found] =
      commands.add(task, "find", "Show the task that has a unique key, and its state", find_task);
  find.add_option("QUEUE", found->queue, "The queue")->required();
  add_text(find, "--unique-key", "KEY", found->unique_key, "The key").required();
  add_cancel(task, commands);
}

}  // namespace allot::cli
