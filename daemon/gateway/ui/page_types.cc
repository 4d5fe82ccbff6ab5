// SPDX-License-Identifier: Apache-2.0
// /ui/types: run times and waiting times of each type, over up to eight days.
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "gateway/ui/chart.h"
#include "gateway/ui/page_functions.h"
#include "gateway/ui/words.h"

namespace allot::gateway::ui {
namespace {

using std::chrono::hours;

// A period of the page, and the length of a chart step in hours.
struct Range {
  std::string_view name;
  unsigned hours;
  unsigned step;
};
constexpr std::array kRanges{Range{"24 hours", 24, 1}, Range{"3 days", 72, 3},
                             Range{"8 days", 192, 8}};
constexpr std::size_t kSteps = 24;
constexpr std::size_t kMostMarkText = 400;

enum TypesAt : std::size_t { kTypes, kDeployments };

const Range& range_of(const Visit& visit) {
  for (const Range& range : kRanges) {
    if (visit.asked("hours") == std::to_string(range.hours)) return range;
  }
  return kRanges.front();
}

std::string queue_filter(const Visit& visit) {
  const std::string queue = visit.asked("queue");
  return queue.empty() ? "" : "&queue=" + api::escaped(queue);
}

// Steps of the API start at multiples of their length since 2025.
std::int64_t step_at(std::chrono::sys_seconds when, unsigned step) {
  const std::chrono::sys_seconds begin = std::chrono::sys_days(std::chrono::year(2025) / 1 / 1);
  return std::chrono::floor<hours>(when - begin).count() / step;
}

std::optional<double> time_in(const json& step, const char* what, const char* percentile) {
  const json& time = part_of(part_of(step, what), percentile);
  if (!time.is_number()) return std::nullopt;
  return time.get<double>();
}

// Position of a deployment on the charts, from 0 to 1; nullopt: before their start, or not a
// change.
std::optional<double> place_of(const View& view, const json& deployment) {
  const auto when = moment(text_of(deployment, "since"));
  if (!when || text_of(deployment, "previous_version").empty()) return std::nullopt;
  const unsigned length = range_of(view.visit).step;
  const auto left = static_cast<double>(step_at(view.visit.now, length)) - (kSteps - 1);
  const double place = (static_cast<double>(step_at(*when, 1)) / length - left) / (kSteps - 1);
  if (place < 0) return std::nullopt;
  return std::min(place, 1.0);
}

// One mark per position, even if several hosts changed.
std::vector<ChartMark> marks_of(const View& view) {
  std::map<double, std::string> found;
  for (const json& deployment : items_of(view.document(kDeployments))) {
    const auto place = place_of(view, deployment);
    if (!place) continue;
    std::string& what = found[*place];
    what += (what.empty() ? "" : "; ") + deployment_text(deployment) + ", " +
            text_of(deployment, "since").substr(0, 16);
  }
  std::vector<ChartMark> marks;
  for (auto& [place, what] : found) marks.push_back({place, what.substr(0, kMostMarkText)});
  return marks;
}

Chart chart_of(const View& view, const json& type, const char* what) {
  const unsigned length = range_of(view.visit).step;
  const std::int64_t now = step_at(view.visit.now, length);
  Chart chart{std::vector<std::optional<double>>(kSteps),
              std::vector<std::optional<double>>(kSteps), marks_of(view)};
  for (const json& step : list_of(type, "steps")) {
    const auto when = moment(text_of(step, "at"));
    if (!when) continue;
    const std::int64_t ago = now - step_at(*when, length);
    if (ago < 0 || ago >= static_cast<std::int64_t>(kSteps)) continue;
    const std::size_t at = kSteps - 1 - static_cast<std::size_t>(ago);
    chart.dashed.at(at) = time_in(step, what, "p50_us");
    chart.solid.at(at) = time_in(step, what, "p99_us");
  }
  return chart;
}

std::string time_text(const json& type, const char* what, const char* percentile) {
  const auto time = time_in(type, what, percentile);
  return time ? runtime(static_cast<std::uint64_t>(std::llround(std::max(*time, 0.0)))) : "–";
}

void write_times(Html& html, const View& view, const json& type, const char* what,
                 const std::string& name) {
  const std::string p50 = time_text(type, what, "p50_us");
  const std::string p99 = time_text(type, what, "p99_us");
  write_number(html, name + " p50", p50);
  write_number(html, name + " p99", p99);
  html.in("td", {{"class", "wide"}, {"data-label", name + " over time"}}, [&] {
    write_chart(html, chart_of(view, type, what),
                name + ": half of the tasks " + p50 + " at most, 99 % " + p99);
  });
}

void write_type(Html& html, const View& view, const json& type) {
  const std::string queue = text_of(type, "queue");
  const std::uint64_t failed = number_of(type, "retried") + number_of(type, "dead");
  const std::uint64_t attempts = number_of(type, "done") + failed;
  html.in("tr", [&] {
    html.in("th", {{"scope", "row"}}, [&] { html.leaf("bdi", text_of(type, "type")); });
    html.in("td", {{"data-label", "Queue"}}, [&] {
      if (queue == "other") return html.text(queue);
      write_link(html, queue_address(view.visit, queue), queue);
    });
    write_number(html, "Attempts", number(attempts));
    html.in("td", {{"class", "number"}, {"data-label", "Failed"}}, [&] {
      if (failed == 0) return html.text("0 %");
      const double share = 100 * static_cast<double>(failed) / static_cast<double>(attempts);
      const std::string text = share < 1 ? "< 1 %" : std::to_string(std::lround(share)) + " %";
      write_link(html, view.visit.root + "failures?queue=" + api::escaped(queue), text);
    });
    write_number(html, "Dead", number(number_of(type, "dead")));
    write_times(html, view, type, "runtime", "Runtime");
    write_times(html, view, type, "wait", "Wait");
  });
}

void write_head(Html& html) {
  const auto chart = [&](std::string_view name) {
    html.in("th", {{"scope", "col"}}, [&] {
      html.text(name);
      html.leaf("span", {{"class", "key in"}}, "p50");
      html.text(" ");
      html.leaf("span", {{"class", "key out"}}, "p99");
    });
  };
  html.in("thead", [&] {
    html.in("tr", [&] {
      html.leaf("th", {{"scope", "col"}}, "Type");
      html.leaf("th", {{"scope", "col"}}, "Queue");
      for (const char* name : {"Attempts", "Failed", "Dead", "Runtime p50", "p99"}) {
        html.leaf("th", {{"scope", "col"}, {"class", "number"}}, name);
      }
      chart("");
      for (const char* name : {"Wait p50", "p99"}) {
        html.leaf("th", {{"scope", "col"}, {"class", "number"}}, name);
      }
      chart("");
    });
  });
}

void write_ranges(Html& html, const Visit& visit) {
  html.in("p", {{"class", "actions"}}, [&] {
    for (const Range& range : kRanges) {
      if (&range == &range_of(visit)) {
        html.leaf("strong", range.name);
      } else {
        write_link(html,
                   visit.root + "types?hours=" + std::to_string(range.hours) + queue_filter(visit),
                   range.name);
      }
    }
    if (!visit.asked("queue").empty()) {
      write_link(html, visit.root + "types?hours=" + std::to_string(range_of(visit).hours),
                 "Types of all queues");
    }
  });
}

}  // namespace

std::vector<ApiRequest> types_requests(const Visit& visit) {
  const Range& range = range_of(visit);
  return {{"/api/v1/types?limit=100&hours=" + std::to_string(range.hours) +
           "&step=" + std::to_string(range.step) + queue_filter(visit)},
          {"/api/v1/deployments?hours=" + std::to_string(range.hours)}};
}

void render_types(const View& view, Html& html) {
  const std::string queue = view.visit.asked("queue");
  html.leaf("h1", queue.empty() ? "Types" : "Types of queue " + queue);
  write_ranges(html, view.visit);
  html.in("section", {{"id", "types"}, {"data-live", ""}, {"aria-label", "Types"}}, [&] {
    const json& items = items_of(view.document(kTypes));
    if (items.empty()) {
      html.leaf("p", {{"class", "none"}}, "No attempt ended in this time.");
      return;
    }
    html.in("table", {{"class", "cards"}}, [&] {
      write_head(html);
      html.in("tbody", [&] {
        for (const json& type : items) write_type(html, view, type);
      });
    });
    const std::uint64_t omitted = number_of(view.documents[kTypes].body(), "omitted");
    if (omitted > 0) {
      html.leaf("p", {{"class", "hint"}},
                number(omitted) + " types with fewer attempts are not shown.");
    }
  });
  html.leaf(
      "p", {{"class", "hint"}},
      "Half of the tasks took the time p50 at most, 99 % the time p99. Both are approximate: "
      "they are computed from buckets. A task waits from the time that it is due until its "
      "handler is called. Attempts count within two minutes of their end. An upright line is a "
      "host that began to run another version or configuration.");
}

}  // namespace allot::gateway::ui
