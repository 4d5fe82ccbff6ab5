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
#include "cli/sources/local.h"
#include "cli/words/instance_text.h"
#include "cli/words/terminal.h"
#include "cli/words/text.h"
#include "json/fields.h"
#include "json/host_json.h"
#include "json/minutes_json.h"
#include "queue/minutes/instances.h"
#include "queue/views/health.h"

namespace allot::cli {
namespace {

using as_json::or_null;
using nlohmann::json;

// Information from the database.
struct DatabaseView {
  json queues;  // as the operation stats shows them
  std::vector<queue::DutyView> duties;
  std::vector<queue::InstanceRow> instances;
};

DatabaseView read_database(const Local& allot) {
  json queues = allot.read("/stats").at("items");
  return {std::move(queues), queue::list_duties(allot.db()), queue::list_instances(allot.db())};
}

// A count is a number or {"at_least": number}.
const json& number_in(const json& count) {
  return count.is_object() ? count.at("at_least") : count;
}

Column count_column(const char* head, const char* field, Column::Alarming alarms = {}) {
  const auto text = [field](const json& queue) {
    const json& count = queue.at(field);
    return number_in(count).dump() + (count.is_object() ? "+" : "");
  };
  return {head, text, std::move(alarms)};
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
    for (const json& queue : database->queues) {
      view["queues"].push_back({{"name", queue.at("name")},
                                {"partitions", queue.at("partitions")},
                                {"paused", queue.at("paused")},
                                {"waiting", number_in(queue.at("waiting"))},
                                {"waiting_at_least", queue.at("waiting").is_object()},
                                {"detached", number_in(queue.at("running"))},
                                {"dead", number_in(queue.at("dead"))},
                                {"dead_at_least", queue.at("dead").is_object()}});
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
void print_queues(const DatabaseView& database) {
  const auto dead = [](const json& queue) { return number_in(queue.at("dead")) > 0; };
  std::vector<Column> columns{{"QUEUE", "name"},
                              {"PARTITIONS", "partitions"},
                              count_column("WAITING", "waiting"),
                              count_column("DETACHED", "running"),
                              count_column("DEAD", "dead", dead)};
  const auto pools_of = [&](const json& queue) {
    return queue::pools_that_serve(database.instances, queue.at("name").get<std::string>());
  };
  if (queue::pools_that_serve(database.instances, "")) {
    columns.emplace_back(
        "SERVED BY", [&](const json& queue) { return served_text(*pools_of(queue)); },
        [&](const json& queue) { return pools_of(queue)->empty(); });
  }
  const auto is_paused = [](const json& queue) { return !queue.at("paused").is_null(); };
  if (std::any_of(database.queues.begin(), database.queues.end(), is_paused)) {
    columns.emplace_back("PAUSED", [&](const json& queue) {
      return is_paused(queue) ? since_text(queue.at("paused")) : "";
    });
  }
  print_list(database.queues, false, columns);
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
  json rows = json::array();
  for (const queue::InstanceRow& row : latest_of(instances)) {
    rows.push_back(as_json::instance(row));
    rows.back()["seen"] = ago(row.silent);
  }
  const auto name = [](const char* field, std::size_t most) {
    return [field, most](const json& row) { return cell_of(row, field, most); };
  };
  const auto silent = [](const json& row) { return row.at("silent").get<bool>(); };
  const auto state = [silent](const json& row) { return silent(row) ? "stopped" : "running"; };
  std::printf("\n");
  print_list(rows, false,
             {{"HOST", name("host", 60)},
              {"INSTANCE", name("instance", 60)},
              {"VERSION", name("version", 63)},
              {"STATE", state, silent},
              {"SEEN", "seen"}});
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
  const Local allot(context);
  const config::Settings& settings = allot.settings();
  const InstanceView instance = read_instance(config::runtime_dir(settings));
  std::optional<DatabaseView> database;
  int code = kExitOk;
  if (!instance.trouble.empty()) {
    std::fprintf(stderr, "%s the workers cannot be shown: %s\n", error_head().c_str(),
                 instance.trouble.c_str());
    code = kExitFailure;
  }
  try {
    database = read_database(allot);
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
    print_queues(*database);
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
