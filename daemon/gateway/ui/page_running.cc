// SPDX-License-Identifier: Apache-2.0
// /ui/running: running tasks of all hosts, compared with the usual runtime of their type.
#include <algorithm>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "gateway/ui/page_functions.h"
#include "gateway/ui/words.h"

namespace allot::gateway::ui {
namespace {

enum RunningAt : std::size_t { kHosts, kUsual };

constexpr std::size_t kMostShown = 500;
constexpr std::uint64_t kEnough = 20;  // number of attempts needed for a usual runtime

struct Usual {
  std::uint64_t count = 0;
  std::uint64_t p50_us = 0;
  std::uint64_t p99_us = 0;
};
using Usuals = std::map<std::pair<std::string, std::string>, Usual>;  // by queue and type

struct Task {
  json task;
  std::string where;
  std::uint64_t ran_us = 0;
  Usual usual{};

  [[nodiscard]] bool long_running() const {
    return usual.count >= kEnough && ran_us > usual.p99_us;
  }
};

Usuals usuals_in(const View& view) {
  Usuals all;
  for (const json& type : items_of(view.document(kUsual))) {
    const json& runtime = part_of(type, "runtime");
    all[{text_of(type, "queue"), text_of(type, "type")}] = {
        number_of(runtime, "count"), number_of(runtime, "p50_us"), number_of(runtime, "p99_us")};
  }
  return all;
}

// Unusually long tasks first, then by runtime, longest first.
std::vector<Task> tasks_in(const View& view) {
  const Usuals usuals = usuals_in(view);
  std::vector<Task> all;
  for (const json& host : items_of(view.document(kHosts))) {
    if (flag_of(host, "silent")) continue;
    for (const json& worker : list_of(host, "workers")) {
      for (const json& task : list_of(worker, "running")) {
        Task one{task, text_of(host, "host") + " · slot " + number(number_of(worker, "slot"))};
        one.ran_us = (number_of(task, "running_ms") + number_of(host, "age_ms")) * 1'000;
        const auto usual = usuals.find({text_of(task, "queue"), text_of(task, "type")});
        if (usual != usuals.end()) one.usual = usual->second;
        all.push_back(std::move(one));
      }
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const Task& a, const Task& b) {
    return std::pair(a.long_running(), a.ran_us) > std::pair(b.long_running(), b.ran_us);
  });
  return all;
}

void write_progress(Html& html, const json& task) {
  const json& progress = part_of(task, "progress");
  html.in("td", {{"data-label", "Progress"}}, [&] {
    if (!progress.is_number_unsigned()) return html.text("–");
    const std::string percent = std::to_string(progress.get<std::uint64_t>());
    html.leaf("progress", {{"max", "100"}, {"value", percent}, {"aria-label", "Progress"}},
              percent + " %");
    html.in("div", [&] {
      html.text(percent + " % ");
      html.leaf("bdi", text_of(task, "progress_text"));
    });
  });
}

void write_task(Html& html, const View& view, const Task& one) {
  const std::string id = text_of(one.task, "task");
  const std::string queue = text_of(one.task, "queue");
  html.in("tr", [&] {
    html.in("th", {{"scope", "row"}, {"class", "id"}},
            [&] { write_link(html, task_address(view.visit, id), id); });
    write_cell(html, "Type", text_of(one.task, "type"));
    html.in("td", {{"data-label", "Queue"}},
            [&] { write_link(html, queue_address(view.visit, queue), queue); });
    write_cell(html, "Host", one.where);
    html.in("td", {{"class", "number"}, {"data-label", "Runs for"}}, [&] {
      if (!one.long_running()) return html.text(runtime(one.ran_us));
      write_state(html, "bad", runtime(one.ran_us));
    });
    const bool known = one.usual.count > 0;
    write_number(html, "Usual", known ? runtime(one.usual.p50_us) : "–");
    write_number(html, "99 % within", known ? runtime(one.usual.p99_us) : "–");
    write_number(html, "Attempt", number(number_of(one.task, "attempt")));
    write_progress(html, one.task);
  });
}

void write_tasks(Html& html, const View& view, const std::vector<Task>& tasks) {
  html.in("table", {{"class", "cards"}}, [&] {
    html.in("thead", [&] {
      html.in("tr", [&] {
        for (const char* name : {"Task", "Type", "Queue", "Host"}) {
          html.leaf("th", {{"scope", "col"}}, name);
        }
        for (const char* name : {"Runs for", "Usual", "99 % within", "Attempt"}) {
          html.leaf("th", {{"scope", "col"}, {"class", "number"}}, name);
        }
        html.leaf("th", {{"scope", "col"}}, "Progress");
      });
    });
    html.in("tbody", [&] {
      for (std::size_t i = 0; i < std::min(tasks.size(), kMostShown); ++i) {
        write_task(html, view, tasks[i]);
      }
    });
  });
}

// Age of the oldest host snapshot, and number of tasks not shown.
void write_ages(Html& html, const View& view, std::size_t tasks) {
  std::uint64_t oldest_ms = 0;
  std::uint64_t omitted = tasks - std::min(tasks, kMostShown);
  std::uint64_t silent = 0;
  std::uint64_t hosts = 0;
  for (const json& host : items_of(view.document(kHosts))) {
    omitted += number_of(host, "omitted");
    if (flag_of(host, "silent")) {
      ++silent;
      continue;
    }
    ++hosts;
    oldest_ms = std::max(oldest_ms, number_of(host, "age_ms"));
  }
  html.in("p", {{"class", "hint"}}, [&] {
    html.text("Running tasks: " + number(tasks) + ", hosts: " + number(hosts) + ", seen " +
              span(std::chrono::seconds(oldest_ms / 1'000)) + " ago or later.");
    if (silent > 0) {
      html.text(" Hosts that have not written for 150 s: " + number(silent) + " (");
      write_link(html, view.visit.root + "workers", "workers and hosts");
      html.text(").");
    }
    if (omitted > 0) html.text(" " + number(omitted) + " more tasks are not shown.");
  });
}

}  // namespace

std::vector<ApiRequest> running_now_requests(const Visit& /*visit*/) {
  return {{"/api/v1/workers"}, {"/api/v1/types?hours=24&step=24&limit=1000"}};
}

void render_running_now(const View& view, Html& html) {
  html.leaf("h1", "Running now");
  html.in("section", {{"id", "running"}, {"data-live", ""}, {"aria-label", "Running tasks"}}, [&] {
    const std::vector<Task> tasks = tasks_in(view);
    if (tasks.empty()) {
      html.leaf("p", {{"class", "none"}}, "No task runs.");
    } else {
      write_tasks(html, view, tasks);
    }
    write_ages(html, view, tasks.size());
  });
  html.leaf("p", {{"class", "hint"}},
            "“Usual” is the time that half of the attempts of the type took at most in the last 24 "
            "hours, approximately. A task that has run for longer than 99 % of them is marked, "
            "where there were 20 or more.");
}

}  // namespace allot::gateway::ui
