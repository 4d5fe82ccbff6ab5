// SPDX-License-Identifier: Apache-2.0
#include "queue/submit/submit.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "cli/commands/bulk.h"
#include "cli/commands/command.h"
#include "cli/sources/input.h"
#include "cli/sources/local.h"
#include "operations/submission.h"
#include "queue/model/task.h"

namespace allot::cli {
namespace {

constexpr const char* kCompression = "compression";

struct SubmitWords {
  std::string queue;  // empty: determined by a route
  std::string type;
  std::optional<std::string> payload;  // "-" = standard input
  std::optional<std::string> file;     // payload from a file
  bool routed = false;                 // the first word is the type
  std::uint32_t prio = queue::kDefaultPrio;
  std::map<std::string, std::string> fields{};  // other fields of the task
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
void inherit_trace(std::map<std::string, std::string>& fields) {
  const char* parent = std::getenv("TRACEPARENT");
  if (parent == nullptr || !fields["traceparent"].empty()) return;
  fields["traceparent"] = parent;
  if (const char* state = std::getenv("TRACESTATE")) fields["tracestate"] = state;
}

// The fields as a query string; the payload is the request body.
std::string query_of(const SubmitWords& words) {
  std::string query =
      "?type=" + operations::escaped(words.type) + "&prio=" + std::to_string(words.prio);
  if (!words.queue.empty()) query += "&queue=" + operations::escaped(words.queue);
  for (const auto& [name, value] : words.fields) {
    if (name != kCompression) query += "&" + name + "=" + operations::escaped(value);
  }
  return query;
}

// allot submit QUEUE TYPE [PAYLOAD] submits one task and prints its id.
int submit(const Operations& allot, const SubmitWords& words) {
  const std::string query = query_of(words);
  // Refuses bad options before it reads the payload, or sends anything.
  queue::check_fields(
      operations::read_tasks(operations::kRaw, operations::query_of(query.substr(1)), {})
          .tasks.front());
  Request request{"POST", "/tasks" + query, payload_of(words), std::string(operations::kRaw)};
  if (const auto at = words.fields.find(kCompression); at != words.fields.end()) {
    request.compression = at->second;
  }
  if (!request.compression.empty() && allot.local() == nullptr) {
    throw Error(
        "--compression is not available over HTTP: the gateway compresses payloads according to "
        "--compress-above or the settings of the queue",
        kExitUsage);
  }
  const nlohmann::json made = allot.send(request);
  if (allot.local() != nullptr) allot.local()->warn_of_tasks();
  print_submitted(made, words.json);
  return kExitOk;
}

// An option for the field of the same name, with _ for -.
struct TaskOption {
  const char* name = "";
  const char* type = "";
  const char* what = "";
  bool number = false;
};
constexpr TaskOption kTaskOptions[] = {
    {"--delay", "TIME", "Delay before the task may start: 300ms, 30s, 5m, 2h"},
    {"--run-at", "MOMENT", "Time before which the task does not start: 2026-12-24T18:00:00Z"},
    {"--unique-key", "KEY", "Only one task of the queue has this key: print its id if it exists"},
    {"--unique-for", "TIME",
     "How long the key stays reserved after the task has finished [5m]; a dead or cancelled task "
     "frees it at once"},
    {"--partition-key", "KEY", "Partition key, in an ordered, limited or fair queue"},
    {"--expires-in", "TIME", "The task becomes dead if it has not started after this time"},
    {"--expires-at", "MOMENT", "The task becomes dead if it has not started by this time"},
    {"--compress-above", "BYTES",
     "Compress a payload with more bytes than this; 0: never [setting of the queue]", true},
    {"--compression", "NAME", "Compression that the payload already has: gzip or zstd"},
    {"--max-attempts", "N",
     "Number of failed attempts after which the task is dead [setting of its type or queue]", true},
    {"--max-losses", "N",
     "Number of attempts that may be lost with their worker or host, not counted in "
     "--max-attempts [each loss counts]",
     true},
    {"--label", "TEXT", "Name of the task in log, metrics and minutes [its type]"},
    {"--time-limit", "TIME", "Time limit of each attempt, 1s to 720h [setting of its type]"},
    {"--traceparent", "TRACE", "W3C trace context of the task [$TRACEPARENT]"},
    {"--tracestate", "STATE", "Vendor part of the trace context [$TRACESTATE]"}};

void add_task_option(CLI::App& command, const TaskOption& option, SubmitWords& words) {
  std::string field(option.name + 2);
  std::replace(field.begin(), field.end(), '-', '_');
  const auto set = [&words, field](const std::string& value) { words.fields[field] = value; };
  const auto set_number = [set](std::uint64_t value) { set(std::to_string(value)); };
  CLI::Option* added =
      option.number
          ? command.add_option_function<std::uint64_t>(option.name, set_number, option.what)
          : command.add_option_function<std::string>(option.name, set, option.what);
  added->type_name(option.type);
}

// --ndjson excludes them.
void add_task_options(CLI::App& command, SubmitWords& words, CLI::Option& ndjson) {
  ndjson.excludes(&add_prio(command, words.prio));
  for (const TaskOption& option : kTaskOptions) {
    add_task_option(command, option, words);
    ndjson.excludes(command.get_option(option.name));
  }
  command.get_option("--compress-above")->check(CLI::NonNegativeNumber);
  command.get_option("--compression")->check(CLI::IsMember({"gzip", "zstd"}));
  command.get_option("--delay")->excludes(command.get_option("--run-at"));
  command.get_option("--unique-for")->needs(command.get_option("--unique-key"));
  command.get_option("--expires-in")->excludes(command.get_option("--expires-at"));
  command.get_option("--tracestate")->needs(command.get_option("--traceparent"));
}

// Returns --ids, which --json excludes.
CLI::Option* add_bulk_options(CLI::App& command, BulkOptions& bulk, CLI::Option& ndjson) {
  add_number(command, "--batch", "LINES", bulk.batch, 100'000,
             "Lines per transaction, all or nothing")
      .needs(&ndjson);
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
  file->type_name("FILE");
  auto* ndjson = &add_text(*command, "--ndjson", "FILE", bulk->ndjson,
                           "Submit each line of this file (-: standard input), an object with "
                           "queue, type, payload and the options below, with _ for -");
  auto* routed = command->add_flag(
      "--routed", one->routed,
      "Omit QUEUE; the first argument is the type, and a route selects the queue");
  ndjson->excludes(routed);
  add_task_options(*command, *one, *ndjson);
  auto* ids = add_bulk_options(*command, *bulk, *ndjson);
  command
      ->add_flag("--json", one->json,
                 "Print the id as JSON; with --ndjson, what was submitted and how to continue")
      ->excludes(ids);
  file->excludes(payload)->excludes(ndjson);
  ndjson->excludes(queue)->excludes(type)->excludes(payload);
  command->callback([commands, one, bulk, queue, type] {
    bulk->json = one->json;
    if (!bulk->ndjson.empty()) return commands.choose(submit_lines, bulk);
    if (queue->empty() || (type->empty() && !one->routed)) {  // missing; an empty word is given
      throw CLI::RequiredError(one->routed ? "TYPE" : "QUEUE and TYPE, or --ndjson,");
    }
    if (one->routed) leave_queue_out(*one);
    inherit_trace(one->fields);
    commands.choose(submit, one);
  });
}

}  // namespace allot::cli
