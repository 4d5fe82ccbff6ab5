// SPDX-License-Identifier: Apache-2.0
// /ui/tasks/{id}
#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "gateway/ui/page_functions.h"
#include "gateway/ui/words.h"

namespace allot::gateway::ui {
namespace {

enum TaskAt : std::size_t { kTask, kWhy, kPayload };

constexpr int kDeepest = 64;

std::string_view kind_of_state(const std::string& state) {
  if (state == "dead") return "bad";
  return state == "running" || state == "done" ? "good" : "idle";
}

void write_fact_time(Html& html, const View& view, std::string_view name,
                     const std::string& value) {
  if (value.empty()) return;
  html.in("div", [&] {
    html.leaf("dt", name);
    html.in("dd", [&] { write_time(html, view.visit, value); });
  });
}

// The payload; nullopt: it is too large for the page.
std::optional<std::string> payload_in(const View& view, const json& task) {
  if (!flag_of(task, "payload_truncated")) return text_of(task, "payload");
  const Document* whole = view.document(kPayload);
  if (whole == nullptr || !whole->ok() || whole->raw().size() > kMostPayload) return std::nullopt;
  return whole->raw();
}

void write_actions(Html& html, const View& view, const json& task, const std::string& state) {
  const std::string queue = text_of(task, "queue");
  if (!view.visit.may_operate(queue) || state == "done") return;
  const std::string address = task_address(view.visit, text_of(task, "task"));
  html.in("div", {{"class", "actions"}}, [&] {
    if (state == "dead") {
      write_button(html, view.visit, address + "/retry", "Retry", "main");
      html.leaf("a", {{"class", "button danger"}, {"href", address + "/discard"}}, "Discard");
    } else {
      html.leaf("a", {{"class", "button danger"}, {"href", address + "/cancel"}}, "Cancel");
    }
    const auto payload = payload_in(view, task);
    if (payload && may_submit_again(view.visit, queue) && edit_refusal(*payload).empty()) {
      html.leaf("a", {{"class", "button"}, {"href", address + "/again"}}, "Edit and submit again");
    }
  });
}

void write_facts(Html& html, const View& view, const json& task) {
  html.in("dl", {{"class", "figures"}}, [&] {
    html.in("div", [&] {
      html.leaf("dt", "Queue");
      const std::string queue = text_of(task, "queue");
      html.in("dd", [&] { write_link(html, queue_address(view.visit, queue), queue); });
    });
    write_fact(html, "Type", text_of(task, "type"));
    const std::uint64_t most = number_of(task, "max_attempts");
    write_fact(
        html, "Attempts charged",
        number(number_of(task, "attempts_charged")) + (most == 0 ? "" : " of " + number(most)));
    write_fact_time(html, view, "First due", text_of(task, "first_due_at"));
    write_fact_time(html, view, "Due", text_of(task, "due_at"));
    write_fact_time(html, view, "Died", text_of(task, "died_at"));
    write_fact_time(html, view, "Ended", text_of(task, "ended_at"));
    write_fact_time(html, view, "Expires", text_of(task, "expires_at"));
    write_fact(html, "Running on", text_of(task, "running_on"));
    write_fact(html, "Unique key", text_of(task, "unique_key"));
    write_fact(html, "Trace", text_of(task, "traceparent"));
    write_fact(html, "Partition", number(number_of(task, "partition")));
    write_fact(html, "Class", number(number_of(task, "prio")));
  });
}

void write_error(Html& html, const std::string& error, const std::string& detail,
                 const std::string& fault) {
  if (!fault.empty()) {
    html.in("p", {{"class", "fault"}}, [&] { html.leaf("bdi", fault); });
  }
  if (!error.empty()) {
    html.in("p", {{"class", "error"}}, [&] { html.leaf("bdi", error); });
  }
  if (!detail.empty() && detail != error) {
    html.leaf("pre", {{"class", "detail"}, {"tabindex", "0"}}, detail);
  }
}

void write_why(Html& html, const View& view) {
  const Document* why = view.document(kWhy);
  if (why == nullptr || !why->ok()) return;
  const json reasons = list_of(why->body(), "reasons");
  if (reasons.empty()) return;
  html.leaf("h2", "Why it is not running");
  html.in("ul", {{"class", "plain"}}, [&] {
    for (const json& reason : reasons) {
      html.in("li", [&] { html.leaf("bdi", text_of(reason, "text")); });
    }
  });
}

void write_attempt(Html& html, const View& view, const json& attempt, bool newest) {
  html.in("li", [&] {
    html.in("p", {{"class", "facts"}}, [&] {
      html.leaf("strong", "Attempt " + number(number_of(attempt, "attempt")));
      html.text(" · ");
      html.leaf("span", {{"class", "cause"}}, text_of(attempt, "cause"));
      html.text(" · ");
      write_time(html, view.visit, text_of(attempt, "ended_at"));
      const std::string worker = text_of(attempt, "worker");
      if (!worker.empty()) html.text(" · on " + worker);
      if (attempt.contains("runtime_us") && attempt["runtime_us"].is_number()) {
        html.text(" · ran " + runtime(number_of(attempt, "runtime_us")));
      }
      if (attempt.contains("cpu_us") && attempt["cpu_us"].is_number()) {
        html.text(" · CPU " + runtime(number_of(attempt, "cpu_us")));
      }
      const std::uint64_t memory = number_of(attempt, "max_rss_kib");
      if (memory > 0) html.text(" · memory " + size_text(memory * 1'024));
      const std::uint64_t retries = number_of(attempt, "retries_since");
      if (retries > 0) html.text(" · retried " + number(retries) + " times since");
    });
    const std::string error = text_of(attempt, "error");
    const std::string detail = text_of(attempt, "detail");
    const std::string fault = text_of(attempt, "fault");
    if (newest) return write_error(html, error, detail, fault);
    html.in("details",
            {{"id", "attempt-" + number(number_of(attempt, "retries_since")) + "-" +
                        number(number_of(attempt, "attempt"))}},
            [&] {
              html.in("summary", [&] { html.leaf("bdi", error.empty() ? "no message" : error); });
              write_error(html, "", detail, fault);
            });
  });
}

void write_attempts(Html& html, const View& view, const json& task) {
  const json attempts = list_of(task, "attempts");
  if (attempts.empty()) return;
  html.leaf("h2", "Failed attempts");
  html.in("ol", {{"class", "timeline"}}, [&] {
    for (std::size_t i = attempts.size(); i > 0; --i) {
      write_attempt(html, view, attempts[i - 1], i == attempts.size());
    }
  });
}

// Indents JSON unless it is too deep for the parser's stack.
std::string laid_out(const std::string& payload) {
  int depth = 0;
  int deepest = 0;
  for (const char c : payload) {
    if (c == '{' || c == '[') deepest = std::max(deepest, ++depth);
    if (c == '}' || c == ']') --depth;
  }
  if (deepest > kDeepest) return payload;
  using nlohmann::ordered_json;
  const ordered_json document = ordered_json::parse(payload, nullptr, false);
  if (!document.is_object() && !document.is_array()) return payload;
  return document.dump(2, ' ', false, ordered_json::error_handler_t::replace);
}

void write_payload(Html& html, const View& view, const json& task, const std::string& state) {
  if (state == "done") return;
  html.leaf("h2", "Payload");
  const auto payload = payload_in(view, task);
  if (payload && payload->empty()) {
    html.leaf("p", {{"class", "quiet"}}, "It is empty.");
    return;
  }
  if (payload) {
    html.leaf("pre", {{"class", "payload"}, {"tabindex", "0"}}, laid_out(*payload));
  }
  html.in("p", [&] {
    if (!payload) {
      html.text("It has more than 64 KiB, which this page does not show. ");
    }
    write_link(html, task_address(view.visit, text_of(task, "task")) + "/payload",
               "Download (" + size_text(number_of(task, "payload_size")) + ")");
  });
}

}  // namespace

std::vector<ApiRequest> task_requests(const Visit& visit) {
  const std::string path = "/api/v1/tasks/" + api::escaped(visit.at("id"));
  return {{path}, {path + "/why"}};
}

std::vector<ApiRequest> task_further(const View& view) {
  const json& task = view.documents[kTask].body();
  if (!flag_of(task, "payload_truncated") || number_of(task, "payload_size") > kMostPayload)
    return {};
  return {{"/api/v1/tasks/" + api::escaped(view.visit.at("id")) + "/payload"}};
}

void render_task(const View& view, Html& html) {
  const json& task = view.documents[kTask].body();
  const std::string state = text_of(task, "state");
  const std::string id = text_of(task, "task");
  html.in("section", {{"id", "task"}, {"data-live", ""}, {"aria-label", "Task"}}, [&] {
    html.in("h1", [&] {
      html.text("Task ");
      html.leaf("span", {{"class", "id"}}, id);
    });
    html.in("p", [&] { write_state(html, kind_of_state(state), state); });
    if (const auto cancel = task.find("cancel_requested");
        cancel != task.end() && cancel->is_object()) {
      html.in("p", {{"class", "note"}}, [&] {
        html.text("Its worker was asked to end it ");
        write_time(html, view.visit, text_of(*cancel, "at"));
        html.text(". ");
        html.leaf("bdi", text_of(*cancel, "reason"));
      });
    }
    const bool has_attempts = !list_of(task, "attempts").empty();
    if (!has_attempts) {
      write_error(html, text_of(task, "error"), text_of(task, "detail"), text_of(task, "fault"));
    }
    write_actions(html, view, task, state);
    write_facts(html, view, task);
    if (state == "waiting" || state == "running") write_why(html, view);
    write_attempts(html, view, task);
    write_payload(html, view, task, state);
  });
  html.in("p", {{"class", "actions"}}, [&] {
    write_link(html, view.visit.root + "audit?subject=task&name=" + api::escaped(id),
               "What operators did to it");
  });
  const std::string_view verb = state == "dead" ? "dead retry " : "task show ";
  write_command(html, "allot " + std::string(verb) + shell_word(id));
}

}  // namespace allot::gateway::ui
