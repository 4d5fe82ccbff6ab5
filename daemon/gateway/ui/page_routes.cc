// SPDX-License-Identifier: Apache-2.0
// /ui/routes
#include <nlohmann/json.hpp>

#include "gateway/ui/page_functions.h"
#include "gateway/ui/words.h"

namespace allot::gateway::ui {
namespace {

void write_route(Html& html, const View& view, const json& route) {
  const std::string from = text_of(route, "from");
  const std::string target = text_of(route, "to");
  html.in("tr", [&] {
    html.in("th", {{"scope", "row"}}, [&] { html.leaf("bdi", text_of(route, "type")); });
    html.in("td", {{"data-label", "Submitted to"}}, [&] {
      if (from.empty()) return html.text("any queue, or none");
      write_link(html, queue_address(view.visit, from), from);
    });
    html.in("td", {{"data-label", "Taken by"}},
            [&] { write_link(html, queue_address(view.visit, target), target); });
    html.in("td", {{"data-label", "Set"}},
            [&] { write_time(html, view.visit, text_of(route, "set_at")); });
  });
}

}  // namespace

std::vector<ApiRequest> routes_requests(const Visit& /*visit*/) {
  return {{"/api/v1/routes"}};
}

void render_routes(const View& view, Html& html) {
  html.leaf("h1", "Routes");
  html.leaf("p", {{"class", "quiet"}},
            "A route lets another queue take the tasks of a type. If several match, the most "
            "specific type applies.");
  html.in("section", {{"id", "routes"}, {"data-live", ""}, {"aria-label", "Routes"}}, [&] {
    const json& items = items_of(view.document(0));
    if (items.empty()) {
      return html.leaf("p", {{"class", "none"}},
                       "There are none. Each task stays in the queue that it was submitted to.");
    }
    html.in("table", {{"class", "cards"}}, [&] {
      write_heads(html, {"Type", "Submitted to", "Taken by", "Set"});
      html.in("tbody", [&] {
        for (const json& route : items) write_route(html, view, route);
      });
    });
  });
  write_command(html, "allot route list");
}

}  // namespace allot::gateway::ui
