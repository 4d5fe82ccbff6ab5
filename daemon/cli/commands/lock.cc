// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/lock.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/commands/command.h"
#include "cli/remote/address.h"
#include "cli/remote/session.h"
#include "cli/sources/far.h"
#include "cli/sources/ring_local.h"
#include "cli/words/confirm.h"
#include "cli/words/listing.h"
#include "cli/words/task_view.h"
#include "cli/words/terminal.h"
#include "cli/words/text.h"
#include "json/queue_json.h"
#include "json/view_reader.h"
#include "peer/lock_bell.h"
#include "queue/locks/lock_store.h"

namespace allot::cli {
namespace {

using nlohmann::json;

struct LockOptions {
  std::string name;
  std::uint32_t slots = 0;            // of resize
  std::optional<std::uint32_t> slot;  // of break
  bool yes = false;                   // of break
  bool json = false;
};

std::string for_how_long(std::chrono::microseconds span) {
  return how_long(static_cast<std::uint64_t>(std::max<std::int64_t>(0, span.count()) / 1000));
}

// An invalid name is reported as an unknown lock.
[[noreturn]] void unknown_lock(const std::string& name) {
  throw Error("unknown lock '" + printable(name, queue::kMaxLockName) + "'", kExitBadInput);
}

std::string holder_text(const std::string& host, std::uint32_t pid) {
  return host + "/" + std::to_string(pid);
}

Listing lock_list(bool as_json) {
  return {{"NAME", "SLOTS", "HELD", "WAITING"}, as_json};
}

std::vector<std::string> row_of(const queue::LockSummary& lock, const std::string& name) {
  return {name, std::to_string(lock.slots), std::to_string(lock.held),
          std::to_string(lock.waiting)};
}

int list_locks(const Context& context, const LockOptions& options) {
  db::Connection db = connect(context.settings());
  Listing list = lock_list(options.json);
  for (const queue::LockSummary& lock : queue::list_locks(db)) {
    list.add(as_json::lock(lock), row_of(lock, printable(lock.name, 4 * queue::kMaxLockName)));
  }
  list.print();
  return kExitOk;
}

// Names in a gateway's document are printable already.
int remote_list_locks(const remote::Session& gateway, const LockOptions& options) {
  Listing list = lock_list(options.json);
  for (const json& document : far::items(gateway, "/locks")) {
    const queue::LockSummary lock = as_json::lock_summary_of(document);
    list.add(document, row_of(lock, printable(lock.name, 16 * queue::kMaxLockName)));
  }
  list.print();
  return kExitOk;
}

queue::LockView named_lock(db::Connection& db, const std::string& name) {
  queue::validate_lock_name(name);
  auto view = queue::show_lock(db, name);
  if (!view) unknown_lock(name);
  return std::move(*view);
}

void print_lock(const queue::LockView& lock) {
  const bool colour = wants_colour(STDOUT_FILENO);
  Table held({"SLOT", "STATE", "TOKEN", "HOLDER", "HELD FOR", "ENDS IN"});
  for (const queue::LockSlotView& slot : lock.held) {
    const bool expired = slot.remaining.count() < 0;
    held.add({std::to_string(slot.slot), slot.state, std::to_string(slot.token),
              holder_text(slot.host, slot.pid), for_how_long(slot.held_for),
              expired ? "expired" : for_how_long(slot.remaining)},
             expired ? std::optional<std::size_t>(5) : std::nullopt);
  }
  Table line({"TICKET", "HOLDER", "WAITING FOR", "STATE"});
  for (const queue::TicketView& ticket : lock.line) {
    line.add({std::to_string(ticket.ticket), holder_text(ticket.host, ticket.pid),
              for_how_long(ticket.waiting), ticket.live ? "live" : "left"});
  }
  std::printf("%zu of %u slots held\n", lock.held.size(), lock.slots);
  if (!lock.held.empty()) std::printf("\n%s", held.text(colour).c_str());
  if (!lock.line.empty()) std::printf("\n%s", line.text(colour).c_str());
}

int show_lock(const Context& context, const LockOptions& options) {
  db::Connection db = connect(context.settings());
  const queue::LockView lock = named_lock(db, options.name);
  if (options.json) {
    print(as_json::lock(options.name, lock));
  } else {
    print_lock(lock);
  }
  return kExitOk;
}

std::string path_of(const LockOptions& options) {
  queue::validate_lock_name(options.name);
  return "/locks/" + remote::escaped(options.name);
}

int remote_show_lock(const remote::Session& gateway, const LockOptions& options) {
  const json document = gateway.read(path_of(options));
  if (options.json) {
    print(document);
  } else {
    print_lock(as_json::lock_of(document));
  }
  return kExitOk;
}

// Slots to break; asks for confirmation if there are any.
std::vector<queue::LockSlotView> confirmed_slots(const queue::LockView& lock,
                                                 const LockOptions& options) {
  std::vector<queue::LockSlotView> chosen;
  std::string holders;
  for (const queue::LockSlotView& slot : lock.held) {
    if (options.slot && *options.slot != slot.slot) continue;
    chosen.push_back(slot);
    holders += (holders.empty() ? "" : ", ") + holder_text(slot.host, slot.pid);
  }
  if (!chosen.empty()) {
    confirm("break", "lock " + printable(options.name, queue::kMaxLockName) + " of " + holders,
            options.yes);
  }
  return chosen;
}

void print_broken(const json& broken, bool as_json) {
  if (as_json) {
    print(broken);
  } else {
    std::printf("%zu slots broken\n", broken.size());
  }
}

int break_lock(const Context& context, const LockOptions& options) {
  const config::Settings settings = context.settings();
  db::Connection db = connect_as_operator(context, settings);
  json broken = json::array();
  for (const queue::LockSlotView& slot : confirmed_slots(named_lock(db, options.name), options)) {
    if (queue::break_lock(db, options.name, slot)) broken.push_back(as_json::lock_slot(slot));
  }
  if (!broken.empty()) peer::LockBell(local_folder(settings), options.name).ring();
  print_broken(broken, options.json);
  return kExitOk;
}

int remote_break_lock(const remote::Session& gateway, const LockOptions& options) {
  const std::string path = path_of(options);
  json broken = json::array();
  if (!confirmed_slots(as_json::lock_of(gateway.read(path)), options).empty()) {
    json body = json::object();
    if (options.slot) body["slot"] = *options.slot;
    broken = gateway.post(path + "/break", body).at("broken");
  }
  print_broken(broken, options.json);
  return kExitOk;
}

void say_resized(const LockOptions& options) {
  if (options.json) {
    print(
        json{{"name", printable(options.name, 4 * queue::kMaxLockName)}, {"slots", options.slots}});
  } else {
    std::printf("lock %s has %u slots\n", printable(options.name, queue::kMaxLockName).c_str(),
                options.slots);
  }
}

int resize_lock(const Context& context, const LockOptions& options) {
  queue::validate_lock_name(options.name);
  queue::validate_slots(options.slots);
  db::Connection db = connect_as_operator(context, context.settings());
  if (!queue::resize_lock(db, options.name, options.slots)) unknown_lock(options.name);
  say_resized(options);
  return kExitOk;
}

int remote_resize_lock(const remote::Session& gateway, const LockOptions& options) {
  queue::validate_slots(options.slots);
  static_cast<void>(gateway.post(path_of(options) + "/resize", {{"slots", options.slots}}));
  say_resized(options);
  return kExitOk;
}

}  // namespace

void add_lock(CLI::App& app, const Commands& commands) {
  CLI::App& lock =
      *app.add_subcommand("lock", "Run a command while holding a lock, and manage locks");
  lock.require_subcommand(1);
  add_lock_run(lock, commands);
  // These commands share their options; the parser runs exactly one of them.
  const auto options = std::make_shared<LockOptions>();
  const auto add =
      [&](const char* name, const char* text, int (*run)(const Context&, const LockOptions&),
          int (*far)(const remote::Session&, const LockOptions&), bool named) -> CLI::App& {
    CLI::App& act = *lock.add_subcommand(name, text);
    if (named) act.add_option("NAME", options->name, "The lock")->required();
    act.add_flag("--json", options->json, "As JSON");
    act.callback([commands, run, far, options] { commands.choose(run, options, far); });
    return act;
  };
  add("list", "List the locks", list_locks, remote_list_locks, false);
  add("show", "Show the holders of a lock, and the waiting processes", show_lock, remote_show_lock,
      true);
  CLI::App& end =
      add("break", "Take a lock away from its holder", break_lock, remote_break_lock, true);
  end.add_option("--slot", options->slot, "Only this slot")->type_name("SLOT");
  commands.add_reason(end);
  end.add_flag("--yes", options->yes, "Do not ask; required without a terminal");
  CLI::App& resize =
      add("resize", "Change how many slots a lock has", resize_lock, remote_resize_lock, true);
  commands.add_reason(resize);
  resize.add_option("SLOTS", options->slots, "Number of holders at a time, 1 to 1024")->required();
}

}  // namespace allot::cli
