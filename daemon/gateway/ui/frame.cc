// SPDX-License-Identifier: Apache-2.0
// The frame of all pages: head, navigation and notes.
#include <algorithm>
#include <array>
#include <utility>

#include "gateway/ui/assets.h"
#include "gateway/ui/page.h"
#include "gateway/ui/words.h"

namespace allot::gateway::ui {
namespace {

// A note about the last action. The page address contains its code; unknown codes are ignored.
struct Note {
  std::string_view word;
  std::string_view text;
};
constexpr std::array kNotes{
    Note{"retried", "The task waits in its queue again."},
    Note{"discarded", "The dead task was removed for good."},
    Note{"cancelled", "The task was taken out of its queue."},
    Note{"cancel_requested", "The worker was asked to end the task."},
    Note{"again", "This is the new task. The first one stays as it is."},
    Note{"paused", "The queue is paused: no host starts its tasks."},
    Note{"resumed", "The queue continues."},
    Note{"schedule_paused", "The schedule makes no tasks until it is resumed."},
    Note{"schedule_resumed", "The schedule continues with its next tick."},
    Note{"ran", "A task was submitted. It is the first of the last ticks."},
    Note{"broken", "The lock was taken from its holders."},
    Note{"begun", "The bulk action has begun. A steward works it off."},
    Note{"stopped", "The bulk action ends after its present batch."},
};

void write_head(Html& html, const Visit& visit, const std::string& title) {
  html.in("head", [&] {
    html.empty("meta", {{"charset", "utf-8"}});
    html.empty("meta", {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}});
    html.empty("meta", {{"name", "color-scheme"}, {"content", "light dark"}});
    html.leaf("title", title + " · Allot");
    html.empty("link", {{"rel", "stylesheet"}, {"href", asset_address(visit.root, "style.css")}});
    html.empty("link", {{"rel", "icon"}, {"href", asset_address(visit.root, "icon.svg")}});
    html.leaf("script", {{"type", "module"}, {"src", asset_address(visit.root, "live.js")}}, "");
    const std::string seconds = visit.asked("refresh");
    const bool sane = !seconds.empty() && seconds.size() < 5 && seconds.front() != '0' &&
                      seconds.find_first_not_of("0123456789") == std::string::npos;
    if (sane) {
      html.in("noscript", [&] {
        html.empty("meta", {{"http-equiv", "refresh"}, {"content", seconds}});
      });
    }
  });
}

struct Entry {
  std::string_view name;
  std::string_view path;
  bool everywhere = false;  // only for callers who see all queues
};
constexpr std::array kEntries{Entry{"Overview", ""}, Entry{"Failures", "failures"},
                              Entry{"Queues", "queues"}, Entry{"Running", "running"},
                              Entry{"Search", "search"}};
// Behind "More", except the current one.
constexpr std::array kMoreEntries{Entry{"Types", "types"},         Entry{"Workers", "workers"},
                                  Entry{"Schedules", "schedules"}, Entry{"Locks", "locks", true},
                                  Entry{"Routes", "routes", true}, Entry{"Bulk actions", "bulk"},
                                  Entry{"Audit", "audit"}};

void write_entry(Html& html, const Visit& visit, const Entry& entry, std::string_view section) {
  const std::string address = visit.root + std::string(entry.path);
  if (section == entry.name) {
    html.leaf("a", {{"href", address}, {"aria-current", "page"}}, entry.name);
  } else {
    html.leaf("a", {{"href", address}}, entry.name);
  }
}

void write_pages(Html& html, const Visit& visit, std::string_view section) {
  html.in("nav", {{"aria-label", "Pages"}}, [&] {
    for (const Entry& entry : kEntries) write_entry(html, visit, entry, section);
    for (const Entry& entry : kMoreEntries) {
      if (section == entry.name) write_entry(html, visit, entry, section);
    }
    html.in("details", {{"class", "more"}}, [&] {
      html.leaf("summary", "More");
      html.in("div", [&] {
        for (const Entry& entry : kMoreEntries) {
          if (section == entry.name || (entry.everywhere && !visit.sees_all())) continue;
          write_entry(html, visit, entry, section);
        }
      });
    });
  });
}

void write_bar(Html& html, const Visit& visit, std::string_view section) {
  html.in("header", {{"class", "bar"}}, [&] {
    html.leaf("a", {{"class", "brand"}, {"href", visit.root}}, "Allot");
    write_pages(html, visit, section);
    html.in("form", {{"class", "find"}, {"method", "get"}, {"action", visit.root + "find"}}, [&] {
      html.empty("input", {{"type", "search"},
                           {"name", "id"},
                           {"placeholder", "Task id"},
                           {"aria-label", "Find a task by its id"},
                           {"maxlength", "40"},
                           {"autocomplete", "off"}});
    });
    html.in("div", {{"class", "who"}}, [&] {
      html.leaf("span", {{"class", "name"}}, visit.caller.name());
      if (!visit.session.empty()) {
        write_button(html, visit, visit.root + "logout", "Log out", "quiet");
      }
    });
  });
}

void write_note(Html& html, const Visit& visit) {
  const std::string word = visit.asked("note");
  const auto* note = std::find_if(kNotes.begin(), kNotes.end(),
                                  [&](const Note& each) { return each.word == word; });
  if (note == kNotes.end()) return;
  html.leaf("p", {{"class", "note"}, {"role", "status"}}, note->text);
}

}  // namespace

std::string framed(const Visit& visit, std::string_view section, const std::string& title,
                   const std::function<void(Html&)>& content) {
  Html html;
  const bool known = visit.caller.name() != access::kAnonymous;
  html.in("html", {{"lang", "en"}, {"data-mark", asset_mark()}}, [&] {
    write_head(html, visit, title);
    html.in("body", [&] {
      html.leaf("a", {{"class", "skip"}, {"href", "#content"}}, "Skip to the content");
      if (known) write_bar(html, visit, section);
      html.in("main", {{"id", "content"}}, [&] {
        write_note(html, visit);
        content(html);
      });
      if (!known) return;
      html.in("footer", [&] {
        html.leaf("span", {{"id", "pace"}}, "");
        html.in("noscript", [&] {
          write_link(html, visit.root + visit.target, "Refresh");
          html.text(" · ");
          write_link(html,
                     visit.root + visit.target.substr(0, visit.target.find('?')) + "?refresh=10",
                     "every 10 s");
        });
      });
    });
  });
  return html.take();
}

}  // namespace allot::gateway::ui
