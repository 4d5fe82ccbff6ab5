// SPDX-License-Identifier: Apache-2.0
// /ui/search: tasks of one queue by unique key, or by state, type, time and error. The address
// contains the filter.
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "gateway/ui/page_functions.h"
#include "gateway/ui/task_table.h"
#include "gateway/ui/words.h"

namespace allot::gateway::ui {
namespace {

enum SearchAt : std::size_t { kAllQueues, kFound };

constexpr std::array<const TaskList*, 4> kLists{&kDeadTasks, &kWaitingTasks, &kRunningTasks,
                                                &kDoneTasks};

const TaskList& list_of_search(const Visit& visit) {
  const std::string state = visit.asked("state");
  for (const TaskList* list : kLists) {
    if (list->state == state) return *list;
  }
  return kDeadTasks;
}

// A task that runs inside its partition is listed as waiting.
std::string_view name_of(const TaskList& list) {
  if (list.state == "done") return "finished";
  return list.state == "running" ? "running detached" : list.state;
}

bool asks_for_key(const Visit& visit) {
  return !visit.asked("key").empty();
}

// Converts "2026-11-28T15:00" of a time field, which has no zone and means UTC.
std::string moment_of_field(const std::string& field) {
  constexpr std::size_t kMinutes = std::string_view("2026-11-28T15:00").size();
  constexpr std::size_t kSeconds = kMinutes + 3;
  if (field.size() == kMinutes) return field + ":00Z";
  return field.size() == kSeconds ? field + "Z" : field;
}

void add_parameter(std::string& address, const char* name, const std::string& value) {
  if (value.empty()) return;
  address += address.find('?') == std::string::npos ? "?" : "&";
  address += name;
  address += "=" + api::escaped(value);
}

std::string group_asked(const Visit& visit) {
  return list_of_search(visit).state == "dead" ? visit.asked("group") : "";
}

ApiRequest search_request(const Visit& visit) {
  const std::string queue = "/api/v1/queues/" + api::escaped(visit.asked("queue")) + "/";
  if (asks_for_key(visit)) return {queue + "keys/" + api::escaped(visit.asked("key"))};
  std::string target = queue + std::string(list_of_search(visit).path);
  add_parameter(target, "limit", std::string(kTasksOfPage));
  add_parameter(target, "type", visit.asked("type"));
  add_parameter(target, "since", moment_of_field(visit.asked("since")));
  add_parameter(target, "until", moment_of_field(visit.asked("until")));
  add_parameter(target, "group", group_asked(visit));
  add_parameter(target, "cursor", visit.asked("cursor"));
  return {target};
}

// This page with the same filter, starting at a cursor.
std::string further_address(const Visit& visit, const std::string& next) {
  std::string address = visit.root + "search";
  for (const char* name : {"queue", "state", "type", "since", "until", "group"}) {
    add_parameter(address, name, visit.asked(name));
  }
  add_parameter(address, "cursor", next);
  return address;
}

void write_option(Html& html, std::string_view value, std::string_view text, bool chosen) {
  if (chosen) return html.leaf("option", {{"value", value}, {"selected", ""}}, text);
  html.leaf("option", {{"value", value}}, text);
}

void write_choices(Html& html, const View& view) {
  html.in("label", [&] {
    html.text("Queue");
    html.in("select", {{"name", "queue"}}, [&] {
      for (const json& queue : items_of(view.document(kAllQueues))) {
        const std::string name = text_of(queue, "name");
        write_option(html, name, name, name == view.visit.asked("queue"));
      }
    });
  });
  html.in("label", [&] {
    html.text("Tasks that are");
    html.in("select", {{"name", "state"}}, [&] {
      for (const TaskList* list : kLists) {
        const bool chosen = list == &list_of_search(view.visit);
        write_option(html, list->state, name_of(*list), chosen);
      }
    });
  });
}

void write_search_field(Html& html, const View& view, std::string_view label, std::string_view name,
                        std::string_view type = "text") {
  html.in("label", [&] {
    html.text(label);
    html.empty("input", {{"name", name},
                         {"type", type},
                         {"value", view.visit.asked(name)},
                         {"autocomplete", "off"}});
  });
}

void write_search_form(Html& html, const View& view) {
  html.in("form", {{"class", "search"}, {"method", "get"}, {"action", view.visit.root + "search"}},
          [&] {
            write_choices(html, view);
            write_search_field(html, view, "Type", "type");
            write_search_field(html, view, "From (UTC)", "since", "datetime-local");
            write_search_field(html, view, "Before (UTC)", "until", "datetime-local");
            write_search_field(html, view, "Error group (of dead ones)", "group");
            write_search_field(html, view, "Or a unique key", "key");
            html.in("div", {{"class", "actions"}}, [&] {
              html.leaf("button", {{"class", "main"}}, "Search");
            });
          });
}

void write_owner(Html& html, const View& view, const json& owner) {
  const std::string task = text_of(owner, "task");
  const std::string free_at = text_of(owner, "unique_key_free_at");
  html.in("p", [&] {
    html.text("Task ");
    write_link(html, task_address(view.visit, task), task);
    html.text(" has this unique key. It is " + text_of(owner, "state") + ".");
    if (free_at.empty()) return;
    html.text(" The key is free ");
    write_time(html, view.visit, free_at);
    html.text(".");
  });
}

void write_found(Html& html, const View& view, const json& found) {
  const TaskList& list = list_of_search(view.visit);
  const json& items = list_of(found, "items");
  const std::string next = text_of(found, "next");
  if (list.state != "dead" && !view.visit.asked("group").empty()) {
    html.leaf("p", {{"class", "note"}},
              "Only dead tasks have an error group: it was left out of this search.");
  }
  if (items.empty()) {
    html.leaf("p", {{"class", "none"}},
              next.empty() ? "No task matches."
                           : "No task matches among the 10,000 that this step looked at.");
  } else {
    write_task_table(html, view, items, list);
  }
  if (!next.empty()) {
    html.in("p", {{"class", "actions"}}, [&] {
      html.leaf("a", {{"class", "button"}, {"href", further_address(view.visit, next)}},
                "Look further");
      html.leaf("span", {{"class", "quiet"}},
                "A step shows 50 tasks at most, and looks at 10,000 at most.");
    });
  }
  const std::string queue = view.visit.asked("queue");
  const bool timed = !view.visit.asked("since").empty() || !view.visit.asked("until").empty();
  if (list.state != "dead" || timed || items.empty() || !view.visit.may_operate(queue)) return;
  std::string filter;
  add_parameter(filter, "group", view.visit.asked("group"));
  add_parameter(filter, "type", view.visit.asked("type"));
  write_bulk_links(html, view.visit, queue, filter);
}

void write_limits(Html& html) {
  html.leaf("h2", "What can be found");
  html.in("dl", {{"class", "limits"}}, [&] {
    html.leaf("dt", "At once");
    html.leaf("dd",
              "A task by its id, in the field at the top. A task by its unique key. Dead and "
              "finished tasks by time. Dead tasks by error group, which the failures link to.");
    html.leaf("dt", "Step by step");
    html.leaf("dd",
              "A type, and the time at which a waiting task is due. Each step looks at 10,000 "
              "tasks, then the page offers to look further.");
    html.leaf("dt", "Not at all");
    html.leaf("dd",
              "The time of a submission, the partition key of waiting tasks, and anything in a "
              "payload: no index has them.");
  });
}

}  // namespace

std::vector<ApiRequest> search_requests(const Visit& /*visit*/) {
  return {{"/api/v1/queues"}};
}

std::vector<ApiRequest> search_further(const View& view) {
  if (view.visit.asked("queue").empty()) return {};
  return {search_request(view.visit)};
}

void render_search(const View& view, Html& html) {
  html.leaf("h1", "Search");
  write_search_form(html, view);
  if (const Document* found = view.document(kFound); found != nullptr) {
    html.in("section", {{"id", "found"}, {"aria-label", "Found"}}, [&] {
      if (!found->ok()) {
        html.in("p", {{"class", found->status() == 404 ? "none" : "problem bad"}},
                [&] { html.leaf("bdi", found->detail()); });
      } else if (asks_for_key(view.visit)) {
        write_owner(html, view, found->body());
      } else {
        write_found(html, view, found->body());
      }
    });
  }
  write_limits(html);
}

}  // namespace allot::gateway::ui
