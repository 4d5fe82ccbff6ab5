// SPDX-License-Identifier: Apache-2.0
// /ui/schedules and /ui/schedules/{schedule}
#include <nlohmann/json.hpp>
#include <utility>

#include "gateway/ui/page_functions.h"
#include "gateway/ui/words.h"

namespace allot::gateway::ui {
namespace {

bool is_paused(const json& schedule) {
  return part_of(schedule, "paused").is_object();
}
bool fails(const json& schedule) {
  return part_of(schedule, "error").is_object();
}

// A paused schedule creates no task.
std::string next_of_schedule(const json& schedule) {
  return is_paused(schedule) ? "" : text_of(schedule, "next_run");
}

std::string schedule_address(const Visit& visit, const std::string& name) {
  return visit.root + "schedules/" + api::escaped(name);
}

// Shows the expression itself if it has no description in words.
void write_when(Html& html, const json& schedule) {
  const std::string words = text_of(schedule, "in_words");
  const std::string expression = text_of(schedule, "expression");
  const std::string zone = text_of(schedule, "zone");
  html.leaf("bdi", words.empty() ? expression : words);
  if (!zone.empty()) html.leaf("span", {{"class", "quiet"}}, " " + zone);
}

void write_schedule_state(Html& html, const json& schedule) {
  if (is_paused(schedule)) return write_state(html, "paused", "paused");
  if (fails(schedule)) return write_state(html, "bad", "fails");
  const bool over = text_of(schedule, "next_run").empty();
  write_state(html, over ? "idle" : "good", over ? "over" : "on");
}

void write_schedule_row(Html& html, const View& view, const json& schedule) {
  const std::string name = text_of(schedule, "name");
  html.in("tr", [&] {
    html.in("th", {{"scope", "row"}},
            [&] { write_link(html, schedule_address(view.visit, name), name); });
    html.in("td", {{"data-label", "State"}}, [&] { write_schedule_state(html, schedule); });
    html.in("td", {{"data-label", "When"}, {"class", "words"}},
            [&] { write_when(html, schedule); });
    write_cell(html, "Type", text_of(schedule, "type"));
    html.in("td", {{"data-label", "Queue"}}, [&] {
      const std::string queue = text_of(schedule, "queue");
      write_link(html, queue_address(view.visit, queue), queue);
    });
    html.in("td", {{"data-label", "Last run"}},
            [&] { write_time(html, view.visit, text_of(schedule, "last_run")); });
    html.in("td", {{"data-label", "Next run"}},
            [&] { write_time(html, view.visit, next_of_schedule(schedule)); });
  });
}

void write_schedule_problems(Html& html, const View& view, const json& schedule) {
  if (is_paused(schedule)) {
    const json& paused = part_of(schedule, "paused");
    html.in("p", {{"class", "problem paused"}}, [&] {
      write_state(html, "paused", "Paused");
      html.text(" ");
      write_time(html, view.visit, text_of(paused, "since"));
      const std::string reason = text_of(paused, "reason");
      if (!reason.empty()) html.text(": ");
      html.leaf("bdi", reason);
    });
  }
  if (fails(schedule)) {
    const json& error = part_of(schedule, "error");
    html.in("p", {{"class", "problem bad"}}, [&] {
      write_state(html, "bad", "Its tick cannot be submitted");
      html.text(" since ");
      write_time(html, view.visit, text_of(error, "since"));
      html.text(": ");
      html.leaf("bdi", text_of(error, "text"));
    });
  }
}

void write_schedule_actions(Html& html, const View& view, const json& schedule,
                            const std::string& name) {
  if (!view.visit.may_operate(text_of(schedule, "queue"))) return;
  const std::string address = schedule_address(view.visit, name);
  html.in("p", {{"class", "actions"}}, [&] {
    html.leaf("a", {{"class", "button"}, {"href", address + "/run-now"}}, "Run now");
    if (is_paused(schedule)) {
      html.leaf("a", {{"class", "button"}, {"href", address + "/resume"}}, "Resume");
    } else {
      html.leaf("a", {{"class", "button"}, {"href", address + "/pause"}}, "Pause");
    }
  });
}

void write_fact_moment(Html& html, const View& view, std::string_view name,
                       const std::string& value) {
  html.in("div", [&] {
    html.leaf("dt", name);
    html.in("dd", [&] { write_time(html, view.visit, value); });
  });
}

void write_schedule_facts(Html& html, const View& view, const json& schedule) {
  html.in("dl", {{"class", "figures"}}, [&] {
    html.in("div", [&] {
      html.leaf("dt", "When");
      html.in("dd", [&] { write_when(html, schedule); });
    });
    html.in("div", [&] {
      html.leaf("dt", "Expression");
      html.in("dd", [&] { html.leaf("code", text_of(schedule, "expression")); });
    });
    write_fact_moment(html, view, "Last run", text_of(schedule, "last_run"));
    write_fact_moment(html, view, "Next run", next_of_schedule(schedule));
    html.in("div", [&] {
      const std::string queue = text_of(schedule, "queue");
      html.leaf("dt", "Queue");
      html.in("dd", [&] { write_link(html, queue_address(view.visit, queue), queue); });
    });
    write_fact(html, "Type", text_of(schedule, "type"));
    write_fact(html, "Ticks with a task", number(number_of(schedule, "submitted")));
    write_fact(html, "Skipped", number(number_of(schedule, "skipped")));
    write_fact(html, "Dropped", number(number_of(schedule, "dropped")));
    write_fact(html, "Late ticks", text_of(schedule, "late"));
    write_fact(html, "While the task before runs", text_of(schedule, "overlap"));
    write_fact(html, "Made by", flag_of(schedule, "configured") ? "a configuration" : "a command");
  });
}

void write_ticks(Html& html, const View& view, const json& schedule) {
  const json ticks = list_of(schedule, "last_ticks");
  html.leaf("h2", "Last ticks");
  if (ticks.empty()) return html.leaf("p", {{"class", "none"}}, "None yet.");
  html.in("table", {{"class", "cards"}}, [&] {
    write_heads(html, {"Tick", "Submitted", "Task"});
    html.in("tbody", [&] {
      for (const json& tick : ticks) {
        html.in("tr", [&] {
          html.in("th", {{"scope", "row"}},
                  [&] { write_time(html, view.visit, text_of(tick, "tick")); });
          html.in("td", {{"data-label", "Submitted"}},
                  [&] { write_time(html, view.visit, text_of(tick, "at")); });
          html.in("td", {{"data-label", "Task"}}, [&] {
            const std::string task = text_of(tick, "task");
            if (!task.empty()) write_link(html, task_address(view.visit, task), task);
            const std::string reason = text_of(tick, "reason");
            if (!task.empty() && !reason.empty()) html.text(" · ");
            html.leaf("bdi", reason);
          });
        });
      }
    });
  });
}

void write_schedule_payload(Html& html, const json& schedule) {
  html.leaf("h2", "Payload");
  const json& payload = part_of(schedule, "payload");
  const std::string text = text_of(schedule, "payload");
  if (!payload.is_string()) return html.leaf("p", {{"class", "quiet"}}, "It is not text.");
  if (text.empty()) return html.leaf("p", {{"class", "quiet"}}, "It is empty.");
  html.leaf("pre", {{"class", "payload"}, {"tabindex", "0"}}, text.substr(0, kMostPayload));
}

}  // namespace

std::vector<ApiRequest> schedules_requests(const Visit& /*visit*/) {
  return {{"/api/v1/schedules"}};
}

void render_schedules(const View& view, Html& html) {
  html.leaf("h1", "Schedules");
  html.in("section", {{"id", "schedules"}, {"data-live", ""}, {"aria-label", "Schedules"}}, [&] {
    const json& items = items_of(view.document(0));
    if (items.empty()) {
      return html.leaf("p", {{"class", "none"}}, "There are none. allot schedule add makes one.");
    }
    html.in("table", {{"class", "cards"}}, [&] {
      write_heads(html, {"Schedule", "State", "When", "Type", "Queue", "Last run", "Next run"});
      html.in("tbody", [&] {
        for (const json& schedule : items) write_schedule_row(html, view, schedule);
      });
    });
  });
  write_command(html, "allot schedule list");
}

std::vector<ApiRequest> schedule_requests(const Visit& visit) {
  return {{"/api/v1/schedules/" + api::escaped(visit.at("schedule"))}};
}

void render_schedule(const View& view, Html& html) {
  const json& schedule = view.documents[0].body();
  const std::string name = text_of(schedule, "name");
  html.in("p", {{"class", "crumbs"}},
          [&] { write_link(html, view.visit.root + "schedules", "Schedules"); });
  html.leaf("h1", "Schedule " + name);
  html.in("section", {{"id", "schedule"}, {"data-live", ""}, {"aria-label", "Schedule"}}, [&] {
    html.in("p", [&] { write_schedule_state(html, schedule); });
    write_schedule_problems(html, view, schedule);
    write_schedule_actions(html, view, schedule, name);
    write_schedule_facts(html, view, schedule);
    write_ticks(html, view, schedule);
    write_schedule_payload(html, schedule);
  });
  write_command(html, "allot schedule show " + shell_word(name));
}

}  // namespace allot::gateway::ui
