// SPDX-License-Identifier: Apache-2.0
// /ui/bulk/{action}: how far a bulk action is.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "gateway/ui/page_functions.h"
#include "gateway/ui/words.h"

namespace allot::gateway::ui {

std::vector<ApiRequest> bulk_requests(const Visit& visit) {
  return {{"/api/v1/bulk/" + api::escaped(visit.at("action"))}};
}

void render_bulk(const View& view, Html& html) {
  const json& action = view.documents[0].body();
  const std::string state = text_of(action, "state");
  const std::string queue = text_of(action, "queue");
  const bool goes_on = state == "waiting" || state == "working";
  const bool retries = text_of(action, "kind") == "retry_dead";
  html.leaf("h1", retries ? "Retry of dead tasks" : "Removal of dead tasks");
  html.in("section", {{"id", "bulk"}, {"data-live", ""}, {"aria-label", "Progress"}}, [&] {
    html.in("p", [&] {
      write_state(html, state == "failed" ? "bad" : goes_on ? "idle" : "good", state);
    });
    const std::uint64_t chosen = number_of(action, "chosen");
    const std::uint64_t done = number_of(action, "done");
    const bool more = flag_of(action, "chosen_at_least");
    html.leaf("progress",
              {{"max", std::to_string(std::max<std::uint64_t>(chosen, 1))},
               {"value", std::to_string(std::min(done, chosen))},
               {"aria-label", "Tasks done"}},
              "");
    html.leaf("p", number(done) + " of " + number(chosen) + (more ? "+" : "") + " tasks.");
    html.in("p", {{"class", "facts"}}, [&] {
      html.text("Queue ");
      write_link(html, queue_address(view.visit, queue), queue);
      html.text(" · asked by ");
      html.leaf("bdi", text_of(action, "asked_by"));
      html.text(" ");
      write_time(html, view.visit, text_of(action, "begun_at"));
    });
    const std::string error = text_of(action, "error");
    if (!error.empty()) html.leaf("p", {{"class", "error"}}, error);
    if (goes_on && view.visit.may_operate(queue)) {
      html.leaf("a",
                {{"class", "button danger"},
                 {"href", view.visit.root + "bulk/" + view.visit.at("action") + "/stop"}},
                "Stop");
    }
  });
}

}  // namespace allot::gateway::ui
