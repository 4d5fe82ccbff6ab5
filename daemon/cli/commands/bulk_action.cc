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
#include "cli/remote/session.h"
#include "cli/sources/far.h"
#include "cli/sources/input.h"
#include "cli/sources/ring_local.h"
#include "cli/words/listing.h"
#include "cli/words/task_view.h"
#include "cli/words/terminal.h"
#include "cli/words/text.h"
#include "json/bulk_json.h"
#include "json/view_reader.h"
#include "queue/operate/bulk_work.h"
#include "queue/verbs/duty.h"

namespace allot::cli {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;

constexpr milliseconds kBulkLook{100};
constexpr milliseconds kRemoteLook{250};  // each poll is a connection
constexpr Nanos kLedLook = kSecond;
constexpr std::size_t kShownBulkText = 300;
constexpr std::uint64_t kMostActions = 4'294'967'295;

struct BulkActionOptions {
  std::uint64_t action_id = 0;
  std::uint32_t limit = 50;
  bool json = false;
};

std::string past_of(queue::BulkKind kind) {
  return kind == queue::BulkKind::kRetryDead ? "retried" : "discarded";
}

std::string counted_text(const queue::BulkAction& action) {
  return std::to_string(action.counted) + (action.counted_all ? "" : "+");
}

// "retried 120 of 2000 dead tasks of queue mail".
std::string progress_text(const queue::BulkAction& action) {
  return past_of(action.kind) + " " + std::to_string(action.done) + " of " + counted_text(action) +
         " dead tasks of queue " + action.queue;
}

std::string goes_on_text(std::uint64_t action_id) {
  const std::string number = std::to_string(action_id);
  return "bulk action " + number + " continues where a steward runs: 'allot bulk show " + number +
         "' shows its progress, 'allot bulk stop " + number + "' ends it";
}

// Processes the action, or follows its progress in another process.
class Follower {
 public:
  Follower(const config::Settings& settings, db::Connection& db, std::uint64_t action_id)
      : settings_(settings), db_(db), action_id_(action_id) {}

  queue::BulkAction follow() {
    queue::BulkAction action = find();
    Progress progress(action.counted);
    while (queue::is_open(action.state)) {
      if (interrupted()) throw Error("interrupted; " + goes_on_text(action_id_));
      const milliseconds wait = led() ? kBulkLook : work(progress);
      if (wait.count() > 0) std::this_thread::sleep_for(std::min(wait, kBulkLook));
      action = find();
      if (action.batches > 0) progress.show(action.done, action.done);
    }
    return action;
  }

 private:
  queue::BulkAction find() {
    auto action = queue::find_bulk(db_, action_id_);
    if (!action) throw Error("bulk action " + std::to_string(action_id_) + " no longer exists");
    return std::move(*action);
  }

  // True if a steward leads this duty. Without such a steward the duty has no row or no holder.
  bool led() {
    if (mono_ns() < look_ns_) return led_;
    look_ns_ = mono_ns() + kLedLook;
    const auto seen = queue::DutyStore::watch(db_, {queue::bulk_duty()});
    led_ = !seen.empty() && seen.front().holder && !seen.front().over;
    return led_;
  }

  milliseconds work(Progress& progress) {
    queue::BulkStep step;
    try {
      step = queue::work_bulk(db_, action_id_);
    } catch (const db::DbError& error) {
      if (error.error_class() != db::ErrorClass::kRetryable) throw;
      return kBulkLook;
    }
    if (step.put_back > 0) ring_local(settings_, {{step.queue_id, step.put_back}});
    if (!step.moved.empty()) progress.wipe();
    for (const auto& [from, to] : step.moved) {
      std::fprintf(stderr, "%s is %s now: its queue was resized\n", from.text().c_str(),
                   to.text().c_str());
    }
    return std::chrono::ceil<milliseconds>(step.wait);
  }

  const config::Settings& settings_;
  db::Connection& db_;
  std::uint64_t action_id_;
  Nanos look_ns_ = 0;
  bool led_ = false;
};

std::string filter_text(const queue::BulkAction& action) {
  std::string text = action.filter.group.empty() ? "all" : "group " + action.filter.group;
  if (!action.filter.type.empty()) text += " of type " + action.filter.type;
  return text;
}

std::string action_path(std::uint64_t action_id) {
  return "/bulk/" + std::to_string(action_id);
}

queue::BulkAction named_action(db::Connection& db, std::uint64_t action_id) {
  auto action = queue::find_bulk(db, action_id);
  if (!action) {
    throw Error("unknown bulk action " + std::to_string(action_id) + "; see allot bulk list",
                kExitBadInput);
  }
  return std::move(*action);
}

Listing action_list(bool as_json) {
  return {{"ACTION", "KIND", "QUEUE", "TASKS", "DONE", "OF", "STATE", "BEGUN", "BY"}, as_json};
}

void add_row(Listing& list, json document, const queue::BulkAction& action) {
  list.add(
      std::move(document),
      {std::to_string(action.action_id), std::string(queue::name_of(action.kind)), action.queue,
       printable(filter_text(action), kShownBulkText), std::to_string(action.done),
       counted_text(action), std::string(queue::name_of(action.state)), action.begun_at,
       printable(action.asked_by, kShownBulkText)},
      action.state == queue::BulkState::kFailed ? std::optional<std::size_t>(6) : std::nullopt);
}

int list_actions(const Context& context, const BulkActionOptions& options) {
  db::Connection db = connect(context.settings());
  Listing list = action_list(options.json);
  for (const queue::BulkAction& action : queue::list_bulk(db, UINT64_MAX, options.limit)) {
    add_row(list, as_json::bulk_action(action), action);
  }
  list.print();
  return kExitOk;
}

int remote_list_actions(const remote::Session& gateway, const BulkActionOptions& options) {
  Listing list = action_list(options.json);
  for (const json& document : far::items(gateway, "/bulk", options.limit)) {
    add_row(list, document, as_json::bulk_action_of(document));
  }
  list.print();
  return kExitOk;
}

void print_action(const queue::BulkAction& action) {
  const auto line = [](const char* name, const std::string& text) {
    if (!text.empty()) std::printf("%-12s %s\n", name, printable(text, kShownBulkText).c_str());
  };
  line("action", std::to_string(action.action_id));
  line("kind", std::string(queue::name_of(action.kind)));
  line("queue", action.queue);
  line("tasks", filter_text(action));
  line("died until", action.died_until);
  line("rate", action.rate == 0 ? "" : std::to_string(action.rate) + " per second");
  line("state", std::string(queue::name_of(action.state)));
  line("done", std::to_string(action.done) + " of " + counted_text(action));
  line("begun", action.begun_at + " by " + action.asked_by);
  line("ended", action.ended_at);
  line("stopped by", action.stopped_by);
  line("error", action.error);
}

int show_action(const Context& context, const BulkActionOptions& options) {
  db::Connection db = connect(context.settings());
  const queue::BulkAction action = named_action(db, options.action_id);
  if (options.json) {
    print(as_json::bulk_action(action));
  } else {
    print_action(action);
  }
  return kExitOk;
}

int remote_show_action(const remote::Session& gateway, const BulkActionOptions& options) {
  const json document = gateway.read(action_path(options.action_id));
  if (options.json) {
    print(document);
  } else {
    print_action(as_json::bulk_action_of(document));
  }
  return kExitOk;
}

void print_stopped(const json& document, const queue::BulkAction& action, bool as_json) {
  if (as_json) return print(document);
  std::printf("bulk action %llu stopped: %s\n", static_cast<unsigned long long>(action.action_id),
              progress_text(action).c_str());
}

int stop_action(const Context& context, const BulkActionOptions& options) {
  db::Connection db = connect_as_operator(context, context.settings());
  static_cast<void>(named_action(db, options.action_id));
  const bool stopped = queue::stop_bulk(db, options.action_id, asked_by());
  const queue::BulkAction action = named_action(db, options.action_id);
  if (!stopped) {
    throw Error("bulk action " + std::to_string(action.action_id) +
                " had already ended: " + std::string(queue::name_of(action.state)));
  }
  print_stopped(as_json::bulk_action(action), action, options.json);
  return kExitOk;
}

int remote_stop_action(const remote::Session& gateway, const BulkActionOptions& options) {
  const json document = gateway.post(action_path(options.action_id) + "/stop", json::object());
  print_stopped(document, as_json::bulk_action_of(document), options.json);
  return kExitOk;
}

}  // namespace

std::string dead_tasks_text(std::uint64_t count, bool more) {
  return (more ? "at least " : "") + std::to_string(count) + " dead task" + (count == 1 ? "" : "s");
}

queue::BulkAction follow_bulk(const config::Settings& settings, db::Connection& db,
                              std::uint64_t action_id) {
  note_interrupts();
  try {
    return Follower(settings, db, action_id).follow();
  } catch (const db::DbError& error) {
    throw Error(error.what() + ("; " + goes_on_text(action_id)), error.exit_code());
  }
}

queue::BulkAction follow_bulk(const remote::Session& gateway, std::uint64_t action_id) {
  note_interrupts();
  const auto find = [&] { return as_json::bulk_action_of(gateway.read(action_path(action_id))); };
  try {
    queue::BulkAction action = find();
    Progress progress(action.counted);
    while (queue::is_open(action.state)) {
      if (interrupted()) throw Error("interrupted");
      std::this_thread::sleep_for(kRemoteLook);
      action = find();
      if (action.done > 0) progress.show(action.done, action.done);
    }
    return action;
  } catch (const Error& error) {
    throw Error(error.what() + ("; " + goes_on_text(action_id)), error.exit_code());
  }
}

void require_done(const queue::BulkAction& action) {
  if (action.state == queue::BulkState::kDone) return;
  const std::string number = "bulk action " + std::to_string(action.action_id);
  if (action.state == queue::BulkState::kFailed) {
    throw Error(number + " failed: " + action.error + "; it " + progress_text(action));
  }
  throw Error(number + " was stopped by " + action.stopped_by + "; it " + progress_text(action));
}

void add_bulk(CLI::App& app, const Commands& commands) {
  CLI::App& bulk = *app.add_subcommand("bulk", "List, show or stop bulk actions on dead tasks");
  bulk.require_subcommand(1);
  const auto options = std::make_shared<BulkActionOptions>();
  const auto add = [&](const char* name, const char* text,
                       int (*run)(const Context&, const BulkActionOptions&),
                       int (*far)(const remote::Session&, const BulkActionOptions&)) -> CLI::App& {
    CLI::App& act = *bulk.add_subcommand(name, text);
    act.add_flag("--json", options->json, "As JSON");
    act.callback([commands, run, far, options] { commands.choose(run, options, far); });
    return act;
  };
  add("list", "List bulk actions, the newest first", list_actions, remote_list_actions)
      .add_option("--limit", options->limit, "Limit of entries")
      ->check(CLI::Range(1, kMostListed))
      ->type_name("ROWS")
      ->capture_default_str();
  CLI::App& show =
      add("show", "Show a bulk action and its progress", show_action, remote_show_action);
  CLI::App& stop =
      add("stop", "Stop a bulk action after its current batch", stop_action, remote_stop_action);
  for (CLI::App* act : {&show, &stop}) {
    act->add_option("ACTION", options->action_id, "Number of the bulk action")
        ->check(CLI::Range(std::uint64_t{1}, kMostActions))
        ->required();
  }
  commands.add_reason(stop);
}

}  // namespace allot::cli
