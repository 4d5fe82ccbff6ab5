// SPDX-License-Identifier: Apache-2.0
#include "queue/locks/lock.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "cli/commands/command.h"
#include "cli/sources/documents.h"
#include "cli/words/terminal.h"
#include "cli/words/text.h"
#include "operations/route.h"

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
  const auto name = [](const json& lock) {
    return printable(lock.at("name").get<std::string>(), 16 * queue::kMaxLockName);
  };
  return print_list(documents::items(allot, "/locks"), options.json,
                    {{"NAME", name}, {"SLOTS", "slots"}, {"HELD", "held"}, {"WAITING", "waiting"}});
}

void print_lock(const json& lock) {
  const auto expired = [](const json& slot) { return slot.at("remaining_ms") < 0; };
  const auto ends_in = [expired](const json& slot) {
    return expired(slot) ? "expired" : for_how_long(slot.at("remaining_ms"));
  };
  std::printf("%zu of %s slots held\n", lock.at("held").size(), lock.at("slots").dump().c_str());
  print_below(lock.at("held"),
              {{"SLOT", "slot"},
               {"STATE", "state"},
               {"TOKEN", "token"},
               {"HOLDER", holder_of},
               {"HELD FOR", [](const json& slot) { return for_how_long(slot.at("held_ms")); }},
               {"ENDS IN", ends_in, expired}});
  const auto state = [](const json& ticket) { return ticket.at("live") ? "live" : "left"; };
  print_below(
      lock.at("waiting"),
      {{"TICKET", "ticket"},
       {"HOLDER", holder_of},
       {"WAITING FOR", [](const json& ticket) { return for_how_long(ticket.at("waiting_ms")); }},
       {"STATE", state}});
}

int show_lock(const Operations& allot, const LockOptions& options) {
  const json lock = allot.read(path_of(options));
  return print_as(options.json, lock, [&] { print_lock(lock); });
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
  return print_as(options.json, broken, [&] { std::printf("%zu slots broken\n", broken.size()); });
}

int resize_lock(const Operations& allot, const LockOptions& options) {
  queue::validate_slots(options.slots);
  static_cast<void>(allot.post(path_of(options) + "/resize", {{"slots", options.slots}}));
  const json made{{"name", printable(options.name, 4 * queue::kMaxLockName)},
                  {"slots", options.slots}};
  return print_as(options.json, made, [&] {
    std::printf("lock %s has %u slots\n", printable(options.name, queue::kMaxLockName).c_str(),
                options.slots);
  });
}

}  // namespace

void add_lock(CLI::App& app, const Commands& commands) {
  CLI::App& lock =
      *app.add_subcommand("lock", "Run a command while holding a lock, and manage locks");
  lock.require_subcommand(1);
  add_lock_run(lock, commands);
  const auto add = [&](const char* name, const char* text,
                       int (*run)(const Operations&, const LockOptions&)) {
    auto added = commands.add(lock, name, text, run);
    added.command.add_option("NAME", added.options->name, "The lock")->required();
    return added;
  };
  commands.add(lock, "list", "List the locks", list_locks);
  add("show", "Show the holders of a lock, and the waiting processes", show_lock);
  const auto end = add("break", "Take a lock away from its holder", break_lock);
  end.command.add_option("--slot", end.options->slot, "Only this slot")->type_name("SLOT");
  commands.add_reason(end.command);
  add_yes(end.command, end.options->yes);
  const auto resize = add("resize", "Change how many slots a lock has", resize_lock);
  commands.add_reason(resize.command);
  resize.command
      .add_option("SLOTS", resize.options->slots, "Number of holders at a time, 1 to 1024")
      ->required();
}

}  // namespace allot::cli
