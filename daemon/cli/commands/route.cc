// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cli/commands/command.h"
#include "cli/commands/moving.h"
#include "cli/sources/documents.h"
#include "cli/words/text.h"

namespace allot::cli {
namespace {

using nlohmann::json;
using std::chrono::steady_clock;

struct RouteOptions {
  std::string type;
  std::string to;
  std::string from;
  bool any_queue = false;
  bool move = false;
  std::uint32_t rate = 0;  // per second; 0: no limit
  bool yes = false;
  bool json = false;
};

// Maximum delay until every program follows a new route.
constexpr auto kFollowed = std::chrono::seconds(1);

// "tasks of type mail.* submitted to queue mail".
std::string text_of(const RouteOptions& options) {
  if (options.any_queue && options.type == "*") return "tasks that name no queue";
  return "tasks of type " + printable(options.type, kShownError) + " submitted to " +
         (options.any_queue ? "any queue" : "queue " + options.from);
}

json body_of(const RouteOptions& options) {
  json body{{"type", options.type}};
  if (options.any_queue) return body;
  static_cast<void>(documents::queue_path(options.from));
  body["from"] = options.from;
  return body;
}

// Whether tasks of that queue can move to the target, whatever waits there.
bool can_move(const Operations& allot, const Move& move) {
  try {
    static_cast<void>(count_waiting(allot, move));
    return true;
  } catch (const operations::Refusal& refused) {
    if (refused.problem().status == 409 && refused.problem().field == "queue") return false;
    throw;
  }
}

// Moves from the queues whose tasks the route takes.
std::vector<Move> moves_of(const Operations& allot, const RouteOptions& options) {
  const auto from = [&](const std::string& queue) {
    return Move{queue, options.to, options.type, options.rate};
  };
  if (!options.any_queue) {
    static_cast<void>(count_waiting(allot, from(options.from)));
    return {from(options.from)};
  }
  if (options.type == "*") {
    throw Error("--move: tasks submitted without a queue do not wait in one", kExitBadInput);
  }
  std::vector<Move> moves;
  for (const std::string& queue : documents::queue_names(allot, "")) {
    if (queue != options.to && can_move(allot, from(queue))) moves.push_back(from(queue));
  }
  return moves;
}

Moved move_all(const Operations& allot, const std::vector<Move>& moves) {
  Moved all;
  for (const Move& move : moves) {
    all.add(move_waiting(allot, move, count_waiting(allot, move)));
  }
  return all;
}

// Moves twice: tasks submitted to the former queue before every program followed the route arrive
// later.
Moved move_twice(const Operations& allot, const std::vector<Move>& moves) {
  const auto followed = steady_clock::now() + kFollowed;
  Moved all = move_all(allot, moves);
  std::this_thread::sleep_until(followed);
  all.then(move_all(allot, moves));
  return all;
}

// allot route set TYPE TO: submissions follow within a second. Exit code 1: some tasks were not
// moved, because a worker leased their partition.
int set_route(const Operations& allot, const RouteOptions& options) {
  json body = body_of(options);
  body["to"] = options.to;
  const std::vector<Move> moves = options.move ? moves_of(allot, options) : std::vector<Move>();
  json route = documents::change(allot, "PUT", "/routes", std::move(body), "route", options.yes);
  Moved moved;
  if (options.move) moved = move_twice(allot, moves);
  if (options.move) add_moved(route, moved);
  print_as(options.json, route, [&] {
    std::printf("%s go to queue %s\n", text_of(options).c_str(), options.to.c_str());
    if (options.move) print_moved(moved);
  });
  return end_of_move(moved);
}

int remove_route(const Operations& allot, const RouteOptions& options) {
  const json route =
      documents::change(allot, "DELETE", "/routes", body_of(options), "route", options.yes);
  return print_as(options.json, route, [&] {
    std::printf("%s no longer go to queue %s\n", text_of(options).c_str(),
                route.at("to").get<std::string>().c_str());
  });
}

int list_routes(const Operations& allot, const JsonOption& options) {
  const auto from = [](const json& route) {
    return route.at("from").is_null() ? "(any)" : cell_of(route, "from");
  };
  return print_list(documents::items(allot, "/routes"), options.json,
                    {{"FROM", from}, {"TYPE", "type"}, {"TO", "to"}, {"SINCE", "set_at"}});
}

Added<RouteOptions> add_change(CLI::App& route, const Commands& commands, const char* name,
                               const char* description,
                               int (*run)(const Operations&, const RouteOptions&)) {
  auto added = commands.add(route, name, description, run);
  CLI::App& act = added.command;
  const auto& options = added.options;
  act.add_option("TYPE", options->type,
                 "Type; mail.* matches all types with this prefix, * matches any type")
      ->required();
  auto* from =
      &add_text(act, "--from", "QUEUE", options->from, "Queue that the tasks are submitted to");
  auto* any = act.add_flag("--any-queue", options->any_queue,
                           "Tasks submitted to any queue or to none; with type *: to none only");
  from->excludes(any);
  commands.add_reason(act);
  add_yes(act, options->yes, "Do not ask");
  act.callback([commands, options, run] {
    if (options->from.empty() && !options->any_queue) {
      throw CLI::RequiredError("--from QUEUE or --any-queue");
    }
    commands.choose(run, options);
  });
  return added;
}

}  // namespace

void add_route(CLI::App& app, const Commands& commands) {
  CLI::App& route = *app.add_subcommand("route", "Route types of tasks to other queues");
  route.require_subcommand(1);
  const auto [set, options] =
      add_change(route, commands, "set", "Set the queue that takes tasks of a type", set_route);
  set.add_option("TO", options->to, "Queue that takes the tasks")->required();
  auto* move = set.add_flag("--move", options->move, "Also move waiting tasks");
  add_rate(set, options->rate, "Maximum number of tasks moved per second").needs(move);
  commands.add(route, "list", "List the routes", list_routes);
  add_change(route, commands, "remove", "Remove a route", remove_route);
}

}  // namespace allot::cli
