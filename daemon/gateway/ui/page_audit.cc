// SPDX-License-Identifier: Apache-2.0
// /ui/audit: changes made by operators.
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "gateway/ui/page_functions.h"
#include "gateway/ui/words.h"

namespace allot::gateway::ui {
namespace {

struct Field {
  std::string_view name;
  std::string_view label;
};
constexpr std::array<Field, 5> kFilter{Field{"actor", "Actor"}, Field{"action", "Action"},
                                       Field{"subject", "Subject"}, Field{"name", "Name or id"},
                                       Field{"queue", "Queue"}};

// The filter of the page as a query: "&actor=ann&queue=mail".
std::string filter_of(const Visit& visit) {
  std::string query;
  for (const Field& field : kFilter) {
    const std::string value = visit.asked(field.name);
    if (!value.empty()) query += "&" + std::string(field.name) + "=" + api::escaped(value);
  }
  return query;
}

void write_audit_filter(Html& html, const View& view) {
  html.in("form", {{"class", "filter"}, {"method", "get"}, {"action", view.visit.root + "audit"}},
          [&] {
            for (const Field& field : kFilter) {
              html.in("label", [&] {
                html.text(field.label);
                html.text(" ");
                html.empty("input", {{"name", field.name},
                                     {"value", view.visit.asked(field.name)},
                                     {"maxlength", "255"}});
              });
            }
            html.leaf("button", {{"class", "quiet"}}, "Filter");
          });
}

void write_subject(Html& html, const View& view, const json& entry) {
  const std::string subject = text_of(entry, "subject");
  const std::string name = text_of(entry, "name");
  html.in("td", {{"data-label", "Subject"}}, [&] {
    html.text(subject + " ");
    if (subject == "task") return write_link(html, task_address(view.visit, name), name);
    if (subject == "queue") return write_link(html, queue_address(view.visit, name), name);
    html.leaf("bdi", name);
  });
}

std::string what_of(const json& entry) {
  std::string text;
  if (entry.contains("tasks") && entry["tasks"].is_number()) {
    const std::uint64_t tasks = number_of(entry, "tasks");
    text = number(tasks) + (tasks == 1 ? " task" : " tasks");
  }
  const std::string to = text_of(entry, "to_queue");
  if (!to.empty()) text += (text.empty() ? "to " : " to ") + to;
  const std::string detail = text_of(entry, "detail");
  return text + (text.empty() || detail.empty() ? "" : "; ") + detail;
}

void write_entry(Html& html, const View& view, const json& entry) {
  html.in("tr", [&] {
    html.in("th", {{"scope", "row"}}, [&] { write_time(html, view.visit, text_of(entry, "at")); });
    html.in("td", {{"data-label", "Who"}}, [&] {
      html.leaf("bdi", text_of(entry, "actor"));
      html.text(" ");
      html.leaf("span", {{"class", "quiet"}}, text_of(entry, "source"));
    });
    write_cell(html, "Action", text_of(entry, "action"));
    write_subject(html, view, entry);
    write_cell(html, "What", what_of(entry));
    html.in("td", {{"data-label", "Reason"}}, [&] { html.leaf("bdi", text_of(entry, "reason")); });
  });
}

void write_entries(Html& html, const View& view) {
  html.in("table", {{"class", "cards"}}, [&] {
    html.in("thead", [&] {
      html.in("tr", [&] {
        for (const char* head : {"When", "Who", "Action", "Subject", "What", "Reason"}) {
          html.leaf("th", {{"scope", "col"}}, head);
        }
      });
    });
    html.in("tbody", [&] {
      for (const json& entry : items_of(view.document(0))) write_entry(html, view, entry);
    });
  });
}

}  // namespace

std::vector<ApiRequest> audit_requests(const Visit& visit) {
  const std::string cursor = visit.asked("cursor");
  return {{"/api/v1/audit?limit=50" + filter_of(visit) +
           (cursor.empty() ? "" : "&cursor=" + api::escaped(cursor))}};
}

void render_audit(const View& view, Html& html) {
  html.leaf("h1", "Audit");
  html.leaf("p", {{"class", "hint"}},
            "Actions of operators in the last 90 days, with names and reasons.");
  write_audit_filter(html, view);
  const std::string next = text_of(view.documents[0].body(), "next");
  html.in("section", {{"id", "audit"}, {"data-live", ""}, {"aria-label", "Entries"}}, [&] {
    if (!items_of(view.document(0)).empty()) return write_entries(html, view);
    html.leaf(
        "p", {{"class", "none"}},
        next.empty() ? "No entries." : "None among the 10,000 entries that this page looked at.");
  });
  if (next.empty()) return;
  const std::string filter = filter_of(view.visit);
  html.in("p", {{"class", "actions"}}, [&] {
    html.leaf("a",
              {{"class", "button"},
               {"href", view.visit.root + "audit?cursor=" + api::escaped(next) + filter}},
              filter.empty() ? "Next page" : "Look further");
  });
}

}  // namespace allot::gateway::ui
