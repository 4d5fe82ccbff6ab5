// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/ui/html.h"

// Small charts of the pages, as SVG.
namespace allot::gateway::ui {

// Start of a new version or configuration.
struct ChartMark {
  double at = 0;  // 0: left edge, 1: right edge
  std::string what;
};

// Two lines over the same steps; steps without a value are skipped.
struct Chart {
  std::vector<std::optional<double>> dashed{};
  std::vector<std::optional<double>> solid{};
  std::vector<ChartMark> marks{};
};
void write_chart(Html& html, const Chart& chart, std::string_view label);
// One bar per value.
void write_bars(Html& html, const std::vector<double>& values, std::string_view label);

}  // namespace allot::gateway::ui
