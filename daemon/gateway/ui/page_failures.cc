// SPDX-License-Identifier: Apache-2.0
// /ui/failures: the errors of a day, grouped by class and place, over all queues.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "gateway/ui/chart.h"
#include "gateway/ui/page_functions.h"
#include "gateway/ui/words.h"

namespace allot::gateway::ui {
namespace {

constexpr std::size_t kHours = 24;
constexpr std::size_t kMostGroups = 100;  // limit of groups on the page
constexpr std::size_t kMostQueues = 20;   // limit of queues whose dead tasks are read for examples

struct Group {
  std::string group;
  std::string queue;
  std::string type;
  std::string error;
  std::string fault{};
  std::string example{};     // a task with this error
  std::string message{};     // error message of that task
  std::uint64_t failed = 0;  // failed attempts in the day
  std::string first{};       // time of the first failure
  std::string last{};
  std::vector<double> hours = std::vector<double>(kHours);
  json dead{};  // the group of dead tasks; null: none, or not read
};

using Key = std::tuple<std::string, std::string, std::string>;  // queue, type, group

std::string failures_target(const Visit& visit) {
  const std::string queue = visit.asked("queue");
  return "/api/v1/failures?since=1440" + (queue.empty() ? "" : "&queue=" + api::escaped(queue));
}

// Adds the failed attempts of the day.
void add(Group& group, const json& failure, std::chrono::sys_seconds now) {
  group.failed = number_of(failure, "retried") + number_of(failure, "dead");
  group.error = text_of(failure, "error");
  group.example = text_of(failure, "newest_task");
  group.message = text_of(failure, "newest_error");
  group.last = text_of(failure, "newest_at");
  const auto hours = failure.find("hours");
  if (hours == failure.end()) return;
  for (const json& hour : *hours) {  // newest first
    const std::string at = text_of(hour, "at");
    group.last = std::max(group.last, at);
    group.first = at;
    const auto when = moment(at);
    if (!when) continue;
    const auto ago = std::chrono::floor<std::chrono::hours>(now - *when).count();
    if (ago < 0 || ago >= static_cast<std::int64_t>(kHours)) continue;
    group.hours.at(kHours - 1 - static_cast<std::size_t>(ago)) +=
        static_cast<double>(number_of(hour, "failed"));
  }
}

std::vector<Group> groups_of(const View& view) {
  std::map<Key, Group> groups;
  for (const json& item : items_of(view.document(0))) {
    const Key key{text_of(item, "queue"), text_of(item, "type"), text_of(item, "group")};
    Group& group = groups[key];
    std::tie(group.queue, group.type, group.group) = key;
    add(group, item, view.visit.now);
  }
  for (std::size_t i = 1; i < view.documents.size(); ++i) {
    for (const json& dead : items_of(view.document(i))) {
      const Key key{text_of(dead, "queue"), text_of(dead, "type"), text_of(dead, "group")};
      Group& group = groups[key];
      std::tie(group.queue, group.type, group.group) = key;
      group.dead = dead;
      group.fault = text_of(dead, "fault");
      if (group.example.empty()) group.example = text_of(dead, "newest_task");
      group.last = std::max(group.last, text_of(dead, "newest_died_at"));  // same format
    }
  }
  std::vector<Group> list;
  for (auto& [key, group] : groups) list.push_back(std::move(group));
  std::stable_sort(list.begin(), list.end(), [](const Group& a, const Group& b) {
    return std::max(a.failed, number_of(a.dead, "tasks")) >
           std::max(b.failed, number_of(b.dead, "tasks"));
  });
  return list;
}

void write_dead(Html& html, const View& view, const Group& group) {
  if (!group.dead.is_object()) return html.leaf("span", {{"class", "quiet"}}, "no dead tasks");
  const bool more = flag_of(group.dead, "tasks_at_least");
  html.in("span", [&] {
    html.leaf("strong", number(number_of(group.dead, "tasks")) + (more ? "+" : ""));
    html.text(" dead");
  });
  if (!view.visit.may_operate(group.queue)) return;
  write_link(
      html,
      queue_address(view.visit, group.queue) + "/dead/retry?group=" + api::escaped(group.group),
      "Retry this group");
  write_link(
      html,
      queue_address(view.visit, group.queue) + "/dead/discard?group=" + api::escaped(group.group),
      "Discard");
}

void write_group(Html& html, const View& view, const Group& group) {
  html.in("li", {{"class", "group"}}, [&] {
    html.in("p", {{"class", "error"}},
            [&] { html.leaf("bdi", group.fault.empty() ? group.error : group.fault); });
    if (!group.message.empty()) {
      html.in("p", {{"class", "quiet"}}, [&] { html.leaf("bdi", group.message); });
    }
    html.in("p", {{"class", "facts"}}, [&] {
      html.leaf("span", {{"class", "type"}}, group.type);
      html.text(" in ");
      write_link(html, queue_address(view.visit, group.queue), group.queue);
      if (group.failed > 0) {
        html.text(" · " + number(group.failed) + " failed attempts in a day, first ");
        write_time(html, view.visit, group.first);
        html.text(", last ");
      } else {
        html.text(" · died ");
      }
      write_time(html, view.visit, group.last);
    });
    if (group.failed > 0) {
      write_bars(html, group.hours, number(group.failed) + " failed attempts, by hour");
    }
    html.in("p", {{"class", "actions"}}, [&] {
      if (!group.example.empty()) {
        write_link(html, task_address(view.visit, group.example), "Show an example");
      }
      if (group.dead.is_object()) {
        write_link(html,
                   view.visit.root + "search?state=dead&queue=" + api::escaped(group.queue) +
                       "&group=" + api::escaped(group.group),
                   "Show all");
      }
      write_dead(html, view, group);
    });
  });
}

}  // namespace

std::vector<ApiRequest> failures_requests(const Visit& visit) {
  return {{failures_target(visit)}};
}

// Requests the dead groups of the failed queues, or of the selected queue.
std::vector<ApiRequest> failures_further(const View& view) {
  std::set<std::string> queues;
  for (const json& item : items_of(view.document(0))) queues.insert(text_of(item, "queue"));
  const std::string asked = view.visit.asked("queue");
  if (!asked.empty()) queues = {asked};
  queues.erase("other");
  std::vector<ApiRequest> requests;
  for (const std::string& queue : queues) {
    if (requests.size() == kMostQueues) break;
    requests.push_back({"/api/v1/queues/" + api::escaped(queue) + "/dead/groups?limit=100"});
  }
  return requests;
}

void render_failures(const View& view, Html& html) {
  const std::string queue = view.visit.asked("queue");
  html.leaf("h1", queue.empty() ? "Failures" : "Failures of queue " + queue);
  const std::vector<Group> groups = groups_of(view);
  html.in("section", {{"id", "failures"}, {"data-live", ""}, {"aria-label", "Groups"}}, [&] {
    if (groups.empty()) {
      html.in("p", {{"class", "well"}},
              [&] { write_state(html, "good", "No attempt has failed in the last 24 hours."); });
    }
    html.in("ul", {{"class", "groups"}}, [&] {
      for (std::size_t i = 0; i < std::min(groups.size(), kMostGroups); ++i) {
        write_group(html, view, groups[i]);
      }
    });
    if (groups.size() > kMostGroups) {
      html.leaf("p", {{"class", "hint"}},
                number(groups.size() - kMostGroups) + " smaller groups are not shown.");
    }
  });
  html.leaf("p", {{"class", "hint"}}, "An attempt is counted here within two minutes.");
  if (!queue.empty()) {
    html.in("p", [&] { write_link(html, view.visit.root + "failures", "Failures of all queues"); });
  }
}

}  // namespace allot::gateway::ui
