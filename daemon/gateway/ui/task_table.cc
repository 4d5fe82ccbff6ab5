// SPDX-License-Identifier: Apache-2.0
#include "gateway/ui/task_table.h"

#include <nlohmann/json.hpp>
#include <string>

#include "gateway/ui/words.h"

namespace allot::gateway::ui {
namespace {

void write_table_head(Html& html, const TaskList& list) {
  if (list.state == "dead") {
    return write_heads(html,
                       {"Task", "Type", {list.time, false}, {"Attempts", true}, "Cause", "Error"});
  }
  if (list.state == "done") {
    return write_heads(
        html, {"Task", "Type", {list.time, false}, {"Attempts", true}, {"Ran", true}, "Worker"});
  }
  if (list.state == "running") {
    return write_heads(html,
                       {"Task", "Type", {list.time, false}, {"Attempts", true}, "Running on"});
  }
  write_heads(html, {"Task", "Type", {list.time, false}, {"Attempts", true}, {"Class", true}});
}

void write_task_row(Html& html, const View& view, const json& task, const TaskList& list) {
  const std::string id = text_of(task, "task");
  const bool dead = list.state == "dead";
  const bool done = list.state == "done";
  html.in("tr", [&] {
    html.in("th", {{"scope", "row"}, {"class", "id"}},
            [&] { write_link(html, task_address(view.visit, id), id); });
    write_cell(html, "Type", text_of(task, "type"));
    html.in("td", {{"data-label", list.time}}, [&] {
      write_time(html, view.visit, text_of(task, dead ? "died_at" : done ? "ended_at" : "due_at"));
    });
    write_number(html, "Attempts", number(number_of(task, done ? "attempt" : "attempts_charged")));
    if (done) {
      const bool measured = part_of(task, "runtime_us").is_number();
      write_number(html, "Ran", measured ? runtime(number_of(task, "runtime_us")) : "–");
      return write_cell(html, "Worker", text_of(task, "worker"));
    }
    if (list.state == "running") return write_cell(html, "Running on", text_of(task, "running_on"));
    if (!dead) return write_number(html, "Class", number(number_of(task, "prio")));
    write_cell(html, "Cause", text_of(task, "cause"));
    html.in("td", {{"data-label", "Error"}, {"class", "error"}},
            [&] { html.leaf("bdi", text_of(task, "error")); });
  });
}

}  // namespace

void write_task_table(Html& html, const View& view, const json& tasks, const TaskList& list) {
  html.in("table", {{"class", "cards"}}, [&] {
    write_table_head(html, list);
    html.in("tbody", [&] {
      for (const json& task : tasks) write_task_row(html, view, task, list);
    });
  });
}

}  // namespace allot::gateway::ui
