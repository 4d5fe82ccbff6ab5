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
  double most = 1;
  for (const auto* values : {&chart.usual, &chart.most}) {
    for (const auto& value : *values) most = std::max(most, value.value_or(0));
  }
  return most;
}

}  // namespace

void write_chart(Html& html, const Chart& chart, std::string_view label) {
  const double most = most_of(chart);
  const Attributes box{{"class", "spark"},
                       {"viewBox", "0 0 120 24"},
                       {"preserveAspectRatio", "none"},
                       {"role", "img"},
                       {"aria-label", label}};
  html.in("svg", box, [&] {
    for (const ChartMark& mark : chart.marks) {
      const std::string x = coordinate(kWidth * std::clamp(mark.at, 0.0, 1.0));
      const Attributes line{{"class", "mark"}, {"x1", x}, {"y1", "0"}, {"x2", x}, {"y2", "24"}};
      html.in("line", line, [&] { html.leaf("title", mark.what); });
    }
    html.leaf("polyline", {{"class", "in"}, {"points", points_of(chart.usual, most)}}, "");
    html.leaf("polyline", {{"class", "out"}, {"points", points_of(chart.most, most)}}, "");
  });
}

}  // namespace allot::gateway::ui
