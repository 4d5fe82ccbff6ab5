// SPDX-License-Identifier: Apache-2.0
// /ui/locks and /ui/locks/{lock}
#include <nlohmann/json.hpp>
#include <string>

#include "gateway/ui/page_functions.h"
#include "gateway/ui/words.h"

namespace allot::gateway::ui {
namespace {

std::string lock_address(const Visit& visit, const std::string& name) {
  return visit.root + "locks/" + api::escaped(name);
}

std::string milliseconds(const json& document, const char* name) {
  return runtime(number_of(document, name) * 1'000);
}

std::string process_of(const json& document) {
  return text_of(document, "host") + "/" + std::to_string(number_of(document, "pid"));
}

void write_summary(Html& html, const View& view, const json& lock) {
  const std::string name = text_of(lock, "name");
  const std::uint64_t held = number_of(lock, "held");
  const std::uint64_t slots = number_of(lock, "slots");
  const std::uint64_t waiting = number_of(lock, "waiting");
  html.in("tr", [&] {
    html.in("th", {{"scope", "row"}},
            [&] { write_link(html, lock_address(view.visit, name), name); });
    html.in("td", {{"data-label", "State"}},
            [&] { write_state(html, held == 0 ? "idle" : "good", held == 0 ? "free" : "held"); });
    write_number(html, "Held", number(held) + " of " + number(slots));
    write_number(html, "Waiting", number(waiting));
  });
}

void write_holder(Html& html, const View& view, const std::string& name, const json& slot) {
  html.in("tr", [&] {
    html.leaf("th", {{"scope", "row"}}, "Slot " + number(number_of(slot, "slot")));
    html.in("td", {{"data-label", "Held by"}}, [&] { html.leaf("bdi", process_of(slot)); });
    write_number(html, "For", milliseconds(slot, "held_ms"));
    const bool over = number_of(slot, "remaining_ms") == 0;
    write_number(html, "Ends without renewal in",
                 over ? "expired" : milliseconds(slot, "remaining_ms"));
    html.in("td", {{"data-label", "Action"}}, [&] {
      if (!view.visit.caller.may_everywhere(access::Role::kOperate)) return;
      html.leaf("a",
                {{"class", "button danger"},
                 {"href", lock_address(view.visit, name) +
                              "/break?slot=" + std::to_string(number_of(slot, "slot"))}},
                "Break");
    });
  });
}

void write_line(Html& html, const json& line) {
  html.leaf("h2", "Waiting");
  if (line.empty()) return html.leaf("p", {{"class", "none"}}, "Nothing waits for it.");
  html.in("table", {{"class", "cards"}}, [&] {
    write_heads(html, {"Waiting", {"For", true}, "State"});
    html.in("tbody", [&] {
      for (const json& ticket : line) {
        const bool live = flag_of(ticket, "live");
        html.in("tr", [&] {
          html.in("th", {{"scope", "row"}}, [&] { html.leaf("bdi", process_of(ticket)); });
          write_number(html, "For", milliseconds(ticket, "waiting_ms"));
          html.in("td", {{"data-label", "State"}},
                  [&] { write_state(html, live ? "good" : "idle", live ? "waiting" : "gone"); });
        });
      }
    });
  });
}

}  // namespace

std::vector<ApiRequest> locks_requests(const Visit& /*visit*/) {
  return {{"/api/v1/locks"}};
}

void render_locks(const View& view, Html& html) {
  html.leaf("h1", "Locks");
  html.in("section", {{"id", "locks"}, {"data-live", ""}, {"aria-label", "Locks"}}, [&] {
    const json& items = items_of(view.document(0));
    if (items.empty()) {
      return html.leaf("p", {{"class", "none"}},
                       "There are none. allot lock run NAME COMMAND makes one.");
    }
    html.in("table", {{"class", "cards"}}, [&] {
      write_heads(html, {"Lock", "State", {"Held", true}, {"Waiting", true}});
      html.in("tbody", [&] {
        for (const json& lock : items) write_summary(html, view, lock);
      });
    });
  });
  write_command(html, "allot lock list");
}

std::vector<ApiRequest> lock_requests(const Visit& visit) {
  return {{"/api/v1/locks/" + api::escaped(visit.at("lock"))}};
}

void render_lock(const View& view, Html& html) {
  const json& lock = view.documents[0].body();
  const std::string name = text_of(lock, "name");
  html.in("p", {{"class", "crumbs"}},
          [&] { write_link(html, view.visit.root + "locks", "Locks"); });
  html.leaf("h1", "Lock " + name);
  html.in("section", {{"id", "lock"}, {"data-live", ""}, {"aria-label", "Lock"}}, [&] {
    const json held = list_of(lock, "held");
    html.leaf("p",
              number(held.size()) + " of " + number(number_of(lock, "slots")) + " slots are held.");
    if (!held.empty()) {
      html.in("table", {{"class", "cards"}}, [&] {
        write_heads(
            html, {"Slot", "Held by", {"For", true}, {"Ends without renewal in", true}, "Action"});
        html.in("tbody", [&] {
          for (const json& slot : held) write_holder(html, view, name, slot);
        });
      });
    }
    write_line(html, list_of(lock, "waiting"));
  });
  write_command(html, "allot lock show " + shell_word(name));
}

}  // namespace allot::gateway::ui
