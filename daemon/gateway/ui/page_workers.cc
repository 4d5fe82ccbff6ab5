// SPDX-License-Identifier: Apache-2.0
// /ui/workers: hosts, their pools, and the activity of each worker.
#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "gateway/ui/page_functions.h"
#include "gateway/ui/words.h"

namespace allot::gateway::ui {
namespace {

constexpr std::size_t kMostWorkers = 100;  // limit per host
constexpr std::size_t kMostTasks = 5;      // limit per worker
constexpr std::size_t kMostDeployments = 20;

void write_pools(Html& html, const View& view, const json& host) {
  html.in("ul", {{"class", "plain"}}, [&] {
    for (const json& pool : list_of(host, "pools")) {
      html.in("li", [&] {
        html.text("Pool ");
        html.leaf("strong", text_of(pool, "name"));
        html.text(", " + number(number_of(pool, "workers")) + " workers, serves ");
        bool first = true;
        for (const json& queue : list_of(pool, "queues")) {
          if (!queue.is_string()) continue;
          const std::string name = queue.get<std::string>();
          if (!std::exchange(first, false)) html.text(", ");
          if (name == "*") {
            html.text("any queue");
          } else {
            write_link(html, queue_address(view.visit, name), name);
          }
        }
      });
    }
  });
}

void write_running(Html& html, const View& view, const json& worker, std::uint64_t age_ms) {
  const json& running = list_of(worker, "running");
  html.in("td", {{"class", "wide"}, {"data-label", "Runs"}}, [&] {
    if (running.empty()) return html.text("–");
    for (std::size_t i = 0; i < std::min(running.size(), kMostTasks); ++i) {
      const json& task = running[i];
      html.in("div", [&] {
        const std::string id = text_of(task, "task");
        html.in("span", {{"class", "id"}},
                [&] { write_link(html, task_address(view.visit, id), id); });
        html.text(" " + text_of(task, "type") + " for " +
                  runtime((number_of(task, "running_ms") + age_ms) * 1'000));
      });
    }
    if (running.size() > kMostTasks) {
      html.leaf("div", {{"class", "quiet"}}, number(running.size() - kMostTasks) + " more");
    }
  });
}

void write_worker_state(Html& html, const json& worker) {
  const std::string state = text_of(worker, "state");
  html.in("td", {{"data-label", "State"}}, [&] {
    if (flag_of(worker, "database_unreachable")) {
      write_state(html, "bad", "no database");
    } else {
      write_state(html, state == "running" || state == "leasing" ? "good" : "idle", state);
    }
    if (flag_of(worker, "stale_configuration")) {
      html.leaf("div", {{"class", "quiet"}}, "former configuration");
    }
  });
}

// The counts are missing for a caller who sees only some queues.
void write_worker(Html& html, const View& view, const json& worker, std::uint64_t age_ms) {
  html.in("tr", [&] {
    html.leaf("th", {{"scope", "row"}, {"class", "number"}}, number(number_of(worker, "slot")));
    write_cell(html, "Pool", text_of(worker, "pool"));
    write_number(html, "Process", std::to_string(number_of(worker, "pid")));
    write_worker_state(html, worker);
    const std::string queue = text_of(worker, "queue");
    html.in("td", {{"data-label", "Partition"}}, [&] {
      if (queue.empty()) return html.text("–");
      write_link(html, queue_address(view.visit, queue), queue);
      html.text("/" + std::to_string(number_of(worker, "partition")));
    });
    write_running(html, view, worker, age_ms);
    for (const auto& [label, name] :
         {std::pair{"Done", "done"}, {"Retried", "retried"}, {"Dead", "dead"}}) {
      write_number(html, label,
                   part_of(worker, name).is_null() ? "–" : number(number_of(worker, name)));
    }
  });
}

void write_workers(Html& html, const View& view, const json& host) {
  const json& workers = list_of(host, "workers");
  if (workers.empty()) return html.leaf("p", {{"class", "none"}}, "No worker runs.");
  html.in("table", {{"class", "cards"}}, [&] {
    html.in("thead", [&] {
      html.in("tr", [&] {
        html.leaf("th", {{"scope", "col"}, {"class", "number"}}, "Slot");
        html.leaf("th", {{"scope", "col"}}, "Pool");
        html.leaf("th", {{"scope", "col"}, {"class", "number"}}, "Process");
        for (const char* name : {"State", "Partition", "Runs"}) {
          html.leaf("th", {{"scope", "col"}}, name);
        }
        for (const char* name : {"Done", "Retried", "Dead"}) {
          html.leaf("th", {{"scope", "col"}, {"class", "number"}}, name);
        }
      });
    });
    html.in("tbody", [&] {
      for (std::size_t i = 0; i < std::min(workers.size(), kMostWorkers); ++i) {
        write_worker(html, view, workers[i], number_of(host, "age_ms"));
      }
    });
  });
  if (workers.size() > kMostWorkers) {
    html.leaf("p", {{"class", "hint"}},
              number(workers.size() - kMostWorkers) + " more workers are not shown.");
  }
}

void write_host(Html& html, const View& view, const json& host) {
  const bool silent = flag_of(host, "silent");
  html.in("h2", [&] {
    html.leaf("bdi", text_of(host, "host"));
    html.text(" · ");
    html.leaf("bdi", text_of(host, "instance"));
  });
  html.in("p", {{"class", "facts"}}, [&] {
    write_state(html, silent ? "bad" : "good", silent ? "silent" : "alive");
    html.text(", seen ");
    html.text(span(std::chrono::seconds(number_of(host, "age_ms") / 1'000)));
    html.text(" ago · version " + text_of(host, "version") + " · configuration ");
    html.leaf("code", text_of(host, "configuration").substr(0, 8));
  });
  write_pools(html, view, host);
  if (!silent) write_workers(html, view, host);
}

void write_deployments(Html& html, const View& view) {
  const json& items = items_of(view.document(1));
  if (items.empty()) return;
  html.leaf("h2", "New versions and configurations");
  html.in("ul", {{"class", "plain"}}, [&] {
    for (std::size_t i = 0; i < std::min(items.size(), kMostDeployments); ++i) {
      html.in("li", [&] {
        write_time(html, view.visit, text_of(items[i], "since"));
        html.text(" ");
        html.leaf("bdi", deployment_text(items[i]));
      });
    }
  });
}

}  // namespace

std::vector<ApiRequest> workers_requests(const Visit& /*visit*/) {
  return {{"/api/v1/workers"}, {"/api/v1/deployments"}};
}

void render_workers(const View& view, Html& html) {
  html.leaf("h1", "Workers and hosts");
  html.in("section", {{"id", "hosts"}, {"data-live", ""}, {"aria-label", "Hosts"}}, [&] {
    const json& hosts = items_of(view.document(0));
    if (hosts.empty()) html.leaf("p", {{"class", "none"}}, "No host has written what it does.");
    for (const json& host : hosts) write_host(html, view, host);
    write_deployments(html, view);
  });
  html.leaf("p", {{"class", "hint"}},
            "Hosts write this every 2 s while a page shows it, and once a minute otherwise. Counts "
            "are since the start of the worker.");
}

}  // namespace allot::gateway::ui
