// SPDX-License-Identifier: Apache-2.0
// /ui/ and /ui/queues: current problems, and the state of each queue.
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "gateway/ui/page_functions.h"
#include "gateway/ui/problems.h"
#include "gateway/ui/words.h"

namespace allot::gateway::ui {
namespace {

enum OverviewAt : std::size_t {
  kQueues,
  kMinutes,
  kLags,
  kNotices,
  kFindings,
  kInstances,
  kWorkers
};

Seen seen_in(const View& view) {
  Seen seen;
  seen.queues = view.document(kQueues);
  seen.lags = view.document(kLags);
  seen.notices = view.document(kNotices);
  seen.workers = view.document(kWorkers);
  seen.findings = view.document(kFindings);
  seen.traffic = traffic_of(view.document(kMinutes), view.visit.now);
  seen.workforce = workforce_of(view.document(kInstances));
  return seen;
}

std::string rate_text(double value) {
  if (value == 0) return "0";
  if (value < 10) {
    std::string text = std::to_string(std::round(value * 10) / 10);
    return text.substr(0, text.find('.') + 2);
  }
  return number(static_cast<std::uint64_t>(std::llround(value)));
}

void write_problem(Html& html, const Problem& problem) {
  html.in("li", {{"class", "problem " + problem.kind}, {"data-key", problem.key}}, [&] {
    html.in("div", {{"class", "what"}}, [&] {
      write_state(html, problem.kind,
                  problem.kind == "paused" ? "Paused"
                  : problem.kind == "warn" ? "Warning"
                                           : "Problem");
      html.leaf("bdi", problem.what);
    });
    html.in("div", {{"class", "fix"}}, [&] {
      html.leaf("bdi", problem.fix);
      html.text(" ");
      if (!problem.address.empty()) write_link(html, problem.address, problem.link);
    });
  });
}

void write_problems(Html& html, const std::vector<Problem>& problems) {
  html.in("section", {{"id", "problems"}, {"data-live", ""}, {"aria-label", "Problems"}}, [&] {
    if (problems.empty()) {
      html.in("p", {{"class", "well"}},
              [&] { write_state(html, "good", "All queues are healthy."); });
      return;
    }
    html.in("ul", {{"class", "problems"}}, [&] {
      for (const Problem& problem : problems) write_problem(html, problem);
    });
  });
}

// The state of a queue in one word, and the kind of its mark.
std::pair<std::string_view, std::string_view> state_of(const json& queue, const json& lag,
                                                       const Traffic& traffic) {
  constexpr std::uint64_t kLateUs = 300'000'000;  // 5 min
  const auto paused = queue.find("paused");
  if (paused != queue.end() && paused->is_object()) return {"paused", "paused"};
  if (number_of(lag, "oldest_due_us") >= kLateUs) return {"bad", "late"};
  const auto rate = traffic.error_rate();
  if (rate && *rate >= 0.1) return {"bad", "failing"};
  const bool works = traffic.recent_out > 0 || number_of(lag, "leased") > 0;
  return works ? std::pair<std::string_view, std::string_view>{"good", "working"}
               : std::pair<std::string_view, std::string_view>{"idle", "idle"};
}

void write_queue(Html& html, const View& view, const Seen& seen, const json& queue, const json& lag,
                 const Traffic& traffic) {
  const std::string name = text_of(queue, "name");
  const auto state = state_of(queue, lag, traffic);
  html.in("tr", [&] {
    html.in("th", {{"scope", "row"}},
            [&] { write_link(html, queue_address(view.visit, name), name); });
    html.in("td", {{"data-label", "State"}}, [&] { write_state(html, state.first, state.second); });
    const auto due = lag.find("oldest_due_us");
    write_number(html, "Oldest due",
                 due != lag.end() && due->is_number()
                     ? span(std::chrono::seconds(number_of(lag, "oldest_due_us") / 1'000'000))
                     : "–");
    write_number(
        html, "Waiting",
        traffic.backlog ? (traffic.estimated ? "≈ " : "") + number(*traffic.backlog) : "–");
    write_number(html, "In / min", traffic.knows_in ? rate_text(traffic.recent_in) : "–");
    write_number(html, "Out / min", rate_text(traffic.recent_out));
    html.in("td", {{"class", "wide"}, {"data-label", "Last hour"}}, [&] {
      write_chart(html, traffic.chart(),
                  "In " + rate_text(traffic.recent_in) + " and out " +
                      rate_text(traffic.recent_out) + " a minute");
    });
    write_number(html, "Time to empty", traffic.time_to_empty());
    const auto rate = traffic.error_rate();
    write_number(html, "Errors", rate ? std::to_string(std::lround(100 * *rate)) + " %" : "–");
    html.in("td", {{"class", "number"}, {"data-label", "Died in 1 h"}}, [&] {
      if (traffic.dead == 0) return html.text("0");
      write_link(html, queue_address(view.visit, name) + "/dead", number(traffic.dead));
    });
    if (seen.workforce.known) {
      write_number(html, "Workers", number(seen.workforce.of(name)));
    }
  });
}

void write_queues(Html& html, const View& view, const Seen& seen) {
  std::map<std::string, json> lags;
  for (const json& lag : items_of(seen.lags)) lags[text_of(lag, "queue")] = lag;
  html.in("section", {{"id", "queues"}, {"data-live", ""}, {"aria-label", "Queues"}}, [&] {
    html.in("table", {{"class", "cards"}}, [&] {
      html.in("thead", [&] {
        html.in("tr", [&] {
          html.leaf("th", {{"scope", "col"}}, "Queue");
          html.leaf("th", {{"scope", "col"}}, "State");
          for (const char* name : {"Oldest due", "Waiting", "In / min", "Out / min"}) {
            html.leaf("th", {{"scope", "col"}, {"class", "number"}}, name);
          }
          html.in("th", {{"scope", "col"}}, [&] {
            html.text("Last hour ");
            html.leaf("span", {{"class", "key in"}}, "in");
            html.text(" ");
            html.leaf("span", {{"class", "key out"}}, "out");
          });
          for (const char* name : {"Time to empty", "Errors", "Died in 1 h"}) {
            html.leaf("th", {{"scope", "col"}, {"class", "number"}}, name);
          }
          if (seen.workforce.known) {
            html.leaf("th", {{"scope", "col"}, {"class", "number"}}, "Workers");
          }
        });
      });
      html.in("tbody", [&] {
        for (const json& queue : items_of(seen.queues)) {
          const std::string name = text_of(queue, "name");
          const auto traffic = seen.traffic.find(name);
          write_queue(html, view, seen, queue, lags[name],
                      traffic == seen.traffic.end() ? Traffic() : traffic->second);
        }
      });
    });
    if (items_of(seen.queues).empty()) {
      html.leaf("p", {{"class", "none"}}, "This account may not read any queue.");
    }
  });
}

}  // namespace

std::vector<ApiRequest> overview_requests(const Visit& visit) {
  std::vector<ApiRequest> all{{"/api/v1/queues"},
                              traffic_request(),
                              {"/api/v1/lags"},
                              {"/api/v1/notices"},
                              {"/api/v1/findings"}};
  if (visit.sees_all()) all.insert(all.end(), {{"/api/v1/instances"}, {"/api/v1/workers"}});
  return all;
}

void render_overview(const View& view, Html& html) {
  const Seen seen = seen_in(view);
  html.leaf("h1", "Overview");
  write_problems(html, problems_of(view.visit, seen));
  if (!seen.queues->ok()) return;
  html.leaf("h2", "Queues");
  write_queues(html, view, seen);
  html.leaf("p", {{"class", "hint"}},
            "Rates are of the last 10 minutes, as workers counted them. “Waiting” is of the last "
            "minute; ≈ is an estimate of the server.");
  if (seen.findings == nullptr) return;
  const std::string checked_at = text_of(seen.findings->body(), "checked_at");
  if (checked_at.empty()) return;
  html.in("p", {{"class", "hint"}}, [&] {
    html.text("The database was checked ");
    write_time(html, view.visit, checked_at);
    html.text(".");
  });
}

void render_queues(const View& view, Html& html) {
  html.leaf("h1", "Queues");
  write_queues(html, view, seen_in(view));
}

}  // namespace allot::gateway::ui
