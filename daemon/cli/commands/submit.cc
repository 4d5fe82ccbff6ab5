// SPDX-License-Identifier: Apache-2.0
#include "queue/submit/submit.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/commands/bulk.h"
#include "cli/commands/command.h"
#include "cli/remote/session.h"
#include "cli/sources/input.h"
#include "cli/sources/known_types.h"
#include "cli/sources/queues.h"
#include "json/due.h"
#include "json/queue_json.h"
#include "json/task_json.h"
#include "operations/route.h"
#include "queue/model/compression.h"
#include "queue/model/task.h"

namespace allot::cli {
namespace {

struct SubmitWords {
  std::string queue;  // empty: determined by a route
  std::string type;
  std::optional<std::string> payload;  // "-" = standard input
  std::optional<std::string> file;     // payload from a file
  bool routed = false;                 // the first word is the type
  queue::SubmitOptions options;
  bool json = false;
};

std::string payload_of(const SubmitWords& words) {
  if (!words.file && words.payload != "-") return words.payload.value_or("");
  Input input(words.file.value_or("-"));
  std::string payload = input.read_all(queue::kMaxPayload);
  if (payload.size() > queue::kMaxPayload) {
    throw Error(input.name() + ": a payload is limited to 16 MiB - 1 (" +
                    std::to_string(queue::kMaxPayload) +
                    " bytes); store the data elsewhere and submit a reference",
                kExitBadInput);
  }
  return payload;
}

void print_submitted(const nlohmann::json& made, bool as_json) {
  if (as_json) {
    std::printf("%s\n", made.dump().c_str());
    return;
  }
  std::printf("%s\n", made.at("id").get<std::string>().c_str());
  if (!made.at("existed").get<bool>()) return;
  std::fprintf(stderr, "allot: this task already has the unique key (%s): nothing was submitted\n",
               made.at("state").get<std::string>().c_str());
}

// A program with a trace passes it on in its environment, as the handler `exec` does.
void inherit_trace(queue::SubmitOptions& options) {
  const char* parent = std::getenv("TRACEPARENT");
  if (parent == nullptr || !options.traceparent.empty()) return;
  options.traceparent = parent;
  const char* state = std::getenv("TRACESTATE");
  if (state != nullptr) options.tracestate = state;
}

// allot submit QUEUE TYPE [PAYLOAD] submits one task and prints its id.
int submit(const Context& context, const SubmitWords& words) {
  const config::Settings settings = context.settings();
  queue::Submission task{{}, words.type, payload_of(words), words.options, words.queue};
  queue::validate(task.type, task.payload, task.options);
  db::Connection db = connect(settings);
  queue::Submitter submitter = submitter_of(settings);
  submitter.prepare(db, {&task, 1});
  const queue::Submitted made = submitter.submit(db, {&task, 1}).front();
  KnownTypes known(settings);
  known.submitted(task.queue.name, task.type);
  known.warn(db);
  print_submitted(as_json::submitted(made), words.json);
  return kExitOk;
}

// The options as a query string; the payload is the request body.
std::string query_of(const SubmitWords& words) {
  std::string query = "?type=" + operations::escaped(words.type);
  const auto add = [&](const char* name, const std::string& value) {
    query += std::string("&") + name + "=" + operations::escaped(value);
  };
  const queue::SubmitOptions& options = words.options;
  if (!words.queue.empty()) add("queue", words.queue);
  add("prio", std::to_string(options.prio));
  if (options.delay.count() != 0) add("delay", as_json::span_text(options.delay));
  if (options.run_at) add("run_at", as_json::moment_text(*options.run_at));
  if (options.unique_key) {
    add("unique_key", *options.unique_key);
    add("unique_for", as_json::span_text(options.unique_for));
  }
  if (options.partition_key) add("partition_key", *options.partition_key);
  if (options.expires_in.count() != 0) add("expires_in", as_json::span_text(options.expires_in));
  if (options.expires_at) add("expires_at", as_json::moment_text(*options.expires_at));
  if (options.max_attempts) add("max_attempts", std::to_string(*options.max_attempts));
  if (options.max_losses) add("max_losses", std::to_string(*options.max_losses));
  if (!options.label.empty()) add("label", options.label);
  if (options.time_limit) add("time_limit", as_json::span_text(*options.time_limit));
  if (!options.traceparent.empty()) add("traceparent", options.traceparent);
  if (!options.tracestate.empty()) add("tracestate", options.tracestate);
  if (options.compress_above) add("compress_above", std::to_string(*options.compress_above));
  return query;
}

int remote_submit(const remote::Session& gateway, const SubmitWords& words) {
  if (words.options.compression != queue::Compression::kNone) {
    throw Error(
        "--compression is not available over HTTP: the gateway compresses payloads according to "
        "--compress-above or the settings of the queue",
        kExitUsage);
  }
  const std::string payload = payload_of(words);
  queue::validate(words.type, payload, words.options);
  print_submitted(
      gateway.send({"POST", "/tasks" + query_of(words), payload, "application/octet-stream"}),
      words.json);
  return kExitOk;
}

// Adds an option with the same name for each member of SubmitOptions except the headers. Returns
// them, because --ndjson excludes them.
std::vector<CLI::Option*> add_task_options(CLI::App& command, queue::SubmitOptions& options) {
  const auto add_key = [&](const char* name, std::optional<std::string>& key, const char* text) {
    return command.add_option(name, key, text)->type_name("KEY");
  };
  const auto add_time = [&](const std::string& name, std::chrono::microseconds& time,
                            const char* text) {
    const auto read = [name, &time](const std::string& word) {
      time = as_json::parse_delay(name, word);
    };
    return command.add_option_function<std::string>(name, read, text)->type_name("TIME");
  };
  const auto add_moment = [&](const std::string& name, std::optional<queue::Moment>& moment,
                              const char* text) {
    const auto read = [name, &moment](const auto& word) {
      moment = as_json::parse_moment(name, word);
    };
    return command.add_option_function<std::string>(name, read, text)->type_name("MOMENT");
  };
  auto* prio = command.add_option("--prio", options.prio, "Priority class 0 (first) to 3 (last)")
                   ->check(CLI::Range(0U, queue::kPrioClasses - 1))
                   ->type_name("CLASS")
                   ->capture_default_str();
  auto* delay =
      add_time("--delay", options.delay, "Delay before the task may start: 300ms, 30s, 5m, 2h");
  auto* run_at = add_moment("--run-at", options.run_at,
                            "Time before which the task does not start: 2026-12-24T18:00:00Z");
  auto* unique_key = add_key("--unique-key", options.unique_key,
                             "Only one task of the queue has this key: print its id if it exists");
  auto* unique_for = add_time("--unique-for", options.unique_for,
                              "How long the key stays reserved after the task has finished [5m]; a "
                              "dead or cancelled task frees it at once");
  auto* partition_key = add_key("--partition-key", options.partition_key,
                                "Partition key, in an ordered, limited or fair queue");
  auto* expires_in = add_time("--expires-in", options.expires_in,
                              "The task becomes dead if it has not started after this time");
  auto* expires_at = add_moment("--expires-at", options.expires_at,
                                "The task becomes dead if it has not started by this time");
  auto* compress_above =
      command
          .add_option(
              "--compress-above", options.compress_above,
              "Compress a payload with more bytes than this; 0: never [setting of the queue]")
          ->check(CLI::NonNegativeNumber)
          ->type_name("BYTES");
  auto* compression =
      command
          .add_option_function<std::string>(
              "--compression",
              [&](const auto& name) { options.compression = *queue::compression_of(name); },
              "Compression that the payload already has: gzip or zstd")
          ->check(CLI::IsMember({"gzip", "zstd"}))
          ->type_name("NAME");
  delay->excludes(run_at);
  unique_for->needs(unique_key);
  expires_in->excludes(expires_at);
  return {prio,          delay,      run_at,     unique_key,     unique_for,
          partition_key, expires_in, expires_at, compress_above, compression};
}

// Properties of a task besides its payload.
std::vector<CLI::Option*> add_header_options(CLI::App& command, queue::SubmitOptions& options) {
  auto* max_attempts = command
                           .add_option("--max-attempts", options.max_attempts,
                                       "Number of failed attempts after which the task is dead "
                                       "[setting of its type or queue]")
                           ->type_name("N");
  auto* max_losses = command
                         .add_option("--max-losses", options.max_losses,
                                     "Number of attempts that may be lost with their worker or "
                                     "host, not counted in --max-attempts [each loss counts]")
                         ->type_name("N");
  auto* label = command
                    .add_option("--label", options.label,
                                "Name of the task in log, metrics and minutes [its type]")
                    ->type_name("TEXT");
  const auto read_limit = [&options](const std::string& word) {
    options.time_limit =
        std::chrono::floor<std::chrono::milliseconds>(as_json::parse_delay("--time-limit", word));
  };
  auto* time_limit = command
                         .add_option_function<std::string>(
                             "--time-limit", read_limit,
                             "Time limit of each attempt, 1s to 720h [setting of its type]")
                         ->type_name("TIME");
  auto* traceparent = command
                          .add_option("--traceparent", options.traceparent,
                                      "W3C trace context of the task [$TRACEPARENT]")
                          ->type_name("TRACE");
  auto* tracestate = command
                         .add_option("--tracestate", options.tracestate,
                                     "Vendor part of the trace context [$TRACESTATE]")
                         ->type_name("STATE")
                         ->needs(traceparent);
  return {max_attempts, max_losses, label, time_limit, traceparent, tracestate};
}

// Returns --ids, which --json excludes.
CLI::Option* add_bulk_options(CLI::App& command, BulkOptions& bulk, CLI::Option& ndjson) {
  command.add_option("--batch", bulk.batch, "Lines per transaction, all or nothing")
      ->check(CLI::Range(1, 100'000))
      ->type_name("LINES")
      ->capture_default_str()
      ->needs(&ndjson);
  command.add_option("--from-line", bulk.from_line, "Start with this line")
      ->check(CLI::PositiveNumber)
      ->type_name("LINE")
      ->needs(&ndjson);
  return command.add_flag("--ids", bulk.ids, "Print the id of each task")->needs(&ndjson);
}

// With --routed the arguments are TYPE and PAYLOAD.
void leave_queue_out(SubmitWords& words) {
  if (words.payload) throw CLI::ExtrasError({*words.payload});
  if (!words.type.empty() && words.file) throw CLI::ExcludesError("--file", "PAYLOAD");
  if (!words.type.empty()) words.payload = words.type;
  words.type = words.queue;
  words.queue.clear();
}

}  // namespace

void add_submit(CLI::App& app, const Commands& commands) {
  CLI::App* command = app.add_subcommand("submit", "Submit a task, or one for each line of a file");
  const auto one = std::make_shared<SubmitWords>();
  const auto bulk = std::make_shared<BulkOptions>();
  auto* queue = command->add_option("QUEUE", one->queue, "The queue");
  auto* type =
      command->add_option("TYPE", one->type, "Type of the task, which selects its handler");
  auto* payload = command->add_option("PAYLOAD", one->payload,
                                      "Payload; -: read it from standard input; default: empty");
  auto* file = command->add_option("--file", one->file, "Read the payload from this file");
  auto* ndjson =
      command->add_option("--ndjson", bulk->ndjson,
                          "Submit each line of this file (-: standard input), an object with "
                          "queue, type, payload and the options below, with _ for -");
  file->type_name("FILE");
  ndjson->type_name("FILE");
  auto* routed = command->add_flag(
      "--routed", one->routed,
      "Omit QUEUE; the first argument is the type, and a route selects the queue");
  ndjson->excludes(routed);
  for (CLI::Option* option : add_task_options(*command, one->options)) ndjson->excludes(option);
  for (CLI::Option* option : add_header_options(*command, one->options)) ndjson->excludes(option);
  auto* ids = add_bulk_options(*command, *bulk, *ndjson);
  command
      ->add_flag("--json", one->json,
                 "Print the id as JSON; with --ndjson, what was submitted and how to continue")
      ->excludes(ids);
  file->excludes(payload)->excludes(ndjson);
  ndjson->excludes(queue)->excludes(type)->excludes(payload);
  command->callback([commands, one, bulk, queue, type] {
    bulk->json = one->json;
    if (!bulk->ndjson.empty()) return commands.choose(submit_lines, bulk, remote_submit_lines);
    if (queue->empty() || (type->empty() && !one->routed)) {  // missing; an empty word is given
      throw CLI::RequiredError(one->routed ? "TYPE" : "QUEUE and TYPE, or --ndjson,");
    }
    if (one->routed) leave_queue_out(*one);
    inherit_trace(one->options);
    commands.choose(submit, one, remote_submit);
  });
}

}  // namespace allot::cli
