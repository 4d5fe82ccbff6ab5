// SPDX-License-Identifier: Apache-2.0
// /ui/bulk and /ui/bulk/{action}: progress of bulk actions.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "gateway/ui/page_functions.h"
#include "gateway/ui/words.h"

namespace allot::gateway::ui {

namespace {

bool is_open(const std::string& state) {
  return state == "waiting" || state == "running";
}

void write_bulk_state(Html& html, const std::string& state) {
  write_state(html, state == "failed" ? "bad" : is_open(state) ? "idle" : "good", state);
}

std::string_view title_of(const json& action) {
  return text_of(action, "kind") == "retry_dead" ? "Retry of dead tasks" : "Removal of dead tasks";
}

std::string progress_of(const json& action) {
  return number(number_of(action, "done")) + " of " + number(number_of(action, "tasks")) +
         (flag_of(action, "tasks_at_least") ? "+" : "");
}

void write_action_row(Html& html, const View& view, const json& action) {
  const std::string which = std::to_string(number_of(action, "action"));
  const std::string queue = text_of(action, "queue");
  html.in("tr", [&] {
    html.in("th", {{"scope", "row"}},
            [&] { write_link(html, view.visit.root + "bulk/" + which, which); });
    write_cell(html, "What", title_of(action));
    html.in("td", {{"data-label", "Queue"}},
            [&] { write_link(html, queue_address(view.visit, queue), queue); });
    html.in("td", {{"data-label", "State"}},
            [&] { write_bulk_state(html, text_of(action, "state")); });
    write_number(html, "Tasks", progress_of(action));
    html.in("td", {{"data-label", "Asked by"}},
            [&] { html.leaf("bdi", text_of(action, "requested_by")); });
    html.in("td", {{"data-label", "Begun"}},
            [&] { write_time(html, view.visit, text_of(action, "started_at")); });
  });
}

}  // namespace

std::vector<ApiRequest> bulk_list_requests(const Visit& visit) {
  const std::string cursor = visit.asked("cursor");
  return {{"/api/v1/bulk" + (cursor.empty() ? "" : "?cursor=" + api::escaped(cursor))}};
}

void render_bulk_list(const View& view, Html& html) {
  const json& items = items_of(view.document(0));
  html.leaf("h1", "Bulk actions");
  html.in("section", {{"id", "actions"}, {"data-live", ""}, {"aria-label", "Bulk actions"}}, [&] {
    if (items.empty()) {
      return html.leaf("p", {{"class", "none"}}, "There were none in the last week.");
    }
    html.in("table", {{"class", "cards"}}, [&] {
      write_heads(html, {"Number", "What", "Queue", "State", {"Tasks", true}, "Asked by", "Begun"});
      html.in("tbody", [&] {
        for (const json& action : items) write_action_row(html, view, action);
      });
    });
  });
  const std::string next = text_of(view.documents[0].body(), "next");
  if (!next.empty()) {
    html.in("p", {{"class", "actions"}}, [&] {
      html.leaf(
          "a",
          {{"class", "button"}, {"href", view.visit.root + "bulk?cursor=" + api::escaped(next)}},
          "Next page");
    });
  }
  write_command(html, "allot bulk list");
}

std::vector<ApiRequest> bulk_requests(const Visit& visit) {
  return {{"/api/v1/bulk/" + api::escaped(visit.at("action"))}};
}

void render_bulk(const View& view, Html& html) {
  const json& action = view.documents[0].body();
  const std::string state = text_of(action, "state");
  const std::string queue = text_of(action, "queue");
  const bool open = is_open(state);
  html.in("p", {{"class", "crumbs"}},
          [&] { write_link(html, view.visit.root + "bulk", "Bulk actions"); });
  html.leaf("h1", title_of(action));
  html.in("section", {{"id", "bulk"}, {"data-live", ""}, {"aria-label", "Progress"}}, [&] {
    html.in("p", [&] { write_bulk_state(html, state); });
    const std::uint64_t chosen = number_of(action, "tasks");
    const std::uint64_t done = number_of(action, "done");
    html.leaf("progress",
              {{"max", std::to_string(std::max<std::uint64_t>(chosen, 1))},
               {"value", std::to_string(std::min(done, chosen))},
               {"aria-label", "Tasks done"}},
              "");
    html.leaf("p", progress_of(action) + " tasks.");
    html.in("p", {{"class", "facts"}}, [&] {
      html.text("Queue ");
      write_link(html, queue_address(view.visit, queue), queue);
      html.text(" · asked by ");
      html.leaf("bdi", text_of(action, "requested_by"));
      html.text(" ");
      write_time(html, view.visit, text_of(action, "started_at"));
    });
    const std::string error = text_of(action, "error");
    if (!error.empty()) html.leaf("p", {{"class", "error"}}, error);
    if (open && view.visit.may_operate(queue)) {
      html.leaf("a",
                {{"class", "button danger"},
                 {"href", view.visit.root + "bulk/" + view.visit.at("action") + "/stop"}},
                "Stop");
    }
  });
}

}  // namespace allot::gateway::ui
