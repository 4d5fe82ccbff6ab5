// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/lock.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "cli/commands/command.h"
#include "cli/sources/documents.h"
#include "cli/words/confirm.h"
#include "cli/words/listing.h"
#include "cli/words/task_view.h"
#include "cli/words/terminal.h"
#include "cli/words/text.h"
#include "operations/route.h"
#include "queue/locks/lock.h"

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

// A span in milliseconds.
std::string for_how_long(const json& ms) {
  return how_long(static_cast<std::uint64_t>(std::max<std::int64_t>(0, ms.get<std::int64_t>())));
}

std::string holder_of(const json& slot) {
  return slot.at("host").get<std::string>() + "/" + slot.at("pid").dump();
}

std::string path_of(const LockOptions& options) {
  queue::validate_lock_name(options.name);
  return "/locks/" + operations::escaped(options.name);
}

int list_locks(const Operations& allot, const LockOptions& options) {
  Listing list({"NAME", "SLOTS", "HELD", "WAITING"}, options.json);
  for (const json& lock : documents::items(allot, "/locks")) {
    list.add(lock, {printable(lock.at("name").get<std::string>(), 16 * queue::kMaxLockName),
                    lock.at("slots").dump(), lock.at("held").dump(), lock.at("waiting").dump()});
  }
  list.print();
  return kExitOk;
}

void print_lock(const json& lock) {
  const bool colour = wants_colour(STDOUT_FILENO);
  Table held({"SLOT", "STATE", "TOKEN", "HOLDER", "HELD FOR", "ENDS IN"});
  for (const json& slot : lock.at("held")) {
    const bool expired = slot.at("remaining_ms") < 0;
    held.add({slot.at("slot").dump(), slot.at("state"), slot.at("token").dump(), holder_of(slot),
              for_how_long(slot.at("held_ms")),
              expired ? "expired" : for_how_long(slot.at("remaining_ms"))},
             expired ? std::optional<std::size_t>(5) : std::nullopt);
  }
  Table line({"TICKET", "HOLDER", "WAITING FOR", "STATE"});
  for (const json& ticket : lock.at("waiting")) {
    line.add({ticket.at("ticket").dump(), holder_of(ticket), for_how_long(ticket.at("waiting_ms")),
              ticket.at("live").get<bool>() ? "live" : "left"});
  }
  std::printf("%zu of %s slots held\n", lock.at("held").size(), lock.at("slots").dump().c_str());
  if (!lock.at("held").empty()) std::printf("\n%s", held.text(colour).c_str());
  if (!lock.at("waiting").empty()) std::printf("\n%s", line.text(colour).c_str());
}

int show_lock(const Operations& allot, const LockOptions& options) {
  const json lock = allot.read(path_of(options));
  if (options.json) {
    print(lock);
  } else {
    print_lock(lock);
  }
  return kExitOk;
}

// Holders of the slots to break; asks for confirmation if there are any.
bool confirmed(const json& lock, const LockOptions& options) {
  std::string holders;
  for (const json& slot : lock.at("held")) {
    if (options.slot && slot.at("slot") != *options.slot) continue;
    holders += (holders.empty() ? "" : ", ") + holder_of(slot);
  }
  if (holders.empty()) return false;
  confirm("break", "lock " + printable(options.name, queue::kMaxLockName) + " of " + holders,
          options.yes);
  return true;
}

int break_lock(const Operations& allot, const LockOptions& options) {
  const std::string path = path_of(options);
  json broken = json::array();
  if (confirmed(allot.read(path), options)) {
    json body = json::object();
    if (options.slot) body["slot"] = *options.slot;
    broken = allot.post(path + "/break", body).at("broken");
  }
  if (options.json) {
    print(broken);
  } else {
    std::printf("%zu slots broken\n", broken.size());
  }
  return kExitOk;
}

int resize_lock(const Operations& allot, const LockOptions& options) {
  queue::validate_slots(options.slots);
  static_cast<void>(allot.post(path_of(options) + "/resize", {{"slots", options.slots}}));
  if (options.json) {
    print(
        json{{"name", printable(options.name, 4 * queue::kMaxLockName)}, {"slots", options.slots}});
  } else {
    std::printf("lock %s has %u slots\n", printable(options.name, queue::kMaxLockName).c_str(),
                options.slots);
  }
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
  const auto add = [&](const char* name, const char* text,
                       int (*run)(const Operations&, const LockOptions&), bool named) -> CLI::App& {
    CLI::App& act = *lock.add_subcommand(name, text);
    if (named) act.add_option("NAME", options->name, "The lock")->required();
    act.add_flag("--json", options->json, "As JSON");
    act.callback([commands, run, options] { commands.choose(run, options); });
    return act;
  };
  add("list", "List the locks", list_locks, false);
  add("show", "Show the holders of a lock, and the waiting processes", show_lock, true);
  CLI::App& end = add("break", "Take a lock away from its holder", break_lock, true);
  end.add_option("--slot", options->slot, "Only this slot")->type_name("SLOT");
  commands.add_reason(end);
  end.add_flag("--yes", options->yes, "Do not ask; required without a terminal");
  CLI::App& resize = add("resize", "Change how many slots a lock has", resize_lock, true);
  commands.add_reason(resize);
  resize.add_option("SLOTS", options->slots, "Number of holders at a time, 1 to 1024")->required();
}

}  // namespace allot::cli
