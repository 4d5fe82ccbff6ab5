// SPDX-License-Identifier: Apache-2.0
// /ui/queues/{queue}
#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "gateway/ui/page_functions.h"
#include "gateway/ui/traffic.h"
#include "gateway/ui/words.h"

namespace allot::gateway::ui {
namespace {

enum QueueAt : std::size_t { kOneQueue, kItsMinutes, kItsPartitions, kAllInstances };

void write_count_link(Html& html, const std::string& address, std::string_view name,
                      const json& count) {
  html.in("div", [&] {
    html.leaf("dt", name);
    html.in("dd", [&] { write_link(html, address, count_text(count)); });
  });
}

std::string rate_of(const json& queue) {
  const auto rate = queue.find("rate");
  if (rate == queue.end() || !rate->is_object()) return "none";
  return part_of(*rate, "per_second").dump() + " a second, burst " +
         number(number_of(*rate, "burst"));
}

void write_pause(Html& html, const View& view, const json& queue, const std::string& name) {
  const auto paused = queue.find("paused");
  const bool is_paused = paused != queue.end() && paused->is_object();
  if (is_paused) {
    html.in("p", {{"class", "problem paused"}}, [&] {
      write_state(html, "paused", "Paused");
      html.text(" ");
      write_time(html, view.visit, text_of(*paused, "since"));
      const std::string reason = text_of(*paused, "reason");
      if (!reason.empty()) html.text(": ");
      html.leaf("bdi", reason);
    });
  }
  if (!view.visit.may_operate(name)) return;
  html.in("p", {{"class", "actions"}}, [&] {
    const std::string address = queue_address(view.visit, name);
    if (is_paused) {
      html.leaf("a", {{"class", "button"}, {"href", address + "/resume"}}, "Resume");
    } else {
      html.leaf("a", {{"class", "button"}, {"href", address + "/pause"}}, "Pause");
    }
  });
}

void write_pools(Html& html, const View& view, const std::string& name) {
  const Document* instances = view.document(kAllInstances);
  if (instances == nullptr || !instances->ok()) return;
  html.leaf("h2", "Served by");
  bool any = false;
  html.in("ul", {{"class", "plain"}}, [&] {
    for (const json& instance : items_of(instances)) {
      for (const json& pool : list_of(instance, "pools")) {
        bool serves = false;
        for (const json& queue : list_of(pool, "queues")) {
          serves = serves || queue == json(name) || queue == json("*");
        }
        if (!serves) continue;
        any = true;
        const bool silent = flag_of(instance, "silent");
        html.in("li", [&] {
          write_state(html, silent ? "bad" : "good", silent ? "silent" : "alive");
          html.text(" pool " + text_of(pool, "name") + " on " + text_of(instance, "host") + ", " +
                    number(number_of(pool, "workers")) + " workers");
        });
      }
    }
  });
  if (!any) {
    html.in("p", {{"class", "problem bad"}}, [&] {
      write_state(html, "bad", "No pool of any host serves this queue.");
      html.text(" ");
      html.leaf("span", {{"class", "fix"}}, "Name it in [pools.NAME] queues, then reload allotd.");
    });
  }
}

// The partition of a worker without a heartbeat.
void write_lost_lease(Html& html, const View& view, const json& lease) {
  const bool overdue = flag_of(lease, "overdue");
  html.in("li", [&] {
    write_state(html, "bad", overdue ? "lost" : "silent");
    html.text(" partition " + number(number_of(lease, "partition")) + ", process " +
              std::to_string(number_of(lease, "pid")) + " on ");
    html.leaf("bdi", text_of(lease, "host"));
    html.text(overdue ? ", whose lease ended " : ", silent since ");
    write_time(html, view.visit, text_of(lease, overdue ? "until" : "silent_since"));
    html.text(overdue ? "." : "; its lease ends ");
    if (!overdue) write_time(html, view.visit, text_of(lease, "until"));
  });
}

void write_holders(Html& html, const View& view) {
  constexpr std::size_t kMostLost = 20;
  const Document* partitions = view.document(kItsPartitions);
  if (partitions == nullptr || !partitions->ok()) return;
  const json& leased = list_of(partitions->body(), "leased");
  html.leaf("h2", "Partitions");
  html.leaf("p", number(leased.size()) + " of " +
                     number(number_of(partitions->body(), "partitions")) +
                     " are leased by a worker now.");
  std::vector<json> lost;
  for (const json& lease : leased) {
    if (flag_of(lease, "overdue") || part_of(lease, "silent_since").is_string())
      lost.push_back(lease);
  }
  if (lost.empty()) return;
  html.in("ul", {{"class", "plain"}}, [&] {
    for (std::size_t i = 0; i < std::min(lost.size(), kMostLost); ++i) {
      write_lost_lease(html, view, lost[i]);
    }
  });
  html.leaf("p", {{"class", "hint"}},
            "Another worker takes such a partition over when the lease has ended. If none does, no "
            "host serves the queue: start allotd.");
}

}  // namespace

std::vector<ApiRequest> queue_requests(const Visit& visit) {
  const std::string name = visit.at("queue");
  const std::string path = "/api/v1/queues/" + api::escaped(name);
  std::vector<ApiRequest> all{{path}, traffic_request(name), {path + "/partitions"}};
  if (visit.sees_all()) all.push_back({"/api/v1/instances"});
  return all;
}

void render_queue(const View& view, Html& html) {
  const json& queue = view.documents[kOneQueue].body();
  const std::string name = text_of(queue, "name");
  const std::string address = queue_address(view.visit, name);
  const auto all = traffic_of(view.document(kItsMinutes), view.visit.now);
  const auto at = all.find(name);
  const Traffic traffic = at == all.end() ? Traffic() : at->second;
  html.leaf("h1", "Queue " + name);
  html.in("section", {{"id", "queue"}, {"data-live", ""}, {"aria-label", "State"}}, [&] {
    write_pause(html, view, queue, name);
    html.in("dl", {{"class", "figures"}}, [&] {
      write_count_link(html, address + "/waiting", "Waiting", part_of(queue, "waiting"));
      write_count_link(html, address + "/running", "Running detached", part_of(queue, "running"));
      write_count_link(html, address + "/dead", "Dead", part_of(queue, "dead"));
      write_fact(html, "Time to empty", traffic.time_to_empty());
      write_fact(html, "Rate", rate_of(queue));
      write_fact(html, "Partitions", number(number_of(queue, "partitions")));
    });
    html.leaf("p", {{"class", "hint"}}, "Tasks were counted at most 10 s ago.");
    html.in("figure", [&] {
      write_chart(html, traffic.chart(), "Tasks in and out in the last hour");
      html.in("figcaption", [&] {
        html.text("The last hour: ");
        html.leaf("span", {{"class", "key in"}}, "in");
        html.text(" ");
        html.leaf("span", {{"class", "key out"}}, "out");
      });
    });
    write_holders(html, view);
    write_pools(html, view, name);
  });
  html.in("p", {{"class", "actions"}}, [&] {
    write_link(html, view.visit.root + "failures?queue=" + api::escaped(name),
               "Failures of this queue");
    write_link(html, address + "/history", "Finished tasks");
    write_link(html, view.visit.root + "search?queue=" + api::escaped(name),
               "Search in this queue");
    html.text(" ");
    write_link(html, view.visit.root + "audit?queue=" + api::escaped(name),
               "What operators did to it");
  });
}

}  // namespace allot::gateway::ui
