// SPDX-License-Identifier: Apache-2.0
// /ui/queues/{queue}/dead, /waiting and /running: a page of tasks.
#include <nlohmann/json.hpp>
#include <utility>

#include "gateway/ui/page_functions.h"
#include "gateway/ui/words.h"

namespace allot::gateway::ui {
namespace {

constexpr std::string_view kRows = "50";

std::vector<ApiRequest> list_request(const Visit& visit, std::string_view list) {
  std::string target = "/api/v1/queues/" + api::escaped(visit.at("queue")) + "/" +
                       std::string(list) + "?limit=" + std::string(kRows);
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
                 {{"name", "type"}, {"value", view.visit.asked("type")}, {"maxlength", "63"}});
    });
    html.leaf("button", {{"class", "quiet"}}, "Filter");
  });
}

void write_row(Html& html, const View& view, const json& task, bool dead) {
  const std::string id = text_of(task, "task");
  html.in("tr", [&] {
    html.in("th", {{"scope", "row"}, {"class", "id"}},
            [&] { write_link(html, task_address(view.visit, id), id); });
    write_cell(html, "Type", text_of(task, "type"));
    html.in("td", {{"data-label", dead ? "Died" : "Due"}},
            [&] { write_time(html, view.visit, text_of(task, dead ? "died_at" : "due_at")); });
    write_number(html, "Attempts", number(number_of(task, "attempts_charged")));
    if (!dead) return write_cell(html, "Running on", text_of(task, "running_on"));
    write_cell(html, "Cause", text_of(task, "cause"));
    html.in("td", {{"data-label", "Error"}, {"class", "error"}},
            [&] { html.leaf("bdi", text_of(task, "error")); });
  });
}

void write_table(Html& html, const View& view, bool dead) {
  html.in("table", {{"class", "cards"}}, [&] {
    html.in("thead", [&] {
      html.in("tr", [&] {
        html.leaf("th", {{"scope", "col"}}, "Task");
        html.leaf("th", {{"scope", "col"}}, "Type");
        html.leaf("th", {{"scope", "col"}}, dead ? "Died" : "Due");
        html.leaf("th", {{"scope", "col"}, {"class", "number"}}, "Attempts");
        html.leaf("th", {{"scope", "col"}}, dead ? "Cause" : "Running on");
        if (dead) html.leaf("th", {{"scope", "col"}}, "Error");
      });
    });
    html.in("tbody", [&] {
      for (const json& task : items_of(view.document(0))) write_row(html, view, task, dead);
    });
  });
}

void write_list(const View& view, Html& html, std::string_view list, std::string_view title) {
  const std::string queue = view.visit.at("queue");
  const std::string address = queue_address(view.visit, queue) + "/" + std::string(list);
  html.in("p", {{"class", "crumbs"}},
          [&] { write_link(html, queue_address(view.visit, queue), "Queue " + queue); });
  html.leaf("h1", title);
  write_filter(html, view, address);
  const std::string next = text_of(view.documents[0].body(), "next");
  html.in("section", {{"id", "tasks"}, {"data-live", ""}, {"aria-label", title}}, [&] {
    if (items_of(view.document(0)).empty()) {
      html.leaf("p", {{"class", "none"}},
                next.empty() ? "There are none."
                             : "None among the 10,000 tasks that this page looked at.");
    } else {
      write_table(html, view, list == "dead");
    }
  });
  const std::string type = view.visit.asked("type");
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
  return list_request(visit, "dead");
}
std::vector<ApiRequest> waiting_requests(const Visit& visit) {
  return list_request(visit, "tasks");
}
std::vector<ApiRequest> running_requests(const Visit& visit) {
  return list_request(visit, "running");
}

void render_dead(const View& view, Html& html) {
  write_list(view, html, "dead", "Dead tasks");
  const std::string queue = view.visit.at("queue");
  if (!view.visit.may_operate(queue) || items_of(view.document(0)).empty()) return;
  const std::string type = view.visit.asked("type");
  const std::string filter = type.empty() ? "" : "?type=" + api::escaped(type);
  html.in("p", {{"class", "actions"}}, [&] {
    const std::string address = queue_address(view.visit, queue) + "/dead/";
    html.leaf("a", {{"class", "button"}, {"href", address + "retry" + filter}},
              "Retry all that match");
    html.leaf("a", {{"class", "button danger"}, {"href", address + "discard" + filter}},
              "Discard all that match");
  });
}

void render_waiting(const View& view, Html& html) {
  write_list(view, html, "waiting", "Waiting tasks");
}

void render_running(const View& view, Html& html) {
  write_list(view, html, "running", "Tasks that run detached");
}

}  // namespace allot::gateway::ui
