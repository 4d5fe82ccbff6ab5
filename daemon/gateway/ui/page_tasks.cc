// SPDX-License-Identifier: Apache-2.0
// /ui/queues/{queue}/dead, /waiting, /running and /history: a page of tasks.
#include <nlohmann/json.hpp>
#include <utility>

#include "gateway/ui/page_functions.h"
#include "gateway/ui/task_table.h"
#include "gateway/ui/words.h"

namespace allot::gateway::ui {
namespace {

std::vector<ApiRequest> list_request(const Visit& visit, const TaskList& list) {
  std::string target = "/api/v1/queues/" + api::escaped(visit.at("queue")) + "/" +
                       std::string(list.path) + "?limit=" + std::string(kTasksOfPage);
  for (const char* name : {"type", "cursor"}) {
    const std::string value = visit.asked(name);
    if (!value.empty()) target += std::string("&") + name + "=" + api::escaped(value);
  }
  return {{target}};
}

void write_filter(Html& html, const View& view, const std::string& address) {
  html.in("form", {{"class", "filter"}, {"method", "get"}, {"action", address}}, [&] {
    html.in("label", [&] {
      html.text("Type ");
      html.empty("input",
                 {{"name", "type"}, {"value", view.visit.asked("type")}, {"maxlength", "127"}});
    });
    html.leaf("button", {{"class", "quiet"}}, "Filter");
  });
}

void write_none(Html& html, const TaskList& list, bool more) {
  html.in("p", {{"class", "none"}}, [&] {
    if (more) return html.text("None among the 10,000 tasks that this page looked at.");
    html.text("There are none.");
    if (list.state == "done") {
      html.text(" A queue keeps its finished tasks where [queues.NAME] history says for how long.");
    }
  });
}

void write_list(const View& view, Html& html, const TaskList& list) {
  const std::string queue = view.visit.at("queue");
  const std::string type = view.visit.asked("type");
  const std::string address = queue_address(view.visit, queue) + "/" + std::string(list.page);
  const std::string next = text_of(view.documents[0].body(), "next");
  html.in("p", {{"class", "crumbs"}},
          [&] { write_link(html, queue_address(view.visit, queue), "Queue " + queue); });
  html.leaf("h1", list.title);
  write_filter(html, view, address);
  // A filter reads many rows, so a filtered page is not refreshed every 2 s.
  const bool live = type.empty();
  html.in("section",
          {{"id", "tasks"},
           {live ? Word("data-live") : Word("data-still"), ""},
           {"aria-label", list.title}},
          [&] {
            const json& items = items_of(view.document(0));
            if (items.empty()) return write_none(html, list, !next.empty());
            write_task_table(html, view, items, list);
          });
  if (next.empty()) return;
  html.in("p", {{"class", "actions"}}, [&] {
    const std::string filter = type.empty() ? "" : "&type=" + api::escaped(type);
    html.leaf("a",
              {{"class", "button"}, {"href", address + "?cursor=" + api::escaped(next) + filter}},
              type.empty() ? "Next page" : "Look further");
  });
}

}  // namespace

std::vector<ApiRequest> dead_requests(const Visit& visit) {
  return list_request(visit, kDeadTasks);
}
std::vector<ApiRequest> waiting_requests(const Visit& visit) {
  return list_request(visit, kWaitingTasks);
}
std::vector<ApiRequest> running_requests(const Visit& visit) {
  return list_request(visit, kRunningTasks);
}
std::vector<ApiRequest> history_requests(const Visit& visit) {
  return list_request(visit, kDoneTasks);
}

void render_dead(const View& view, Html& html) {
  write_list(view, html, kDeadTasks);
  const std::string queue = view.visit.at("queue");
  if (!view.visit.may_operate(queue) || items_of(view.document(0)).empty()) return;
  const std::string type = view.visit.asked("type");
  write_bulk_links(html, view.visit, queue, type.empty() ? "" : "?type=" + api::escaped(type));
}

void render_waiting(const View& view, Html& html) {
  write_list(view, html, kWaitingTasks);
}

void render_running(const View& view, Html& html) {
  write_list(view, html, kRunningTasks);
}

void render_history(const View& view, Html& html) {
  write_list(view, html, kDoneTasks);
}

}  // namespace allot::gateway::ui
