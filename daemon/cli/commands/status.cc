// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands/command.h"
#include "cli/words/instance_text.h"
#include "cli/words/terminal.h"
#include "cli/words/text.h"
#include "json/fields.h"
#include "json/host_json.h"
#include "json/minutes_json.h"
#include "json/queue_json.h"
#include "queue/minutes/instances.h"
#include "queue/minutes/minute_view.h"
#include "queue/model/task_facts.h"
#include "queue/views/health.h"
#include "queue/views/task_lists.h"

namespace allot::cli {
namespace {

using as_json::or_null;
using nlohmann::json;

struct QueueView {
  queue::QueueInfo info;
  queue::BoundedCount waiting;
  queue::BoundedCount detached;
  queue::BoundedCount dead;
};

// Information from the database.
struct DatabaseView {
  std::vector<QueueView> queues;
  std::vector<queue::DutyView> duties;
  std::vector<queue::InstanceRow> instances;
};

std::vector<QueueView> read_queues(db::Connection& db) {
  std::vector<QueueView> views;
  for (queue::QueueInfo& info : queue::list_queues(db)) {
    const auto waiting = queue::count_waiting(db, info);
    const auto detached = queue::count_running(db, info);
    const auto dead = queue::count_dead(db, info);
    views.push_back({std::move(info), waiting, detached, dead});
  }
  return views;
}

DatabaseView read_database(const config::Settings& settings) {
  db::Connection db = connect(settings);
  std::vector<QueueView> queues = read_queues(db);
  return {std::move(queues), queue::list_duties(db), queue::list_instances(db)};
}

std::string text_of(const queue::BoundedCount& count) {
  return std::to_string(count.value) + (count.at_least ? "+" : "");
}

json workers_of(const InstanceView& instance) {
  json workers = json::array();
  for (const WorkerView& worker : instance.workers) workers.push_back(as_json::worker(worker));
  return workers;
}

json duties_json(const std::vector<queue::DutyView>& duties) {
  json all = json::array();
  for (const queue::DutyView& duty : duties) {
    const json leader = {{"host", duty.host}, {"instance", duty.instance}, {"pid", duty.pid}};
    all.push_back({{"queue", duty.queue_id == 0 ? json() : json(duty.queue)},
                   {"duty", duty.duty},
                   {"leader", duty.led ? leader : json()},
                   {"since", or_null(duty.since)},
                   {"last_run", or_null(duty.last_run)},
                   {"last_error", or_null(duty.last_error)}});
  }
  return all;
}

void print_json(const config::Settings& settings, const InstanceView& instance,
                const std::optional<DatabaseView>& database) {
  json view;
  view["queues"] = nullptr;
  view["duties"] = nullptr;
  view["instances"] = nullptr;
  if (database) {
    view["duties"] = duties_json(database->duties);
    view["instances"] = json::array();
    for (const queue::InstanceRow& row : database->instances) {
      view["instances"].push_back(as_json::instance(row));
    }
    view["queues"] = json::array();
    for (const QueueView& queue : database->queues) {
      view["queues"].push_back({{"name", queue.info.name},
                                {"partitions", queue.info.partitions()},
                                {"paused", as_json::pause(queue.info)},
                                {"waiting", queue.waiting.value},
                                {"waiting_at_least", queue.waiting.at_least},
                                {"detached", queue.detached.value},
                                {"dead", queue.dead.value},
                                {"dead_at_least", queue.dead.at_least}});
    }
  }
  view["instance"] = {{"name", settings.daemon.instance},
                      {"running", instance.running},
                      {"runtime_dir", instance.runtime_dir},
                      {"supervisor_pid", instance.supervisor_pid}};
  view["workers"] = workers_of(instance);
  view["stewards"] = as_json::stewards(instance);
  view["problems"] = instance_troubles(instance, settings);
  print(view);
}

std::string ago(std::chrono::seconds since) {
  if (since.count() < 1) return "now";
  return how_long(static_cast<std::uint64_t>(since.count()) * 1000) + " ago";
}

// "default@host-a", or the number of pools.
std::string served_text(const std::vector<std::string>& pools) {
  constexpr std::size_t kMostShown = 2;
  if (pools.empty()) return "no pool";
  if (pools.size() > kMostShown) return std::to_string(pools.size()) + " pools";
  std::string text;
  for (const std::string& pool : pools) text += (text.empty() ? "" : " ") + printable(pool, 60);
  return text;
}

// The last columns appear only while a daemon reports its pools, and while a queue is paused.
void print_queues(const std::vector<QueueView>& queues,
                  const std::vector<queue::InstanceRow>& instances) {
  const bool served = queue::pools_that_serve(instances, "").has_value();
  const bool paused = std::any_of(queues.begin(), queues.end(),
                                  [](const QueueView& queue) { return queue.info.paused; });
  std::vector<std::string> heads{"QUEUE", "PARTITIONS", "WAITING", "DETACHED", "DEAD"};
  if (served) heads.emplace_back("SERVED BY");
  if (paused) heads.emplace_back("PAUSED");
  Table table(std::move(heads));
  for (const QueueView& queue : queues) {
    std::vector<std::string> cells{queue.info.name, std::to_string(queue.info.partitions()),
                                   text_of(queue.waiting), text_of(queue.detached),
                                   text_of(queue.dead)};
    std::optional<std::size_t> alarming;
    if (queue.dead.value > 0) alarming = 4;
    if (const auto pools = queue::pools_that_serve(instances, queue.info.name)) {
      if (pools->empty()) alarming = 5;
      cells.push_back(served_text(*pools));
    }
    if (paused) cells.push_back(queue.info.paused ? since_text(as_json::pause(queue.info)) : "");
    table.add(std::move(cells), alarming);
  }
  std::printf("%s", table.text(wants_colour(STDOUT_FILENO)).c_str());
}

// Newest row for each name; a daemon whose runtime folder has changed has two. A stopped daemon is
// shown for a day.
std::vector<queue::InstanceRow> latest_of(const std::vector<queue::InstanceRow>& instances) {
  constexpr std::chrono::hours kShown{24};
  std::vector<queue::InstanceRow> latest;
  for (const queue::InstanceRow& row : instances) {
    if (row.silent > kShown) continue;
    const auto same = std::find_if(latest.begin(), latest.end(), [&](const auto& other) {
      return other.host == row.host && other.instance == row.instance;
    });
    if (same == latest.end()) {
      latest.push_back(row);
    } else if (row.silent < same->silent) {
      *same = row;
    }
  }
  return latest;
}

// One line for each process that leads duties, and one for duties without a leader. Empty: no
// duties.
std::string duties_text(const std::vector<queue::DutyView>& duties) {
  std::map<std::string, std::size_t> led;
  std::string left;
  std::size_t count = 0;
  for (const queue::DutyView& duty : duties) {
    if (duty.led) {
      ++led[printable(duty.host + "/" + duty.instance, 100) + " pid " + std::to_string(duty.pid)];
    } else {
      left += (count++ == 0 ? ": " : ", ") + printable(queue::name_of(duty), 100);
    }
  }
  std::string text;
  for (const auto& [leader, number] : led) {
    text += "duties: " + std::to_string(number) + " led by " + leader + "\n";
  }
  if (count > 0) text += "duties: " + std::to_string(count) + " without a leader" + left + "\n";
  return text;
}

// Instances of all hosts.
void print_instances(const std::vector<queue::InstanceRow>& instances) {
  if (instances.empty()) return;
  Table table({"HOST", "INSTANCE", "VERSION", "STATE", "SEEN"});
  for (const queue::InstanceRow& row : latest_of(instances)) {
    const bool silent = row.silent >= queue::kInstanceSilent;
    table.add({printable(row.host, 60), printable(row.instance, 60), printable(row.version, 63),
               silent ? "stopped" : "running", ago(row.silent)},
              silent ? std::optional<std::size_t>(3) : std::nullopt);
  }
  std::printf("\n%s", table.text(wants_colour(STDOUT_FILENO)).c_str());
}

// Columns for rare events appear only if one has happened.
void print_workers(const json& workers) {
  std::vector<Column> columns{{"SLOT", "slot"},
                              {"PID", "pid"},
                              {"POOL", "pool"},
                              {"STATE", "state"},
                              {"PARTITION", partition_text},
                              {"DONE", "done"},
                              {"RETRIED", "retried"},
                              {"DEAD", "dead"}};
  for (const auto& [head, field] : {std::pair{"DEFERRED", "deferred"},
                                    {"TAKEOVERS", "takeovers"},
                                    {"LOST", "leases_lost"},
                                    {"DEADLOCKS", "deadlocks"},
                                    {"WAITS", "lock_waits"}}) {
    const bool any =
        std::any_of(workers.begin(), workers.end(),
                    [name = field](const json& worker) { return worker.at(name) > 0; });
    if (any) columns.emplace_back(head, field);
  }
  columns.emplace_back("RUNNING", running_text);
  print_list(workers, false, columns);
}

void print_instance(const config::Settings& settings, const InstanceView& instance) {
  if (!instance.trouble.empty()) return;
  if (!instance.running) {
    std::printf("no allotd is running for instance '%s' (%s)\n", settings.daemon.instance.c_str(),
                instance.runtime_dir.c_str());
    return;
  }
  std::printf("allotd %u, instance '%s' (%s)\n", instance.supervisor_pid,
              settings.daemon.instance.c_str(), instance.runtime_dir.c_str());
  if (instance.workers.empty()) {
    std::printf("no workers\n");
  } else {
    print_workers(workers_of(instance));
  }
  std::printf("%s\n", stewards_text(instance).c_str());
  for (const std::string& line : instance_troubles(instance, settings)) {
    std::printf("%s\n", coloured(line, Colour::kRed, wants_colour(STDOUT_FILENO)).c_str());
  }
}

// allot status shows queues from the database and workers from the slot table of this host's
// daemon.
int status(const Context& context, const JsonOption& options) {
  const config::Settings settings = context.settings();
  const InstanceView instance = read_instance(config::runtime_dir(settings));
  std::optional<DatabaseView> database;
  int code = kExitOk;
  if (!instance.trouble.empty()) {
    std::fprintf(stderr, "%s the workers cannot be shown: %s\n", error_head().c_str(),
                 instance.trouble.c_str());
    code = kExitFailure;
  }
  try {
    database = read_database(settings);
  } catch (const Error& error) {
    // Workers are still shown: they need no database, and matter most when it is unavailable.
    std::fprintf(stderr, "%s the queues cannot be shown: %s\n", error_head().c_str(), error.what());
    code = error.exit_code();
  }
  if (options.json) {
    print_json(settings, instance, database);
    return code;
  }
  if (database) {
    print_queues(database->queues, database->instances);
    const std::string duties = duties_text(database->duties);
    if (!duties.empty()) std::printf("\n%s", duties.c_str());
    print_instances(database->instances);
    std::printf("\n");
  }
  print_instance(settings, instance);
  return code;
}

}  // namespace

void add_status(CLI::App& app, const Commands& commands) {
  commands.add(app, "status", "Show the queues and this host's workers", status);
}

}  // namespace allot::cli
