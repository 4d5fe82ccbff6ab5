// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/bulk_action.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "cli/commands/command.h"
#include "cli/sources/context.h"
#include "cli/sources/documents.h"
#include "cli/sources/input.h"
#include "cli/sources/local.h"
#include "cli/words/terminal.h"
#include "cli/words/text.h"
#include "queue/operate/bulk_action.h"
#include "queue/operate/bulk_work.h"
#include "queue/verbs/duty.h"

namespace allot::cli {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;

constexpr milliseconds kBulkPoll{100};
constexpr milliseconds kRemotePoll{250};  // each poll is a connection
constexpr Nanos kLedPoll = kSecond;
constexpr std::uint64_t kMostActions = 4'294'967'295;

struct BulkActionOptions {
  std::uint64_t action_id = 0;
  std::uint32_t limit = 50;
  bool json = false;
};

bool is_open(const json& action) {
  return action.at("state") == queue::name_of(queue::BulkState::kWaiting) ||
         action.at("state") == queue::name_of(queue::BulkState::kRunning);
}

std::string counted_text(const json& action) {
  return action.at("tasks").dump() + (action.at("tasks_at_least").get<bool>() ? "+" : "");
}

// "retried 120 of 2000 dead tasks of queue mail".
std::string result_text(const json& action) {
  const bool retries = action.at("kind") == queue::name_of(queue::BulkKind::kRetryDead);
  return (retries ? "retried " : "discarded ") + action.at("done").dump() + " of " +
         counted_text(action) + " dead tasks of queue " + action.at("queue").get<std::string>();
}

std::string goes_on_text(std::uint64_t action_id) {
  const std::string number = std::to_string(action_id);
  return "bulk action " + number + " continues where a steward runs: 'allot bulk show " + number +
         "' shows its progress, 'allot bulk stop " + number + "' ends it";
}

std::string action_path(std::uint64_t action_id) {
  return "/bulk/" + std::to_string(action_id);
}

// Processes an action while no steward does.
class Worker {
 public:
  Worker(const Local& here, std::uint64_t action_id) : here_(here), action_id_(action_id) {}

  // Processes the next batch unless a steward does. Returns the delay until the next check.
  milliseconds work(Progress& progress) {
    if (led()) return kBulkPoll;
    queue::BulkStep step;
    try {
      step = queue::work_bulk(here_.db(), action_id_);
    } catch (const db::DbError& error) {
      if (error.error_class() != db::ErrorClass::kRetryable) throw;
      return kBulkPoll;
    }
    if (step.put_back > 0) ringer_of(here_.settings()).ring({{step.queue_id, step.put_back}});
    if (!step.moved.empty()) progress.wipe();
    for (const auto& [from, to] : step.moved) {
      std::fprintf(stderr, "%s is %s now: its queue was resized\n", from.text().c_str(),
                   to.text().c_str());
    }
    return std::min(std::chrono::ceil<milliseconds>(step.wait), kBulkPoll);
  }

 private:
  // True if a steward leads this duty. Without such a steward the duty has no row or no holder.
  bool led() {
    if (mono_ns() < poll_ns_) return led_;
    poll_ns_ = mono_ns() + kLedPoll;
    const auto seen = queue::DutyStore::watch(here_.db(), {queue::bulk_duty()});
    led_ = !seen.empty() && seen.front().holder && !seen.front().over;
    return led_;
  }

  const Local& here_;
  std::uint64_t action_id_;
  Nanos poll_ns_ = 0;
  bool led_ = false;
};

std::string filter_text(const json& action) {
  const std::string group = cell_of(action, "group");
  const std::string type = cell_of(action, "type");
  return (group.empty() ? "all" : "group " + group) + (type.empty() ? "" : " of type " + type);
}

int list_actions(const Operations& allot, const BulkActionOptions& options) {
  const auto failed = [](const json& action) {
    return action.at("state") == queue::name_of(queue::BulkState::kFailed);
  };
  return print_list(documents::items(allot, "/bulk", options.limit), options.json,
                    {{"ACTION", "action"},
                     {"KIND", "kind"},
                     {"QUEUE", "queue"},
                     {"TASKS", filter_text},
                     {"DONE", "done"},
                     {"OF", counted_text},
                     {"STATE", "state", failed},
                     {"STARTED", "started_at"},
                     {"BY", "requested_by"}});
}

void print_action(const json& action) {
  const auto rate = [](const json& one) {
    return one.at("rate").is_null() ? "" : cell_of(one, "rate") + " per second";
  };
  const auto done = [](const json& one) {
    return cell_of(one, "done") + " of " + counted_text(one);
  };
  const auto started = [](const json& one) {
    return cell_of(one, "started_at") + " by " + cell_of(one, "requested_by");
  };
  print_fields(action, 12,
               {{"action", "action"},
                {"kind", "kind"},
                {"queue", "queue"},
                {"tasks", filter_text},
                {"died until", "died_until"},
                {"rate", rate},
                {"state", "state"},
                {"done", done},
                {"started", started},
                {"ended", "ended_at"},
                {"stopped by", "stopped_by"},
                {"error", "error"}});
}

int show_action(const Operations& allot, const BulkActionOptions& options) {
  const json action = allot.read(action_path(options.action_id));
  return print_as(options.json, action, [&] { print_action(action); });
}

int stop_action(const Operations& allot, const BulkActionOptions& options) {
  const json action = allot.post(action_path(options.action_id) + "/stop", json::object());
  return print_as(options.json, action, [&] {
    std::printf("bulk action %s stopped: %s\n", action.at("action").dump().c_str(),
                result_text(action).c_str());
  });
}

}  // namespace

std::string dead_tasks_text(std::uint64_t count, bool more) {
  return (more ? "at least " : "") + std::to_string(count) + " dead task" + (count == 1 ? "" : "s");
}

json follow_bulk(const Operations& allot, std::uint64_t action_id) {
  note_interrupts();
  try {
    json action = allot.read(action_path(action_id));
    Progress progress(action.at("tasks"));
    std::optional<Worker> worker;
    if (const Local* here = allot.local()) worker.emplace(*here, action_id);
    while (is_open(action)) {
      if (interrupted()) throw Error("interrupted");
      std::this_thread::sleep_for(worker ? worker->work(progress) : kRemotePoll);
      action = allot.read(action_path(action_id));
      const std::uint64_t done = action.at("done");
      if (done > 0) progress.show(done, done);
    }
    return action;
  } catch (const Error& error) {
    throw Error(error.what() + ("; " + goes_on_text(action_id)), error.exit_code());
  }
}

void require_done(const json& action) {
  if (action.at("state") == queue::name_of(queue::BulkState::kDone)) return;
  const std::string number = "bulk action " + action.at("action").dump();
  if (action.at("state") == queue::name_of(queue::BulkState::kFailed)) {
    throw Error(number + " failed: " + cell_of(action, "error") + "; it " + result_text(action));
  }
  throw Error(number + " was stopped by " + cell_of(action, "stopped_by") + "; it " +
              result_text(action));
}

void add_bulk(CLI::App& app, const Commands& commands) {
  CLI::App& bulk = *app.add_subcommand("bulk", "List, show or stop bulk actions on dead tasks");
  bulk.require_subcommand(1);
  const auto list = commands.add(bulk, "list", "List bulk actions, newest first", list_actions);
  add_limit(list.command, list.options->limit);
  const auto show = commands.add(bulk, "show", "Show a bulk action and its progress", show_action);
  const auto stop =
      commands.add(bulk, "stop", "Stop a bulk action after its current batch", stop_action);
  for (const auto& act : {show, stop}) {
    act.command.add_option("ACTION", act.options->action_id, "Number of the bulk action")
        ->check(CLI::Range(std::uint64_t{1}, kMostActions))
        ->required();
  }
  commands.add_reason(stop.command);
}

}  // namespace allot::cli
