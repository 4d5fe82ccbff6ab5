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
#include "cli/sources/documents.h"
#include "cli/sources/input.h"
#include "cli/sources/local.h"
#include "cli/sources/ringer.h"
#include "cli/words/listing.h"
#include "cli/words/task_view.h"
#include "cli/words/terminal.h"
#include "cli/words/text.h"
#include "json/fields.h"
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
constexpr std::size_t kShownBulkText = 300;
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
std::string progress_text(const json& action) {
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
  const std::string group = as_json::text_in(action, "group");
  const std::string type = as_json::text_in(action, "type");
  return (group.empty() ? "all" : "group " + group) + (type.empty() ? "" : " of type " + type);
}

int list_actions(const Operations& allot, const BulkActionOptions& options) {
  Listing list({"ACTION", "KIND", "QUEUE", "TASKS", "DONE", "OF", "STATE", "STARTED", "BY"},
               options.json);
  for (const json& action : documents::items(allot, "/bulk", options.limit)) {
    const bool failed = action.at("state") == queue::name_of(queue::BulkState::kFailed);
    list.add(action,
             {action.at("action").dump(), action.at("kind"), action.at("queue"),
              printable(filter_text(action), kShownBulkText), action.at("done").dump(),
              counted_text(action), action.at("state"), action.at("started_at"),
              printable(action.at("requested_by").get<std::string>(), kShownBulkText)},
             failed ? std::optional<std::size_t>(6) : std::nullopt);
  }
  list.print();
  return kExitOk;
}

void print_action(const json& action) {
  const auto line = [](const char* name, const std::string& text) {
    if (!text.empty()) std::printf("%-12s %s\n", name, printable(text, kShownBulkText).c_str());
  };
  line("action", action.at("action").dump());
  line("kind", action.at("kind"));
  line("queue", action.at("queue"));
  line("tasks", filter_text(action));
  line("died until", action.at("died_until"));
  line("rate", action.at("rate").is_null() ? "" : action.at("rate").dump() + " per second");
  line("state", action.at("state"));
  line("done", action.at("done").dump() + " of " + counted_text(action));
  line("started", action.at("started_at").get<std::string>() + " by " +
                      action.at("requested_by").get<std::string>());
  for (const auto& [name, field] :
       {std::pair{"ended", "ended_at"}, {"stopped by", "stopped_by"}, {"error", "error"}}) {
    line(name, as_json::text_in(action, field));
  }
}

int show_action(const Operations& allot, const BulkActionOptions& options) {
  const json action = allot.read(action_path(options.action_id));
  if (options.json) {
    print(action);
  } else {
    print_action(action);
  }
  return kExitOk;
}

int stop_action(const Operations& allot, const BulkActionOptions& options) {
  const json action = allot.post(action_path(options.action_id) + "/stop", json::object());
  if (options.json) {
    print(action);
  } else {
    std::printf("bulk action %s stopped: %s\n", action.at("action").dump().c_str(),
                progress_text(action).c_str());
  }
  return kExitOk;
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
    throw Error(number + " failed: " + as_json::text_in(action, "error") + "; it " +
                progress_text(action));
  }
  throw Error(number + " was stopped by " + as_json::text_in(action, "stopped_by") + "; it " +
              progress_text(action));
}

void add_bulk(CLI::App& app, const Commands& commands) {
  CLI::App& bulk = *app.add_subcommand("bulk", "List, show or stop bulk actions on dead tasks");
  bulk.require_subcommand(1);
  const auto options = std::make_shared<BulkActionOptions>();
  const auto add = [&](const char* name, const char* text,
                       int (*run)(const Operations&, const BulkActionOptions&)) -> CLI::App& {
    CLI::App& act = *bulk.add_subcommand(name, text);
    act.add_flag("--json", options->json, "As JSON");
    act.callback([commands, run, options] { commands.choose(run, options); });
    return act;
  };
  add("list", "List bulk actions, newest first", list_actions)
      .add_option("--limit", options->limit, "Maximum number of entries")
      ->check(CLI::Range(1, kMostListed))
      ->type_name("ROWS")
      ->capture_default_str();
  CLI::App& show = add("show", "Show a bulk action and its progress", show_action);
  CLI::App& stop = add("stop", "Stop a bulk action after its current batch", stop_action);
  for (CLI::App* act : {&show, &stop}) {
    act->add_option("ACTION", options->action_id, "Number of the bulk action")
        ->check(CLI::Range(std::uint64_t{1}, kMostActions))
        ->required();
  }
  commands.add_reason(stop);
}

}  // namespace allot::cli
