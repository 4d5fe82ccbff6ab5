// SPDX-License-Identifier: Apache-2.0
#include "gateway/ui/chart.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>

namespace allot::gateway::ui {
namespace {

constexpr double kWidth = 120;
constexpr double kHeight = 24;

std::string coordinate(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f", value);
  return text.data();
}

// An isolated value becomes a short line.
std::string points_of(const std::vector<std::optional<double>>& values, double most) {
  const double step = kWidth / static_cast<double>(std::max<std::size_t>(values.size(), 2) - 1);
  std::string points;
  std::string last;
  std::size_t count = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto& value = values.at(i);
    if (!value) continue;
    const double x = step * static_cast<double>(i);
    const std::string y = coordinate(kHeight - 1 - (kHeight - 2) * *value / most);
    points += (points.empty() ? "" : " ") + (coordinate(x) + "," + y);
    last = " " + coordinate(x > kWidth / 2 ? x - 3 : x + 3) + "," + y;
    ++count;
  }
  return count == 1 ? points + last : points;
}

double most_of(const Chart& chart) {
  double most = 0;
  for (const auto* values : {&chart.dashed, &chart.solid}) {
    for (const auto& value : *values) most = std::max(most, value.value_or(0));
  }
  return most;
}

template <typename Shapes>
void draw(Html& html, std::string_view kind, std::string_view label, const Shapes& shapes) {
  html.in("svg",
          {{"class", kind},
           {"viewBox", "0 0 120 24"},
           {"preserveAspectRatio", "none"},
           {"role", "img"},
           {"aria-label", label}},
          shapes);
}

}  // namespace

void write_chart(Html& html, const Chart& chart, std::string_view label) {
  const double seen = most_of(chart);
  const double most = std::max(seen, 1.0);
  draw(html, seen == 0 ? "spark flat" : "spark", label, [&] {
    for (const ChartMark& mark : chart.marks) {
      const std::string x = coordinate(kWidth * std::clamp(mark.at, 0.0, 1.0));
      const Attributes line{{"class", "mark"}, {"x1", x}, {"y1", "0"}, {"x2", x}, {"y2", "24"}};
      html.in("line", line, [&] { html.leaf("title", mark.what); });
    }
    html.leaf("polyline", {{"class", "in"}, {"points", points_of(chart.dashed, most)}}, "");
    html.leaf("polyline", {{"class", "out"}, {"points", points_of(chart.solid, most)}}, "");
  });
}

void write_bars(Html& html, const std::vector<double>& values, std::string_view label) {
  const double most =
      std::max(1.0, values.empty() ? 0 : *std::max_element(values.begin(), values.end()));
  const double step = kWidth / static_cast<double>(std::max<std::size_t>(values.size(), 1));
  draw(html, "spark", label, [&] {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double height = values[i] == 0 ? 0.5 : 1 + (kHeight - 1) * values[i] / most;
      html.leaf("rect",
                {{"x", coordinate(step * static_cast<double>(i))},
                 {"y", coordinate(kHeight - height)},
                 {"width", coordinate(step * 0.8)},
                 {"height", coordinate(height)}},
                "");
    }
  });
}

}  // namespace allot::gateway::ui
