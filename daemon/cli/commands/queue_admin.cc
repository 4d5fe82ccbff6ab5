// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands/command.h"
#include "cli/remote/session.h"
#include "cli/sources/far.h"
#include "cli/sources/queues.h"
#include "cli/sources/ring_local.h"
#include "cli/words/listing.h"
#include "cli/words/task_view.h"
#include "json/queue_json.h"
#include "json/view_reader.h"
#include "json/why.h"
#include "queue/model/catalog.h"
#include "queue/operate/cap.h"
#include "queue/operate/pause.h"
#include "queue/operate/rate.h"

namespace allot::cli {
namespace {

struct QueueOptions {
  std::string queue;
  std::string per_second;  // of a rate
  std::string burst = "1";
  std::uint32_t cap = 0;
  bool off = false;  // of the rate, or of the cap
  bool json = false;
};

// Finds a queue by its name; creates it if it exists only in the configuration.
queue::QueueInfo named_queue(db::Connection& db, const config::Settings& settings,
                             const std::string& name) {
  return chosen_queues(db, Queues(db, settings).get(name).name).front();
}

void say(const queue::QueueInfo& queue, const std::string& text, bool as_json) {
  if (as_json) {
    print(as_json::queue(queue));
  } else {
    std::printf("queue %s %s\n", queue.name.c_str(), text.c_str());
  }
}

// The columns for rates and caps appear only if a queue has one.
void print_queues(const std::vector<queue::QueueInfo>& queues, bool as_json) {
  const auto any = [&](auto&& has) { return std::any_of(queues.begin(), queues.end(), has); };
  const bool rated = any([](const queue::QueueInfo& queue) { return queue.rate.has_value(); });
  const bool capped = any([](const queue::QueueInfo& queue) { return queue.cap != 0; });
  std::vector<std::string> head{"QUEUE", "PARTITIONS"};
  if (rated) head.emplace_back("RATE");
  if (capped) head.emplace_back("CAP");
  head.emplace_back("PAUSED");
  Listing list(std::move(head), as_json);
  for (const queue::QueueInfo& queue : queues) {
    std::vector<std::string> row{
        queue.name, std::to_string(queue.partitions()) + (queue.resizing ? ", being resized" : "")};
    if (rated) row.push_back(queue.rate ? queue::text_of(*queue.rate) : "none");
    if (capped) row.push_back(queue.cap != 0 ? std::to_string(queue.cap) : "none");
    row.push_back(queue.paused ? as_json::pause_text(queue) : "no");
    list.add(as_json::queue(queue), std::move(row));
  }
  list.print();
}

// allot queue list shows the queues, their pauses, rates and caps.
int list_queues(const Context& context, const QueueOptions& options) {
  db::Connection db = connect(context.settings());
  print_queues(queue::list_queues(db), options.json);
  return kExitOk;
}

int remote_list_queues(const remote::Session& gateway, const QueueOptions& options) {
  const auto documents = far::items(gateway, "/queues");
  if (options.json) {
    print(documents);
    return kExitOk;
  }
  std::vector<queue::QueueInfo> queues;
  for (const auto& document : documents) queues.push_back(as_json::queue_of(document));
  print_queues(queues, false);
  return kExitOk;
}

std::string paused_text(const std::optional<queue::Pause>& before) {
  return before ? "is paused since " + before->at + " already" : "is paused";
}

// allot queue pause and allot queue resume apply to all hosts.
int pause_queue(const Context& context, const QueueOptions& options) {
  const config::Settings settings = context.settings();
  db::Connection db = connect_as_operator(context, settings);
  const queue::QueueInfo queue = named_queue(db, settings, options.queue);
  queue::pause(db, queue, context.reason);
  say(named_queue(db, settings, options.queue), paused_text(queue.paused), options.json);
  return kExitOk;
}

int remote_pause_queue(const remote::Session& gateway, const QueueOptions& options) {
  const std::string path = far::queue_path(options.queue, "/pause");
  const auto before = far::find_queue(gateway, options.queue);
  const auto now = gateway.post(path, nlohmann::json::object());
  say(as_json::queue_of(now), paused_text(before ? before->paused : std::nullopt), options.json);
  return kExitOk;
}

int resume_queue(const Context& context, const QueueOptions& options) {
  const config::Settings settings = context.settings();
  db::Connection db = connect_as_operator(context, settings);
  queue::QueueInfo queue = named_queue(db, settings, options.queue);
  const bool resumed = queue::resume(db, queue);
  ring_local(settings, {{queue.queue_id, queue.partitions()}});
  queue.paused.reset();
  say(queue, resumed ? "is resumed" : "was not paused", options.json);
  return kExitOk;
}

int remote_resume_queue(const remote::Session& gateway, const QueueOptions& options) {
  const std::string path = far::queue_path(options.queue, "/resume");
  const auto before = far::find_queue(gateway, options.queue);
  const auto now = gateway.post(path, nlohmann::json::object());
  say(as_json::queue_of(now), before && !before->paused ? "was not paused" : "is resumed",
      options.json);
  return kExitOk;
}

// The requested rate; nullopt: none.
std::optional<queue::Rate> wanted_rate(const QueueOptions& options) {
  if (options.off == !options.per_second.empty()) {
    throw Error("allot queue rate requires --per-second NUMBER, or --off to remove the rate",
                kExitUsage);
  }
  if (options.off) return std::nullopt;
  return queue::read_rate(options.per_second, options.burst);
}

std::string rate_text(const std::optional<queue::Rate>& rate, bool changed) {
  if (rate) return (changed ? "starts " : "already starts ") + queue::text_of(*rate);
  return changed ? "no longer has a rate" : "had no rate";
}

// allot queue rate limits how many tasks of a queue start per second, over all hosts.
int rate_queue(const Context& context, const QueueOptions& options) {
  const auto rate = wanted_rate(options);
  const config::Settings settings = context.settings();
  db::Connection db = connect_as_operator(context, settings);
  const queue::QueueInfo queue = named_queue(db, settings, options.queue);
  const bool changed = rate ? queue::set_rate(db, queue, *rate) : queue::remove_rate(db, queue);
  ring_local(settings, {{queue.queue_id, queue.partitions()}});
  say(named_queue(db, settings, options.queue), rate_text(rate, changed), options.json);
  return kExitOk;
}

int remote_rate_queue(const remote::Session& gateway, const QueueOptions& options) {
  const auto rate = wanted_rate(options);
  const std::string path = far::queue_path(options.queue, "/rate");
  const auto before = far::find_queue(gateway, options.queue);
  const auto now =
      rate ? gateway.put(
                 path, {{"per_second",
                         nlohmann::json::parse(queue::per_second_text(rate->per_million_seconds))},
                        {"burst", rate->burst}})
           : gateway.remove(path);
  const bool changed = !before || before->rate != rate;
  say(as_json::queue_of(now), rate_text(rate, changed), options.json);
  return kExitOk;
}

// The requested cap; 0: none.
std::uint32_t wanted_cap(const QueueOptions& options) {
  if (options.off == (options.cap != 0)) {
    throw Error("allot queue cap requires a number of tasks, or --off to remove the cap",
                kExitUsage);
  }
  return options.cap;
}

std::string cap_text(std::uint32_t cap) {
  if (cap == 0) return "runs any number of tasks at a time";
  return "runs up to " + std::to_string(cap) + (cap == 1 ? " task" : " tasks") + " at a time";
}

// allot queue cap limits how many tasks of a queue run at the same time, over all hosts.
int cap_queue(const Context& context, const QueueOptions& options) {
  const std::uint32_t cap = wanted_cap(options);
  const config::Settings settings = context.settings();
  db::Connection db = connect_as_operator(context, settings);
  const queue::QueueInfo queue = named_queue(db, settings, options.queue);
  queue::set_cap(db, queue, cap);
  ring_local(settings, {{queue.queue_id, queue.partitions()}});
  say(named_queue(db, settings, options.queue), cap_text(cap), options.json);
  return kExitOk;
}

int remote_cap_queue(const remote::Session& gateway, const QueueOptions& options) {
  const std::uint32_t cap = wanted_cap(options);
  const std::string path = far::queue_path(options.queue, "/cap");
  say(as_json::queue_of(cap != 0 ? gateway.put(path, {{"tasks", cap}}) : gateway.remove(path)),
      cap_text(cap), options.json);
  return kExitOk;
}

}  // namespace

void add_queue(CLI::App& app, const Commands& commands) {
  CLI::App& queue =
      *app.add_subcommand("queue", "List, pause, resume, limit, resize or empty queues");
  queue.require_subcommand(1);
  // These commands share their options; the parser runs exactly one of them.
  const auto options = std::make_shared<QueueOptions>();
  const auto add = [&](const char* name, const char* text,
                       int (*run)(const Context&, const QueueOptions&),
                       int (*far)(const remote::Session&, const QueueOptions&)) -> CLI::App& {
    CLI::App& act = *queue.add_subcommand(name, text);
    act.add_flag("--json", options->json, "As JSON");
    act.callback([commands, run, far, options] { commands.choose(run, options, far); });
    return act;
  };
  add("list", "List the queues", list_queues, remote_list_queues);
  CLI::App& pause = add("pause", "Pause a queue: no host starts its tasks; running tasks finish",
                        pause_queue, remote_pause_queue);
  pause.add_option("QUEUE", options->queue, "The queue")->required();
  CLI::App& resume = add("resume", "Resume a paused queue", resume_queue, remote_resume_queue);
  resume.add_option("QUEUE", options->queue, "The queue")->required();
  CLI::App& rate =
      add("rate", "Limit the number of tasks of a queue that start per second, over all hosts",
          rate_queue, remote_rate_queue);
  rate.add_option("QUEUE", options->queue, "The queue")->required();
  rate.add_option("--per-second", options->per_second, "Starts per second, such as 500 or 0.5")
      ->type_name("NUMBER");
  rate.add_option("--burst", options->burst,
                  "Number of tasks that may start at once after a period without starts")
      ->type_name("N")
      ->capture_default_str();
  rate.add_flag("--off", options->off, "Remove the rate");
  CLI::App& cap =
      add("cap", "Limit the number of tasks of a queue that run at a time, over all hosts",
          cap_queue, remote_cap_queue);
  cap.add_option("QUEUE", options->queue, "The queue")->required();
  cap.add_option("TASKS", options->cap, "Maximum number of tasks")
      ->check(CLI::Range(1U, queue::kMaxCap));
  cap.add_flag("--off", options->off, "Remove the cap");
  for (CLI::App* act : {&pause, &resume, &rate, &cap}) commands.add_reason(*act);
  add_queue_changes(queue, commands);
}

}  // namespace allot::cli
