// SPDX-License-Identifier: Apache-2.0
#include "queue/operate/route.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cli/commands/command.h"
#include "cli/commands/moving.h"
#include "cli/remote/session.h"
#include "cli/sources/far.h"
#include "cli/sources/queues.h"
#include "cli/words/confirm.h"
#include "cli/words/listing.h"
#include "cli/words/task_view.h"
#include "cli/words/text.h"
#include "json/queue_json.h"
#include "json/view_reader.h"

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

// Arguments of a route.
struct Words {
  std::optional<queue::QueueInfo> source;  // none: any queue
  queue::TypePattern types;

  [[nodiscard]] bool is_default() const { return !source && types.text.empty(); }
  [[nodiscard]] std::string text() const {
    if (is_default()) return "tasks that name no queue";
    return "tasks of type " + queue::text_of(types) + " submitted to " +
           (source ? "queue " + source->name : "any queue");
  }
};

Words words_of(db::Connection& db, const config::Settings& settings, const RouteOptions& options) {
  Words words{std::nullopt, queue::pattern_of(options.type)};
  if (!options.any_queue) words.source = Queues(db, settings).get(options.from);
  return words;
}

std::optional<queue::Route> present(db::Connection& db, const Words& words) {
  const std::uint32_t source_id = words.source ? words.source->queue_id : 0;
  for (queue::Route& route : queue::list_routes(db)) {
    if (route.source_id == source_id && route.types == words.types) return std::move(route);
  }
  return std::nullopt;
}

// Queues whose tasks of these types it redirects, in addition to the queue of the present route.
std::vector<queue::QueueInfo> sources(db::Connection& db, const Words& words,
                                      const queue::QueueInfo& target) {
  if (words.source) return {*words.source};
  if (words.is_default()) return {};
  std::vector<queue::QueueInfo> all = queue::list_queues(db);
  std::erase_if(all, [&](const queue::QueueInfo& queue) {
    return queue.queue_id == target.queue_id || queue.shape.placement != target.shape.placement;
  });
  return all;
}

// Warns that two tasks may then have the same key, one in each queue.
void confirm_keys(db::Connection& db, const Words& words, std::vector<queue::QueueInfo> former,
                  const std::optional<queue::Route>& before, bool yes) {
  if (before) {
    if (const auto queue = queue::find_queue(db, before->to)) former.push_back(*queue);
  }
  std::string found;
  for (const queue::QueueInfo& queue : former) {
    const queue::BoundedCount keys = queue::live_keys(db, queue, words.types);
    if (keys.value == 0) continue;
    found += (found.empty() ? "" : ", ") + waiting_text(keys.value) +
             (keys.at_least ? " or more" : "") + " of queue " + queue.name;
  }
  if (found.empty()) return;
  confirm("route",
          found +
              " with a unique key, which belongs to its queue: a later task may use the same key "
              "in another queue",
          yes);
}

Moved move_from(db::Connection& db, const config::Settings& settings, const Words& words,
                const std::vector<queue::QueueInfo>& from, const queue::QueueInfo& target,
                std::uint32_t rate) {
  Moved all;
  for (const queue::QueueInfo& queue : from) {
    const Candidates chosen =
        choose(db, queue, [&](const std::string& type) { return words.types.takes(type); });
    const Moved moved = move_chosen(db, settings, queue, target, chosen, rate);
    all.moved += moved.moved;
    all.gone += moved.gone;
    all.leased += moved.leased;
    all.unique += moved.unique;
  }
  return all;
}

// Moves twice: tasks submitted to the former queue before every program followed the route arrive
// later.
Moved move_twice(const std::function<Moved()>& move) {
  const auto followed = steady_clock::now() + kFollowed;
  Moved all = move();
  std::this_thread::sleep_until(followed);
  all.then(move());
  return all;
}

void require_movable(const Words& words, const std::vector<queue::QueueInfo>& from,
                     const queue::QueueInfo& target) {
  if (words.is_default()) {
    throw Error("--move: tasks submitted without a queue do not wait in one", kExitBadInput);
  }
  require_spread(target);
  for (const queue::QueueInfo& queue : from) require_spread(queue);
}

int report_set(json told, const Words& words, const std::string& target,
               const std::optional<Moved>& moved, bool as_json) {
  if (as_json) {
    if (moved) add_moved(told, *moved);
    print(told);
  } else {
    std::printf("%s go to queue %s\n", words.text().c_str(), target.c_str());
    if (moved) print_moved(*moved);
  }
  return moved ? end_of_move(*moved) : kExitOk;
}

// allot route set TYPE TO: submissions follow within a second. Exit code 1: some tasks were not
// moved, because a worker leased their partition.
int set_route(const Context& context, const RouteOptions& options) {
  const config::Settings settings = context.settings();
  db::Connection db = connect_as_operator(context, settings);
  const Words words = words_of(db, settings, options);
  const queue::QueueInfo target = Queues(db, settings).get(options.to);
  queue::check_route(db, words.source, words.types, target);
  const auto from = sources(db, words, target);
  if (options.move) require_movable(words, from, target);
  confirm_keys(db, words, from, present(db, words), options.yes);
  queue::set_route(db, words.source, words.types, target);
  std::optional<Moved> moved;
  if (options.move) {
    moved = move_twice([&] { return move_from(db, settings, words, from, target, options.rate); });
  }
  const auto route = present(db, words);
  if (!route) throw Error("another user has removed the route");
  return report_set(as_json::route(*route), words, target.name, moved, options.json);
}

void say_removed(const Words& words, const queue::Route& route) {
  std::printf("%s no longer go to queue %s\n", words.text().c_str(), route.to.c_str());
}

int remove_route(const Context& context, const RouteOptions& options) {
  const config::Settings settings = context.settings();
  db::Connection db = connect_as_operator(context, settings);
  const Words words = words_of(db, settings, options);
  const auto route = present(db, words);
  if (!route) {
    throw Error("unknown route of " + words.text() + "; see allot route list", kExitBadInput);
  }
  queue::check_end_of_route(db, words.source, words.types);
  confirm_keys(db, words, {}, route, options.yes);
  queue::remove_route(db, words.source, words.types);
  if (options.json) {
    print(as_json::route(*route));
  } else {
    say_removed(words, *route);
  }
  return kExitOk;
}

Listing route_list(bool as_json) {
  return {{"FROM", "TYPE", "TO", "SINCE"}, as_json};
}

std::vector<std::string> row_of(const queue::Route& route) {
  return {route.from.value_or("(any)"), queue::text_of(route.types), route.to, route.set_at};
}

int list_routes(const Context& context, const JsonOption& options) {
  db::Connection db = connect(context.settings());
  Listing list = route_list(options.json);
  for (const queue::Route& route : queue::list_routes(db)) {
    list.add(as_json::route(route), row_of(route));
  }
  list.print();
  return kExitOk;
}

int remote_list_routes(const remote::Session& gateway, const JsonOption& options) {
  Listing list = route_list(options.json);
  for (const json& route : far::items(gateway, "/routes")) {
    list.add(route, row_of(as_json::route_of(route)));
  }
  list.print();
  return kExitOk;
}

// The same arguments for a gateway, which knows the queues.
Words remote_words(const RouteOptions& options) {
  Words words{std::nullopt, queue::pattern_of(options.type)};
  if (!options.any_queue) {
    static_cast<void>(far::queue_path(options.from));
    words.source = queue::QueueInfo{};
    words.source->name = options.from;
  }
  return words;
}

json body_of(const RouteOptions& options) {
  json body{{"type", options.type}};
  if (!options.any_queue) body["from"] = options.from;
  return body;
}

// The gateway moves from one queue at a time.
int remote_set_route(const remote::Session& gateway, const RouteOptions& options) {
  if (options.move && options.any_queue) remote::no_route("--move with --any-queue");
  if (options.rate > 0) remote::no_route("--rate");
  const Words words = remote_words(options);
  json body = body_of(options);
  body["to"] = options.to;
  const json route = far::change(gateway, "PUT", "/routes", std::move(body), "route", options.yes);
  std::optional<Moved> moved;
  if (options.move) {
    moved = move_twice([&] { return move_far(gateway, options.from, options.to, options.type); });
  }
  return report_set(route, words, as_json::route_of(route).to, moved, options.json);
}

int remote_remove_route(const remote::Session& gateway, const RouteOptions& options) {
  const Words words = remote_words(options);
  const json route =
      far::change(gateway, "DELETE", "/routes", body_of(options), "route", options.yes);
  if (options.json) {
    print(route);
  } else {
    say_removed(words, as_json::route_of(route));
  }
  return kExitOk;
}

CLI::App& add_change(CLI::App& route, const Commands& commands, const char* name,
                     const char* description, const std::shared_ptr<RouteOptions>& options,
                     int (*run)(const Context&, const RouteOptions&),
                     int (*far)(const remote::Session&, const RouteOptions&)) {
  CLI::App& act = *route.add_subcommand(name, description);
  act.add_option("TYPE", options->type,
                 "Type; mail.* matches all types with this prefix, * matches any type")
      ->required();
  auto* from = act.add_option("--from", options->from, "Queue that the tasks are submitted to");
  from->type_name("QUEUE");
  auto* any = act.add_flag("--any-queue", options->any_queue,
                           "Tasks submitted to any queue or to none; with type *: to none only");
  from->excludes(any);
  commands.add_reason(act);
  act.add_flag("--yes", options->yes, "Do not ask");
  act.add_flag("--json", options->json, "As JSON");
  act.callback([commands, options, run, far] {
    if (options->from.empty() && !options->any_queue) {
      throw CLI::RequiredError("--from QUEUE or --any-queue");
    }
    commands.choose(run, options, far);
  });
  return act;
}

}  // namespace

void add_route(CLI::App& app, const Commands& commands) {
  CLI::App& route = *app.add_subcommand("route", "Route types of tasks to other queues");
  route.require_subcommand(1);
  const auto options = std::make_shared<RouteOptions>();
  CLI::App& set = add_change(route, commands, "set", "Set the queue that takes tasks of a type",
                             options, set_route, remote_set_route);
  set.add_option("TO", options->to, "Queue that takes the tasks")->required();
  auto* move = set.add_flag("--move", options->move, "Also move waiting tasks");
  set.add_option("--rate", options->rate, "Limit of tasks moved per second")
      ->check(CLI::Range(1, kMostRate))
      ->type_name("TASKS")
      ->needs(move);
  commands.add_plain(route, "list", "List the routes", list_routes, remote_list_routes);
  add_change(route, commands, "remove", "Remove a route", options, remove_route,
             remote_remove_route);
}

}  // namespace allot::cli
