// SPDX-License-Identifier: Apache-2.0
// The tables of pages and of actions.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "gateway/ui/page_functions.h"
#include "gateway/ui/words.h"

namespace allot::gateway::ui {
namespace {

template <std::size_t kSize>
std::string word(const char (&text)[kSize]) {
  return text;
}

std::string dead_command(const Visit& visit, const char* verb) {
  const std::string group = visit.asked("group");
  const std::string type = visit.asked("type");
  std::string command = word("allot dead ") + verb + " --queue " + shell_word(visit.at("queue"));
  if (!group.empty()) return command + " --group " + shell_word(group);
  return command + " --all" + (type.empty() ? "" : " --type " + shell_word(type));
}

std::string task_path(const std::string& id, const char* note) {
  return "tasks/" + api::escaped(id) + "?note=" + note;
}

std::string queue_path(const Visit& visit, const char* note) {
  return "queues/" + api::escaped(visit.at("queue")) + "?note=" + note;
}

std::string bulk_path(const Visit& /*visit*/, const json& answer) {
  return "bulk/" + std::to_string(number_of(answer, "action")) + "?note=begun";
}

std::vector<Action> task_actions() {
  return {
      {"tasks/{id}/retry",
       "Retry task",
       "Puts the dead task back into its queue, with all attempts before it.",
       {},
       {},
       false,
       [](const View& view) { return "allot dead retry " + shell_word(view.visit.at("id")); },
       [](const Visit&, const json& answer) {
         return task_path(text_of(answer, "task"), "retried");
       }},
      {"tasks/{id}/discard",
       "Discard task",
       "Removes the dead task for good. Its payload is lost.",
       {},
       {},
       false,
       [](const View& view) { return "allot dead discard " + shell_word(view.visit.at("id")); },
       [](const Visit&, const json&) { return word("?note=discarded"); }},
      {"tasks/{id}/cancel",
       "Cancel task",
       "Takes the task out of its queue; its worker is asked to end it where it runs. It is dead "
       "then, and can be retried.",
       {},
       {},
       false,
       [](const View& view) {
         return "allot task cancel " + shell_word(view.visit.at("id")) + " --reason TEXT";
       },
       [](const Visit& visit, const json& answer) {
         return task_path(visit.at("id"),
                          flag_of(answer, "cancelled") ? "cancelled" : "cancel_requested");
       }},
      {"tasks/{id}/again",
       "Submit again",
       "Submits a new task of the same queue, type, class and limits with this payload. The first "
       "task stays as it is.",
       {"payload", "partition_key"},
       {},
       false,
       again_command,
       [](const Visit&, const json& answer) { return task_path(text_of(answer, "id"), "again"); },
       again_requests,
       again_refusal,
       write_again_fields}};
}

std::vector<Action> queue_actions() {
  return {
      {"queues/{queue}/pause",
       "Pause queue",
       "No host starts tasks of this queue until it is resumed. What runs finishes.",
       {},
       {},
       false,
       [](const View& view) {
         return "allot queue pause " + shell_word(view.visit.at("queue")) + " --reason TEXT";
       },
       [](const Visit& visit, const json&) { return queue_path(visit, "paused"); }},
      {"queues/{queue}/resume",
       "Resume queue",
       "The queue continues on all hosts.",
       {},
       {},
       false,
       [](const View& view) { return "allot queue resume " + shell_word(view.visit.at("queue")); },
       [](const Visit& visit, const json&) { return queue_path(visit, "resumed"); }},
      {"queues/{queue}/dead/retry",
       "Retry dead tasks",
       "Puts them back into their queue, as a bulk action that a steward works off.",
       {"token", "group", "type"},
       {"rate"},
       true,
       [](const View& view) { return dead_command(view.visit, "retry"); },
       bulk_path},
      {"queues/{queue}/dead/discard",
       "Discard dead tasks",
       "Removes them for good, as a bulk action that a steward works off.",
       {"token", "group", "type"},
       {"rate"},
       true,
       [](const View& view) { return dead_command(view.visit, "discard"); },
       bulk_path},
      {"bulk/{action}/stop",
       "Stop bulk action",
       "Ends it after its present batch. What it did stays done.",
       {},
       {},
       false,
       [](const View& view) { return "allot bulk stop " + shell_word(view.visit.at("action")); },
       [](const Visit& visit, const json&) {
         return "bulk/" + api::escaped(visit.at("action")) + "?note=stopped";
       }}};
}

std::string schedule_path(const Visit& visit, const char* note) {
  return "schedules/" + api::escaped(visit.at("schedule")) + "?note=" + note;
}

std::vector<Action> schedule_actions() {
  return {
      {"schedules/{schedule}/pause",
       "Pause schedule",
       "It makes no tasks until it is resumed. Ticks in the pause are dropped.",
       {"reason"},
       {},
       false,
       [](const View& view) {
         return "allot schedule pause " + shell_word(view.visit.at("schedule")) + " --reason TEXT";
       },
       [](const Visit& visit, const json&) { return schedule_path(visit, "schedule_paused"); }},
      {"schedules/{schedule}/resume",
       "Resume schedule",
       "It continues with its next tick.",
       {},
       {},
       false,
       [](const View& view) {
         return "allot schedule resume " + shell_word(view.visit.at("schedule"));
       },
       [](const Visit& visit, const json&) { return schedule_path(visit, "schedule_resumed"); }},
      {"schedules/{schedule}/run-now",
       "Run schedule now",
       "Submits one task of it. Its next run stays as it is.",
       {},
       {},
       false,
       [](const View& view) {
         return "allot schedule run-now " + shell_word(view.visit.at("schedule"));
       },
       [](const Visit& visit, const json&) { return schedule_path(visit, "ran"); }}};
}

std::vector<Action> lock_actions() {
  return {{"locks/{lock}/break",
           "Break lock",
           "Takes the lock from its holder, which may still be at work: another one may get it "
           "while the first has not ended.",
           {},
           {"slot"},
           false,
           [](const View& view) {
             const std::string slot = view.visit.asked("slot");
             return "allot lock break " + shell_word(view.visit.at("lock")) +
                    (slot.empty() ? "" : " --slot " + shell_word(slot));
           },
           [](const Visit& visit, const json&) {
             return "locks/" + api::escaped(visit.at("lock")) + "?note=broken";
           }}};
}

std::vector<std::string_view> segments_of(std::string_view path) {
  std::vector<std::string_view> segments;
  for (;;) {
    const std::size_t end = path.find('/');
    segments.push_back(path.substr(0, end));
    if (end == std::string_view::npos) return segments;
    path.remove_prefix(end + 1);
  }
}

}  // namespace

Document::Document(unsigned status, json body, std::string raw)
    : status_(status), body_(std::make_shared<const json>(std::move(body))), raw_(std::move(raw)) {}

const json& Document::body() const {
  static const json kNull;
  return body_ ? *body_ : kNull;
}

std::string Document::detail() const {
  const std::string text = text_of(body(), "detail");
  return text.empty() ? "status " + std::to_string(status_) : text;
}

std::string Visit::at(std::string_view path_name) const {
  const auto found = path.find(path_name);
  return found == path.end() ? std::string() : found->second;
}

std::string Visit::asked(std::string_view query_name) const {
  const auto found = query.find(query_name);
  return found == query.end() ? std::string() : found->second;
}

bool matches(std::string_view pattern, std::string_view path, api::Values& values) {
  const auto wanted = segments_of(pattern);
  const auto given = segments_of(path);
  if (wanted.size() != given.size()) return false;
  api::Values found;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (!wanted[i].starts_with('{')) {
      if (wanted[i] != given[i]) return false;
      continue;
    }
    auto value = api::unescaped(given[i], false);
    if (!value || value->empty()) return false;
    found.emplace(wanted[i].substr(1, wanted[i].size() - 2), std::move(*value));
  }
  values = std::move(found);
  return true;
}

const std::vector<Page>& pages() {
  static const std::vector<Page> kPages{
      {"", "Overview", [](const Visit&) { return word("Overview"); }, overview_requests, nullptr,
       render_overview, true},
      {"failures", "Failures", [](const Visit&) { return word("Failures"); }, failures_requests,
       failures_further, render_failures},
      {"queues", "Queues", [](const Visit&) { return word("Queues"); }, overview_requests, nullptr,
       render_queues},
      {"queues/{queue}", "Queues", [](const Visit& visit) { return "Queue " + visit.at("queue"); },
       queue_requests, nullptr, render_queue},
      {"queues/{queue}/dead", "Queues",
       [](const Visit& visit) { return "Dead tasks of " + visit.at("queue"); }, dead_requests,
       nullptr, render_dead},
      {"queues/{queue}/waiting", "Queues",
       [](const Visit& visit) { return "Waiting tasks of " + visit.at("queue"); }, waiting_requests,
       nullptr, render_waiting},
      {"queues/{queue}/running", "Queues",
       [](const Visit& visit) { return "Running tasks of " + visit.at("queue"); }, running_requests,
       nullptr, render_running},
      {"queues/{queue}/history", "Queues",
       [](const Visit& visit) { return "History of " + visit.at("queue"); }, history_requests,
       nullptr, render_history},
      {"search", "Search", [](const Visit&) { return word("Search"); }, search_requests,
       search_further, render_search, false, true},
      {"schedules", "Schedules", [](const Visit&) { return word("Schedules"); }, schedules_requests,
       nullptr, render_schedules},
      {"schedules/{schedule}", "Schedules",
       [](const Visit& visit) { return "Schedule " + visit.at("schedule"); }, schedule_requests,
       nullptr, render_schedule},
      {"locks", "Locks", [](const Visit&) { return word("Locks"); }, locks_requests, nullptr,
       render_locks},
      {"locks/{lock}", "Locks", [](const Visit& visit) { return "Lock " + visit.at("lock"); },
       lock_requests, nullptr, render_lock},
      {"routes", "Routes", [](const Visit&) { return word("Routes"); }, routes_requests, nullptr,
       render_routes},
      {"bulk", "Bulk actions", [](const Visit&) { return word("Bulk actions"); },
       bulk_list_requests, nullptr, render_bulk_list},
      {"types", "Types", [](const Visit&) { return word("Types"); }, types_requests, nullptr,
       render_types},
      {"running", "Running", [](const Visit&) { return word("Running now"); }, running_now_requests,
       nullptr, render_running_now},
      {"workers", "Workers", [](const Visit&) { return word("Workers and hosts"); },
       workers_requests, nullptr, render_workers},
      {"tasks/{id}", "", [](const Visit& visit) { return "Task " + visit.at("id"); }, task_requests,
       task_further, render_task, false, true},
      {"audit", "Audit", [](const Visit&) { return word("Audit"); }, audit_requests, nullptr,
       render_audit},
      {"bulk/{action}", "Bulk actions",
       [](const Visit& visit) { return "Bulk action " + visit.at("action"); }, bulk_requests,
       nullptr, render_bulk}};
  return kPages;
}

const std::vector<Action>& actions() {
  static const std::vector<Action> kActions = [] {
    std::vector<Action> all = task_actions();
    for (const auto part : {queue_actions, schedule_actions, lock_actions}) {
      for (Action& each : part()) all.push_back(std::move(each));
    }
    return all;
  }();
  return kActions;
}

}  // namespace allot::gateway::ui
