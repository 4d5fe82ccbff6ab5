// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/queue_admin.h"

#include <unistd.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/commands/submit.h"
#include "cli/sources/queues.h"
#include "cli/words/task_view.h"
#include "cli/words/terminal.h"
#include "cli/words/text.h"
#include "queue/operate/pause.h"

namespace allot::cli {
namespace {

using nlohmann::json;

json queue_json(const queue::QueueInfo& queue) {
  return {{"name", queue.name},
          {"partitions", queue.partitions()},
          {"paused", pause_json(queue)},
          {"resizing", queue.resizing}};
}

// Finds a queue by its name; creates one that only the configuration knows.
queue::QueueInfo named_queue(db::Connection& db, const config::Settings& settings,
                             const std::string& name) {
  return chosen_queues(db, Queues(db, settings).get(name).name).front();
}

void say(const queue::QueueInfo& queue, const std::string& text, bool as_json) {
  if (as_json) {
    print(queue_json(queue));
  } else {
    std::printf("queue %s %s\n", queue.name.c_str(), text.c_str());
  }
}

}  // namespace

std::string pause_text(const queue::QueueInfo& queue) {
  if (!queue.paused) return {};
  const std::string& reason = queue.paused->reason;
  return "since " + queue.paused->at + (reason.empty() ? "" : ": " + printable(reason, 300));
}

json pause_json(const queue::QueueInfo& queue) {
  if (!queue.paused) return nullptr;
  return {{"since", queue.paused->at}, {"reason", queue.paused->reason}};
}

int list_queues(const Context& context, const QueueOptions& options) {
  db::Connection db = connect(context.settings());
  json list = json::array();
  Table table({"QUEUE", "PARTITIONS", "PAUSED"});
  for (const queue::QueueInfo& queue : queue::list_queues(db)) {
    list.push_back(queue_json(queue));
    table.add({queue.name,
               std::to_string(queue.partitions()) + (queue.resizing ? ", being resized" : ""),
               queue.paused ? pause_text(queue) : "no"});
  }
  if (options.json) {
    print(list);
  } else {
    std::printf("%s", table.text(wants_colour(STDOUT_FILENO)).c_str());
  }
  return kExitOk;
}

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

}  // namespace allot::cli
