// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "cli/commands/bulk_action.h"
#include "cli/commands/dead.h"
#include "cli/sources/far.h"
#include "cli/words/confirm.h"
#include "json/view_reader.h"

namespace allot::cli {
namespace {

using nlohmann::json;

// "retry", and its past participle.
struct Deed {
  std::string verb;
  std::string past;
};

std::string path_of(const queue::TaskId& id) {
  return "/tasks/" + id.text();
}

void require_dead(const remote::Session& gateway, const queue::TaskId& id) {
  std::string state;
  try {
    state = gateway.read(path_of(id)).at("state").get<std::string>();
  } catch (const remote::Refused& refused) {
    if (refused.status() != 404) throw;
  }
  if (state != "dead") refuse_alive(id, state == "done" ? "" : state);
}

// False: another client acted first.
bool act_on(const remote::Session& gateway, const queue::TaskId& id, const Deed& deed) {
  try {
    const json made = gateway.post(path_of(id) + "/" + deed.verb, json::object());
    const auto now = queue::TaskId::parse(made.at("task").get<std::string>());
    if (now && now->text() != id.text()) say_moved(id, *now);
    return true;
  } catch (const remote::Refused& refused) {
    if (refused.status() == 404 || refused.status() == 409) return false;
    throw;
  }
}

// One request for each task, at most at the given rate.
int act_on_named(const remote::Session& gateway, const DeadChoice& choice, const Deed& deed) {
  const std::vector<queue::TaskId> ids = named_ids(choice);
  for (const queue::TaskId& id : ids) require_dead(gateway, id);
  auto next = std::chrono::steady_clock::now();
  std::uint64_t done = 0;
  for (const queue::TaskId& id : ids) {
    std::this_thread::sleep_until(next);
    try {
      if (act_on(gateway, id, deed)) ++done;
    } catch (const Error& error) {
      throw Error(id.text() + ": " + error.what() + "; " + deed.past + " " + dead_tasks_text(done) +
                      " before",
                  error.exit_code());
    }
    if (choice.rate > 0) next += std::chrono::nanoseconds(1'000'000'000 / choice.rate);
  }
  report_named(choice, deed.past, ids.size(), done);
  return kExitOk;
}

json filter_of(const DeadChoice& choice) {
  json filter = json::object();
  if (!choice.group.empty()) filter["group"] = choice.group;
  if (!choice.type.empty()) filter["type"] = choice.type;
  return filter;
}

std::string path_in(const std::string& queue, const Deed& deed) {
  return far::queue_path(queue, "/dead/" + deed.verb);
}

// A group belongs to a single queue, which need not be named.
CountedDead count_chosen(const remote::Session& gateway, const DeadChoice& choice,
                         const Deed& deed) {
  bool more = false;
  for (const std::string& queue : far::queue_names(gateway, choice.queue)) {
    remote::Request request{"POST", path_in(queue, deed), remote::body_of(filter_of(choice))};
    request.only_counts = true;
    const json count = gateway.send(request);
    CountedDead counted{
        queue,
        {choice.group, choice.type},
        {count.at("tasks").get<std::uint64_t>(), count.at("tasks_at_least").get<bool>(),
         count.at("token").get<std::string>()}};
    // A queue with more dead tasks than are counted may contain tasks of this group.
    const bool taken =
        choice.all || counted.count.tasks > 0 || (!choice.queue.empty() && counted.count.more);
    if (taken) return counted;
    more = more || counted.count.more;
  }
  refuse_group(choice, more);
}

// Counts the tasks first. Then a bulk action with that count is started.
int act_on_many(const remote::Session& gateway, const DeadChoice& choice, const Deed& deed) {
  const CountedDead counted = count_chosen(gateway, choice, deed);
  std::optional<queue::BulkAction> action;
  if (counted.any()) {
    confirm(deed.verb, counted.text(), choice.yes);
    json wanted = filter_of(choice);
    wanted["token"] = counted.count.token;
    if (choice.rate > 0) wanted["rate"] = choice.rate;
    action = as_json::bulk_action_of(gateway.post(path_in(counted.queue, deed), wanted));
    if (!choice.no_wait) {
      action = follow_bulk(gateway, action->action_id);
      require_done(*action);
    }
  }
  report_many(choice, deed.past, counted, action);
  return kExitOk;
}

int act(const remote::Session& gateway, const DeadChoice& choice, const Deed& deed) {
  if (choice.ids.empty()) return act_on_many(gateway, choice, deed);
  return act_on_named(gateway, choice, deed);
}

}  // namespace

int remote_retry_dead(const remote::Session& gateway, const DeadChoice& choice) {
  return act(gateway, choice, {"retry", "retried"});
}

int remote_discard_dead(const remote::Session& gateway, const DeadChoice& choice) {
  return act(gateway, choice, {"discard", "discarded"});
}

}  // namespace allot::cli
