// SPDX-License-Identifier: Apache-2.0
// /ui/login, the confirmation of an action, and the page that reports a problem.
#include <nlohmann/json.hpp>

#include "gateway/ui/page.h"
#include "gateway/ui/words.h"

namespace allot::gateway::ui {
namespace {

void write_hidden(Html& html, Word name, std::string_view value) {
  html.empty("input", {{"type", "hidden"}, {"name", name.text()}, {"value", value}});
}

std::string label_of(std::string_view field) {
  if (field == "reason") return "Reason (optional; other operators see it)";
  if (field == "rate") return "Maximum number of tasks per second (empty: no limit)";
  if (field == "slot") return "Slot (empty: all slots)";
  return std::string(field);
}

void write_field(Html& html, std::string_view name, std::string_view type,
                 const std::string& value = {}) {
  html.in("label", [&] {
    html.text(label_of(name));
    html.empty("input",
               {{"name", name}, {"type", type}, {"value", value}, {"autocomplete", "off"}});
  });
}

// The counted tasks, and the token that starts the action.
void write_count(Html& html, const json& count) {
  const bool more = flag_of(count, "tasks_at_least");
  html.in("p", [&] {
    html.leaf("strong", number(number_of(count, "tasks")) + (more ? "+" : ""));
    html.text(" dead tasks of queue ");
    html.leaf("strong", text_of(count, "queue"));
    html.text(" match.");
  });
  write_hidden(html, "token", text_of(count, "token"));
}

void write_token_field(Html& html) {
  html.in("label", [&] {
    html.text("Token");
    html.empty("input", {{"name", "token"},
                         {"type", "password"},
                         {"autocomplete", "current-password"},
                         {"required", ""},
                         {"autofocus", ""}});
  });
}

}  // namespace

void render_login(const View& view, Html& html, const std::string& message) {
  // A code in the address is only submitted by a button, so that a link preview does not consume
  // it.
  const std::string code = message.empty() ? view.visit.asked("code") : "";
  html.in("form", {{"class", "login"}, {"method", "post"}, {"action", view.visit.root + "login"}},
          [&] {
            html.leaf("h1", "Log in to Allot");
            if (!message.empty()) {
              html.leaf("p", {{"class", "problem bad"}, {"role", "alert"}}, message);
            }
            if (code.empty()) {
              write_token_field(html);
            } else {
              html.leaf("p", "The code in this address is valid once, for a minute, on this host.");
              write_hidden(html, "code", code);
            }
            write_hidden(html, "next", view.visit.asked("next"));
            html.leaf("button", {{"class", "main"}}, "Log in");
            if (!code.empty()) return;
            html.in("p", {{"class", "hint"}}, [&] {
              html.leaf("code", "allot gateway token NAME --read '*' --operate '*'");
              html.text(" makes a token.");
            });
          });
}

void render_confirmation(const Action& action, const View& view, Html& html) {
  html.leaf("h1", action.title);
  html.leaf("p", action.what);
  const std::string target = view.visit.target.substr(0, view.visit.target.find('?'));
  html.in("form", {{"class", "confirm"}, {"method", "post"}, {"action", view.visit.root + target}},
          [&] {
            write_hidden(html, "form", view.visit.form_token);
            if (action.counts) write_count(html, view.documents[0].body());
            if (action.fields != nullptr) action.fields(view, html);
            for (const std::string_view name : action.texts) {
              const bool hidden = action.fields == nullptr && name != "token";
              if (!hidden || view.visit.asked(name).empty()) continue;
              html.empty("input",
                         {{"type", "hidden"}, {"name", name}, {"value", view.visit.asked(name)}});
            }
            write_field(html, "reason", "text");
            for (const std::string_view name : action.numbers) {
              write_field(html, name, "number", view.visit.asked(name));
            }
            html.in("div", {{"class", "actions"}}, [&] {
              html.leaf("button", {{"class", "main"}}, action.title);
              write_link(html, view.visit.root, "Do nothing");
            });
          });
  write_command(html, action.command(view));
}

void render_problem(unsigned status, const std::string& detail, Html& html) {
  html.leaf("h1", status == 404   ? "Not found"
                  : status == 403 ? "Not allowed"
                  : status >= 500 ? "Not possible now"
                                  : "Not possible");
  html.in("p", {{"class", "problem bad"}}, [&] { html.leaf("bdi", detail); });
}

}  // namespace allot::gateway::ui
