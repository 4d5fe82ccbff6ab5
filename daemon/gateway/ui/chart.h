// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/ui/html.h"

// The small chart of durations on the pages of task types.
namespace allot::gateway::ui {

// Start of a new version or configuration.
struct ChartMark {
  double at = 0;  // 0: left edge, 1: right edge
  std::string what;
};

// Two lines over the same steps, as SVG; steps without a value are skipped.
struct Chart {
  std::vector<std::optional<double>> usual{};
  std::vector<std::optional<double>> most{};
  std::vector<ChartMark> marks{};
};
void write_chart(Html& html, const Chart& chart, std::string_view label);

}  // namespace allot::gateway::ui
