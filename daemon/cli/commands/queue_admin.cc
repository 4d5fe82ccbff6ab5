// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands/command.h"
#include "cli/sources/queues.h"
#include "cli/sources/ring_local.h"
#include "cli/words/task_view.h"
#include "cli/words/terminal.h"
#include "cli/words/text.h"
#include "json/queue_json.h"
#include "json/why.h"
#include "queue/model/catalog.h"
#include "queue/operate/pause.h"
#include "queue/operate/rate.h"

namespace allot::cli {
namespace {

using nlohmann::json;

struct QueueOptions {
  std::string queue;
  std::string reason;      // of a pause
  std::string per_second;  // of a rate, and whether it is removed
  std::string burst = "1";
  bool off = false;
  bool json = false;
};

// Finds a queue by its name; creates one that only the configuration knows.
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

// allot queue list shows the queues, which of them are paused, and their rates if any has one.
int list_queues(const Context& context, const QueueOptions& options) {
  db::Connection db = connect(context.settings());
  json list = json::array();
  const std::vector<queue::QueueInfo> queues = queue::list_queues(db);
  const bool rated = std::any_of(queues.begin(), queues.end(),
                                 [](const queue::QueueInfo& queue) { return queue.rate; });
  Table table(rated ? std::vector<std::string>{"QUEUE", "PARTITIONS", "RATE", "PAUSED"}
                    : std::vector<std::string>{"QUEUE", "PARTITIONS", "PAUSED"});
  for (const queue::QueueInfo& queue : queues) {
    list.push_back(as_json::queue(queue));
    std::vector<std::string> row{
        queue.name, std::to_string(queue.partitions()) + (queue.resizing ? ", being resized" : "")};
    if (rated) row.push_back(queue.rate ? queue::text_of(*queue.rate) : "none");
    row.push_back(queue.paused ? as_json::pause_text(queue) : "no");
    table.add(std::move(row));
  }
  if (options.json) {
    print(list);
  } else {
    std::printf("%s", table.text(wants_colour(STDOUT_FILENO)).c_str());
  }
  return kExitOk;
}

// allot queue pause and allot queue resume hold for all hosts.
int pause_queue(const Context& context, const QueueOptions& options) {
  if (options.reason.size() > queue::kMaxPauseReason) {
    throw Error("--reason has " + std::to_string(options.reason.size()) +
                    " bytes; the most that it may have is " +
                    std::to_string(queue::kMaxPauseReason),
                kExitBadInput);
  }
  const config::Settings settings = context.settings();
  db::Connection db = connect(settings);
  const queue::QueueInfo queue = named_queue(db, settings, options.queue);
  queue::pause(db, queue, options.reason);
  say(named_queue(db, settings, options.queue),
      queue.paused ? "is paused since " + queue.paused->at + " already" : "is paused",
      options.json);
  return kExitOk;
}

int resume_queue(const Context& context, const QueueOptions& options) {
  const config::Settings settings = context.settings();
  db::Connection db = connect(settings);
  queue::QueueInfo queue = named_queue(db, settings, options.queue);
  const bool resumed = queue::resume(db, queue);
  ring_local(settings, {{queue.queue_id, queue.partitions()}});
  queue.paused.reset();
  say(queue, resumed ? "goes on" : "was not paused", options.json);
  return kExitOk;
}

// allot queue rate limits how many tasks of a queue start in a second, over all hosts.
int rate_queue(const Context& context, const QueueOptions& options) {
  if (options.off == !options.per_second.empty()) {
    throw Error("allot queue rate wants --per-second NUMBER, or --off to remove the rate",
                kExitUsage);
  }
  const auto rate = options.off
                        ? std::nullopt
                        : std::optional(queue::read_rate(options.per_second, options.burst));
  const config::Settings settings = context.settings();
  db::Connection db = connect(settings);
  const queue::QueueInfo queue = named_queue(db, settings, options.queue);
  const bool changed = rate ? queue::set_rate(db, queue, *rate) : queue::remove_rate(db, queue);
  ring_local(settings, {{queue.queue_id, queue.partitions()}});
  std::string text = rate ? (changed ? "starts " : "starts already ") + queue::text_of(*rate)
                          : std::string(changed ? "has no rate any more" : "had no rate");
  say(named_queue(db, settings, options.queue), text, options.json);
  return kExitOk;
}

}  // namespace

void add_queue(CLI::App& app, const Commands& commands) {
  CLI::App& queue =
      *app.add_subcommand("queue", "List, pause, resume, limit, resize or empty queues");
  queue.require_subcommand(1);
  // These commands share these options, and the parser chooses one.
  const auto options = std::make_shared<QueueOptions>();
  const auto add = [&](const char* name, const char* text,
                       int (*run)(const Context&, const QueueOptions&)) -> CLI::App& {
    CLI::App& act = *queue.add_subcommand(name, text);
    act.add_flag("--json", options->json, "As JSON");
    act.callback([commands, run, options] { commands.choose(run, options); });
    return act;
  };
  add("list", "List the queues", list_queues);
  CLI::App& pause =
      add("pause", "Let no host start tasks of a queue; what runs finishes", pause_queue);
  pause.add_option("QUEUE", options->queue, "The queue")->required();
  pause.add_option("--reason", options->reason, "Why, for people who look")->type_name("TEXT");
  CLI::App& resume = add("resume", "Let a paused queue go on", resume_queue);
  resume.add_option("QUEUE", options->queue, "The queue")->required();
  CLI::App& rate = add(
      "rate", "Let only so many tasks of a queue start in a second, over all hosts", rate_queue);
  rate.add_option("QUEUE", options->queue, "The queue")->required();
  rate.add_option("--per-second", options->per_second, "How many, such as 500 or 0.5")
      ->type_name("NUMBER");
  rate.add_option("--burst", options->burst,
                  "How many may start at once, after a while without any")
      ->type_name("N")
      ->capture_default_str();
  rate.add_flag("--off", options->off, "Remove the rate");
  add_queue_changes(queue, commands);
}

}  // namespace allot::cli
